// Which things of a folder are shown, and of all folders in it: by name, by date, by what is stated of them.
import type { Schemas } from '$lib/api/client';

export interface Narrowing {
  name: string;
  /** Years or days, as ISO 8601 writes them. */
  from: string;
  to: string;
  /** Values of facets that must hold, each with its attribute. */
  only: [attribute: string, value: unknown][];
}
type Filter = Schemas['Filter'];
export const DATE = /^\d{4}(-\d\d){0,2}$/;

/** What an address says of it. */
export function narrowingOf(query: URLSearchParams): Narrowing {
  const text = (key: string) => query.get(key) ?? '';
  const date = (key: string) => (DATE.test(text(key)) ? text(key) : '');
  let only: unknown;
  try {
    only = JSON.parse(text('only') || '[]');
  } catch {
    only = []; // An address that somebody changed by hand.
  }
  return {
    name: text('name'),
    from: date('from'),
    to: date('to'),
    only: (Array.isArray(only) ? only : []).filter(
      (one): one is [string, unknown] => Array.isArray(one) && one.length === 2 && typeof one[0] === 'string',
    ),
  };
}

/** The same for an address. */
export const queryOf = ({ only, ...rest }: Narrowing) => ({
  ...rest,
  only: only.length > 0 ? JSON.stringify(only) : '',
});

export function filtersOf({ name, from, to, only }: Narrowing): Filter[] {
  const filters: Filter[] = only.map(([attr, value]) => ({ attr, op: 'has', value, type: 'text' }));
  if (name.trim()) filters.push({ attr: 'document.name', op: 'contains', value: name.trim(), type: 'text' });
  const date = { attr: 'document.date_iso', type: 'date' } as const;
  if (from) filters.push({ ...date, op: 'gte', value: from });
  if (to) filters.push({ ...date, op: 'lte', value: to });
  return filters;
}

/** With a value of a facet, or without it where it was chosen. */
export function toggled(narrowing: Narrowing, attribute: string, value: unknown): Narrowing {
  const rest = narrowing.only.filter((one) => one[0] !== attribute || one[1] !== value);
  const only =
    rest.length < narrowing.only.length ? rest : [...rest, [attribute, value] as [string, unknown]];
  return { ...narrowing, only };
}
