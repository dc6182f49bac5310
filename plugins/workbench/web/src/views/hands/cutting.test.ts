import { expect, test } from 'vitest';
import { between, onPage, region, shownAround } from './cutting';

test('a box on what is shown lies where it does on the page', () => {
  const shown = shownAround({ bbox_x: 0.1, bbox_y: 0.5, bbox_w: 0.8, bbox_h: 0.1 });
  const [x, y, w, h] = onPage(shown, [0, 0, 1, 1]);
  [x, y, w, h].forEach((one, at) => expect(one).toBeCloseTo([0.085, 0.485, 0.83, 0.13][at] ?? 0));
  expect(onPage([0, 0, 0.5, 0.2], [0.5, 0.5, 0.1, 0.5])).toEqual([0.25, 0.1, 0.05, 0.1]);
});

test('the picture ends where the page does', () => {
  expect(shownAround({ bbox_x: 0, bbox_y: 0, bbox_w: 1, bbox_h: 0.1 })).toEqual([0, 0, 1, 0.115]);
});

test('a box is drawn from any corner, and stays in the picture', () => {
  expect(between([0.6, 0.9], [0.2, 0.4]).map((one) => +one.toFixed(3))).toEqual([0.2, 0.4, 0.4, 0.5]);
  expect(between([-1, 0], [2, 1])).toEqual([0, 0, 1, 1]);
});

test('a part of a page is named as IIIF does', () => {
  expect(region([0.1, 0.25, 0.5, 0.125])).toBe('pct:10.0000,25.0000,50.0000,12.5000');
});
