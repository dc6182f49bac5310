import { expect, test } from 'vitest';
import { go, here, link, read } from './router.svelte';

test('an address names the project, the view, the thing and what is asked of it', () => {
  const place = read('#/p/7f/page/12?line=3');
  expect([place.project, place.view, place.id, place.query.get('line')]).toEqual(['7f', 'page', '12', '3']);
});

test('without a project the projects are shown', () => {
  expect(read('').view).toBe('projects');
  expect(read('#/').view).toBe('projects');
});

test('ids and values come through an address as they are', () => {
  go(link('page', 'a/b ?#', { q: 'ñ & "x"' }, 'p/1'));
  expect([here().project, here().id, here().query.get('q')]).toEqual(['p/1', 'a/b ?#', 'ñ & "x"']);
});
