// Dates as they are written, and the days they mean.
import { api, ask, type Schemas } from './api/client';

export type WrittenDate = Schemas['WrittenDate'];

/** When a date was that is written in words; null for what is not a date. */
export async function readDate(text: string): Promise<WrittenDate | null> {
  const query = { text: text.trim() };
  return query.text ? (await ask(api.GET('/api/dates/read', { params: { query } }))).date : null;
}

/** The days that a date covers, as one writes them; with … where it has no beginning ("before 1850") or no end. */
export function spanOf(date: { iso_start?: unknown; iso_end?: unknown; precision?: unknown }): string {
  const [start, end] = [date.iso_start, date.iso_end].map((one) => (typeof one === 'string' ? one : ''));
  if (!start && !end) return '';
  const open = date.precision === 'interval' || !start;
  return open ? `${start || '…'} – ${end || '…'}` : [start, end].filter(Boolean).join(' – ');
}

/** The same in EDTF: a day, a month, a year, or from one to another; null where no day is known. */
export function isoOf({ iso_start: start, iso_end: end, precision }: WrittenDate): string | null {
  // "Before 1850" is no date in 1850, and neither is "after 1850".
  if (precision === 'interval' && Boolean(start) !== Boolean(end)) return `${start || '..'}/${end || '..'}`;
  if (!start || !end || start === end) return start ?? end;
  // A whole month or year is written as that.
  const [, year = '', month = ''] = /^(-?\d+)-(\d\d)-01$/.exec(start) ?? [];
  if (end === `${year}-12-31` && month === '01') return year;
  if (end.startsWith(`${year}-${month}-`) && Number(end.slice(-2)) >= 28) return `${year}-${month}`;
  return `${start}/${end}`;
}
