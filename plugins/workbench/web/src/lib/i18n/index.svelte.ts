// The language of the application: which one, its sentences, and numbers and dates written its way.
import { en } from './en';

export type Key = keyof typeof en;
export type Catalogue = Record<Key, string>;
type Base<K> = K extends `${infer B}.other` ? B : never;
export type PluralKey = Base<Key>;
type Values = Record<string, string | number>;

/** What the engine says, as forms with {} for names and numbers, by who says it; `blanks` stand only in these,
 * `phrases` also by themselves. */
export type OfEngine = Record<string, Record<string, string>>;

/** What a file of `languages/` exports; what the engine says stays English where it is left out. */
export interface Language {
  /** As those who speak it call it. */
  name: string;
  catalogue: Catalogue;
  engine?: OfEngine;
}
const LANGUAGES: Record<string, () => Promise<Omit<Language, 'name'>>> = {
  en: () => Promise.resolve({ catalogue: en }),
};
export const languages = [{ code: 'en', name: 'English' }];
const files = import.meta.glob<Language>('./languages/*.ts');
// The query makes these modules of their own, of which the build keeps the name only: the catalogues are still loaded when chosen.
const names = import.meta.glob<string>('./languages/*.ts', { query: '?name', import: 'name', eager: true });
for (const [path, load] of Object.entries(files)) {
  const code = path.slice('./languages/'.length, -'.ts'.length);
  LANGUAGES[code] = load;
  languages.push({ code, name: names[path] ?? code });
}

const KEPT = 'armarium.language';
let catalogue = $state.raw<Catalogue>(en);
let sentences = $state.raw(formsOf({}));
let blanks = $state.raw(formsOf({}));
let code = $state('en');

export async function chooseLanguage(wanted: string, keep = true): Promise<void> {
  const load = LANGUAGES[wanted];
  if (!load) return;
  const { catalogue: own, engine: { blanks: inBlanks, ...engine } = {} } = await load();
  catalogue = own;
  blanks = formsOf({ ...inBlanks, ...engine['phrases'] });
  sentences = formsOf(Object.assign({}, ...Object.values(engine)));
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

/** The words for *name* of the engine's among those of *prefix*; null where it has none here, as what a plugin brings. */
export const named = (prefix: string, name: string): string | null =>
  `${prefix}.${name}` in en ? t(`${prefix}.${name}` as Key) : null;

interface Forms {
  whole: Record<string, string>;
  /** What stands between the blanks of a form, and the form in the chosen language; those that say most first. */
  forms: [string[], string][];
  known: Map<string, string | null>;
}
function formsOf(whole: Record<string, string>): Forms {
  const forms = Object.entries(whole)
    .filter(([english]) => english.includes('{}'))
    .sort(([one], [other]) => other.length - one.length)
    .map(([english, own]): [string[], string] => [english.split('{}'), own]);
  return { whole, forms, known: new Map() };
}

/** What stands in the blanks of a form in *said*, each as short as can be; null where it is no sentence of that form. */
function filled(between: string[], said: string): string[] | null {
  const [first = '', last = ''] = [between[0], between.at(-1)];
  const end = said.length - last.length;
  if (end < first.length || !said.startsWith(first) || !said.endsWith(last)) return null;
  let at = first.length;
  const found = between.slice(1, -1).map((part) => {
    const next = at < 0 ? -1 : said.indexOf(part, at);
    const blank = said.slice(at, next);
    at = next < 0 || next + part.length > end ? -1 : next + part.length;
    return blank;
  });
  return at < 0 ? null : [...found, said.slice(at, end)];
}

function sayIn({ whole, forms, known }: Forms, said: string): string | null {
  if (said in whole) return whole[said] ?? null;
  let own = known.get(said);
  if (own !== undefined) return own;
  own = null;
  let likeliest: [between: string[], form: string, parts: string[]] | null = null;
  for (const [between, form] of forms) {
    const parts = filled(between, said);
    if (!parts) continue;
    // One that begins with a name is not meant where another sentence would have to be that name.
    const isName = between[0] !== '' || !/[.?!:] /.test(parts[0] ?? '');
    if (isName || !likeliest) likeliest = [between, form, parts];
    if (isName) break;
  }
  if (likeliest) {
    const [between, form, parts] = likeliest;
    let next = 0;
    own = form.replace(/\{(\d?)\}/g, (_, at: string) => {
      const blank = at ? Number(at) - 1 : next++;
      return inBlank(parts[blank] ?? '', between[blank]?.endsWith('“') ?? false);
    });
  }
  known.set(said, own);
  return own;
}

/** What stands in a blank: a noun or a sentence of the engine's, or a number, or, as it is, somebody's name for a thing. */
function inBlank(part: string, quoted: boolean): string {
  if (quoted) return part;
  if (/^\d{1,3}(,\d{3})+$/.test(part)) return number(Number(part.replaceAll(',', '')));
  return sayIn(blanks, part) ?? (/[.?!]$/.test(part) ? ofEngine(part) : part);
}

/** A sentence of the engine in the chosen language, or, in English and marked so, what it has no words for. */
export interface Said {
  text: string;
  lang?: 'en';
}
export function partsOf(sentence: string): Said[] {
  if (code === 'en') return [{ text: sentence }];
  const each = sentence.split(/(?<=[.?!]) (?=[A-Z“\d])/);
  const [, place = '', about = ''] = /^(.+?): (.+)$/s.exec(sentence) ?? [];
  // A step of a plan and who does it, before a form whose blanks would take half of its name.
  const step = sentences.whole[place];
  if (step && (sayIn(sentences, about) || !/[.?!]$/.test(about)))
    return [{ text: `${step}: ${sayIn(sentences, about) ?? about}` }];
  // Of several sentences each by itself first: a form for the whole might take the name of a thing for two blanks.
  if (each.length === 1 || each.some((one) => sayIn(sentences, one) === null)) {
    const whole = sayIn(sentences, sentence);
    if (whole !== null) return [{ text: whole }];
  }
  // As in a log: what it is about, and then the sentence.
  const own = about ? partsOf(about) : [];
  if (own.length > 0 && own.every((part) => !part.lang))
    return [{ text: `${place}: ${own.map((part) => part.text).join(' ')}` }];
  // Some work, and what somebody calls the page it is done to.
  const work = about && !/[.?!]$/.test(about) ? sayIn(sentences, place) : null;
  if (work !== null) return [{ text: `${work}: ${about}` }];
  return each.length > 1 ? each.flatMap(partsOf) : [{ text: sentence, lang: 'en' }];
}
export const ofEngine = (sentence: string): string =>
  partsOf(sentence)
    .map(({ text }) => text)
    .join(' ');

/** A language, or a script, by its name in the chosen language; what is no code stays as it is. */
export const languageName = (of: string) => displayName('language', of);
export const scriptName = (of: string) => displayName('script', of);
function displayName(type: 'language' | 'script', of: string): string {
  try {
    return new Intl.DisplayNames(code, { type }).of(of) ?? of;
  } catch {
    return of;
  }
}

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
/** A price in US dollars, as providers state theirs. */
export const money = numbers('USD', { style: 'currency', currency: 'USD' });
const kilobytes = numbers('kB', { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 });
const megabytes = numbers('MB', { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
export const bytes = (value: number) => (value < 1e6 ? kilobytes(value / 1e3) : megabytes(value / 1e6));

/** A name as it may stand in a sentence: marks that would turn round what follows are shown, not obeyed. */
export const plain = (name: string) =>
  name.replace(/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/g, '\uFFFD');
