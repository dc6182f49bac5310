// Which things of a folder are selected: one by one, as a range, all.
import { SvelteSet } from 'svelte/reactivity';
import { tellRefusal } from '$lib/notices.svelte';
import type { Item, Listing } from './listing.svelte';

export class Selection {
  readonly ids = new SvelteSet<string>();
  private last = -1;

  toggle(listing: Listing, index: number, range: boolean): void {
    const one = listing.at(index);
    if (!one) return;
    if (range && this.last >= 0) this.add(listing, Math.min(this.last, index), Math.max(this.last, index));
    else if (!this.ids.delete(one.id)) this.ids.add(one.id);
    this.last = index;
  }

  all = (listing: Listing) => this.add(listing, 0, listing.total - 1);

  private add(listing: Listing, first: number, last: number): void {
    const select = (items: Item[]) => items.forEach((one) => this.ids.add(one.id));
    listing.range(first, last).then(select).catch(tellRefusal);
  }

  clear(): void {
    this.ids.clear();
    this.last = -1;
  }
}
