// One page as it is worked on: its lines, shapes and passes, which line is selected, and how it stays up to date.
import { api, ask, originWindow, Refused, type Schemas } from '$lib/api/client';
import type { Change } from '$lib/changes.svelte';
import { draftOf, type Written } from '$lib/drafts.svelte';
import { tellRefusal } from '$lib/notices.svelte';
import { doubtOf, linesOf, type Line, type PageText } from './lines';
import { Places, shapeOf, type Segment, type Shape } from './shapes';

export type Pass = Schemas['PassOut'];
export type Reading = Schemas['Representation'];

export class PageState {
  document = $state.raw<Schemas['Document'] | null>(null);
  ancestors = $state.raw<Schemas['Document'][]>([]);
  passes = $state.raw<Pass[]>([]);
  text = $state.raw<PageText | null>(null);
  lines = $state.raw<Line[]>([]);
  shapes = $state.raw<Shape[]>([]);
  readings = $state.raw(new Map<string, Reading>());
  selected = $state<string | null>(null);
  hovered = $state<string | null>(null);
  gone = $state(false);
  ready = $state(false);
  segments = new Map<string, Segment>();
  places = new Places([]);

  readonly index = $derived(this.lines.findIndex((line) => line.id === this.selected));
  readonly line = $derived(this.lines[this.index]);
  readonly doubtful = $derived(this.lines.filter((line) => this.isDoubtful(line)).length);

  constructor(
    readonly id: string,
    readonly passId: string | null,
  ) {}

  async load(): Promise<void> {
    const path = { doc_id: this.id };
    const query = { children: false, attachments: false };
    const view = ask(api.GET('/api/documents/{doc_id}/view', { params: { path, query } }));
    try {
      await Promise.all([this.loadWriting(), view.then((found) => this.describe(found))]);
    } catch (reason) {
      if (reason instanceof Refused && reason.status === 404) this.gone = true;
      else tellRefusal(reason);
    }
    this.ready = true;
  }

  private describe(view: Schemas['DocumentView']): void {
    this.document = view.document;
    this.ancestors = view.ancestors;
  }

  async loadWriting(): Promise<void> {
    const text = await ask(
      api.GET('/api/segments/document/{document_id}/text', {
        params: {
          path: { document_id: this.id },
          query: {
            confidence: true,
            include_furniture: true,
            ...(this.passId ? { pass_id: this.passId } : {}),
          },
        },
      }),
    );
    const path = { doc_id: this.id };
    const pass = text.pass_id ? { pass_id: text.pass_id } : {};
    const found = await ask(api.GET('/api/segments/document/{doc_id}', { params: { path, query: pass } }));
    this.segments = new Map(found.segments.map((one) => [one.id, one]));
    this.shapes = found.segments.map(shapeOf);
    this.places = new Places(this.shapes);
    this.lines = linesOf(text, found.segments);
    this.text = text;
    void this.loadPasses().catch(tellRefusal);
    void this.loadReadings().catch(tellRefusal);
  }

  /** All passes of the page; the segments' answer names only the one that was asked for. */
  private async loadPasses(): Promise<void> {
    // An area without shapes: only the passes are wanted.
    const query = { area: '0,0,0.000001,0.000001' };
    const path = { doc_id: this.id };
    this.passes = (await ask(api.GET('/api/segments/document/{doc_id}', { params: { path, query } }))).passes;
  }

  private async loadReadings(): Promise<void> {
    const path = { document_id: this.id };
    const all = await ask(
      api.GET('/api/content-representations/document/{document_id}', { params: { path } }),
    );
    this.readings = new Map(all.map((one) => [one.id, one]));
  }

  /** Who wrote what the line says. */
  authorOf(line: Line): 'person' | 'machine' | 'import' | null {
    const reading = this.readings.get(line.readings[0] ?? '');
    if (!reading) return null;
    if (reading.provenance_kind === 'external_import') return 'import';
    return reading.producer_tool || reading.producer_model ? 'machine' : 'person';
  }

  isDoubtful = (line: Line): boolean =>
    !draftOf(line.id) && (line.text === '' || doubtOf(line.confidence) !== 'none');

  select(id: string | null): void {
    this.selected = id;
  }
  step(by: number): void {
    const to = this.index < 0 ? (by > 0 ? 0 : this.lines.length - 1) : this.index + by;
    const line = this.lines[to];
    if (line) this.selected = line.id;
  }
  nextDoubtful(): boolean {
    const from = this.index;
    const round = [...this.lines.slice(from + 1), ...this.lines.slice(0, Math.max(0, from))];
    const found = round.find(this.isDoubtful);
    if (found) this.selected = found.id;
    return found !== undefined;
  }

  /** The line a shape belongs to: itself, or that of a word. */
  lineOf(shape: Shape): string | null {
    const parent = this.segments.get(shape.id)?.parent_segment_id;
    if (this.lines.some((line) => line.id === shape.id)) return shape.id;
    return parent && this.lines.some((line) => line.id === parent) ? parent : null;
  }

  /** A correction was acknowledged: the line says what was written, without asking for the page again. */
  written(segment: string, written: Written): void {
    this.lines = this.lines.map((line) =>
      line.id === segment && written.counting
        ? {
            ...line,
            text: written.content,
            pieces: [{ text: written.content, doubt: 'none' as const }],
            reading: written.id,
            readings: [written.id],
            confidence: written.confidence,
          }
        : line,
    );
    const review = written.review_state as Reading['review_state'];
    this.readings = new Map(this.readings).set(written.id, { ...written, review_state: review });
  }

  /** Whether a change of the project means that this page must be asked for again. */
  concerns({ kind, data }: Change): boolean {
    if (kind === 'resync' || kind === 'reconnected') return true;
    if (kind !== 'change') return false;
    const mine = data['origin_window'] === originWindow && data['type'] === 'segment.correct';
    const ids = (name: string) => (data[name] as string[] | undefined) ?? [];
    return (
      !mine &&
      (ids('document_ids').includes(this.id) || ids('segment_ids').some((id) => this.segments.has(id)))
    );
  }
}
