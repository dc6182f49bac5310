import { svelte } from '@sveltejs/vite-plugin-svelte';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'vite';
import { expect, test } from 'vitest';
import { en } from './en';
import { chooseLanguage, ofEngine, partsOf, type Language } from './index.svelte';

const others = import.meta.glob<Language>('./languages/*.ts', { eager: true });

const holes = (sentence: string) => [...sentence.matchAll(/\{\w+\}/g)].map(String).sort();

test('every sentence has the same blanks in every language', () => {
  for (const [file, { catalogue }] of Object.entries(others))
    for (const [key, sentence] of Object.entries(en))
      expect(holes(catalogue[key as keyof typeof en]), `${file}: ${key}`).toEqual(holes(sentence));
});

test('a third language is one file, which is offered by its name and leaves what the engine says in English', async () => {
  const folder = mkdtempSync(join(import.meta.dirname, '../../../.i18n-'));
  const server = await createServer({
    configFile: false,
    logLevel: 'error',
    plugins: [svelte()],
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    cpSync(import.meta.dirname, folder, { recursive: true });
    writeFileSync(
      join(folder, 'languages/la.ts'),
      "import { en } from '../en';\nexport const name = 'Latina';\nexport const catalogue = { ...en, 'app.save': 'Serva' };\n",
    );
    const own = (await server.ssrLoadModule(
      join(folder, 'index.svelte.ts'),
    )) as typeof import('./index.svelte');
    const { languages, chooseLanguage, t, partsOf } = own;
    expect(languages.map(({ code, name }) => `${code} ${name}`).sort()).toEqual([
      'en English',
      'es Español',
      'la Latina',
    ]);
    await chooseLanguage('la', false);
    expect(t('app.save')).toBe('Serva');
    expect(partsOf('There is nothing to do.')).toEqual([{ text: 'There is nothing to do.', lang: 'en' }]);
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}, 60_000);

test('a sentence of the engine is said in the chosen language, with the names that are in it as they are', async () => {
  const said = 'Sent 0001.jpg, 0002.jpg, 0003.jpg and 5 more to the Trash';
  expect(ofEngine(said)).toBe(said);
  await chooseLanguage('es', false);
  expect(ofEngine(said)).toBe('Se tiró a la papelera 0001.jpg, 0002.jpg, 0003.jpg y 5 más');
  expect(ofEngine('Corrected a line of a page')).toBe('Se corrigió una línea de una página');
  expect(ofEngine('Imported a (1).jpg')).toBe('Se importó a (1).jpg');
  expect(ofEngine('Imported Search')).toBe('Se importó Search');
  expect(ofEngine('Something that a plugin did')).toBe('Something that a plugin did');
  await chooseLanguage('en', false);
});

test('a sentence within a sentence is translated, and what has no translation is marked as English', async () => {
  const unknown = 'The moon is made of cheese.';
  expect(partsOf(unknown)).toEqual([{ text: unknown }]);
  await chooseLanguage('es', false);
  expect(partsOf(unknown)).toEqual([{ text: unknown, lang: 'en' }]);
  expect(partsOf(`Nothing to do. ${unknown}`)).toEqual([
    { text: 'No hay nada que hacer.' },
    { text: unknown, lang: 'en' },
  ]);
  expect(ofEngine('“page” is in the Trash. Restore it first, then try again.')).toBe(
    '«page» está en la papelera. Restáurelo antes y vuelva a intentarlo.',
  );
  expect(
    ofEngine(
      'There is no reading order 7 in this project. The reading orders of its page have the right one.',
    ),
  ).toBe(
    'En este proyecto no hay ningún orden de lectura 7. Los órdenes de lectura de su página tienen el correcto.',
  );
  expect(ofEngine('A workspace has at most 10,000 members. Remove some first.')).toMatch(/10.000 miembros/);
  expect(ofEngine('a.jpg: It is empty (0 bytes). Copy it again from the original.')).toBe(
    'a.jpg: Está vacío (0 bytes). Cópielo otra vez del original.',
  );
  expect(ofEngine("body.look: Input should be 'grid', 'list' or 'table'. And 2 more.")).toBe(
    "body.look: debe ser 'grid', 'list' o 'table'. Y 2 más.",
  );
  expect(ofEngine('document.create: name: String should have at least 1 character.')).toBe(
    'document.create: name: el texto debe tener al menos 1 carácter.',
  );
  expect(ofEngine('2 dates: 1741, 1742')).toBe('2 fechas: 1741, 1742');
  expect(ofEngine('Find names: Base model for hands')).toBe('Buscar nombres: Modelo base para manos');
  expect(
    ofEngine(
      'No page could be checked. The first failed: box refused the key (401). Give it a key that is valid for this model.',
    ),
  ).toBe(
    'No se pudo revisar ninguna página. La primera falló: box rechazó la clave (401). Póngale una clave que valga para este modelo.',
  );
  expect(ofEngine('box is overloaded (529); try again later. Tried again in 24 seconds.')).toBe(
    'box está saturado (529); vuelva a intentarlo más tarde. Se intentará de nuevo en 24 segundos.',
  );
  expect(ofEngine('Has been waiting for an answer from box for 40 seconds.')).toBe(
    'Espera una respuesta de box desde hace 40 segundos.',
  );
  expect(ofEngine('Find names: my-model 2')).toBe('Buscar nombres: my-model 2');
  expect(ofEngine('Read pages with Kraken: 12r, Wills: 1832')).toBe(
    'Leer páginas con Kraken: 12r, Wills: 1832',
  );
  expect(
    ofEngine('Already done on 28 of 28 pages. 27 pages were transcribed as pictured and stay whole.'),
  ).toBe('Ya hecho en 28 de 28 páginas. Transcritas tal como se ven: 27 páginas; quedan enteras.');
  await chooseLanguage('en', false);
});

test('a sentence of the engine has the same blanks in every language, or numbers those that it moves or leaves out', () => {
  const blanks = (sentence: string) => sentence.match(/\{\}/g)?.length ?? 0;
  const parts = Object.values(others).flatMap(({ engine }) => Object.values(engine ?? {}));
  for (const [english, own] of parts.flatMap((part) => Object.entries(part))) {
    const numbered = [...own.matchAll(/\{(\d)\}/g)].map(([, at]) => Number(at));
    if (numbered.length === 0 && blanks(own) === blanks(english)) continue;
    expect(Math.max(...numbered, 0), english).toBeLessThanOrEqual(blanks(english));
    expect(numbered.length > 0 && blanks(own) > 0, english).toBe(false);
    expect(blanks(own), english).toBeLessThanOrEqual(blanks(english));
  }
});
