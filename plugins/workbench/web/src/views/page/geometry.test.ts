import { expect, test } from 'vitest';
import { around, boxOf, cut, moved, nearestSide, type Figure } from './geometry';
import type { Point } from './shapes';

/** The shoelace formula: an area computed in another way than the cut. */
const area = (points: Point[]) =>
  Math.abs(
    points.reduce((sum, [x, y], i) => {
      const [u, v] = points[(i + 1) % points.length] ?? [x, y];
      return sum + x * v - u * y;
    }, 0),
  ) / 2;

const line: Figure = {
  outline: [
    [0.1, 0.2],
    [0.5, 0.18],
    [0.9, 0.2],
    [0.9, 0.3],
    [0.1, 0.3],
  ],
  baseline: [
    [0.1, 0.28],
    [0.9, 0.27],
  ],
};

test.each([0.1, 0.5, 0.83])('the two pieces of a cut at %d are the whole', (part) => {
  const [left, right] = cut(line, part, false);
  expect(area(left.outline) + area(right.outline)).toBeCloseTo(area(line.outline), 10);
  expect(boxOf(left)[2]).toBeCloseTo(0.8 * part, 10);
  expect(left.baseline?.at(-1)).toEqual(right.baseline?.[0]);
});

test('a line that runs down is cut across', () => {
  const [top, bottom] = cut({ outline: line.outline.map(([x, y]) => [y, x]), baseline: null }, 0.25, true);
  expect(boxOf(top)[3]).toBeCloseTo(0.2, 10);
  expect(boxOf(bottom)[1]).toBeCloseTo(0.3, 10);
});

test('an outline drawn around a baseline holds it, and stays in the picture', () => {
  const outline = around(
    [
      [0.1, 0.01],
      [0.9, 0.02],
    ],
    0.04,
    false,
  );
  const [, y, , h] = boxOf({ outline, baseline: null });
  expect(y).toBe(0);
  expect(y + h).toBeCloseTo(0.03, 10);
});

test('a shape that is carried off the picture stays at its edge, as it is', () => {
  const there = moved(line, [0.5, -0.5]);
  const [x, y, w, h] = boxOf(there);
  const [, , width, height] = boxOf(line);
  expect([w, h]).toEqual([width, height].map((one) => expect.closeTo(one, 10)));
  expect([x + w, y]).toEqual([1, 0].map((one) => expect.closeTo(one, 10)));
});

test('a new corner goes between the two it lies between', () => {
  const near = (at: Point) => (p: Point) => Math.hypot(p[0] - at[0], p[1] - at[1]);
  expect(nearestSide(line.outline, near([0.9, 0.25])).index).toBe(3);
  expect(nearestSide(line.outline, near([0.1, 0.25])).index).toBe(5);
});
