// What is in a folder, fetched part by part as it comes into view.
import { api, ask, Refused, type Schemas } from '$lib/api/client';
import { tellRefusal } from '$lib/notices.svelte';
import { filtersOf, narrowingOf, type Narrowing } from './narrowing';

export type Item = Omit<Schemas['DatasetRow'], 'excerpt'>;
export type SortBy = 'sort_order' | 'document_date' | 'name' | 'created_at';
const PART = 100;
/** How many parts on either side of what is in view are kept; of a long folder, the others are fetched again. */
const AROUND = 3;
const FIELDS = {
  sort_order: null,
  name: 'document.name',
  document_date: 'document.date_iso',
  created_at: 'document.created_at',
} as const;

export class Listing {
  total = $state(0);
  ready = $state(false);
  gone = $state(false);
  folder = $state.raw<Item | null>(null);
  ancestors = $state.raw<Item[]>([]);
  private parts = $state.raw<ReadonlyMap<number, Item[]>>(new Map());
  private readonly asked = new Map<number, Promise<void>>();
  private round = 0;
  readonly filters: Schemas['Filter'][];

  constructor(
    readonly id: string | null,
    readonly sortBy: SortBy,
    readonly descending: boolean,
    /** Of all folders in it, only what fits is listed. */
    readonly narrowing: Narrowing = narrowingOf(new URLSearchParams()),
  ) {
    this.filters = filtersOf(narrowing);
    // Not while the view is being worked out, which may not change anything.
    queueMicrotask(() => void this.reload());
  }

  at = (index: number): Item | undefined => this.parts.get(Math.floor(index / PART))?.[index % PART];
  /** What is here of the things with these ids. */
  those = (ids: ReadonlySet<string>): Item[] =>
    [...this.parts.values()].flatMap((part) => part.filter((one) => ids.has(one.id)));

  /** See that the things from *first* up to *last* are fetched, and let go of what is far from them and not *selected*. */
  need(first: number, last: number, selected: ReadonlySet<string>): void {
    this.fetch(first, last).catch(tellRefusal);
    const [from, to] = [first, last].map((index) => Math.floor(index / PART)) as [number, number];
    const isNear = (part: number) => part >= from - AROUND && part <= to + AROUND;
    this.keep((part, items) => isNear(part) || items.some((one) => selected.has(one.id)));
  }

  private keep(wanted: (part: number, items: Item[]) => boolean): void {
    const dropped = [...this.parts].filter((one) => !wanted(...one)).map(([part]) => part);
    if (dropped.length === 0) return;
    for (const part of dropped) this.asked.delete(part);
    this.parts = new Map([...this.parts].filter(([part]) => !dropped.includes(part)));
  }

  /** The things from *first* up to *last*, wherever they are. */
  async range(first: number, last: number): Promise<Item[]> {
    await this.fetch(first, last);
    const found = Array.from({ length: last - first + 1 }, (_, index) => this.at(first + index));
    return found.filter((one) => one !== undefined);
  }

  private async fetch(first: number, last: number): Promise<void> {
    const parts = [];
    for (let part = Math.floor(first / PART); part <= last / PART && part * PART < this.total; part++)
      parts.push(this.asked.get(part) ?? this.fetchPart(part));
    await Promise.all(parts);
  }

  /** Fetch again what was fetched; what is shown stays until the new answer is there. */
  async reload(): Promise<void> {
    const round = ++this.round;
    const parts = this.asked.size > 0 ? [...this.asked.keys()] : [0];
    this.asked.clear();
    try {
      if (this.id !== null) await this.fetchFolder(this.id);
      for (const part of parts) {
        if (round !== this.round) return;
        await this.fetchPart(part);
      }
      this.keep((part) => this.asked.has(part));
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

  private fetchPart(part: number): Promise<void> {
    const query = {
      ...(this.id === null ? {} : { parent_id: this.id }),
      limit: PART,
      offset: part * PART,
    };
    const asked = this.ask(query).then((answer) => {
      // Meanwhile out of sight again, or asked for anew.
      if (this.asked.get(part) !== asked) return;
      this.parts = new Map([...this.parts, [part, answer.items]]);
      this.total = answer.total;
    });
    this.asked.set(part, asked);
    return asked;
  }

  private async ask(query: { parent_id?: string; limit: number; offset: number }) {
    const direction = this.descending ? ('desc' as const) : ('asc' as const);
    if (this.filters.length === 0) {
      const sorted = { ...query, sort_by: this.sortBy, sort_direction: direction };
      return ask(api.GET('/api/documents', { params: { query: sorted } }));
    }
    const attr = FIELDS[this.sortBy];
    const type = this.sortBy === 'document_date' ? ('date' as const) : ('text' as const);
    const { rows, total } = await ask(
      api.POST('/api/documents/dataset/query', {
        body: {
          ...query,
          recursive: true,
          attributed_only: false,
          facets: [],
          filters: this.filters,
          ...(attr && { sort: { attr, type, direction } }),
        },
      }),
    );
    return { items: rows, total };
  }
}
