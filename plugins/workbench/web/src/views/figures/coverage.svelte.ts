// How far each page of a folder is: unread, read, corrected, ground truth; one request for some hundred pages.
import { api, ask, type Schemas } from '$lib/api/client';
import { checkedLines, joinMade, linesOf, type Made } from '$lib/made';

export const STATES = ['unread', 'read', 'corrected', 'truth'] as const;
export type PageState = (typeof STATES)[number];
export interface Covered {
  id: string;
  name: string;
  pictured: boolean;
  state: PageState;
  made: Made[];
}
const PART = 500;

/** How far a page is. A page with a single checked line counts as corrected; how much of it, its sum says. */
export function stateOf(made: Made[], isTruth: boolean): PageState {
  if (linesOf(made) === 0) return 'unread';
  if (isTruth) return 'truth';
  return checkedLines(made) > 0 ? 'corrected' : 'read';
}

export class Coverage {
  pages = $state.raw<Covered[]>([]);
  total = $state<number | null>(null);
  readonly made: Made[] = $derived(joinMade(this.pages.map((one) => one.made)));
  private stopped = false;

  constructor(private readonly folder: string) {}
  stop = () => void (this.stopped = true);
  count = (state: PageState) => this.pages.filter((one) => one.state === state).length;

  /** Ask for the first pages, or for some more. */
  async load(): Promise<void> {
    const query = { parent_id: this.folder || undefined, limit: PART, offset: this.pages.length };
    const found = await ask(api.GET('/api/segments/coverage', { params: { query } }));
    if (this.stopped) return;
    this.total = found.total;
    this.pages = [...this.pages, ...found.items.map(covered)];
  }
}

const covered = (one: Schemas['PageCoverage']): Covered => ({
  id: one.document_id,
  name: one.name,
  pictured: one.has_thumbnail,
  state: stateOf(one.made, one.ground_truth),
  made: one.made,
});
