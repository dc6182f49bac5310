// Pages as files of a layout format: first what each would lose and who made its text, then all of them saved.
import { strToU8, zipSync } from 'fflate';
import { api, ask, Refused, type Schemas } from '$lib/api/client';
import { joinMade, type Made } from '$lib/made';
import { eachOf, type PageName } from '$lib/pages';

type Exported = Schemas['Exported'];
export interface Loss {
  what: string;
  why: string;
  count: number;
  pages: number;
}

/** The losses of several pages as one list, what concerns the most pages first. */
export function joinLosses(pages: Pick<Exported, 'losses'>[]): Loss[] {
  const joined = new Map<string, Loss>();
  for (const { losses } of pages)
    for (const { what, why, count } of losses) {
      const before = joined.get(`${what}\n${why}`);
      joined.set(`${what}\n${why}`, {
        what,
        why,
        count: (before?.count ?? 0) + count,
        pages: (before?.pages ?? 0) + 1,
      });
    }
  return [...joined.values()].sort((a, b) => b.pages - a.pages || b.count - a.count);
}

/** Names of files, each once: of two equal ones the second gets a number. */
export function distinct(names: string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : name.replace(/(\.[^.]*)?$/, (ending) => ` (${times})${ending}`);
  });
}

export class Download {
  done = $state(0);
  busy = $state(true);
  readonly total: number;
  private ready = $state.raw<Exported[]>([]);
  refused = $state.raw<{ page: PageName; why: string }[]>([]);
  readonly made: Made[] = $derived(joinMade(this.ready.map((one) => one.choices.made)));
  readonly losses = $derived(joinLosses(this.ready));
  private readonly stopping = new AbortController();

  constructor(
    private readonly pages: PageName[],
    private readonly format: string,
  ) {
    this.total = pages.length;
  }
  get files() {
    return this.ready.length;
  }
  stop = () => this.stopping.abort();

  async prepare(): Promise<void> {
    const found = new Map<string, Exported>();
    const work = async (page: PageName) => {
      const path = { doc_id: page.id, format_name: this.format };
      try {
        const signal = this.stopping.signal;
        found.set(
          page.id,
          await ask(api.GET('/api/documents/{doc_id}/export/{format_name}', { params: { path }, signal })),
        );
      } catch (reason) {
        if (!(reason instanceof Refused) || reason.status === 0) throw reason;
        this.refused = [...this.refused, { page, why: reason.message }];
      }
      this.done += 1;
    };
    try {
      await eachOf(this.pages, work, this.stopping.signal);
    } finally {
      this.ready = this.pages.map((page) => found.get(page.id)).filter((one) => one !== undefined);
      this.busy = false;
    }
  }

  /** Hand the files to the browser: one as it is, several as a ZIP called *name*. */
  save(name: string): void {
    const [only] = this.ready;
    if (!only) return;
    const names = distinct(this.ready.map((one) => one.filename));
    const file =
      this.ready.length === 1
        ? new File([only.content], only.filename)
        : new File(
            [zipSync(Object.fromEntries(this.ready.map((one, at) => [names[at], strToU8(one.content)])))],
            `${name}.zip`,
          );
    const address = URL.createObjectURL(file);
    const anchor = document.createElement('a');
    anchor.href = address;
    anchor.download = file.name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }
}
