import { expect, test } from 'vitest';
import { isInside, Places, type Point, type Shape } from './shapes';

const square = (id: string, x: number, y: number, w: number, h = w): Shape => ({
  id,
  kind: 'line',
  parent: null,
  rendition: null,
  cell: null,
  version: 1,
  outline: [
    [x, y],
    [x + w, y],
    [x + w, y + h],
    [x, y + h],
  ],
  baseline: null,
  box: [x, y, w, h],
});

test('a point in the notch of an outline is outside', () => {
  const notched: Point[] = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0.5, 0.2],
    [0, 1],
  ];
  expect(isInside(notched, 0.5, 0.1)).toBe(true);
  expect(isInside(notched, 0.5, 0.8)).toBe(false);
  expect(isInside(notched, 0.1, 0.5)).toBe(true);
});

test('of shapes one above the other the smallest is found', () => {
  const places = new Places([square('region', 0, 0, 1), square('line', 0.1, 0.1, 0.8, 0.05)]);
  expect(places.at(0.5, 0.12)?.id).toBe('line');
  expect(places.at(0.5, 0.5)?.id).toBe('region');
  expect(places.at(1.5, 0.5)).toBeNull();
});

test('the grid finds what looking at every shape finds', () => {
  const shapes = Array.from({ length: 400 }, (_, i) =>
    square(`${i}`, (i % 20) / 20, Math.floor(i / 20) / 20, 0.045),
  );
  const places = new Places(shapes);
  for (let i = 0; i < 500; i++) {
    const [x, y] = [(i * 0.618) % 1, (i * 0.414) % 1];
    const slow = shapes.find((shape) => isInside(shape.outline, x, y));
    expect(places.at(x, y)?.id).toBe(slow?.id);
  }
});
