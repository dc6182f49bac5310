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

/** Spans in their order; unread lines where the list of segments has them, since the text leaves them out. */
export function linesOf(text: PageText, segments: Segment[]): Line[] {
  const byId = new Map(segments.map((one) => [one.id, one]));
  const place = new Map(segments.map((one, index) => [one.id, index]));
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
  return woven(lines, unread, (line) => place.get(line.id) ?? 0);
}

/** Two ordered lists as one; of the two next ones, that which comes first by *place*. */
function woven(one: Line[], other: Line[], place: (line: Line) => number): Line[] {
  const all: Line[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [a, b] = [one[i], other[j]];
    if (!a && !b) return all;
    if (a && (!b || place(a) <= place(b))) {
      all.push(a);
      i++;
    } else if (b) {
      all.push(b);
      j++;
    }
  }
}
