import { expect, test } from 'vitest';
import { pieces } from './marks';

const found = (text: string, ranges: number[][]) =>
  pieces(text, ranges)
    .map((one) => (one.found ? `[${one.text}]` : one.text))
    .join('');

test('what was found is marked where it stands', () => {
  expect(found('Ceci est mon testament.', [[13, 22]])).toBe('Ceci est mon [testament].');
});

test('letters outside the basic plane count as one', () => {
  expect(
    found('𐌰𐌱 und 𐌲', [
      [0, 2],
      [7, 8],
    ]),
  ).toBe('[𐌰𐌱] und [𐌲]');
});

test('ranges that overlap, touch or reach too far lose no letter', () => {
  expect(
    found('abcdef', [
      [3, 99],
      [0, 2],
      [1, 4],
    ]),
  ).toBe('[ab][cd][ef]');
});
