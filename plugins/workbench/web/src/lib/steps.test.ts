import { beforeEach, expect, test, vi } from 'vitest';

type Answer = () => Response;
let save: (answer: Answer) => void;
let log: { id: string; origin_window: string; undoable: boolean; reversal: string | null; words: string }[];
const asked: string[] = [];
const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

vi.stubGlobal('fetch', async (request: Request) => {
  const path = new URL(request.url).pathname;
  if (request.method !== 'GET') asked.push(path.replace('/api/', ''));
  if (path.endsWith('/correct')) return (await new Promise<Answer>((answer) => (save = answer)))();
  if (path.endsWith('/audit/undo')) {
    const { audit_ids } = await request.json();
    log = log.filter((step) => !audit_ids.includes(step.id));
    return json({ audit_ids: [] });
  }
  if (path.endsWith('/audit')) return json({ items: log, total: log.length });
  return json({ changes: [{}] });
});
const { originWindow } = await import('./api/client');
const { draftOf, openDrafts, send, typed } = await import('./drafts.svelte');
const { notices } = await import('./notices.svelte');
const { undo } = await import('./steps.svelte');

const step = (id: string) => ({
  id,
  origin_window: originWindow,
  undoable: true,
  reversal: null,
  words: `Step ${id}`,
});
const told = () => notices().at(-1)?.text;
const settled = () => new Promise((done) => setTimeout(done, 20));

beforeEach(() => {
  localStorage.clear();
  asked.length = 0;
  log = [step('earlier')];
  openDrafts('p');
});

test('what is taken back at once is what was typed, once it is saved; the step before it comes next', async () => {
  typed('s', 'page', 'En la villa', 'r1');
  void send('s');
  const both = [undo(), undo()];
  await settled();
  expect(asked).toEqual(['segments/s/correct']);
  log.unshift(step('correction'));
  save(() => json({ id: 'r2', content: 'En la villa' }));
  await both[0];
  expect(log.map(({ id }) => id)).toEqual(['earlier']);
  await both[1];
  expect(log).toEqual([]);
});

test.each([
  ['refused', 'conflict', () => json({ detail: 'Another reading counts.' }, 409)],
  ['not answered', 'waiting', () => json({}, 503)],
])('nothing is taken back for a text that was %s: it stays, and is said to', async (_, state, answer) => {
  typed('s', 'page', 'mine', 'r1');
  void send('s');
  const undone = undo();
  save(answer);
  await undone;
  expect(log.map(({ id }) => id)).toEqual(['earlier']);
  expect(told()).toContain('not saved');
  expect(draftOf('s')).toMatchObject({ text: 'mine', state });
  // Who was told of a refusal may take back what is there; what still waits is first in turn.
  await undo();
  expect(log.length).toBe(state === 'conflict' ? 0 : 1);
});

test('what is typed on and sent again goes after what is on its way, on top of it', async () => {
  typed('s', 'page', 'one', 'r1');
  const first = send('s');
  const answerFirst = save;
  typed('s', 'page', 'one two', 'r1');
  const second = send('s');
  await settled();
  expect(asked.length).toBe(1);
  answerFirst(() => json({ id: 'r2', content: 'one' }));
  await first;
  await settled();
  save(() => json({ id: 'r3', content: 'one two' }));
  expect((await second)?.id).toBe('r3');
  expect(draftOf('s')).toBeUndefined();
});
