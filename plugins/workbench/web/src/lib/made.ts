// Who stands behind the lines of pages, in sum.
import type { Schemas } from './api/client';

export type Made = Schemas['MadeLines'];
export const MAKERS: Made['by'][] = ['person', 'checked', 'agent', 'machine', 'import', 'unknown'];

/** Several sums as one: persons first, and of each kind those with the most lines first. */
export function joinMade(sums: Made[][]): Made[] {
  const joined = new Map<string, Made>();
  for (const one of sums.flat()) {
    // Each imported file is a maker of its own; in the sum of many pages they are one.
    const name = one.by === 'import' && sums.length > 1 ? null : one.name;
    const key = `${one.by} ${name ?? ''}`;
    joined.set(key, { ...one, name, lines: (joined.get(key)?.lines ?? 0) + one.lines });
  }
  return [...joined.values()].sort(
    (a, b) => MAKERS.indexOf(a.by) - MAKERS.indexOf(b.by) || b.lines - a.lines,
  );
}

export const linesOf = (made: Made[]) => made.reduce((sum, one) => sum + one.lines, 0);
/** Lines that a person made or checked. */
export const checkedLines = (made: Made[]) =>
  linesOf(made.filter((one) => one.by === 'person' || one.by === 'checked'));
