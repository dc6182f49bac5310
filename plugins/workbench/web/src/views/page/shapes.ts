// The shapes of a page in fractions of its picture, and which of them lies under a point.
import type { Schemas } from '$lib/api/client';

export type Point = readonly [number, number];
export interface Shape {
  id: string;
  kind: string;
  parent: string | null;
  outline: Point[];
  baseline: Point[] | null;
  box: readonly [x: number, y: number, w: number, h: number];
  /** The picture it was measured on. */
  rendition: string | null;
  /** Its place, if it is a cell of a table. */
  cell: Record<string, number> | null;
  version: number;
}

export function shapeOf(stated: Schemas['PageShape']): Shape {
  const [x = 0, y = 0, w = 0, h = 0] = stated.rect;
  const polygon = stated.polygon as Point[] | null;
  const corners: Point[] = [
    [x, y],
    [x + w, y],
    [x + w, y + h],
    [x, y + h],
  ];
  return {
    id: stated.id,
    kind: stated.kind,
    parent: stated.parent_segment_id,
    outline: polygon && polygon.length > 2 ? polygon : corners,
    baseline: stated.baseline as Point[] | null,
    box: [x, y, w, h],
    rendition: stated.rendition_id,
    cell: stated.cell,
    version: stated.version ?? 1,
  };
}

/** Whether a point lies inside an outline (even-odd rule). */
export function isInside(outline: Point[], x: number, y: number): boolean {
  let inside = false;
  let [px, py] = outline[outline.length - 1] ?? [0, 0];
  for (const [qx, qy] of outline) {
    if (qy > y !== py > y && x < ((px - qx) * (y - qy)) / (py - qy) + qx) inside = !inside;
    [px, py] = [qx, qy];
  }
  return inside;
}

const CELLS = 32;
const cell = (value: number) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));

/** Finds shapes by place: a grid of cells, each with the shapes whose box touches it. */
export class Places {
  private readonly cells = new Map<number, Shape[]>();

  constructor(shapes: Iterable<Shape>) {
    for (const shape of shapes) {
      const [x, y, w, h] = shape.box;
      for (let row = cell(y); row <= cell(y + h); row++)
        for (let column = cell(x); column <= cell(x + w); column++) {
          const key = row * CELLS + column;
          const there = this.cells.get(key);
          if (there) there.push(shape);
          else this.cells.set(key, [shape]);
        }
    }
  }

  /** The smallest shape under a point; null where there is none. */
  at(x: number, y: number): Shape | null {
    let best: Shape | null = null;
    let bestArea = Infinity;
    for (const shape of this.cells.get(cell(y) * CELLS + cell(x)) ?? []) {
      const area = shape.box[2] * shape.box[3];
      if (area < bestArea && isInside(shape.outline, x, y)) {
        best = shape;
        bestArea = area;
      }
    }
    return best;
  }
}
