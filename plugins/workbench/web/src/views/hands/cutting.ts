// A letter cut out of a line: where it lies on the page, and how it becomes a part of the line.
import { api, ask, type Schemas } from '$lib/api/client';

export type Box = [x: number, y: number, width: number, height: number];
export type Line = Schemas['SegmentOut'];
const AROUND = 0.15;

/** The part of the page that is shown around a line, in fractions of the page. */
export function shownAround(line: Pick<Line, 'bbox_x' | 'bbox_y' | 'bbox_w' | 'bbox_h'>): Box {
  const margin = line.bbox_h * AROUND;
  const x = Math.max(0, line.bbox_x - margin);
  const y = Math.max(0, line.bbox_y - margin);
  return [
    x,
    y,
    Math.min(1, line.bbox_x + line.bbox_w + margin) - x,
    Math.min(1, line.bbox_y + line.bbox_h + margin) - y,
  ];
}

/** A box in fractions of what is *shown*, as fractions of the page. */
export const onPage = ([sx, sy, sw, sh]: Box, [x, y, w, h]: Box): Box => [
  sx + x * sw,
  sy + y * sh,
  w * sw,
  h * sh,
];

/** The box between two corners, wherever each lies, within the picture. */
export function between(a: readonly number[], b: readonly number[]): Box {
  const inside = (value = 0) => Math.min(1, Math.max(0, value));
  const [ax, ay, bx, by] = [inside(a[0]), inside(a[1]), inside(b[0]), inside(b[1])];
  return [Math.min(ax, bx), Math.min(ay, by), Math.abs(ax - bx), Math.abs(ay - by)];
}

/** IIIF's name of a part of a page. */
export const region = ([x, y, w, h]: Box) =>
  `pct:${[x, y, w, h].map((one) => (one * 100).toFixed(4)).join(',')}`;

/** Make the part of a line a segment of its own; the answer is its id, and the step that drew it. */
export function cutOut(line: Line, box: Box): Promise<{ id: string; audit_id: string }> {
  const body: Schemas['SegmentCreate'] = {
    document_id: line.document_id,
    pass_id: line.pass_id,
    kind: 'word',
    parent_segment_id: line.id,
    anchor: { rect: box },
  };
  return ask(api.POST('/api/segments', { body }));
}
