// What is in a folder, fetched part by part as it comes into view.
import { api, ask, Refused, type Schemas } from '$lib/api/client';
import { tellRefusal } from '$lib/notices.svelte';

export type Item = Schemas['Document'];
export type SortBy = 'sort_order' | 'document_date' | 'name' | 'created_at';
const PART = 100;

export class Listing {
  total = $state(0);
  ready = $state(false);
  gone = $state(false);
  folder = $state.raw<Item | null>(null);
  ancestors = $state.raw<Item[]>([]);
  private items = $state.raw<(Item | undefined)[]>([]);
  private asked = new Set<number>();
  private round = 0;

  constructor(
    readonly id: string | null,
    readonly sortBy: SortBy,
    readonly descending: boolean,
  ) {
    // Not while the view is being worked out, which may not change anything.
    queueMicrotask(() => void this.reload());
  }

  at = (index: number): Item | undefined => this.items[index];
  get loaded(): Item[] {
    return this.items.filter((one) => one !== undefined);
  }
  indexOf = (id: string): number => this.items.findIndex((one) => one?.id === id);

  /** See that the things from *first* up to *last* are fetched. */
  need(first: number, last: number): void {
    for (let part = Math.floor(first / PART); part <= Math.floor(last / PART); part++)
      if (part * PART < this.total && !this.asked.has(part)) void this.fetchPart(part).catch(tellRefusal);
  }

  /** Fetch again what was fetched; what is shown stays until the new answer is there. */
  async reload(): Promise<void> {
    const round = ++this.round;
    const parts = this.asked.size > 0 ? [...this.asked] : [0];
    this.asked = new Set();
    try {
      if (this.id !== null) await this.fetchFolder(this.id);
      const kept = this.items;
      this.items = [];
      for (const part of parts) {
        if (round !== this.round) return;
        await this.fetchPart(part, kept);
      }
      this.ready = true;
    } catch (reason) {
      if (reason instanceof Refused && reason.status === 404) this.gone = true;
      else tellRefusal(reason);
    }
  }

  private async fetchFolder(id: string): Promise<void> {
    const params = { path: { doc_id: id }, query: { children: false, attachments: false } };
    const view = await ask(api.GET('/api/documents/{doc_id}/view', { params }));
    this.folder = view.document;
    this.ancestors = view.ancestors;
  }

  private async fetchPart(part: number, kept: (Item | undefined)[] = this.items): Promise<void> {
    this.asked.add(part);
    const query = {
      ...(this.id === null ? {} : { parent_id: this.id }),
      sort_by: this.sortBy,
      sort_direction: this.descending ? ('desc' as const) : ('asc' as const),
      limit: PART,
      offset: part * PART,
    };
    const answer = await ask(api.GET('/api/documents', { params: { query } }));
    const next = kept === this.items ? [...this.items] : kept.slice(0, answer.total);
    next.length = answer.total;
    answer.items.forEach((one, index) => (next[part * PART + index] = one));
    this.items = next;
    this.total = answer.total;
  }
}
