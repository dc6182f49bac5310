// What the pointer does on the picture: look, move a shape or its corners, draw a line or a region.
import { tellRefusal } from '$lib/notices.svelte';
import { boxOf, clamped, moved, nearestSide, type Figure } from './geometry';
import { changeShape, drawLine, drawRegion } from './drawing';
import { isInside, type Point } from './shapes';
import type { PageState } from './state.svelte';

export type Mode = 'look' | 'edit' | 'line' | 'region';
type Distance = (p: Point, q: Point) => number;
const NEAR = 10;

export class ShapeTools {
  mode = $state<Mode>('look');
  /** What is being drawn. */
  sketch = $state.raw<Point[]>([]);
  /** The selected shape while it is changed. */
  figure = $state.raw<Figure | null>(null);
  private held: { part: 'outline' | 'baseline'; index: number } | null = null;
  private start: Point | null = null;
  /** The shape as it was where all of it is dragged, and from where. */
  private carried: { figure: Figure; from: Point } | null = null;

  constructor(private readonly page: PageState) {}

  choose(mode: Mode): void {
    this.mode = this.mode === mode ? 'look' : mode;
    this.page.region = null;
    this.sketch = [];
    this.follow();
  }

  /** Take up the selected shape, to change it. */
  follow(): void {
    const shape = this.page.shapeById.get(this.page.region ?? this.page.selected ?? '');
    this.figure = this.mode === 'edit' && shape ? { outline: shape.outline, baseline: shape.baseline } : null;
  }

  /** A button went down; whether what follows is ours and not a move of the picture. */
  grab(at: Point, distance: Distance, remove: boolean): boolean {
    if (this.mode === 'region') {
      this.start = clamped(at);
      return true;
    }
    const figure = this.figure;
    if (this.mode !== 'edit' || !figure) return false;
    for (const part of ['baseline', 'outline'] as const) {
      const index = (figure[part] ?? []).findIndex((p) => distance(p, at) < NEAR);
      if (index < 0) continue;
      if (remove && part === 'outline' && figure.outline.length > 3) {
        this.figure = { ...figure, outline: figure.outline.filter((_, i) => i !== index) };
        this.save();
        return true;
      }
      this.held = { part, index };
      return true;
    }
    const side = nearestSide(figure.outline, (p) => distance(p, at));
    if (side.away >= NEAR) {
      this.carried = isInside(figure.outline, ...at) ? { figure, from: at } : null;
      return this.carried !== null;
    }
    this.figure = { ...figure, outline: figure.outline.toSpliced(side.index, 0, clamped(at)) };
    this.held = { part: 'outline', index: side.index };
    return true;
  }

  drag(at: Point): void {
    const [x, y] = clamped(at);
    if (this.start) {
      const [u, v] = this.start;
      this.sketch = [this.start, [x, v], [x, y], [u, y], this.start];
    } else if (this.carried) {
      const { figure, from } = this.carried;
      this.figure = moved(figure, [at[0] - from[0], at[1] - from[1]]);
    } else if (this.held && this.figure) {
      const { part, index } = this.held;
      this.figure = { ...this.figure, [part]: (this.figure[part] ?? []).with(index, [x, y]) };
    }
  }

  /** The button went up; whether something was drawn or changed, and not only clicked. */
  drop(): boolean {
    const isClick = this.carried?.figure === this.figure;
    if (this.start && this.sketch.length > 0) {
      const outline = this.sketch.slice(0, 4);
      const [, , w, h] = boxOf({ outline, baseline: null });
      if (w > 0.003 && h > 0.003) void this.make(outline).catch(tellRefusal);
    } else if (this.held || (this.carried && !isClick)) this.save();
    this.start = this.held = this.carried = null;
    this.sketch = [];
    return !isClick;
  }

  /** A click while a line is drawn adds a point to its baseline. */
  add(at: Point): void {
    this.sketch = [...this.sketch, clamped(at)];
  }
  finish(): void {
    const baseline = this.sketch;
    this.sketch = [];
    if (baseline.length > 1) void drawLine(this.page, baseline).catch(tellRefusal);
  }
  /** Take back what is half drawn, else stop drawing; whether there was something to stop. */
  cancel(): boolean {
    if (this.sketch.length > 0) this.sketch = [];
    else if (this.mode !== 'look') this.choose(this.mode);
    else return false;
    return true;
  }

  /** What was just drawn is what is changed next: its corners, and whether it is a cell of a table. */
  private async make(outline: Point[]): Promise<void> {
    await drawRegion(this.page, outline);
    this.mode = 'edit';
    this.follow();
  }

  private save(): void {
    const { figure, page } = this;
    const id = page.region ?? page.selected;
    if (figure && id)
      void changeShape(page, id, figure).catch((reason) => {
        tellRefusal(reason);
        this.follow();
      });
  }
}
