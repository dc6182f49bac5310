import { expect, test } from 'vitest';
import { degrees, gridAround, linesBetween, metresOff, middleOf } from './places';

test('a place lies where its value says, whichever way it says so', () => {
  expect(middleOf({ lon: 2.35, lat: 48.86 })).toEqual([2.35, 48.86]);
  expect(middleOf({ geo_bbox: [0, 40, 10, 50] })).toEqual([5, 45]);
  // Fiji, and what lies more to the west of the antimeridian.
  expect(middleOf({ geo_bbox: [177, -20, -177, -16] })).toEqual([180, -18]);
  expect(middleOf({ geo_bbox: [178, -20, -170, -16] })).toEqual([-176, -18]);
  expect(
    middleOf({
      geojson: {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [4, 2],
        ],
      },
    }),
  ).toEqual([2, 1]);
  expect(middleOf({ label: 'somewhere', lat: null, lon: null })).toBeNull();
});

test('the grid holds every place, and stays on the globe', () => {
  const grid = gridAround([
    { lon: 179.9, lat: 0 },
    { lon: 170, lat: -89 },
  ]);
  expect(grid.east).toBe(180);
  expect(grid.south).toBe(-90);
  expect(grid.west).toBeLessThan(170);
  expect(linesBetween(grid.west, grid.east, grid.step).length).toBeLessThanOrEqual(11);
  expect(gridAround([])).toMatchObject({ west: -180, east: 180 });
});

test('one place alone has ground around it', () => {
  const grid = gridAround([{ lon: 2, lat: 48 }]);
  expect(grid.east - grid.west).toBeGreaterThan(0.05);
  expect(linesBetween(grid.west, grid.east, grid.step)).toContain(2);
});

test('lines fall on round degrees, also across zero', () => {
  expect(linesBetween(-0.25, 0.21, 0.1)).toEqual([-0.2, -0.1, 0, 0.1, 0.2]);
  expect(degrees(-12.5, ['N', 'S'])).toBe('12.5° S');
  expect(degrees(0, ['N', 'S'])).toBe('0°');
});

test('what a point is off by is never rounded away', () => {
  expect([0.34, 9.96, 483.5].map(metresOff)).toEqual(['0.3', '10', '484']);
});
