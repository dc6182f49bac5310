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

/** Parts of at most 40 files or 64 MiB, in the order of names; a picture and its layout file stay together. */
export function inParts(given: Given[]): Given[][] {
  const sorted = [...given].sort((a, b) => a.path.localeCompare(b.path, undefined, { numeric: true }));
  const parts: Given[][] = [];
  let part: Given[] = [];
  let size = 0;
  for (const one of sorted) {
    const full = part.length >= MOST_FILES || size + one.file.size > MOST_BYTES;
    const last = part.at(-1);
    if (last && full && stem(last.path) !== stem(one.path)) {
      parts.push(part);
      part = [];
      size = 0;
    }
    part.push(one);
    size += one.file.size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
