// What is in doubt, in the order in which a person goes through it.
import type { Schemas } from '$lib/api/client';

export type Doubt = Schemas['InDoubt'];
export type Named = Schemas['ConfirmOne'];

/** The rows of each page together, in the order in which the pages come first. */
export function byPage(items: Doubt[]): [string, Doubt[]][] {
  const pages = new Map<string, Doubt[]>();
  for (const one of items) {
    const rows = pages.get(one.document_id);
    if (rows) rows.push(one);
    else pages.set(one.document_id, [one]);
  }
  return [...pages];
}

/**
 * What can be confirmed without looking at it again: its words are still there, on every line that it rests on.
 * An interpretation is of a whole page, and has to be read.
 */
export function confirmable(items: Doubt[]): Named[] {
  const name = (one: Doubt) => `${one.kind} ${one.id}`;
  const open = new Set(items.filter((one) => one.todo !== 'confirm').map(name));
  const sure = items.filter(
    (one) => one.todo === 'confirm' && one.kind !== 'interpretation' && !open.has(name(one)),
  );
  return [...new Map(sure.map((one) => [name(one), { kind: one.kind, id: one.id }])).values()];
}
