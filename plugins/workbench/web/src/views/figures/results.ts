// What an evaluation or a training came to, as the engine keeps it: read once, with its shape stated.
export interface Rate {
  cer?: number;
  interval?: [number, number] | null;
  why?: string;
}
export interface Worst {
  document_id: string;
  segment_id: string;
  distance: number;
  reference_chars: number;
}
export interface Confusion {
  expected: string;
  read: string;
  times: number;
}
export interface MeasuredModel {
  model: string;
  why: string | null;
  totals: Record<string, Rate>;
  wer: number | null;
  worst: Worst[];
  confusions: Confusion[];
  speed: { pages_per_hour: number | null };
  pages: { document_id: string; scores: Record<string, Rate> }[];
}
export interface Epoch {
  epoch: number;
  loss: number;
  cer: number;
  best: boolean;
}

type Kept = Record<string, unknown>;
const list = <T>(of: unknown) => (Array.isArray(of) ? (of as T[]) : []);

export function modelsOf(result: Kept | null): MeasuredModel[] {
  return list<Partial<MeasuredModel>>(result?.['models']).map((one) => ({
    model: one.model ?? '',
    why: one.why ?? null,
    totals: one.totals ?? {},
    wer: one.wer ?? null,
    worst: list(one.worst),
    confusions: list(one.confusions),
    speed: one.speed ?? { pages_per_hour: null },
    pages: list(one.pages),
  }));
}

export const epochsOf = (curve: Kept[]): Epoch[] =>
  curve
    .filter((one) => typeof one['cer'] === 'number')
    .map((one, at) => ({
      epoch: Number(one['epoch'] ?? at + 1),
      loss: Number(one['loss'] ?? 0),
      cer: Number(one['cer']),
      best: one['best'] === true,
    }));

/** The rate by which readers are ranked: as it is written, if that was measured. */
export const mainPolicy = (models: MeasuredModel[]): string =>
  models.some((one) => 'diplomatic' in one.totals)
    ? 'diplomatic'
    : (Object.keys(models[0]?.totals ?? {})[0] ?? 'diplomatic');

/** Each of *texts* once, with how often it is there, the most frequent first. */
export function countEach(texts: string[]): [string, number][] {
  const times = new Map<string, number>();
  for (const one of texts) times.set(one, (times.get(one) ?? 0) + 1);
  return [...times].sort(([, one], [, other]) => other - one);
}

/** A letter as it can be seen. */
export const shown = (letter: string, nothing: string, space: string) =>
  letter === '' ? nothing : letter.trim() === '' ? space : letter;

/** The points of a curve in a box of *width* by *height*, the highest at the top; and the most of them. */
export function curveIn(
  values: number[],
  width: number,
  height: number,
): { points: [number, number][]; most: number } {
  const most = Math.max(...values, 0) || 1;
  const across = width / Math.max(1, values.length - 1);
  return { points: values.map((one, at) => [at * across, height - (height * one) / most]), most };
}
