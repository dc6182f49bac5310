// The lines of a page in reading order, read and unread, from the published text and segments.
import type { Schemas } from '$lib/api/client';
import type { Segment } from './shapes';

export type PageText = Schemas['PageText'];
export type Doubt = 'none' | 'some' | 'much';

/** Words of a line whose own readings are doubtful can be tinted one by one. */
export interface Piece {
  text: string;
  doubt: Doubt;
}
export interface Line {
  id: string;
  text: string;
  pieces: Piece[];
  /** The reading that counts; null for a line that nobody has read, or whose text is that of its words. */
  reading: string | null;
  /** The readings its text comes from. */
  readings: string[];
  confidence: number | null;
  direction: string;
  version: number | null;
}

export function doubtOf(confidence: number | null | undefined): Doubt {
  if (confidence === null || confidence === undefined || confidence >= 0.8) return 'none';
  return confidence >= 0.6 ? 'some' : 'much';
}

/** Spans in their order; unread lines, which the text leaves out, where they stand on the page. */
export function linesOf(text: PageText, segments: Segment[]): Line[] {
  const byId = new Map(segments.map((one) => [one.id, one]));
  // Offsets count characters, not the halves of them that a string of JavaScript is made of.
  const characters = Array.from(text.text);
  const lines: Line[] = [];
  const of = new Map<string, Line>();

  for (const span of text.spans) {
    const segment = byId.get(span.segment_id);
    const parent = segment?.parent_segment_id ? byId.get(segment.parent_segment_id) : undefined;
    const isWord = segment?.kind === 'word' && parent?.kind === 'line';
    const id = isWord && parent ? parent.id : span.segment_id;
    const words = characters.slice(span.char_start, span.char_end).join('');
    const piece: Piece = { text: words, doubt: doubtOf(span.confidence) };
    const line = of.get(id);
    if (line) {
      line.text += ` ${words}`;
      line.pieces.push(piece);
      line.readings.push(span.representation_id);
      if (span.confidence != null) line.confidence = Math.min(line.confidence ?? 1, span.confidence);
      continue;
    }
    const made: Line = {
      id,
      text: words,
      pieces: [piece],
      reading: isWord ? null : span.representation_id,
      readings: [span.representation_id],
      confidence: span.confidence ?? null,
      direction: span.direction,
      version: byId.get(id)?.version ?? null,
    };
    of.set(id, made);
    lines.push(made);
  }

  const usual = lines[0]?.direction ?? 'ltr';
  const unread = text.omitted
    .filter((one) => one.reason === 'unknown' && byId.get(one.segment_id)?.kind === 'line')
    .map((one): Line => {
      const segment = byId.get(one.segment_id);
      return {
        id: one.segment_id,
        text: '',
        pieces: [],
        reading: null,
        readings: [],
        confidence: null,
        direction: segment?.direction ?? usual,
        version: segment?.version ?? null,
      };
    });
  if (lines.length === 0) return unread;
  for (const line of unread) lines.splice(placeOf(line, lines, byId), 0, line);
  return lines;
}

/** Where an unread line belongs among others: after the nearest one before it in its column. */
function placeOf(line: Line, among: Line[], byId: Map<string, Segment>): number {
  const segment = byId.get(line.id);
  if (!segment) return among.length;
  const vertical = line.direction.startsWith('ttb');
  // Along the column, and across it; columns of a page that runs down follow one another from the right.
  const along = (one: Segment) => (vertical ? -(one.bbox_x + one.bbox_w / 2) : one.bbox_y + one.bbox_h / 2);
  const across = (one: Segment): [number, number] =>
    vertical ? [one.bbox_y, one.bbox_y + one.bbox_h] : [one.bbox_x, one.bbox_x + one.bbox_w];
  const [from, to] = across(segment);
  let after = -1;
  let before = among.length;
  among.forEach((other, index) => {
    const its = byId.get(other.id);
    if (!its) return;
    const [start, end] = across(its);
    if (end <= from || start >= to) return;
    if (along(its) <= along(segment)) after = Math.max(after, index);
    else before = Math.min(before, index);
  });
  return after >= 0 ? after + 1 : before;
}
