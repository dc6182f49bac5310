import { expect, test } from 'vitest';
import { curveIn, epochsOf, mainPolicy, modelsOf, shown, countEach } from './results';

test('a result that lacks a part is shown without it', () => {
  const [one] = modelsOf({ models: [{ model: 'a', totals: { lenient: { cer: 0.1 } } }] });
  expect(one).toMatchObject({ model: 'a', worst: [], confusions: [], pages: [] });
  expect(mainPolicy(modelsOf({ models: [{ model: 'a', totals: { lenient: {} } }] }))).toBe('lenient');
  expect(modelsOf(null)).toEqual([]);
});

test('a curve reaches from its most to nothing', () => {
  const { points, most } = curveIn([0.8, 0.4, 0], 100, 50);
  expect(most).toBe(0.8);
  expect(points).toEqual([
    [0, 0],
    [50, 25],
    [100, 50],
  ]);
  expect(curveIn([], 100, 50).points).toEqual([]);
});

test('epochs without a rate are left out, and blanks can be seen', () => {
  expect(epochsOf([{ epoch: 3, cer: 0.5, loss: 1, best: true }, { epoch: 4 }])).toEqual([
    { epoch: 3, cer: 0.5, loss: 1, best: true },
  ]);
  expect([shown('', 'nothing', 'space'), shown(' ', 'nothing', 'space'), shown('g', '', '')]).toEqual([
    'nothing',
    'space',
    'g',
  ]);
});

test('each reason is said once, with for how many pages it is one', () => {
  expect(countEach(['no picture', 'not read', 'not read'])).toEqual([
    ['not read', 2],
    ['no picture', 1],
  ]);
});
