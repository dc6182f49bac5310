// In which folders pages lie: asked for many pages at once, and written so short that both ends can be read.
import { api, ask, type Schemas } from './api/client';

export type Located = Schemas['DocumentFolders'];
/** So many are asked about at once. */
const PART = 500;
let wanted = new Map<string, (found: Located | null) => void>();
let known = new Map<string, Promise<Located | null>>();

/** Where a page lies; null where that is not known. What is asked before the next turn is one question. */
export function locate(document: string): Promise<Located | null> {
  const asked = known.get(document);
  if (asked) return asked;
  if (wanted.size === 0) setTimeout(askForAll);
  const found = new Promise<Located | null>((answer) => wanted.set(document, answer));
  known.set(document, found);
  return found;
}

async function askForAll(): Promise<void> {
  const all = [...wanted];
  wanted = new Map();
  // Kept while the question is on its way only: folders are renamed, and pages moved.
  known = new Map();
  for (let from = 0; from < all.length; from += PART) {
    const part = new Map(all.slice(from, from + PART));
    const body = { document_ids: [...part.keys()] };
    const found = await ask(api.POST('/api/documents/folders-above', { body })).then(
      ({ items }) => new Map(items.map((one) => [one.document_id, one])),
      () => new Map<string, Located>(),
    );
    for (const [id, answer] of part) answer(found.get(id) ?? null);
  }
}

const LONGEST_NAME = 28;
const FIRST_AND_LAST = 3;

/** A name with its beginning and its end, which tell “Letters 1741” from “Letters 1742”. */
const shortName = (name: string) => {
  const letters = Array.from(name);
  const half = LONGEST_NAME / 2 - 1;
  return letters.length <= LONGEST_NAME
    ? name
    : `${letters.slice(0, half).join('')}…${letters.slice(-half).join('')}`;
};

/** The first folder and the last two, each with both ends of its name. */
export function shortPath(folders: readonly string[]): string[] {
  const shown =
    folders.length <= FIRST_AND_LAST ? [...folders] : [folders[0] ?? '', '…', ...folders.slice(-2)];
  return shown.map(shortName);
}
