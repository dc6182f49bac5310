// The shapes of a page in fractions of its picture, and which of them lies under a point.
import type { Schemas } from '$lib/api/client';

export type Segment = Schemas['SegmentOut'];
export type Point = readonly [number, number];
export interface Shape {
  id: string;
  kind: string;
  outline: Point[];
  baseline: Point[] | null;
  box: readonly [x: number, y: number, w: number, h: number];
}

export function shapeOf(segment: Segment): Shape {
  const { bbox_x: x, bbox_y: y, bbox_w: w, bbox_h: h } = segment;
  const polygon = segment.anchor['polygon'] as Point[] | null | undefined;
  const corners: Point[] = [
    [x, y],
    [x + w, y],
    [x + w, y + h],
    [x, y + h],
  ];
  return {
    id: segment.id,
    kind: segment.kind,
    outline: polygon && polygon.length > 2 ? polygon : corners,
    baseline: segment.baseline as Point[] | null,
    box: [x, y, w, h],
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
