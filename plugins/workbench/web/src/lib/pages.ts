// The pages of a folder or of the whole project, in their order, with all folders below.
import { api, ask } from './api/client';

export interface PageName {
  id: string;
  name: string;
  folder: string | null;
}
const PART = 500;

/** The pages at or below *folder* (empty: everywhere), at most *most*; `total` counts all. */
export async function pagesOf(folder: string, most: number): Promise<{ pages: PageName[]; total: number }> {
  const pages: PageName[] = [];
  let total: number;
  do {
    const filters = [{ attr: 'document.file_type', op: 'eq' as const, value: 'image' }];
    const body = { recursive: true, parent_id: folder || null, filters, limit: PART, offset: pages.length };
    const found = await ask(api.POST('/api/documents/dataset/query', { body }));
    total = found.total;
    if (found.rows.length === 0) break;
    pages.push(...found.rows.map(({ id, name, parent_id }) => ({ id, name, folder: parent_id })));
  } while (pages.length < Math.min(total, most));
  return { pages: byFolder(pages.slice(0, most)), total };
}

/** The pages of each folder together, in the order in which the folders come first. */
export const byFolder = <T extends Pick<PageName, 'folder'>>(pages: T[]): T[] =>
  [...new Set(pages.map((one) => one.folder))].flatMap((folder) =>
    pages.filter((one) => one.folder === folder),
  );
