import { expect, test } from 'vitest';
import { Parts } from './parts.svelte';

const rows = (count: number, prefix = 'row') =>
  Array.from({ length: count }, (_, index) => ({ id: `${prefix} ${index}` }));

/** A list of *all* rows, as the engine gives it: at most a thousand at once. */
function listOf(all: { id: string }[]) {
  const asked: { limit: number; offset: number }[] = [];
  const parts = new Parts((at: { limit: number; offset: number }) => {
    asked.push(at);
    if (at.limit > 1000) throw new Error('At most 1,000 at once.');
    return Promise.resolve({ items: all.slice(at.offset, at.offset + at.limit), total: all.length });
  });
  return { parts, asked };
}

test('as many rows as were shown are asked for again, also where they are more than the engine gives at once', async () => {
  const { parts, asked } = listOf(rows(10_000));
  await parts.load();
  for (let turn = 0; turn < 11; turn += 1) await parts.more();
  asked.length = 0;
  await parts.load();
  expect(parts.items).toEqual(rows(1200));
  expect(asked).toEqual([
    { limit: 1000, offset: 0 },
    { limit: 200, offset: 1000 },
  ]);
});

test('a row that a newer one moved into the next part is not shown twice', async () => {
  const all = rows(300);
  const { parts } = listOf(all);
  await parts.load();
  all.unshift({ id: 'new' });
  await parts.more();
  expect(new Set(parts.items.map((one) => one.id)).size).toBe(parts.items.length);
  expect(parts.total).toBe(301);
});

test('a list that became shorter, or empty, is whole', async () => {
  const all = rows(150);
  const { parts } = listOf(all);
  await parts.load();
  await parts.more();
  all.length = 0;
  await parts.load();
  expect(parts.items).toEqual([]);
  expect(parts.isWhole).toBe(true);
});

test('the answer to an earlier question does not replace that to a later one', async () => {
  const answers: ((part: { items: { id: string }[]; total: number }) => void)[] = [];
  const parts = new Parts<{ id: string }>(() => new Promise((resolve) => answers.push(resolve)));
  const first = parts.load();
  const second = parts.load();
  answers[1]?.({ items: rows(1, 'later'), total: 1 });
  answers[0]?.({ items: rows(2, 'earlier'), total: 2 });
  await Promise.all([first, second]);
  expect(parts.items).toEqual(rows(1, 'later'));
});
