import { expect, test } from 'vitest';
import { toAnswers, type Language } from './recipe';

const language = (code: string, script: string) => ({ code, script, name: code }) as Language;

test('the scripts are those of the languages, each once, and what was set elsewhere stays', () => {
  const told = {
    materials: ['handwriting' as const],
    languages: [language('fr', 'Latn'), language('la', 'Latn'), language('ar', 'Arab')],
    purposes: ['transcribe'],
    cloud: false,
  };
  const before = { languages: ['es'], purposes: ['search'], scripts: ['Latn'], memory_gb: 8 };
  expect(toAnswers(told, before)).toEqual({
    materials: ['handwriting'],
    languages: ['fr', 'la', 'ar'],
    scripts: ['Latn', 'Arab'],
    purposes: ['transcribe'],
    cloud_allowed: false,
    memory_gb: 8,
  });
});
