// Which things of a folder are selected: one by one, as a range, all.
import { SvelteSet } from 'svelte/reactivity';
import type { Listing } from './listing.svelte';

export class Selection {
  readonly ids = new SvelteSet<string>();
  private last = -1;

  toggle(listing: Listing, index: number, range: boolean): void {
    const one = listing.at(index);
    if (!one) return;
    if (range && this.last >= 0) {
      const [from, to] = [Math.min(this.last, index), Math.max(this.last, index)];
      for (let i = from; i <= to; i++) {
        const between = listing.at(i);
        if (between) this.ids.add(between.id);
      }
    } else if (!this.ids.delete(one.id)) this.ids.add(one.id);
    this.last = index;
  }

  all(listing: Listing): void {
    for (const one of listing.loaded) this.ids.add(one.id);
  }

  clear(): void {
    this.ids.clear();
    this.last = -1;
  }
}
