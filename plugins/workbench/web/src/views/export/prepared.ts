// Exports that the engine makes as one file: first what it could not carry, then the file for the browser to save.
import { address, api, ask, type Schemas } from '$lib/api/client';

export type Wanted = Schemas['DownloadParams'];
export type Prepared = Schemas['PreparedExportWritten'];

export const prepare = (body: Wanted): Promise<Prepared> => ask(api.POST('/api/export/downloads', { body }));

export const addressOf = (one: Prepared): string => address(`/api/export/downloads/${one.id}`);
