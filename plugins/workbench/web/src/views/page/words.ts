// Where the words of lines stand on the picture, as far as a reader or a file said so.
import type { Schemas } from '$lib/api/client';
import { doubtOf, type Line } from './lines';
import type { Point, Shape } from './shapes';

export type Word = Schemas['PageWord'];

/** The placed words of each line; those of another text than the line has now are left out. */
export function wordsOf(words: Word[], lines: Line[]): Map<string, Word[]> {
  const texts = new Map(lines.map((line) => [line.id, Array.from(line.text)]));
  const found = new Map<string, Word[]>();
  for (const word of words) {
    if (texts.get(word.line_id)?.slice(word.char_start, word.char_end).join('') !== word.text) continue;
    const there = found.get(word.line_id);
    if (there) there.push(word);
    else found.set(word.line_id, [word]);
  }
  return found;
}

/** The word in which, or at an end of which, a place of a text lies; *at* counts as JavaScript does. */
export function wordAt(words: Word[] | undefined, text: string, at: number): Word | null {
  const place = Array.from(text.slice(0, at)).length;
  return words?.find((word) => word.char_start <= place && place <= word.char_end) ?? null;
}

/** What is tinted of doubtful lines: the doubtful words where somebody placed them, else the whole line. */
export function tinted(lines: Line[], words: Map<string, Word[]>, shapes: Map<string, Shape>): Point[][] {
  return lines.flatMap((line) => {
    const unsure = (words.get(line.id) ?? []).filter((word) => doubtOf(word.probability) !== 'none');
    if (unsure.length > 0) return unsure.map((word) => word.corners as Point[]);
    const outline = shapes.get(line.id)?.outline;
    return outline ? [outline] : [];
  });
}
