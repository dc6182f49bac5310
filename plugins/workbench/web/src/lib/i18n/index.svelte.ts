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

/** The sentence for *count* things; `{count}` is filled in as the language writes numbers. */
export function tn(key: PluralKey, count: number, values?: Values): string {
  const one = new Intl.PluralRules(code).select(count) === 'one';
  return fill(catalogue[`${key}.${one ? 'one' : 'other'}` as Key], { ...values, count: number(count) });
}

export const number = (value: number) => new Intl.NumberFormat(variety()).format(value);
export const percent = (value: number, digits = 0) =>
  new Intl.NumberFormat(variety(), { style: 'percent', maximumFractionDigits: digits }).format(value);
export const day = (iso: string) =>
  new Intl.DateTimeFormat(variety(), { dateStyle: 'full' }).format(new Date(iso));
/** The time of day, to the second. */
export const clock = (iso: string) =>
  new Intl.DateTimeFormat(variety(), { timeStyle: 'medium' }).format(new Date(iso));
export const moment = (iso: string) =>
  new Intl.DateTimeFormat(variety(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));
export const bytes = (value: number) =>
  value < 1e6
    ? new Intl.NumberFormat(variety(), { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 }).format(
        value / 1e3,
      )
    : new Intl.NumberFormat(variety(), { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 }).format(
        value / 1e6,
      );

/** A name as it may stand in a sentence: marks that would turn round what follows are shown, not obeyed. */
export const plain = (name: string) =>
  name.replace(/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/g, '\uFFFD');
