// Draws shapes over the picture: only those in sight, words only when they can be told apart.
import type { Figure } from './geometry';
import type { Point, Shape } from './shapes';

/** From fractions of the picture to pixels of the screen. */
export type View = readonly [a: number, b: number, c: number, d: number, e: number, f: number];
export interface Marks {
  selected: string | null;
  hovered: string | null;
  /** Outlines of what is doubtful: words, and lines whose words nobody placed. */
  doubtful: Point[][];
  /** The word at the cursor. */
  word: Point[] | null;
  shown: boolean;
  /** The corners of the shape that is being changed, and of its baseline. */
  figure: Figure | null;
  /** What is being drawn, up to the pointer. */
  sketch: Point[];
}

const CHUNKS = 12;
const LEAST_WORD_PIXELS = 9;
const LEAST_LINE_PIXELS = 16;
const COLOUR = {
  region: 'rgb(120 90 40 / 55%)',
  line: 'rgb(20 110 130 / 75%)',
  lineAfar: 'rgb(20 110 130 / 30%)',
  word: 'rgb(20 110 130 / 35%)',
  baseline: 'rgb(20 110 130 / 55%)',
  doubtful: 'rgb(240 170 30 / 26%)',
  hovered: 'rgb(20 120 140 / 16%)',
  selected: 'rgb(226 88 34)',
  baselineOfSelected: 'rgb(150 30 130)',
  selectedFill: 'rgb(226 88 34 / 10%)',
};

interface Chunk {
  box: [left: number, top: number, right: number, bottom: number];
  regions: Path2D;
  lines: Path2D;
  words: Path2D;
  baselines: Path2D;
}

