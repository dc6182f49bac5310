import { expect, test } from 'vitest';
import { checkedLines, joinMade, linesOf, type Made } from './made';

const made = (by: Made['by'], lines: number, name: string | null = null): Made => ({
  by,
  lines,
  name,
  words: '',
});

test('the sum of pages counts every line once, what persons made first', () => {
  const sum = joinMade([
    [made('machine', 20, 'hand-base'), made('person', 2)],
    [made('machine', 5, 'hand-base'), made('machine', 1, 'other'), made('checked', 3, 'hand-base')],
  ]);
  expect(sum.map((one) => [one.by, one.name, one.lines])).toEqual([
    ['person', null, 2],
    ['checked', 'hand-base', 3],
    ['machine', 'hand-base', 25],
    ['machine', 'other', 1],
  ]);
  expect([linesOf(sum), checkedLines(sum)]).toEqual([31, 5]);
});

test('the files of many pages are one maker, that of a single page is named', () => {
  const one = [made('import', 13, '0001.xml')];
  expect(joinMade([one])[0]?.name).toBe('0001.xml');
  expect(joinMade([one, [made('import', 4, '0002.xml')]])).toMatchObject([{ name: null, lines: 17 }]);
});
