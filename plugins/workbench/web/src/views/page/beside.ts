// Two passes of a page side by side: which line of one is which of the other, and in which words they differ.
import { diffWords } from 'diff';
import type { Line } from './lines';
import type { Shape } from './shapes';

export interface Pair {
  mine: Line | null;
  theirs: Line | null;
}
export interface Part {
  text: string;
  differs: boolean;
}

/** Less of the smaller one than this in common, and two outlines are of different lines. */
const LEAST_COMMON = 0.4;

function common([x, y, w, h]: Shape['box'], [u, v, p, q]: Shape['box']): number {
  const wide = Math.min(x + w, u + p) - Math.max(x, u);
  const high = Math.min(y + h, v + q) - Math.max(y, v);
  return wide > 0 && high > 0 ? (wide * high) / (Math.min(w * h, p * q) || 1) : 0;
}

type Boxes = ReadonlyMap<string, { box: Shape['box'] }>;

/** The lines of both passes, those at the same place as pairs: in the order of the first, what only the second has after what precedes it there. */
export function pairsOf(mine: Line[], boxes: Boxes, theirs: Line[], theirBoxes: Boxes): Pair[] {
  const overlaps: { my: number; their: number; part: number }[] = [];
  mine.forEach((line, my) => {
    const box = boxes.get(line.id)?.box;
    if (!box) return;
    theirs.forEach((other, their) => {
      const its = theirBoxes.get(other.id)?.box;
      const part = its ? common(box, its) : 0;
      if (part >= LEAST_COMMON) overlaps.push({ my, their, part });
    });
  });
  overlaps.sort((a, b) => b.part - a.part);
  const partner = new Map<number, number>();
  const taken = new Map<number, number>();
  for (const { my, their } of overlaps)
    if (!partner.has(my) && !taken.has(their)) {
      partner.set(my, their);
      taken.set(their, my);
    }
  const alone = new Map<number, Pair[]>();
  let before = -1;
  theirs.forEach((line, their) => {
    const my = taken.get(their);
    if (my !== undefined) before = my;
    else alone.set(before, [...(alone.get(before) ?? []), { mine: null, theirs: line }]);
  });
  const pairs = mine.flatMap((line, my) => [
    { mine: line, theirs: theirs[partner.get(my) ?? -1] ?? null },
    ...(alone.get(my) ?? []),
  ]);
  return [...(alone.get(-1) ?? []), ...pairs];
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Two texts cut into parts, with those that only one of them has. */
export function compared(mine: string, theirs: string): { mine: Part[]; theirs: Part[] } {
  const found: { mine: Part[]; theirs: Part[] } = { mine: [], theirs: [] };
  for (const { value, added, removed } of diffWords(mine, theirs, { intlSegmenter: segmenter })) {
    if (!added) found.mine.push({ text: value, differs: removed });
    if (!removed) found.theirs.push({ text: value, differs: added });
  }
  return found;
}
