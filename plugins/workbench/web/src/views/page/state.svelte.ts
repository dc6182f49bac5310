// One page as it is worked on: its lines, shapes and passes, which line is selected, and how it stays up to date.
import { api, ask, originWindow, Refused, type Schemas } from '$lib/api/client';
import type { Change } from '$lib/changes.svelte';
import { draftOf, type Written } from '$lib/drafts.svelte';
import { tellRefusal } from '$lib/notices.svelte';
import { doubtOf, factsByLine, linesOf, type Fact, type Line, type PageText } from './lines';
import { Places, shapeOf, type Shape } from './shapes';
import { wordsOf, type Word } from './words';

export type Pass = Schemas['PassOut'];

/** What changes the text of lines, and neither which there are nor where they stand. */
const TEXT_ONLY = /^(representation|reading)\.(?!take)/;

export class PageState {
  document = $state.raw<Schemas['Document'] | null>(null);
  ancestors = $state.raw<Schemas['Document'][]>([]);
  text = $state.raw<PageText | null>(null);
  lines = $state.raw<Line[]>([]);
  shapes = $state.raw<Shape[]>([]);
  selected = $state<string | null>(null);
  /** A region or a cell of a table that is being edited. */
  region = $state<string | null>(null);
  hovered = $state<string | null>(null);
  /** What is said of characters, by line. */
  facts = $state.raw<ReadonlyMap<string, Fact[]>>(new Map());
  /** Where words stand, and the one at the cursor. */
  private words = $state.raw<Word[]>([]);
  word = $state.raw<Word | null>(null);
  /** Whether its picture is here; null: not known yet. */
  pictured = $state<boolean | null>(null);
  refused = $state.raw<Refused | null>(null);
  ready = $state(false);

  readonly passes = $derived(this.text?.passes ?? []);
  readonly shapeById = $derived(new Map(this.shapes.map((shape) => [shape.id, shape])));
  readonly placed = $derived(wordsOf(this.words, this.lines));
  readonly places = $derived(new Places(this.shapes));
  private readonly indexOf = $derived(new Map(this.lines.map((line, index) => [line.id, index])));
  readonly index = $derived(this.indexOf.get(this.selected ?? '') ?? -1);
  readonly line = $derived(this.lines[this.index]);
  readonly doubtful = $derived(this.lines.filter((line) => this.isDoubtful(line)));
  readonly direction = $derived(this.lines[0]?.direction ?? 'ltr');
  readonly isVertical = $derived(this.direction === 'ttb' || this.direction === 'btt');
  /** Whether columns of a vertical page follow one another from the left, as in Mongolian: most steps say so. */
  readonly runsRightwards = $derived.by(() => {
    const places = this.lines.map((line) => this.shapeById.get(line.id)?.box[0] ?? 0);
    const steps = places.slice(1).map((x, index) => Math.sign(x - (places[index] ?? 0)));
    return this.isVertical && steps.reduce((sum, step) => sum + step, 0) > 0;
  });

  constructor(
    readonly id: string,
    readonly passId: string | null,
  ) {}

  async load(): Promise<void> {
    const path = { doc_id: this.id };
    const query = { children: false, attachments: false };
    const view = ask(api.GET('/api/documents/{doc_id}/view', { params: { path, query } }));
    const pictures = ask(
      api.GET('/api/documents/{document_id}/renditions', { params: { path: { document_id: this.id } } }),
    ).then(({ items }) => (this.pictured = items.some((one) => one.is_primary && one.materialized)));
    try {
      await Promise.all([this.reload(), pictures, view.then((found) => this.describe(found))]);
    } catch (reason) {
      if (reason instanceof Refused && [403, 404].includes(reason.status)) this.refused = reason;
      else tellRefusal(reason);
    }
    this.ready = true;
  }

  private describe(view: Schemas['DocumentView']): void {
    this.document = view.document;
    this.ancestors = view.ancestors;
  }

  /** Ask for lines and shapes again. */
  async reload(): Promise<void> {
    await Promise.all([this.loadLines(), this.loadShapes()]);
  }

  async loadLines(): Promise<void> {
    this.loadFacts();
    this.text = await linesOfPass(this.id, this.passId);
    this.lines = linesOf(this.text, this.lines);
    this.ready = true;
  }

