// What a branch changed, as a person reads it: what stands in a row beside what stood there, without the engine's own columns.
import type { Schemas } from '$lib/api/client';
import { named } from '$lib/i18n/index.svelte';

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
  /^(id|.*_id|.*_at|.*_by|.*_in|folded_.*|provenance_kind|source_anchor|content|bbox_.|tile|version|by_hand)$/;
/** What the engine works out from a shape or a text, which is shown itself. */
const DERIVED = /^(folded_.*|bbox_.|tile|version|by_hand|joined_or_split_in)$/;
const DRAWN = ['anchor', 'baseline'];
/** What follows from a change of another row: its value says nothing to a person. */
const FOLLOWING = ['representation_id'];
const LONGEST = 400;

/** A value as text; nothing where it holds nothing. */
export function said(value: unknown): string {
  if (value === null || value === undefined || value === false || value === '') return '';
  if (typeof value !== 'object') return cut(value === true ? '✓' : String(value));
  if (Array.isArray(value)) return cut(value.map(said).filter(Boolean).join(', '));
  const spoken = ['label', 'text', 'original', 'name'].map((key) => (value as Record<string, unknown>)[key]);
  const one = spoken.find((part) => typeof part === 'string' && part !== '');
  return Object.keys(value).length === 0 ? '' : cut(one ? String(one) : JSON.stringify(value));
}
const cut = (text: string) =>
  Array.from(text).length > LONGEST ? `${Array.from(text).slice(0, LONGEST).join('')}…` : text;

const COLUMN = 'proposals.column';
/** Columns that say that a row is there no more, which is what a person calls removing it. */
const GONE = ['deleted_at', 'withdrawn_at', 'retracted'];

/** What happened to a row: one that is only marked as gone was removed, and one whose mark went was brought back. */
export function changeOf(row: Row): Row['change'] | 'restore' {
  const mark = row.values.find(({ column }) => GONE.includes(column));
  if (row.change !== 'update' || !mark || Boolean(mark.base) === Boolean(mark.theirs)) return row.change;
  return mark.theirs ? 'delete' : 'restore';
}

/** What a row is, in words. */
export const whatOf = (row: Row): string => named('proposals.what', row.label) ?? row.label;

/** The values to be read. Of a changed row also what has no words, so that the change is not left unsaid. */
export function valuesOf(row: Row): Value[] {
  const change = changeOf(row);
  const drawn = outlinesOf(row) !== null;
  const read = row.values.filter(
    ({ column }) =>
      !DRAWN.includes(column) &&
      !FOLLOWING.includes(column) &&
      !(drawn && DERIVED.test(column)) &&
      !(row.words && column === 'content'),
  );
  const spoken = read.filter(({ column, conflict }) => conflict || named(COLUMN, column) !== null);
  const rest = read.filter(({ column }) => !OWN.test(column) || column === 'content');
  const left = spoken.length > 0 || change !== 'update' ? spoken : rest.length > 0 ? rest : read;
  return left
    .map(({ column, base, theirs, ours }) => ({
      name: named(COLUMN, column) ?? column.replaceAll('_', ' '),
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
  row.words && row.status === 'conflict' ? textIn(row, 'ours') || null : null;

/** Why it is a conflict, in words. */
export const whyOf = (row: Row): string | null => (row.why ? named('proposals.why', row.why) : null);

type Points = [number, number][];
type Anchor = { polygon?: Points | null; rect?: [number, number, number, number] | null };
export type Side = 'base' | 'ours' | 'theirs';
export interface Outlines {
  /** Around all of them, with a margin: left, top, width, height in fractions of the page. */
  box: [number, number, number, number];
  sides: { side: Side; closed: Points[]; open: Points[] }[];
}
const MARGIN = 0.015;

function corners(value: unknown): Points {
  const { polygon, rect } = (value ?? {}) as Anchor;
  if (polygon || !rect) return polygon ?? [];
  const [x, y, w, h] = rect;
  return [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]; // prettier-ignore
}

/** The outlines of a shape as it was, as the project has it (where that is another) and in the branch; null where none changed. */
export function outlinesOf(row: Row): Outlines | null {
  const [anchor, baseline] = DRAWN.map((name) => row.values.find(({ column }) => column === name));
  const same = (one: Side, other: Side) =>
    [anchor, baseline].every((value) => JSON.stringify(value?.[one]) === JSON.stringify(value?.[other]));
  const sides = (['base', 'ours', 'theirs'] as const)
    .filter((side) => side !== 'ours' || !(same('ours', 'base') || same('ours', 'theirs')))
    .map((side) => ({
      side,
      closed: [corners(anchor?.[side])].filter((one) => one.length > 0),
      open: Array.isArray(baseline?.[side]) ? [baseline[side] as Points] : [],
    }))
    .filter(({ closed, open }) => closed.length + open.length > 0);
  const all = sides.flatMap(({ closed, open }) => [...closed, ...open].flat());
  if (all.length === 0) return null;
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, top] = [Math.max(0, Math.min(...xs) - MARGIN), Math.max(0, Math.min(...ys) - MARGIN)];
  const [right, foot] = [Math.min(1, Math.max(...xs) + MARGIN), Math.min(1, Math.max(...ys) + MARGIN)];
  return { box: [left, top, right - left, foot - top], sides };
}

/** Those who made the changes of a group, each once. */
export const makersOf = (group: Group): Schemas['Maker'][] => [
  ...new Map(
    group.rows.flatMap((row) => row.theirs_by).map((one) => [`${one.kind} ${one.name}`, one]),
  ).values(),
];
