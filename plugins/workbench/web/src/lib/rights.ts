// Rights records and locks: what applies to a document, and who is meant by a reader's id.
import { api, ask, type Schemas } from './api/client';

export type Standing = Schemas['StandingRecord'];
export type ModelUse = NonNullable<Standing['model_use']>;
export const MODEL_USES: ModelUse[] = ['none', 'local', 'cloud'];
export interface Reader {
  id: string;
  name: string;
}

/** The records in force; of one document, or all. */
export async function recordsOf(document: string | null): Promise<Standing[]> {
  const { items } = await ask(api.GET('/api/rights', { params: { query: { limit: 1000 } } }));
  return document === null ? items : items.filter((one) => one.document_id === document);
}

/** Devices and programs that can be named as readers; only the owner knows them. */
export async function readersKnown(): Promise<Reader[]> {
  const { items } = await ask(api.GET('/api/tokens', { params: { query: { limit: 200 } } }));
  return items.filter((one) => !one.revoked && one.kind !== 'session').map(({ id, name }) => ({ id, name }));
}

export const setRights = (body: Schemas['SetParams']) => ask(api.POST('/api/rights', { body }));

export const withdraw = (id: string) =>
  ask(api.POST('/api/rights/{record_id}/withdraw', { params: { path: { record_id: id } } }));

export const setLock = (id: string, locked: boolean) =>
  ask(api.PUT('/api/documents/{doc_id}/lock', { params: { path: { doc_id: id } }, body: { locked } }));
