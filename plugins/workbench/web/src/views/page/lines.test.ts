import { expect, test } from 'vitest';
import { doubtOf, linesOf, marked, type Fact, type PageText } from './lines';

type Stated = PageText['lines'][number];

const line = (id: string, more: Partial<Stated> = {}): Stated => ({
  segment_id: id,
  kind: 'line',
  parent_segment_id: null,
  is_furniture: false,
  direction: 'ltr',
  text: null,
  representation_id: null,
  confidence: null,
  made: null,
  words: [],
  entry: null,
  ...more,
});
const page = (...lines: Stated[]): PageText => ({
  document_id: 'd',
  pass_id: 'p',
  pass_basis: 'chosen',
  order_id: null,
  order_basis: 'positions',
  passes: [],
  lines,
  read_elsewhere: [],
  notice: null,
});
const word = (from: number, to: number, confidence: number | null) => ({
  segment_id: `w${from}`,
  char_start: from,
  char_end: to,
  confidence,
});

test('a line says what counts, who made it and how sure its reader was', () => {
  const made = { by: 'machine' as const, name: 'hand-base' };
  const [read, unread] = linesOf(
    page(line('a', { text: 'En la', representation_id: 'r', confidence: 0.7, made }), line('b')),
  );
  expect(read).toMatchObject({ text: 'En la', reading: 'r', by: 'machine', byName: 'hand-base' });
  expect(read?.pieces).toEqual([{ text: 'En la', doubt: 'some' }]);
  expect(unread).toMatchObject({ text: '', reading: null, by: null, pieces: [] });
});

test('doubtful words are told apart, counted in characters and not in halves of them', () => {
  const words = [word(0, 3, 0.95), word(4, 6, 0.3), word(7, 9, 0.9)];
  const [read] = linesOf(page(line('a', { text: '𝔈𝔫𝔱 𝔩𝔞 ya.', words, confidence: 0.3 })));
  expect(read?.pieces).toEqual([
    { text: '𝔈𝔫𝔱 ', doubt: 'none' },
    { text: '𝔩𝔞', doubt: 'much' },
    { text: ' ya.', doubt: 'none' },
  ]);
});

test('lines that did not change stay the same objects', () => {
  const before = linesOf(page(line('a', { text: 'one' }), line('b', { text: 'two' })));
  const after = linesOf(page(line('b', { text: 'two' }), line('a', { text: 'one more' })), before);
  expect(after[0]).toBe(before[1]);
  expect(after[1]).toMatchObject({ id: 'a', text: 'one more' });
});

test('doubt has three degrees, and what nobody is unsure of has none', () => {
  expect([null, 0.95, 0.7, 0.2].map(doubtOf)).toEqual(['none', 'none', 'some', 'much']);
});

test('what is said of characters cuts the text there, counted by characters', () => {
  const [read] = linesOf(page(line('a', { text: 'a𝔟c d', representation_id: 'r' })));
  const fact = (from: number | null, to: number | null, of = 'r') =>
    ({ kind: 'unclear', char_start: from, char_end: to, representation_id: of }) as Fact;
  if (!read) throw new Error('no line');
  expect(marked(read, [fact(1, 2)]).map((one) => [one.text, one.fact])).toEqual([
    ['a', undefined],
    ['𝔟', 'unclear'],
    ['c d', undefined],
  ]);
  expect(marked(read, [fact(1, 2, 'an earlier reading')])).toEqual(read.pieces);
  expect(marked(read, [fact(null, null)]).map((one) => one.fact)).toEqual(['unclear']);
});
