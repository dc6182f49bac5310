// Exports that the engine makes as one file: first what it could not carry, then the file for the browser to save.
import { address, api, ask, type Schemas } from '$lib/api/client';

export type Wanted = Schemas['DownloadParams'];
export type Prepared = Schemas['PreparedExport'];

/** Formats of text to be read. */
export const TEXTS = ['word', 'pdf', 'markdown', 'plain-text'] as const;
/** Formats of which one file can have many pages. */
export const JOINED = [...TEXTS, 'tei'] as const;

/** From this many pages on, an export is made in the background. */
const MANY = 100;

export const prepare = (body: Wanted): Promise<Prepared> => ask(api.POST('/api/export/downloads', { body }));

/** Have it made as a job, whose id this is. */
export const prepareLater = async (body: Wanted): Promise<string> =>
  (await ask(api.POST('/api/export/downloads/start', { body }))).job_id;

/** What can be saved now, the newest first. */
export const preparedNow = async (): Promise<Prepared[]> =>
  (await ask(api.GET('/api/export/downloads'))).exports;

/** Whether it covers so many pages that nobody should wait for an answer. */
export async function isLarge({ scope_ids = [] }: Wanted): Promise<boolean> {
  if (scope_ids.length >= MANY) return true;
  const counted = (scope_ids.length > 0 ? scope_ids : [undefined]).map(async (parent_id) => {
    const query = { limit: 1, ...(parent_id ? { parent_id } : {}) };
    return (await ask(api.GET('/api/segments/coverage', { params: { query } }))).total;
  });
  return (await Promise.all(counted)).reduce((sum, pages) => sum + pages, 0) >= MANY;
}

export const addressOf = (one: Prepared): string => address(`/api/export/downloads/${one.id}`);
