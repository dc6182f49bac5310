// The order in which the lines of a page are read, as a person changes it. Each move is one step that can be undone.
import { api, ask, Refused } from '$lib/api/client';
import type { Line } from './lines';
import type { PageState } from './state.svelte';

/** The order as written; made of that of the boxes where the pass has none. */
async function orderOf(page: PageState): Promise<string> {
  const { order_id: shown, pass_id: pass } = page.text ?? {};
  if (shown) return shown;
  const made = await ask(
    api.POST('/api/reading-orders', {
      body: {
        document_id: page.id,
        pass_id: pass ?? '',
        name: 'As written',
        kind: 'as-written',
        seed_from_pass: true,
      },
    }),
  );
  await page.loadLines();
  return made.id;
}

let before: Promise<unknown> = Promise.resolve();

/** Move a line by so many places. Moves wait for one another, however fast the keys are pressed. */
export function moveBy(page: PageState, id: string, by: 1 | -1): Promise<void> {
  const moved = before.then(() => {
    const from = page.lines.findIndex((line) => line.id === id);
    return moveLine(page, id, by > 0 ? from + 2 : from - 1);
  });
  before = moved.catch(() => undefined);
  return moved;
}

/** Read a line between others: at a place among the lines, as they are counted before it is moved. */
export async function moveLine(page: PageState, id: string, to: number): Promise<void> {
  const from = page.lines.findIndex((line) => line.id === id);
  if (from < 0 || to === from || to === from + 1 || to < 0 || to > page.lines.length) return;
  const order_id = await orderOf(page);
  try {
    await place(page, order_id, id, to);
  } catch (reason) {
    if (!(reason instanceof Refused) || reason.code !== 'positions_out_of_room') throw reason;
    await ask(api.POST('/api/reading-orders/{order_id}/renumber', { params: { path: { order_id } } }));
    await page.loadLines();
    await place(page, order_id, id, to);
  }
  await page.loadLines();
}

async function place(page: PageState, order_id: string, id: string, to: number): Promise<void> {
  const entryOf = (line: Line | undefined) => line?.entry ?? null;
  const moved = entryOf(page.lines.find((line) => line.id === id));
  // A line that the order does not name has no place in it: the nearest before it that has.
  const after = entryOf(page.lines.slice(0, to).findLast((line) => line.id !== id && line.entry));
  const first = entryOf(page.lines.find((line) => line.entry));
  const parent = (after ?? first)?.parent_entry_id;
  await ask(
    api.POST('/api/reading-orders/{order_id}/place', {
      params: { path: { order_id } },
      body: {
        segment_id: id,
        ...(after ? { after_entry_id: after.id } : {}),
        ...(parent ? { parent_entry_id: parent } : {}),
        ...(moved ? { expected_version: moved.version } : {}),
      },
    }),
  );
}
