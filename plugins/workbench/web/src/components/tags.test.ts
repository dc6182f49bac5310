import { expect, test } from 'vitest';
import { isSpecial, tagOf } from './tags';

const known = [
  { tag: 'es', name: 'español' },
  { tag: 'fr', name: 'francés' },
  { tag: 'Latn', name: 'latino' },
];

test('a language or script is meant by its tag or by its name, whatever its accents and case', () => {
  expect(tagOf('es', known)).toBe('es');
  expect(tagOf('FR', known)).toBe('fr');
  expect(tagOf('Frances', known)).toBe('fr');
  expect(tagOf('latn', known)).toBe('Latn');
});

test('what follows the tag of a known language stays', () => {
  expect(tagOf('es-PE', known)).toBe('es-PE');
  expect(tagOf('fr-Latf-1606nict', known)).toBe('fr-Latf-1606nict');
  expect(tagOf('spa', known)).toBe('spa');
});

test('nonsense is no tag', () => {
  for (const typed of ['esp', 'es PE', 'es-', 'spanish!', 'xx', 'es-waytoolongsubtag'])
    expect(tagOf(typed, known)).toBeNull();
});

test('tags for private use, and for what has none, are taken as they are', () => {
  for (const tag of ['qaa', 'und', 'mul', 'x-old', 'zxx']) expect(isSpecial('language', tag)).toBe(true);
  for (const code of ['Qaaa', 'Qabx', 'Zyyy']) expect(isSpecial('script', code)).toBe(true);
  expect(isSpecial('language', 'quechua')).toBe(false);
});
