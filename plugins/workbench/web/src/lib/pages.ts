// The pages of a folder or of the whole project, in their order, with all folders below; and the lines of one.
import { api, ask } from './api/client';

export interface PageName {
  id: string;
  name: string;
  folder: string | null;
  pictured: boolean;
}
const PART = 500;

/** The pages at or below *folder* (empty: everywhere), at most *most*; `total` counts all. */
export async function pagesOf(folder: string, most: number): Promise<{ pages: PageName[]; total: number }> {
  const pages: PageName[] = [];
  let total: number;
  do {
    const filters = [{ attr: 'document.file_type', op: 'eq' as const, value: 'image' }];
    const limit = Math.min(PART, most - pages.length);
    const body = { recursive: true, parent_id: folder || null, filters, limit, offset: pages.length };
    const found = await ask(api.POST('/api/documents/dataset/query', { body }));
    total = found.total;
    if (found.rows.length === 0) break;
    pages.push(
      ...found.rows.map((one) => ({
        id: one.id,
        name: one.name,
        folder: one.parent_id,
        pictured: one.has_thumbnail,
      })),
    );
  } while (pages.length < Math.min(total, most));
  return { pages: byFolder(pages.slice(0, most)), total };
}

/** The pages of each folder together, in the order in which the folders come first. */
export const byFolder = <T extends Pick<PageName, 'folder'>>(pages: T[]): T[] =>
  [...new Set(pages.map((one) => one.folder))].flatMap((folder) =>
    pages.filter((one) => one.folder === folder),
  );

/** A line, where it stands in the text of its page. */
export interface PlacedLine {
  document: string;
  segment: string;
  text: string;
  start: number;
  end: number;
}

/** The lines of the text that counts of a page. */
export async function linesOfPage(document: string): Promise<PlacedLine[]> {
  const params = { path: { document_id: document } };
  const { text, spans } = await ask(api.GET('/api/segments/document/{document_id}/text', { params }));
  const characters = Array.from(text);
  return spans.map(({ segment_id: segment, char_start: start, char_end: end }) => ({
    document,
    segment,
    text: characters.slice(start, end).join(''),
    start,
    end,
  }));
}
