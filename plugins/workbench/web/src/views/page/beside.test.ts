import { expect, test } from 'vitest';
import { compared, pairsOf } from './beside';
import type { Line } from './lines';

const line = (id: string): Line => ({
  id,
  text: id,
  pieces: [],
  reading: null,
  confidence: null,
  direction: 'ltr',
  parent: null,
  by: null,
  byName: null,
  entry: null,
});
const boxes = (places: Record<string, number>) =>
  new Map(
    Object.entries(places).map(([id, y]) => [
      id,
      { box: [0.1, y, 0.8, 0.05] as [number, number, number, number] },
    ]),
  );

test('lines at the same place are pairs, and those without a partner keep their place', () => {
  const mine = ['a', 'b', 'c'].map(line);
  const theirs = ['A', 'X', 'C'].map(line);
  const pairs = pairsOf(mine, boxes({ a: 0.1, b: 0.2, c: 0.4 }), theirs, boxes({ A: 0.11, X: 0.3, C: 0.39 }));
  expect(pairs.map((pair) => [pair.mine?.id ?? null, pair.theirs?.id ?? null])).toEqual([
    ['a', 'A'],
    [null, 'X'],
    ['b', null],
    ['c', 'C'],
  ]);
});

test('a line has one partner: the one with which it has most in common', () => {
  const pairs = pairsOf(
    ['a', 'b'].map(line),
    boxes({ a: 0.1, b: 0.13 }),
    ['A'].map(line),
    boxes({ A: 0.128 }),
  );
  expect(pairs.map((pair) => pair.theirs?.id ?? null)).toEqual([null, 'A']);
});

const words = (parts: { text: string; differs: boolean }[], differs: boolean) =>
  parts.filter((part) => part.differs === differs).map((part) => part.text.trim());

test('the words that differ are marked on both sides', () => {
  const { mine, theirs } = compared('En la villa de Lima', 'En la uilla Lima');
  expect([words(mine, true), words(theirs, true)]).toEqual([['villa de'], ['uilla']]);
  expect(mine.map((part) => part.text).join('')).toBe('En la villa de Lima');
  expect(theirs.map((part) => part.text).join('')).toBe('En la uilla Lima');
});

test('where words are not set apart by spaces, they are told apart all the same', () => {
  const { mine } = compared('中国人民银行', '中国人民大学');
  expect(mine.some((part) => !part.differs && part.text.includes('人民'))).toBe(true);
});
