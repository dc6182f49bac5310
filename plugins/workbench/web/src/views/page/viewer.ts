// The picture of a page at any zoom: OpenSeadragon on the engine's tiles, with our shapes over it.
import OpenSeadragon from 'openseadragon';
import { Overlay, type Marks, type View } from './overlay';
import { tilesOf, withoutStyleOfItsOwn } from './tiles';
import type { Point, Shape } from './shapes';

/** A line that is lower than this on the screen cannot be read. */
const LEAST_PIXELS = 16;

export type Look = 'whole' | 'width';

export class PageViewer {
  private readonly viewer: OpenSeadragon.Viewer;
  private readonly overlay: Overlay;
  private size: [number, number] = [1, 1];
  private marks: Marks = {
    selected: null,
    hovered: null,
    doubtful: [],
    word: null,
    shown: true,
    figure: null,
    sketch: [],
  };
  private isOpen = false;
  private holding = false;
  /** How a line that is too small was brought nearer, and from where. */
  private nearer: { before: OpenSeadragon.Rect; width: number } | null = null;

  constructor(
    element: HTMLElement,
    private readonly on: {
      point: (at: Point) => void;
      press: (at: Point) => void;
      twice: () => void;
      /** Whether what is dragged from here is a shape, and not the picture. */
      grab: (at: Point, remove: boolean) => boolean;
      drag: (at: Point) => void;
      drop: () => boolean;
      opened: () => void;
    },
  ) {
    withoutStyleOfItsOwn();
    this.viewer = OpenSeadragon({
      element,
      drawer: 'canvas',
      showNavigationControl: false,
      animationTime: 0.35,
      springStiffness: 9,
      visibilityRatio: 0.4,
      minZoomImageRatio: 0.6,
      maxZoomPixelRatio: 6,
      immediateRender: true,
      tabIndex: -1,
      gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true, flickEnabled: true },
    });
    const canvas = document.createElement('canvas');
    canvas.className = 'shapes';
    canvas.setAttribute('aria-hidden', 'true');
    this.viewer.canvas.append(canvas);
    this.overlay = new Overlay(canvas);
    this.viewer.addHandler('update-viewport', () => this.draw());
    this.viewer.addOnceHandler('tile-drawn', () => performance.mark('page.picture'));
    // The keys are ours.
    this.viewer.addHandler('canvas-key', (event) => {
      event.preventDefaultAction = true;
    });
    this.viewer.addHandler('canvas-click', (event) => {
      if (event.quick && !this.holding) this.on.press(this.locate(event.position));
    });
    this.viewer.addHandler('canvas-double-click', (event) => {
      event.preventDefaultAction = true;
      this.on.twice();
    });
    this.viewer.addHandler('canvas-press', (event) => {
      const { altKey } = event.originalEvent as MouseEvent;
      this.holding = this.isOpen && this.on.grab(this.locate(event.position), altKey);
    });
    this.viewer.addHandler('canvas-drag', (event) => {
      if (!this.holding) return;
      event.preventDefaultAction = true;
      this.on.drag(this.locate(event.position));
    });
    // A shape that is let go of quickly does not set the picture in motion.
    this.viewer.addHandler('canvas-drag-end', (event) => {
      if (this.holding) event.preventDefaultAction = true;
    });
    this.viewer.addHandler('canvas-release', () => {
      // What follows a mere click is the click.
      if (this.holding) this.holding = this.on.drop();
    });
    new OpenSeadragon.MouseTracker({
      element: this.viewer.canvas,
      moveHandler: (event) =>
        this.on.point(this.locate((event as unknown as { position: OpenSeadragon.Point }).position)),
      leaveHandler: () => this.on.point([-1, -1]),
    });
  }

  async open(document: string): Promise<void> {
    const { source, size } = await tilesOf(document);
    this.size = size;
    await new Promise<void>((done) => {
      this.viewer.addOnceHandler('open', () => done());
      this.viewer.open(source);
    });
    this.isOpen = true;
    this.look('width', true);
    this.on.opened();
  }

  show(shapes: Shape[]): void {
    this.overlay.show(shapes);
    this.draw();
    if (shapes.length > 0) performance.mark('page.shapes');
  }
  mark(marks: Marks): void {
    this.marks = marks;
    this.draw();
  }

  zoomBy(factor: number): void {
    this.viewer.viewport.zoomBy(factor);
    this.viewer.viewport.applyConstraints();
  }
  turn(degrees: number): void {
    this.viewer.viewport.setRotation(this.viewer.viewport.getRotation() + degrees);
  }
  look(how: Look, at_once = false): void {
    const [width, height] = this.size;
    const { viewport } = this.viewer;
    const { x, y } = viewport.getContainerSize();
    if (how === 'whole' || height / width < y / x) return void viewport.goHome(at_once);
    viewport.fitBounds(new OpenSeadragon.Rect(0, 0, 1, y / x), at_once);
  }

  /** How far apart two points of the picture are on the screen, in pixels. */
  distance = (p: Point, q: Point): number => {
    const [a, b, c, d] = this.view() ?? [1, 0, 0, 1];
    const [x, y] = [p[0] - q[0], p[1] - q[1]];
    return Math.hypot(a * x + c * y, b * x + d * y);
  };

  /** Bring a shape into sight, without moving what is well in sight. */
  reveal(box: Shape['box']): void {
    if (!this.isOpen) return;
    const [x, y, w, h] = box;
    const aspect = this.size[1] / this.size[0];
    const { viewport } = this.viewer;
    let now = viewport.getBoundsNoRotate(false);
    // Where it was not the person who went nearer, the next line is seen from where the person was.
    if (this.nearer && Math.abs(now.width - this.nearer.width) < now.width / 1000) {
      const { before } = this.nearer;
      now = new OpenSeadragon.Rect(before.x, now.y, before.width, before.height);
    }
    const before = now;
    this.nearer = null;
    // Too small to be read: nearer, until the shape is as wide as the window. A single letter is as large as it is long.
    const [short = 0, long = 0] = [w / now.width, (h * aspect) / now.width].sort((a, b) => a - b);
    const seen = (long < 2 * short ? long : short) * viewport.getContainerSize().x;
    if (seen < LEAST_PIXELS) {
      const width = Math.min(now.width, Math.max(w * 1.08, h * aspect * 12));
      now = new OpenSeadragon.Rect(x - width * 0.04, now.y, width, (width * now.height) / now.width);
      this.nearer = { before, width };
    }
    const [top, bottom] = [y * aspect, (y + h) * aspect];
    const margin = now.height * 0.12;
    let { x: left, y: up } = now;
    if (top < now.y + margin || bottom > now.y + now.height - margin)
      up = (top + bottom) / 2 - now.height * 0.4;
    // Not above the picture, where there is nothing to see.
    up = Math.max(up, Math.min(now.y, -margin / 4));
    if (w <= now.width && (x < now.x || x + w > now.x + now.width)) left = x + w / 2 - now.width / 2;
    if (left !== now.x || up !== now.y || now.width !== viewport.getBoundsNoRotate(false).width)
      viewport.fitBounds(new OpenSeadragon.Rect(left, up, now.width, now.height), false);
  }

  destroy(): void {
    this.viewer.destroy();
  }

  private view(): View | null {
    const image = this.isOpen ? this.viewer.world.getItemAt(0) : undefined;
    if (!image) return null;
    const at = (x: number, y: number) =>
      image.imageToViewerElementCoordinates(new OpenSeadragon.Point(x * this.size[0], y * this.size[1]));
    const [origin, right, down] = [at(0, 0), at(1, 0), at(0, 1)];
    return [right.x - origin.x, right.y - origin.y, down.x - origin.x, down.y - origin.y, origin.x, origin.y];
  }
  private draw(): void {
    const view = this.view();
    if (view) this.overlay.draw(view, this.marks);
  }
  private locate(position: OpenSeadragon.Point): Point {
    const view = this.view();
    if (!view) return [-1, -1];
    const found = new DOMMatrix([...view]).inverse().transformPoint(new DOMPoint(position.x, position.y));
    return [found.x, found.y];
  }
}
