import { expect, test } from 'vitest';
import { en } from './en';
import { es } from './es';

const holes = (sentence: string) => [...sentence.matchAll(/\{\w+\}/g)].map(String).sort();

test.each(Object.entries(en))('%s has the same blanks in every language', (key, sentence) => {
  expect(holes(es[key as keyof typeof en])).toEqual(holes(sentence));
});
