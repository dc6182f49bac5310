import { expect, test } from 'vitest';
import { byFolder, eachOf } from './pages';

test('pages of a folder stay together and in their order', () => {
  const pages = ['a1', 'b1', 'a2', 'b2', 'a3'].map((name) => ({ name, folder: name.slice(0, 1) }));
  expect(byFolder(pages).map((one) => one.name)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
});

test('work that is stopped begins nothing more', async () => {
  const stopping = new AbortController();
  const done: number[] = [];
  await eachOf(
    Array.from({ length: 20 }, (_, at) => at),
    async (at) => {
      done.push(at);
      if (at === 4) stopping.abort();
    },
    stopping.signal,
  );
  expect(done.length).toBeLessThan(10);
});
