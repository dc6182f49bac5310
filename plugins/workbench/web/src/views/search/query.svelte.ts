// A search as one types: the newest question wins, earlier ones are given up.
import { api, ask, Refused, type Schemas } from '$lib/api/client';
import { tellRefusal } from '$lib/notices.svelte';

export const SORTS = ['relevance', 'date', 'name'] as const;
export interface Asked {
  query: string;
  fuzzy: boolean;
  folder: string;
  from: string;
  to: string;
  sort: (typeof SORTS)[number];
}
const PART = 20;
const PAUSE_MS = 140;

/** A year, a month or a day: what the engine narrows by. A date that is still being typed is none. */
export const isDate = (text: string): boolean => /^-?\d{4}(-\d\d(-\d\d)?)?$/.test(text.trim());
const dateOf = (text: string) => (isDate(text) ? text.trim() : null);

export const filtersOf = (asked: Asked): Schemas['Filters'] => ({
  parent_id: asked.folder || null,
  date_from: dateOf(asked.from),
  date_to: dateOf(asked.to),
});

const request = (asked: Asked, offset: number, signal?: AbortSignal, limit = PART) =>
  ask(
    api.POST('/api/search', {
      ...(signal ? { signal } : {}),
      body: {
        query: asked.query,
        use_fuzzy_match: asked.fuzzy,
        filters: filtersOf(asked),
        sort_by: asked.sort,
        sort_direction: asked.sort === 'relevance' ? 'desc' : 'asc',
        limit,
        offset,
      },
    }),
  );
export type Found = Awaited<ReturnType<typeof request>>;
export type Hit = Found['results'][number];
export const foldersOf = (hit: Hit): string[] => (hit.metadata['folders'] ?? []) as string[];

/** So many pages one file can have. */
export const MOST_FOUND = 10_000;

/** All pages that are found; where they are more than one file can have, some more than that. */
export async function allFound(asked: Asked): Promise<string[]> {
  const ids: string[] = [];
  for (let more = true; more && ids.length <= MOST_FOUND;) {
    const { results, has_more } = await request(asked, ids.length, undefined, 100);
    ids.push(...results.map((one) => one.document_id));
    more = has_more && results.length > 0;
  }
  return ids;
}

export class Search {
  answer = $state.raw<Found | null>(null);
  hits = $state.raw<Hit[]>([]);
  busy = $state(false);
  /** Why what is asked cannot be searched, in the engine's words. */
  refused = $state<string | null>(null);
  private asked: Asked | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: AbortController | null = null;

  /** Ask after a short pause in typing. */
  soon(asked: Asked): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.now(asked), PAUSE_MS);
  }

  async now(asked: Asked): Promise<void> {
    clearTimeout(this.timer);
    this.running?.abort();
    this.asked = asked;
    if (!asked.query.trim()) {
      this.answer = null;
      this.hits = [];
      this.refused = null;
      this.busy = false;
      return;
    }
    await this.fetch(asked, 0);
  }

  more(): void {
    if (this.asked) void this.fetch(this.asked, this.hits.length);
  }

  private async fetch(asked: Asked, offset: number): Promise<void> {
    const mine = (this.running = new AbortController());
    this.busy = true;
    try {
      const answer = await request(asked, offset, mine.signal);
      this.answer = answer;
      this.hits = offset > 0 ? [...this.hits, ...answer.results] : answer.results;
      this.refused = null;
    } catch (reason) {
      // Half of a query is no query yet: it is said where the hits would be, and not once for each letter typed.
      if (!(reason instanceof Refused && reason.status === 422)) return tellRefusal(reason);
      this.answer = null;
      this.hits = [];
      this.refused = reason.message;
    } finally {
      if (this.running === mine) this.busy = false;
    }
  }
}
