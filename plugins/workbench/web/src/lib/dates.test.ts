import { expect, test } from 'vitest';
import { isoOf, spanOf, type WrittenDate } from './dates';

const read = (
  precision: WrittenDate['precision'],
  start: string | null,
  end: string | null,
): WrittenDate => ({
  as_written: '',
  iso_start: start,
  iso_end: end,
  precision,
  calendar: 'gregorian',
});

test('what is before or after a date is not at that date', () => {
  const before = read('interval', null, '1850');
  const after = read('interval', '1850-03', null);
  expect([isoOf(before), spanOf(before)]).toEqual(['../1850', '… – 1850']);
  expect([isoOf(after), spanOf(after)]).toEqual(['1850-03/..', '1850-03 – …']);
});

test('a date is one value, and from one date to another both', () => {
  const year = read('year', '1850~', null);
  const years = read('interval', '1850', '1860');
  expect([isoOf(year), spanOf(year)]).toEqual(['1850~', '1850~']);
  expect([isoOf(years), spanOf(years)]).toEqual(['1850/1860', '1850 – 1860']);
  expect([isoOf(read('day', null, null)), spanOf({})]).toEqual([null, '']);
});
