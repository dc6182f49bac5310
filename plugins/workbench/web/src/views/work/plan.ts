// What the numbers of a plan mean.
import type { Schemas } from '$lib/api/client';
import { language } from '$lib/i18n/index.svelte';

type Run = Pick<Schemas['PlannedRun'], 'of' | 'done' | 'runs_on'>;

/** On how many pages a step would still run. */
export const left = (run: Run) => Math.max(0, run.of - run.done);
export const leavesMachine = (run: Run) => run.runs_on !== 'this-machine';

/** How long runs will take together, in words; empty where that is not known of any. */
export function duration(runs: { time_seconds?: number | null }[]): string {
  const known = runs.map((one) => one.time_seconds).filter((one) => typeof one === 'number');
  if (known.length === 0) return '';
  const minutes = known.reduce((sum, one) => sum + one, 0) / 60;
  const [value, unit] =
    minutes < 1.5
      ? [1, 'minute']
      : minutes < 90
        ? [Math.round(minutes), 'minute']
        : [Math.round(minutes / 60), 'hour'];
  return new Intl.NumberFormat(language(), {
    style: 'unit',
    unit: unit as string,
    unitDisplay: 'long',
  }).format(value as number);
}

type Named = Pick<Schemas['PlannedRun'], 'steps' | 'job'>;
/** Reading is repeated only on lines that no person made or checked. */
export const readsLines = (run: Named) => run.job === 'read-a-line' || run.job === 'read-a-page';

/** What Start is told about steps that are to run once more. */
export const repeats = (runs: Named[]) => ({
  redo: runs.filter((one) => !readsLines(one)).flatMap((one) => one.steps),
  redo_unchecked: runs.filter(readsLines).flatMap((one) => one.steps),
});
