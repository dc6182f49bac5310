// What kinds of things there are in the library, and where each opens.
import { link } from '$lib/router.svelte';
import type { Item } from './listing.svelte';

/** Whether it opens as a folder does: it holds others, or could. */
export const isContainer = (one: Item) =>
  one.doc_type === 'folder' || one.doc_type === 'group' || (one.child_count > 0 && !one.has_thumbnail);

export const addressOf = (one: Item) => link(isContainer(one) ? 'library' : 'page', one.id);
