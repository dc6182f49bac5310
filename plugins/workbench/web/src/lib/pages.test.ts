import { expect, test } from 'vitest';
import { byFolder } from './pages';

test('pages of a folder stay together and in their order', () => {
  const pages = ['a1', 'b1', 'a2', 'b2', 'a3'].map((name) => ({ name, folder: name.slice(0, 1) }));
  expect(byFolder(pages).map((one) => one.name)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
});
