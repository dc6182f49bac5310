// The jobs that run, wait or failed, kept current by the change stream, and those that ended while this was open.
import { api, ask, type Schemas } from '$lib/api/client';
import { calmly, onChange } from '$lib/changes.svelte';
import { number, t, tn, type PluralKey } from '$lib/i18n/index.svelte';
import { tellRefusal } from '$lib/notices.svelte';

export type Job = Schemas['JobNode'];
export interface Branch {
  job: Job;
  parts: Branch[];
}
const KEPT_ENDED = 8;
/** States after which rows come or go that the stream says nothing of: those above, below, and counted together. */
const TURNS = ['done', 'failed', 'cancelled', 'paused'];

export class Jobs {
  answer = $state.raw<Schemas['JobList'] | null>(null);
  ended = $state.raw<Job[]>([]);
  readonly tree = $derived(grow(this.answer?.items ?? []));
  private readonly refresh = calmly(() => void this.load().catch(tellRefusal), 3000);
  private readonly reload = calmly(() => void this.load().catch(tellRefusal), 400);

  async load(): Promise<void> {
    this.answer = await ask(api.GET('/api/activity/jobs'));
  }

  /** Follow the stream until the function it returns is called. */
  follow(): () => void {
    void this.load().catch(tellRefusal);
    return onChange(({ kind, data }) => {
      if (kind !== 'job') {
        if (kind !== 'change') this.reload();
        return;
      }
      const told = data as Pick<Job, 'id' | 'state' | 'done' | 'total' | 'reason'>;
      const known = this.answer?.items.find((one) => one.id === told.id);
      if (!known || !this.answer || TURNS.includes(told.state)) this.reload();
      if (!known || !this.answer) return;
      // The stream tells how many are done, and not how far it is with the one in hand.
      if (known.item || known.seconds_left) this.refresh();
      const now = { ...known, ...told };
      this.answer = { ...this.answer, items: this.answer.items.map((one) => (one === known ? now : one)) };
      if (told.state === 'done' || told.state === 'cancelled') this.note(now);
    });
  }

  /** Try again what was cancelled. */
  async again({ id }: Job): Promise<void> {
    await retryJob(id);
    this.ended = this.ended.filter((one) => one.id !== id);
    await this.load();
  }

  private note(job: Job): void {
    if (job.parent_id || this.ended.some((one) => one.id === job.id)) return;
    this.ended = [{ ...job, finished_at: new Date().toISOString() }, ...this.ended].slice(0, KEPT_ENDED);
  }
}

/** The jobs as a tree. The steps of a workflow say nothing to a person: what is below them moves up. */
export function grow(jobs: Job[]): Branch[] {
  const shown = new Map<string, Branch>();
  const passed = new Map<string, string | null>();
  for (const job of jobs)
    if (job.kind === 'workflow-step') passed.set(job.id, job.parent_id ?? null);
    else shown.set(job.id, { job, parts: [] });
  const roots: Branch[] = [];
  for (const branch of shown.values()) {
    let above = branch.job.parent_id ?? null;
    while (above !== null && passed.has(above)) above = passed.get(above) ?? null;
    (above === null ? roots : (shown.get(above)?.parts ?? roots)).push(branch);
  }
  return roots;
}

/** What is counted where it is no pages, under its name in the catalogue. */
const UNITS: Record<string, PluralKey> = {
  epochs: 'work.epochs',
  lines: 'work.linesOf',
  megabytes: 'work.megabytes',
  seconds: 'work.seconds',
};

/** How many of how many are done, with what is counted. */
export function counted({ done, total, unit }: Pick<Job, 'done' | 'total' | 'unit'>): string {
  const key = UNITS[unit ?? ''];
  return key
    ? tn(key, total, { done: number(done) })
    : t('work.of', { done: number(done), total: number(total) });
}

export const setPaused = (id: string, paused: boolean) =>
  ask(api.PUT('/api/activity/jobs/{job_id}/paused', { params: { path: { job_id: id } }, body: { paused } }));
export const cancelJob = (id: string) =>
  ask(api.POST('/api/activity/jobs/{job_id}/cancel', { params: { path: { job_id: id } } }));
export const retryJob = (id: string) =>
  ask(api.POST('/api/activity/jobs/{job_id}/retry', { params: { path: { job_id: id } } }));