  private loadFacts(): void {
    const path = { document_id: this.id };
    void ask(api.GET('/api/editorial/document/{document_id}', { params: { path } })).then(
      ({ items }) => (this.facts = factsByLine(items)),
      () => {},
    );
  }

  private async loadShapes(): Promise<void> {
    const path = { document_id: this.id };
    const query = this.passId ? { pass_id: this.passId } : {};
    const found = await ask(
      api.GET('/api/segments/document/{document_id}/shapes', { params: { path, query } }),
    );
    this.shapes = found.shapes.map(shapeOf);
    // They are drawn when they come: the page does not wait for them.
    void ask(api.GET('/api/segments/document/{document_id}/words', { params: { path, query } })).then(
      ({ words }) => (this.words = words as Word[]),
      () => {},
    );
  }

  isDoubtful = (line: Line): boolean =>
    !draftOf(line.id) &&
    (line.text === '' ||
      doubtOf(line.confidence) !== 'none' ||
      line.pieces.some((piece) => piece.doubt !== 'none'));

  /** The cell of a table that a line is in. */
  cellOf = (line: Line): Shape['cell'] => {
    for (let id: string | null = line.id; id; id = this.shapeById.get(id)?.parent ?? null) {
      const cell = this.shapeById.get(id)?.cell;
      if (cell) return cell;
    }
    return null;
  };

  select(id: string | null): void {
    this.selected = id;
    this.word = null;
    this.region = null;
  }
  step(by: number): void {
    const to = this.index < 0 ? (by > 0 ? 0 : this.lines.length - 1) : this.index + by;
    const line = this.lines[to];
    if (line) this.select(line.id);
  }
  nextDoubtful(): boolean {
    const from = this.index;
    const round = [...this.lines.slice(from + 1), ...this.lines.slice(0, Math.max(0, from))];
    const found = round.find(this.isDoubtful);
    if (found) this.select(found.id);
    return found !== undefined;
  }

  /** The line a shape belongs to: itself, or that of a word. */
  lineOf(shape: Shape): string | null {
    if (this.indexOf.has(shape.id)) return shape.id;
    return shape.parent && this.indexOf.has(shape.parent) ? shape.parent : null;
  }

  /** A correction was acknowledged: the line says what was written, without asking for the page again. */
  written(segment: string, { id, content, confidence, counting }: Written): void {
    if (!counting) return;
    // What was said of the characters is said of the new reading, as far as it has them.
    if (this.facts.has(segment)) this.loadFacts();
    this.lines = this.lines.map((line) =>
      line.id === segment
        ? {
            ...line,
            text: content,
            pieces: content ? [{ text: content, doubt: 'none' as const }] : [],
            reading: id,
            confidence,
            by: content ? ('person' as const) : null,
            byName: null,
          }
        : line,
    );
  }

  private asked: Promise<Schemas['Letter'][]> | undefined;
  /** The letters of the project that keyboards lack, the most used first; asked for once. */
  letters = () =>
    (this.asked ??= ask(api.GET('/api/letterforms/letters', { params: { query: { limit: 80 } } })).then(
      (found) => found.items,
    ));

  /** What of this page must be asked for again after a change of the project. */
  touchedBy({ kind, data }: Change): 'all' | 'lines' | null {
    if (kind === 'resync' || kind === 'reconnected') return 'all';
    if (kind !== 'change') return null;
    const type = data['type'] as string;
    // This window knows what it wrote itself (`written`).
    if (data['origin_window'] === originWindow && type === 'representation.create') return null;
    const ids = (name: string) => (data[name] as string[] | undefined) ?? [];
    if (!ids('document_ids').includes(this.id) && !ids('segment_ids').some((id) => this.shapeById.has(id)))
      return null;
    return TEXT_ONLY.test(type) ? 'lines' : 'all';
  }
}

export const linesOfPass = async (document: string, pass: string | null): Promise<PageText> =>
  ask(
    api.GET('/api/segments/document/{document_id}/lines', {
      params: {
        path: { document_id: document },
        query: { words: true, ...(pass ? { pass_id: pass } : {}) },
      },
    }),
  );
