// The pages before and after one, in the order of its folder.
import { api, ask } from '$lib/api/client';

export interface Around {
  before: string | null;
  after: string | null;
}

export async function neighbours(document: string): Promise<Around> {
  const params = { path: { doc_id: document } };
  const found = await ask(api.GET('/api/documents/{doc_id}/neighbours', { params }));
  return { before: found.before_id, after: found.after_id };
}
