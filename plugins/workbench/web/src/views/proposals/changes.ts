// What a branch changed, as a person reads it: what stands in a row beside what stood there, without the engine's own columns.
import type { Schemas } from '$lib/api/client';

export type Group = Schemas['ChangeGroup'];
export type Row = Schemas['ChangedRow'];
export type OnConflict = Schemas['MergeBody']['on_conflict'];

export const KINDS: Group['kind'][] = [
  'readings',
  'shapes',
  'orders',
  'names',
  'statements',
  'metadata',
  'tree',
  'files',
  'settings',
  'other',
];
export const STATUSES: Group['status'][] = ['clean', 'same', 'conflict'];

export interface Value {
  /** The column in words. */
  name: string;
  before: string;
  after: string;
  /** What the project has, where both sides changed it. */
  ours: string | null;
}

const OWN =
  /^(id|.*_id|.*_at|.*_by|folded_.*|provenance_kind|source_anchor|content|bbox_.|tile|version|by_hand)$/;
const DRAWN = ['anchor', 'baseline'];
const LONGEST = 400;

/** A value as text; nothing where it holds nothing. */
export function said(value: unknown): string {
  if (value === null || value === undefined || value === false || value === '') return '';
  if (typeof value !== 'object') return cut(value === true ? '✓' : String(value));
  return Object.keys(value).length === 0 ? '' : cut(JSON.stringify(value));
}
const cut = (text: string) =>
  Array.from(text).length > LONGEST ? `${Array.from(text).slice(0, LONGEST).join('')}…` : text;

/** The values to be read. Of a changed row also what only names another row, so that the change is not left unsaid. */
export function valuesOf(row: Row): Value[] {
  const read = row.values.filter(
    ({ column }) => !DRAWN.includes(column) && !(row.words && column === 'content'),
  );
  const spoken = read.filter(({ column, conflict }) => conflict || !OWN.test(column) || column === 'content');
  return (spoken.length > 0 || row.change !== 'update' ? spoken : read)
    .map(({ column, base, theirs, ours }) => ({
      name: column.replaceAll('_', ' '),
      before: said(base),
      after: said(theirs),
      ours: row.status === 'conflict' && row.change !== 'insert' ? said(ours) : null,
    }))
    .filter((one) => one.before !== '' || one.after !== '' || one.ours);
}

const textIn = (row: Row, side: 'base' | 'theirs' | 'ours') =>
  said(row.values.find(({ column }) => column === 'content')?.[side]);

/** What the project reads in the line that both sides read. */
export const rivalOf = (row: Row): string | null =>
  row.words && row.status === 'conflict' ? textIn(row, 'ours') : null;

export interface Outlines {
  box: [number, number, number, number];
  before: string;
  after: string;
}
type Points = [number, number][];
type Anchor = { polygon?: Points | null; rect?: [number, number, number, number] | null };
/** Anchors are in fractions of the picture, whose own size a row does not say: as if it were three by four. */
const SIZE = [900, 1200] as const;

function pointsOf(value: unknown): Points {
  const { polygon, rect } = (value ?? {}) as Anchor;
  const [x, y, w, h] = rect ?? [0, 0, 0, 0];
  const corners: Points = rect
    ? [
        [x, y],
        [x + w, y],
        [x + w, y + h],
        [x, y + h],
      ]
    : [];
  return (polygon ?? corners).map(([px, py]) => [px * SIZE[0], py * SIZE[1]]);
}

/** The outlines of a shape before and after, as points of a drawing; null where no outline changed. */
export function outlinesOf(row: Row): Outlines | null {
  const anchor = row.values.find(({ column }) => column === 'anchor');
  if (!anchor) return null;
  const [before, after] = [pointsOf(anchor.base), pointsOf(anchor.theirs)];
  const all = [...before, ...after];
  if (all.length === 0) return null;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const drawn = (points: Points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  return {
    box: [left, top, Math.max(1, Math.max(...xs) - left), Math.max(1, Math.max(...ys) - top)],
    before: drawn(before),
    after: drawn(after),
  };
}

/** Those who made the changes of a group, each once. */
export const makersOf = (group: Group): Schemas['Maker'][] => [
  ...new Map(
    group.rows.flatMap((row) => row.theirs_by).map((one) => [`${one.kind} ${one.name}`, one]),
  ).values(),
];
