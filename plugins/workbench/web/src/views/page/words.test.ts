import { expect, test } from 'vitest';
import type { Line } from './lines';
import { tinted, wordAt, wordsOf, type Word } from './words';

const word = (line: string, text: string, from: number, probability: number | null = null): Word => ({
  line_id: line,
  segment_id: null,
  text,
  char_start: from,
  char_end: from + Array.from(text).length,
  corners: [
    [from, 0],
    [from + 1, 0],
    [from + 1, 1],
    [from, 1],
  ],
  probability,
  rendition_id: null,
});
const line = (id: string, text: string) => ({ id, text }) as Line;

test('words of a text that the line has no longer stand nowhere', () => {
  const words = [word('a', 'Dear', 0), word('a', 'Sir', 5), word('gone', 'x', 0)];
  const found = wordsOf(words, [line('a', 'Dear Lady'), line('b', 'x')]);
  expect([...found]).toEqual([['a', [words[0]]]]);
});

test('the word at the cursor is told in characters, not in halves of them', () => {
  const words = [word('a', '𝔈𝔫𝔱', 0), word('a', '𝔩𝔞', 4)];
  const text = '𝔈𝔫𝔱  𝔩𝔞';
  expect([0, 6, 7].map((at) => wordAt(words, text, at)?.text)).toEqual(['𝔈𝔫𝔱', '𝔈𝔫𝔱', '𝔩𝔞']);
  expect(wordAt([word('a', 'b', 5)], 'a    b', 2)).toBeNull();
  expect(wordAt(undefined, text, 0)).toBeNull();
});

test('of a doubtful line the doubtful words are tinted, and all of it where none was placed', () => {
  const words = new Map([['a', [word('a', 'sure', 0, 0.99), word('a', 'not', 5, 0.3)]]]);
  const outline = [[0, 0] as const, [1, 1] as const];
  const shapes = new Map([['b', { id: 'b', outline }]]) as never;
  expect(tinted([line('a', 'sure not'), line('b', ''), line('c', '')], words, shapes)).toEqual([
    words.get('a')?.[1]?.corners,
    outline,
  ]);
});
