// Where in a line the words stand that were found. The engine counts characters, a browser counts halves of some.

export interface Piece {
  text: string;
  found: boolean;
}

/** A text in pieces, those in *ranges* (characters from, to) being what was found. */
export function pieces(text: string, ranges: readonly (readonly number[])[]): Piece[] {
  const characters = Array.from(text);
  const sorted = ranges
    .map(([from = 0, to = 0]) => [Math.max(0, from), Math.min(characters.length, to)] as const)
    .filter(([from, to]) => from < to)
    .sort((a, b) => a[0] - b[0]);
  const found: Piece[] = [];
  let at = 0;
  const take = (to: number, isFound: boolean) => {
    if (to > at) found.push({ text: characters.slice(at, to).join(''), found: isFound });
    at = Math.max(at, to);
  };
  for (const [from, to] of sorted) {
    take(from, false);
    take(to, true);
  }
  take(characters.length, false);
  return found;
}