function trace(path: Path2D, points: Point[], close: boolean): Path2D {
  points.forEach(([x, y], index) => (index === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
  if (close) path.closePath();
  return path;
}

export class Overlay {
  private chunks: Chunk[] = [];
  private byId = new Map<string, Shape>();
  private wordHeight = 0;
  private lineHeight = 0;

  constructor(private canvas: HTMLCanvasElement) {}

  show(shapes: Shape[]): void {
    this.byId = new Map(shapes.map((shape) => [shape.id, shape]));
    const chunks = new Map<number, Chunk>();
    const heights: number[] = [];
    const lines: number[] = [];
    for (const shape of shapes) {
      const [x, y, w, h] = shape.box;
      const key = Math.floor((y + h / 2) * CHUNKS) * 1000 + Math.floor((x + w / 2) * CHUNKS);
      let chunk = chunks.get(key);
      if (!chunk) {
        chunk = {
          box: [x, y, x + w, y + h],
          regions: new Path2D(),
          lines: new Path2D(),
          words: new Path2D(),
          baselines: new Path2D(),
        };
        chunks.set(key, chunk);
      }
      const [left, top, right, bottom] = chunk.box;
      chunk.box = [Math.min(left, x), Math.min(top, y), Math.max(right, x + w), Math.max(bottom, y + h)];
      if (shape.kind !== 'region') (shape.kind === 'word' ? heights : lines).push(Math.min(w, h));
      const layer =
        shape.kind === 'region' ? chunk.regions : shape.kind === 'word' ? chunk.words : chunk.lines;
      trace(layer, shape.outline, true);
      if (shape.baseline && shape.baseline.length > 1) trace(chunk.baselines, shape.baseline, false);
    }
    this.chunks = [...chunks.values()];
    const middle = (of: number[]) => of.sort((a, b) => a - b)[of.length >> 1] ?? 0;
    this.wordHeight = middle(heights);
    this.lineHeight = middle(lines);
  }

  draw(view: View, marks: Marks): void {
    const ctx = this.canvas.getContext('2d');
    if (!ctx) return;
    const ratio = devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (
      this.canvas.width !== Math.round(width * ratio) ||
      this.canvas.height !== Math.round(height * ratio)
    ) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const screen = new DOMMatrix([...view]).multiplySelf();
    const onScreen = new DOMMatrix().scale(ratio).multiply(screen);
    const sight = inSight(screen, width, height);
    // Paths are traced in screen coordinates, so that lines are as thin at every zoom and in both directions.
    const stroke = (path: Path2D, colour: string, thickness: number) => {
      const moved = new Path2D();
      moved.addPath(path, onScreen);
      ctx.strokeStyle = colour;
      ctx.lineWidth = thickness * ratio;
      ctx.stroke(moved);
    };
    const fill = (path: Path2D, colour: string) => {
      const moved = new Path2D();
      moved.addPath(path, onScreen);
      ctx.fillStyle = colour;
      ctx.fill(moved);
    };
    const seen = (box: Chunk['box']) =>
      box[2] >= sight[0] && box[0] <= sight[2] && box[3] >= sight[1] && box[1] <= sight[3];

    if (marks.shown) {
      const pixels = Math.hypot(view[2], view[3]);
      const words = this.wordHeight * pixels >= LEAST_WORD_PIXELS;
      // From afar, outlines would hide what they are around.
      const near = this.lineHeight * pixels >= LEAST_LINE_PIXELS;
      const lineColour = near ? COLOUR.line : COLOUR.lineAfar;
      const doubtful = new Path2D();
      for (const outline of marks.doubtful) trace(doubtful, outline, true);
      fill(doubtful, COLOUR.doubtful);
      for (const chunk of this.chunks) {
        if (!seen(chunk.box)) continue;
        stroke(chunk.regions, COLOUR.region, 1);
        if (words) stroke(chunk.words, COLOUR.word, 1);
        if (near) stroke(chunk.baselines, COLOUR.baseline, 1);
        stroke(chunk.lines, lineColour, 1);
      }
    }
    const one = (id: string | null) => {
      const shape = id === null ? undefined : this.byId.get(id);
      if (!shape) return null;
      return trace(new Path2D(), shape.outline, true);
    };
    const hovered = marks.hovered === marks.selected ? null : one(marks.hovered);
    if (hovered) fill(hovered, COLOUR.hovered);
    const figure = new Path2D();
    if (marks.figure) trace(figure, marks.figure.outline, true);
    const selected = marks.figure ? figure : one(marks.selected);
    if (selected) {
      fill(selected, COLOUR.selectedFill);
      stroke(selected, COLOUR.selected, 2);
    }
    if (marks.word) stroke(trace(new Path2D(), marks.word, true), COLOUR.baselineOfSelected, 2);
    const handles = (points: Point[], colour: string) => {
      const dots = new Path2D();
      for (const [x, y] of points) {
        const at = onScreen.transformPoint(new DOMPoint(x, y));
        dots.rect(at.x - 3.5 * ratio, at.y - 3.5 * ratio, 7 * ratio, 7 * ratio);
      }
      ctx.fillStyle = '#fff';
      ctx.fill(dots);
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1.5 * ratio;
      ctx.stroke(dots);
    };
    if (marks.figure?.baseline) {
      stroke(trace(new Path2D(), marks.figure.baseline, false), COLOUR.baselineOfSelected, 2);
      handles(marks.figure.baseline, COLOUR.baselineOfSelected);
    }
    if (marks.figure) handles(marks.figure.outline, COLOUR.selected);
    if (marks.sketch.length > 0) {
      stroke(trace(new Path2D(), marks.sketch, false), COLOUR.selected, 2);
      handles(marks.sketch, COLOUR.selected);
    }
  }
}

/** The part of the picture, in fractions, that a screen of this size shows. */
function inSight(view: DOMMatrix, width: number, height: number): Chunk['box'] {
  const back = view.inverse();
  const corners = [
    [0, 0],
    [width, 0],
    [0, height],
    [width, height],
  ].map(([x = 0, y = 0]) => back.transformPoint(new DOMPoint(x, y)));
  const [xs, ys] = [corners.map((one) => one.x), corners.map((one) => one.y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
