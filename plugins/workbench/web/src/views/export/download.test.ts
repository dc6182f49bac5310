import { expect, test } from 'vitest';
import { distinct, joinLosses } from './download.svelte';

test('files of the same name do not overwrite each other', () => {
  expect(distinct(['0001.xml', '0001.xml', 'notes', 'notes', '0001.xml'])).toEqual([
    '0001.xml',
    '0001 (2).xml',
    'notes',
    'notes (2)',
    '0001 (3).xml',
  ]);
});

test('losses are summed over pages, each page counted once', () => {
  const loss = (count: number) => ({ what: 'marks', why: 'no place', count });
  expect(joinLosses([{ losses: [loss(3)] }, { losses: [] }, { losses: [loss(4)] }])).toEqual([
    { what: 'marks', why: 'no place', count: 7, pages: 2 },
  ]);
});
