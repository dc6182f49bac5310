// Shapes as a person changes them: boxes, an outline around a drawn baseline, a cut in two. In fractions of the picture.
import type { Point } from './shapes';

export interface Figure {
  outline: Point[];
  baseline: Point[] | null;
}

const inFrame = (value: number) => Math.min(1, Math.max(0, value));
export const clamped = ([x, y]: Point): Point => [inFrame(x), inFrame(y)];

/** The rectangle, as [x, y, width, height], in which a figure lies. */
export function boxOf({ outline, baseline }: Figure): [number, number, number, number] {
  const all = [...outline, ...(baseline ?? [])];
  const [xs, ys] = [all.map((p) => p[0]), all.map((p) => p[1])];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

/** A figure elsewhere, as far as it stays on the picture. */
export function moved(figure: Figure, by: Point): Figure {
  const [left, top, width, height] = boxOf(figure);
  const within = (at: number, size: number, step: number) => Math.max(-at, Math.min(1 - at - size, step));
  const [dx, dy] = [within(left, width, by[0]), within(top, height, by[1])];
  const there = (points: Point[]) => points.map(([x, y]): Point => [x + dx, y + dy]);
  return { outline: there(figure.outline), baseline: figure.baseline && there(figure.baseline) };
}

/** An outline around a baseline: three quarters of the height above it, a quarter below; beside it where lines run down. */
export function around(baseline: Point[], height: number, vertical: boolean): Point[] {
  const moved = (by: number): Point[] =>
    baseline.map(([x, y]) => clamped(vertical ? [x + by, y] : [x, y + by]));
  const sides: [number, number] = vertical ? [-0.5, 0.5] : [-0.75, 0.25];
  return [...moved(sides[0] * height), ...moved(sides[1] * height).reverse()];
}

/** The part of a closed outline, or of an open path, before (*keep* < 0) or after a cut across an axis. */
function half(points: Point[], axis: 0 | 1, at: number, keep: -1 | 1, closed: boolean): Point[] {
  const kept: Point[] = [];
  const inside = (p: Point) => (p[axis] - at) * keep >= 0;
  const crossing = (p: Point, q: Point): Point => {
    const part = (at - p[axis]) / (q[axis] - p[axis]);
    return [p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])];
  };
  points.forEach((point, index) => {
    const before = index > 0 ? points[index - 1] : closed ? points.at(-1) : undefined;
    if (before && inside(before) !== inside(point)) kept.push(crossing(before, point));
    if (inside(point)) kept.push(point);
  });
  return kept;
}

/** A figure cut in two at a part of its length: the piece at the left (or the top) first. */
export function cut(figure: Figure, part: number, vertical: boolean): [Figure, Figure] {
  const axis = vertical ? 1 : 0;
  const box = boxOf(figure);
  const at = vertical ? box[1] + part * box[3] : box[0] + part * box[2];
  const piece = (keep: -1 | 1): Figure => {
    const baseline = figure.baseline ? half(figure.baseline, axis, at, keep, false) : null;
    return {
      outline: half(figure.outline, axis, at, keep, true),
      baseline: baseline && baseline.length > 1 ? baseline : null,
    };
  };
  return [piece(-1), piece(1)];
}

/** Where on an outline a new corner belongs, for a point near one of its sides: the index, and how far away it is. */
export function nearestSide(
  outline: Point[],
  distance: (p: Point) => number,
): { index: number; away: number } {
  let best = { index: 0, away: Infinity };
  outline.forEach((p, index) => {
    const q = outline[(index + 1) % outline.length] ?? p;
    for (let step = 1; step < 20; step++) {
      const part = step / 20;
      const away = distance([p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])]);
      if (away < best.away) best = { index: index + 1, away };
    }
  });
  return best;
}
