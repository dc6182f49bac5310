// A misread word put right in a line: only where it stands, and written as large as it was.

/** The line with what stands in *ranges* (characters from, to) replaced. */
export function replaced(text: string, ranges: readonly (readonly number[])[], word: string): string {
  const characters = Array.from(text);
  const sorted = [...ranges].sort((a, b) => (b[0] ?? 0) - (a[0] ?? 0));
  for (const [from = 0, to = 0] of sorted)
    characters.splice(from, to - from, asLarge(characters.slice(from, to).join(''), word));
  return characters.join('');
}

/** *word* with capitals as *was* has them: all, the first, or its own. */
export function asLarge(was: string, word: string): string {
  const [first = ''] = was;
  if (was.length > 1 && was === was.toLocaleUpperCase() && was !== was.toLocaleLowerCase())
    return word.toLocaleUpperCase();
  if (first === first.toLocaleUpperCase() && first !== first.toLocaleLowerCase()) {
    const [head = '', ...rest] = word;
    return head.toLocaleUpperCase() + rest.join('');
  }
  return word;
}
