// The pages before and after one, in the order of its folder.
import { api, ask, type Schemas } from '$lib/api/client';

const PART = 1000;

export async function neighbours(
  document: Schemas['Document'],
): Promise<{ before: string | null; after: string | null }> {
  let before: string | null = null;
  for (let offset = 0; ; offset += PART) {
    const query = { limit: PART, offset, ...(document.parent_id ? { parent_id: document.parent_id } : {}) };
    const found = await ask(api.GET('/api/documents', { params: { query } }));
    const pages = found.items.filter((one) => one.doc_type !== 'folder');
    const at = pages.findIndex((one) => one.id === document.id);
    if (at >= 0) {
      const after = pages[at + 1]?.id ?? null;
      return { before: pages[at - 1]?.id ?? before, after };
    }
    before = pages.at(-1)?.id ?? before;
    if (found.items.length < PART) return { before: null, after: null };
  }
}
