// The answers of the assistant, and the recipe that the engine makes of them.
import { api, ask, type Schemas } from '$lib/api/client';

export type Answers = Schemas['Answers'];
export type Language = Schemas['LanguageAnswer'];
export type Material = NonNullable<Answers['materials']>[number];
export const MATERIALS: Material[] = ['handwriting', 'print', 'typescript', 'text'];

export interface Told {
  materials: Material[];
  languages: Language[];
  purposes: string[];
  cloud: boolean;
}

/** What the engine is told. The scripts are those in which the languages are written. */
export const toAnswers = (told: Told, before: Answers | null): Answers => ({
  ...(before ?? {}),
  materials: told.materials,
  languages: told.languages.map((one) => one.code ?? '').filter(Boolean),
  scripts: [...new Set(told.languages.map((one) => one.script).filter((one) => one !== null))],
  purposes: told.purposes,
  cloud_allowed: told.cloud,
});

/** The answers as the assistant shows them. */
export async function fromAnswers(answers: Answers): Promise<Told> {
  const look = async (q: string) =>
    (await ask(api.GET('/api/recipes/languages', { params: { query: { q, limit: 1 } } }))).items[0];
  const languages = await Promise.all(answers.languages.map(look));
  return {
    materials: answers.materials ?? [],
    languages: languages.filter((one) => one !== undefined),
    purposes: answers.purposes,
    cloud: answers.cloud_allowed ?? false,
  };
}

export const assemble = (answers: Answers) => ask(api.POST('/api/recipes/assemble', { body: answers }));

/** Save the answers with the recipe made of them; nothing runs until Start. */
export async function save(answers: Answers): Promise<void> {
  const { recipe } = await assemble(answers);
  await ask(api.PUT('/api/recipes/project', { body: { answers, recipe } }));
}
