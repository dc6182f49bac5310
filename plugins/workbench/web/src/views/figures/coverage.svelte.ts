// How far each page of a folder is: unread, read, corrected, ground truth; asked page by page, a few at a time.
import { api, ask, Refused } from '$lib/api/client';
import { checkedLines, joinMade, linesOf, type Made } from '$lib/made';
import { eachOf, pagesOf, type PageName } from '$lib/pages';

export const STATES = ['unread', 'read', 'corrected', 'truth'] as const;
export type PageState = (typeof STATES)[number];
export interface Covered extends PageName {
  /** null: not asked yet. */
  state: PageState | null;
  made: Made[];
}
const PART = 240;

/** How far a page is. A page with a single checked line counts as corrected; how much of it, its sum says. */
export function stateOf(made: Made[], isTruth: boolean): PageState {
  if (linesOf(made) === 0) return 'unread';
  if (isTruth) return 'truth';
  return checkedLines(made) > 0 ? 'corrected' : 'read';
}

async function look(id: string): Promise<Pick<Covered, 'state' | 'made'>> {
  try {
    const [text, layout] = await Promise.all([
      ask(
        api.GET('/api/documents/{doc_id}/export/{format_name}', {
          params: { path: { doc_id: id, format_name: 'plain-text' } },
        }),
      ),
      ask(
        api.GET('/api/segments/document/{doc_id}', {
          params: { path: { doc_id: id }, query: { kind: 'region' } },
        }),
      ),
    ]);
    const read = layout.passes.find((one) => one.id === text.choices.pass_id);
    return { made: text.choices.made, state: stateOf(text.choices.made, read?.ground_truth ?? false) };
  } catch (reason) {
    // A page without lines has nothing to export.
    if (reason instanceof Refused && reason.status >= 400 && reason.status < 500)
      return { made: [], state: 'unread' };
    throw reason;
  }
}

export class Coverage {
  pages = $state.raw<Covered[]>([]);
  total = $state<number | null>(null);
  asked = $state(0);
  readonly made: Made[] = $derived(joinMade(this.pages.map((one) => one.made)));
  private readonly stopping = new AbortController();

  constructor(private readonly folder: string) {}
  stop = () => this.stopping.abort();
  count = (state: PageState) => this.pages.filter((one) => one.state === state).length;

  /** Look at the first pages, or at some more. */
  async load(): Promise<void> {
    const most = this.pages.length + PART;
    const found = await pagesOf(this.folder, most);
    if (this.stopping.signal.aborted) return;
    const known = new Map(this.pages.map((one) => [one.id, one]));
    this.total = found.total;
    this.pages = found.pages.map((one) => known.get(one.id) ?? { ...one, state: null, made: [] });
    await eachOf(
      this.pages.filter((one) => one.state === null),
      (one) => this.lookAt(one.id),
      this.stopping.signal,
    );
  }

  private async lookAt(id: string): Promise<void> {
    const now = await look(id);
    this.pages = this.pages.map((one) => (one.id === id ? { ...one, ...now } : one));
    this.asked += 1;
  }
}
