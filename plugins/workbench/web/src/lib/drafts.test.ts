import { beforeEach, expect, test, vi } from 'vitest';

const answers: (() => Response | Promise<Response>)[] = [];
const sent: { text: string; expected_counting_id: string | null }[] = [];
vi.stubGlobal('fetch', async (request: Request) => {
  sent.push(await request.json());
  const answer = answers.shift();
  if (!answer) throw new TypeError('the engine is gone');
  return answer();
});
// The client takes the browser's fetch when it is loaded.
const { draftOf, dropDraft, insist, onSaved, openDrafts, send, typed, unsaved } =
  await import('./drafts.svelte');

const json = (status: number, body: unknown) => () =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });

beforeEach(() => {
  localStorage.clear();
  answers.length = sent.length = 0;
  openDrafts('p');
});

test('what is acknowledged is no draft any more', async () => {
  typed('s', 'page', 'En la villa', 'r1');
  answers.push(json(200, { id: 'r2', content: 'En la villa' }));
  expect((await send('s'))?.id).toBe('r2');
  expect(sent).toEqual([{ text: 'En la villa', expected_counting_id: 'r1' }]);
  expect([unsaved().length, localStorage.length]).toEqual([0, 0]);
});

test('what the engine did not answer stays, also in a new window, and is sent when the engine is back', async () => {
  typed('s', 'page', 'En la villa', 'r1');
  expect(await send('s')).toBeNull();
  const saved = new Promise((done) => onSaved((segment) => done(segment)));
  answers.push(json(200, { id: 'r2' }));
  openDrafts('p');
  expect(await saved).toBe('s');
  expect(unsaved()).toEqual([]);
});

test('a conflict keeps the text until the person decides', async () => {
  typed('s', 'page', 'mine', 'r1');
  answers.push(json(409, { detail: 'Another reading counts.' }), json(200, { id: 'r3' }));
  await send('s');
  expect(draftOf('s')).toMatchObject({ state: 'conflict', text: 'mine', why: 'Another reading counts.' });
  expect((await insist('s', 'r2'))?.id).toBe('r3');
  expect(sent.at(-1)).toEqual({ text: 'mine', expected_counting_id: 'r2' });
});

test('what is typed while the answer is under way is kept, on top of what was saved', async () => {
  typed('s', 'page', 'one', 'r1');
  answers.push(() => {
    typed('s', 'page', 'one two', 'r1');
    return json(200, { id: 'r2' })();
  });
  await send('s');
  expect(draftOf('s')).toMatchObject({ text: 'one two', seen: 'r2', state: 'typing' });
  dropDraft('s');
});

test('what another window of this browser typed into the same line stays kept when this one is acknowledged', async () => {
  const theirs = { segment: 's', document: 'page', text: 'theirs', seen: 'r1', state: 'typing' };
  typed('s', 'page', 'mine', 'r1');
  localStorage.setItem('armarium.draft.p.s.another-window', JSON.stringify(theirs));
  answers.push(json(200, { id: 'r2' }));
  await send('s');
  expect(draftOf('s')).toBeUndefined();
  openDrafts('p');
  expect(draftOf('s')?.text).toBe('theirs');
  // It is typed on over there after this window took it over: only the older text is done with.
  localStorage.setItem(
    'armarium.draft.p.s.another-window',
    JSON.stringify({ ...theirs, text: 'theirs, longer' }),
  );
  answers.push(json(200, { id: 'r3' }));
  await send('s');
  expect(sent.at(-1)?.text).toBe('theirs');
  openDrafts('p');
  expect(unsaved().map((draft) => draft.text)).toEqual(['theirs, longer']);
  dropDraft('s');
});

test('drafts of another project are not shown', () => {
  typed('s', 'page', 'text', null);
  openDrafts('other');
  expect(unsaved()).toEqual([]);
  openDrafts('p');
  expect(draftOf('s')?.text).toBe('text');
});
