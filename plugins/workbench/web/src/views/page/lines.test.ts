import { expect, test } from 'vitest';
import { linesOf, type PageText } from './lines';
import type { Segment } from './shapes';

const segment = (id: string, kind = 'line', parent: string | null = null, box = [0, 0, 1, 0.1]) => {
  const [bbox_x, bbox_y, bbox_w, bbox_h] = box;
  return {
    id,
    kind,
    parent_segment_id: parent,
    direction: null,
    version: 1,
    bbox_x,
    bbox_y,
    bbox_w,
    bbox_h,
  } as Segment;
};
const span = (id: string, from: number, to: number, confidence: number | null = null, direction = 'ltr') => ({
  segment_id: id,
  representation_id: `r-${id}`,
  char_start: from,
  char_end: to,
  confidence,
  direction,
});
const text = (words: string, spans: unknown[], unread: string[] = []) =>
  ({
    text: words,
    spans,
    omitted: unread.map((id) => ({ segment_id: id, reason: 'unknown' })),
  }) as unknown as PageText;

test('letters beyond the basic plane count as one character', () => {
  const lines = linesOf(text('𝔞𝔟\n𝔠𝔡', [span('a', 0, 2), span('b', 3, 5)]), [segment('a'), segment('b')]);
  expect(lines.map((line) => line.text)).toEqual(['𝔞𝔟', '𝔠𝔡']);
});

const at = (id: string, x: number, y: number) => segment(id, 'line', null, [x, y, 0.4, 0.04]);

test('unread lines stand where they are on the page, in their column', () => {
  const lines = linesOf(
    text('one\nthree\nright', [span('a', 0, 3), span('c', 4, 9), span('r', 10, 15)], ['b', 'd', 's']),
    [
      at('r', 0.5, 0.1),
      at('s', 0.5, 0.2),
      at('d', 0, 0.4),
      at('c', 0, 0.3),
      at('b', 0, 0.2),
      at('a', 0, 0.1),
    ],
  );
  expect(lines.map((line) => [line.id, line.text])).toEqual([
    ['a', 'one'],
    ['b', ''],
    ['c', 'three'],
    ['d', ''],
    ['r', 'right'],
    ['s', ''],
  ]);
});

test('a page that nobody has read keeps the order that the engine gives', () => {
  const lines = linesOf(text('', [], ['b', 'a']), [at('a', 0, 0.1), at('b', 0, 0.5)]);
  expect(lines.map((line) => line.id)).toEqual(['b', 'a']);
});

test('the reading order stands when the segments are listed in another', () => {
  const lines = linesOf(text('x\ny', [span('b', 0, 1), span('a', 2, 3)]), [segment('a'), segment('b')]);
  expect(lines.map((line) => line.id)).toEqual(['b', 'a']);
});

test('words that stand in for a line make one line, as doubtful as its most doubtful word', () => {
  const [line] = linesOf(text('En villa', [span('w1', 0, 2, 0.9), span('w2', 3, 8, 0.4)]), [
    segment('l'),
    segment('w1', 'word', 'l'),
    segment('w2', 'word', 'l'),
  ]);
  expect(line).toMatchObject({ id: 'l', text: 'En villa', reading: null, confidence: 0.4 });
  expect(line?.pieces.map((piece) => piece.doubt)).toEqual(['none', 'much']);
});
