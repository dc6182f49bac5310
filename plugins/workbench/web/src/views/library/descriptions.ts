// Descriptions of documents as a table: the file that is sent, and what came of it.
import { api, ask, type Schemas } from '$lib/api/client';

export type Plan = Schemas['MetadataPlan'];
export type Asked = Schemas['MetadataParams'];

/** The bytes of a file in base 64. */
export const encode = (file: File): Promise<string> =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done((reader.result as string).replace(/^[^,]*,/, ''));
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(file);
  });

export const planOf = (body: Asked): Promise<Plan> => ask(api.POST('/api/documents/metadata/plan', { body }));

/** Take the table in; the step by which it was done. */
export const take = async (body: Asked): Promise<string> =>
  (await ask(api.POST('/api/documents/metadata', { body }))).audit_id;
