// The language of the application: which one, its sentences, and numbers and dates written its way.
import { en } from './en';

export type Key = keyof typeof en;
export type Catalogue = Record<Key, string>;
type Base<K> = K extends `${infer B}.other` ? B : never;
export type PluralKey = Base<Key>;
type Values = Record<string, string | number>;

/** A third language is a file beside `es.ts` and a line here. */
const LANGUAGES: Record<string, { name: string; load: () => Promise<Catalogue> }> = {
  en: { name: 'English', load: () => Promise.resolve(en) },
  es: { name: 'Español', load: async () => (await import('./es')).es },
};
export const languages = Object.entries(LANGUAGES).map(([code, { name }]) => ({ code, name }));

const KEPT = 'armarium.language';
let catalogue = $state.raw<Catalogue>(en);
let code = $state('en');

export async function chooseLanguage(wanted: string, keep = true): Promise<void> {
  const language = LANGUAGES[wanted];
  if (!language) return;
  catalogue = await language.load();
  code = wanted;
  document.documentElement.lang = wanted;
  if (keep) localStorage.setItem(KEPT, wanted);
}

export async function startLanguage(): Promise<void> {
  const kept = localStorage.getItem(KEPT);
  const wanted = kept ?? navigator.languages.map((one) => one.slice(0, 2)).find((one) => one in LANGUAGES);
  await chooseLanguage(wanted ?? 'en', false);
}

export const language = () => code;

/** How numbers and dates are written: as the browser's own variety of the language has it. */
const variety = () => navigator.languages.find((one) => one.startsWith(code)) ?? code;

const fill = (sentence: string, values?: Values) =>
  values ? sentence.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : sentence;

/** The sentence of *key*, with `{name}` filled in. */
export const t = (key: Key, values?: Values) => fill(catalogue[key], values);

/** Formatters are dear to make, and a listing asks for hundreds: each is made once for a language. */
const made = new Map<string, unknown>();
function once<T>(name: string, make: (variety: string) => T): T {
  const key = `${name} ${variety()}`;
  if (!made.has(key)) made.set(key, make(variety()));
  return made.get(key) as T;
}
const dates = (name: string, options: Intl.DateTimeFormatOptions) => (iso: string) =>
  once(name, (language) => new Intl.DateTimeFormat(language, options)).format(new Date(iso));
const numbers = (name: string, options: Intl.NumberFormatOptions) => (value: number) =>
  once(name, (language) => new Intl.NumberFormat(language, options)).format(value);

/** The sentence for *count* things; `{count}` is filled in as the language writes numbers. */
export function tn(key: PluralKey, count: number, values?: Values): string {
  const one = once('plural', (language) => new Intl.PluralRules(language)).select(count) === 'one';
  return fill(catalogue[`${key}.${one ? 'one' : 'other'}` as Key], { ...values, count: number(count) });
}

export const number = numbers('number', {});
export const percent = (value: number, digits = 0) =>
  numbers(`percent ${digits}`, { style: 'percent', maximumFractionDigits: digits })(value);
export const day = dates('day', { dateStyle: 'full' });
/** The time of day, to the second. */
export const clock = dates('clock', { timeStyle: 'medium' });
export const moment = dates('moment', { dateStyle: 'medium', timeStyle: 'short' });
const kilobytes = numbers('kB', { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 });
const megabytes = numbers('MB', { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
export const bytes = (value: number) => (value < 1e6 ? kilobytes(value / 1e3) : megabytes(value / 1e6));

/** A name as it may stand in a sentence: marks that would turn round what follows are shown, not obeyed. */
export const plain = (name: string) =>
  name.replace(/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/g, '\uFFFD');
