// Exports that the engine makes as one file: first what it could not carry, then the file for the browser to save.
import { address, api, ask, type Schemas } from '$lib/api/client';

export type Wanted = Schemas['DownloadParams'];
export type Prepared = Schemas['PreparedExport'];

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
  let pages = 0;
  for (const parent_id of scope_ids.length > 0 ? scope_ids : [undefined]) {
    const query = { limit: 1, ...(parent_id ? { parent_id } : {}) };
    pages += (await ask(api.GET('/api/segments/coverage', { params: { query } }))).total;
    if (pages >= MANY) return true;
  }
  return false;
}

export const addressOf = (one: Prepared): string => address(`/api/export/downloads/${one.id}`);
