import { expect, test } from 'vitest';
import type { Made } from '$lib/made';
import { stateOf } from './coverage.svelte';

const made = (by: Made['by'], lines: number): Made => ({ by, lines, name: null, words: '' });

test('a page is as far as its lines are', () => {
  expect(stateOf([], false)).toBe('unread');
  expect(stateOf([made('machine', 30)], false)).toBe('read');
  expect(stateOf([made('import', 30)], false)).toBe('read');
  expect(stateOf([made('person', 1), made('machine', 29)], false)).toBe('corrected');
  expect(stateOf([made('checked', 30)], true)).toBe('truth');
});

test('a mark of ground truth on a page without text is no text', () => {
  expect(stateOf([], true)).toBe('unread');
});
