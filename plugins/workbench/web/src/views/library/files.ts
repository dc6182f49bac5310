// Files that a person drops or chooses, with the folders they lie in, in parts that one request can carry.

export interface Given {
  path: string;
  file: File;
}
/** Opens the browser's dialog for files, or for a folder. */
export interface Choose {
  files: () => void;
  folder: () => void;
}

const HIDDEN = /(^|\/)(\.|Thumbs\.db$|__MACOSX\/)/;
const MOST_FILES = 40;
const MOST_BYTES = 64 * 1024 * 1024;

async function walk(entry: FileSystemEntry, into: Given[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, '');
  if (HIDDEN.test(path)) return;
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    into.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives at most a hundred at a time, and none when there are no more.
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return;
    for (const one of some) await walk(one, into);
  }
}

/** The files of what was dropped, with what lies in dropped folders. */
export async function dropped(data: DataTransfer): Promise<Given[]> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  // Some programs hand over files that lie in no folder the browser may look into.
  if (entries.length === 0) return chosen(data.files);
  const found: Given[] = [];
  for (const entry of entries) await walk(entry, found);
  return found;
}

export const chosen = (files: FileList): Given[] =>
  [...files]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .filter((one) => !HIDDEN.test(one.path));

const stem = (path: string) => path.replace(/\.[^./]*$/, '');

const LETTERS = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const words = (name: string) => name.replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim();

/** Folder by folder as the engine sorts names: without case, accents and punctuation, numbers by value, ties as written. */
function comparePaths(one: string, other: string): number {
  const others = other.split('/');
  for (const [depth, name] of one.split('/').entries()) {
    const beside = others[depth] ?? '';
    if (name !== beside) return LETTERS.compare(words(name), words(beside)) || (name < beside ? -1 : 1);
  }
  return 0;
}

/** Parts of at most 40 files or 64 MiB, in the order of names; a picture and its layout file stay together. */
export function inParts(given: Given[]): Given[][] {
  const together = new Map<string, Given[]>();
  for (const one of [...given].sort((a, b) => comparePaths(a.path, b.path))) {
    const key = stem(one.path);
    together.set(key, [...(together.get(key) ?? []), one]);
  }
  const parts: Given[][] = [];
  let part: Given[] = [];
  let size = 0;
  for (const files of together.values()) {
    const more = files.reduce((sum, one) => sum + one.file.size, 0);
    if (part.length > 0 && (part.length >= MOST_FILES || size + more > MOST_BYTES)) {
      parts.push(part);
      part = [];
      size = 0;
    }
    part.push(...files);
    size += more;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
