// The lines of a page in reading order, read and unread, as the engine lists them.
import type { Schemas } from '$lib/api/client';

export type PageText = Schemas['PageLines'];
export type Author = Schemas['LineMade']['by'];
export type Doubt = 'none' | 'some' | 'much';

/** Words of a line whose own readings are doubtful can be tinted one by one. */
export interface Piece {
  text: string;
  doubt: Doubt;
  /** What is said of these characters: unclear, deleted, … */
  fact?: Fact['kind'];
}
export type Fact = Schemas['Fact'];
export interface Line {
  id: string;
  text: string;
  pieces: Piece[];
  /** The reading that counts; null for a line that nobody has read, or whose text is that of its words. */
  reading: string | null;
  confidence: number | null;
  direction: string;
  /** The segment it is in: a region, or a cell of a table. */
  parent: string | null;
  /** Who stands behind what it says; null for a line that nobody has read. */
  by: Author | null;
  byName: string | null;
  /** Its entry in the order that is followed, if that is a named one. */
  entry: Schemas['LineEntry'] | null;
}

export function doubtOf(confidence: number | null | undefined): Doubt {
  if (confidence === null || confidence === undefined || confidence >= 0.8) return 'none';
  return confidence >= 0.6 ? 'some' : 'much';
}

export function factsByLine(facts: Fact[]): Map<string, Fact[]> {
  const found = new Map<string, Fact[]>();
  for (const fact of facts) found.set(fact.segment_id, [...(found.get(fact.segment_id) ?? []), fact]);
  return found;
}

/** The pieces of a line cut where something is said of its characters; of all of them where no characters are named. */
export function marked(line: Line, facts: Fact[]): Piece[] {
  const said = facts.filter((one) => one.char_start === null || one.representation_id === line.reading);
  if (said.length === 0) return line.pieces;
  let at = 0;
  return line.pieces.flatMap(({ text, doubt }) => {
    const pieces: Piece[] = [];
    for (const character of text) {
      const fact = said.find((one) => (one.char_start ?? 0) <= at && at < (one.char_end ?? Infinity))?.kind;
      const last = pieces.at(-1);
      if (last && last.fact === fact) last.text += character;
      else pieces.push({ text: character, doubt, ...(fact && { fact }) });
      at++;
    }
    return pieces;
  });
}

/** The lines of an answer; those that are as they were *before* stay the same objects, so that only the others are drawn anew. */
export function linesOf(text: PageText, before: Line[] = []): Line[] {
  const known = new Map(before.map((line) => [line.id, line]));
  return text.lines.map((stated) => {
    const line = lineOf(stated);
    const was = known.get(line.id);
    return was && JSON.stringify(was) === JSON.stringify(line) ? was : line;
  });
}

function lineOf(stated: Schemas['PageLine']): Line {
  return {
    id: stated.segment_id,
    text: stated.text ?? '',
    pieces: piecesOf(stated),
    reading: stated.representation_id,
    confidence: stated.confidence,
    direction: stated.direction,
    parent: stated.parent_segment_id,
    by: stated.made?.by ?? null,
    byName: stated.made?.name ?? null,
    entry: stated.entry,
  };
}

/** The text cut where the certainty changes; of a line without words its own certainty holds for all of it. */
function piecesOf({ text, words, confidence }: Schemas['PageLine']): Piece[] {
  if (!text) return [];
  if (words.every((word) => word.confidence === null)) return [{ text, doubt: doubtOf(confidence) }];
  // Offsets count characters, not the halves of them that a string of JavaScript is made of.
  const characters = Array.from(text);
  const pieces: Piece[] = [];
  const add = (from: number, to: number, doubt: Doubt) => {
    if (to <= from) return;
    const part = characters.slice(from, to).join('');
    const last = pieces.at(-1);
    if (last?.doubt === doubt) last.text += part;
    else pieces.push({ text: part, doubt });
  };
  let at = 0;
  for (const word of words) {
    add(at, word.char_start, 'none');
    add(word.char_start, word.char_end, doubtOf(word.confidence));
    at = word.char_end;
  }
  add(at, characters.length, 'none');
  return pieces;
}
