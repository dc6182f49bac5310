// What is done to things of the library. Each is one step that can be undone.
import { api, ask, type Schemas } from '$lib/api/client';
import { tn } from '$lib/i18n/index.svelte';
import { tellUndoable } from '$lib/steps.svelte';
import type { Item } from './listing.svelte';

export const makeFolder = (name: string, parent: string | null) =>
  ask(api.POST('/api/documents', { body: { name, parent_id: parent, doc_type: 'folder' } }));

export const change = (one: Item, body: Schemas['UpdateBody']) =>
  ask(api.PATCH('/api/documents/{doc_id}', { params: { path: { doc_id: one.id } }, body }));

export async function star(items: Item[], on: boolean): Promise<void> {
  for (const one of items) if (one.is_starred !== on) await change(one, { is_starred: on });
}

export async function trash(ids: string[]): Promise<void> {
  const done = await ask(api.POST('/api/documents/delete', { body: { ids } }));
  tellUndoable(tn('trash.sent', ids.length), [done.audit_id]);
}

const TAGS = 'tags';
export const tagsOf = (one: Item): string[] => {
  const tags = one.attributes[TAGS];
  return Array.isArray(tags) ? tags.map(String) : [];
};

export async function tag(items: Item[], name: string): Promise<void> {
  for (const one of items) {
    const tags = tagsOf(one);
    if (!tags.includes(name))
      await change(one, { attributes: { ...one.attributes, [TAGS]: [...tags, name] } });
  }
}
