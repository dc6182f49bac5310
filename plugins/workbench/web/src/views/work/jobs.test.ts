import { expect, test } from 'vitest';
import { counted, grow, type Job } from './jobs.svelte';

const job = (id: string, parent_id: string | null, kind = 'read-a-line') => ({ id, parent_id, kind }) as Job;

test('what runs below the steps of a workflow stands below the workflow itself', () => {
  const jobs = [
    job('recipe', null, 'run-a-recipe'),
    job('flow', 'recipe', 'workflow'),
    job('flow:work', 'flow', 'workflow-step'),
    job('page 1', 'flow:work'),
    job('page 2', 'flow:work'),
  ];
  const [recipe] = grow(jobs);
  expect(recipe?.parts.map((one) => one.job.id)).toEqual(['flow']);
  expect(recipe?.parts[0]?.parts.map((one) => one.job.id)).toEqual(['page 1', 'page 2']);
});

test('what is counted is named where it is no pages', () => {
  expect(counted({ done: 2, total: 10, unit: 'epochs' })).toBe('2 of 10 epochs');
  expect(counted({ done: 0, total: 1, unit: 'epochs' })).toBe('0 of 1 epoch');
  expect(counted({ done: 3, total: 1200 })).toBe('3 of 1,200');
});

test('a job whose parent has ended, or is not shown, is not lost', () => {
  expect(grow([job('left over', 'gone')]).map((one) => one.job.id)).toEqual(['left over']);
});
