import { expect, test } from 'vitest';
import {
  changeOf,
  makersOf,
  outlinesOf,
  rivalOf,
  said,
  valuesOf,
  whatOf,
  whyOf,
  type Group,
  type Row,
} from './changes';

const value = (column: string, base: unknown, theirs: unknown, ours: unknown = base, conflict = false) => ({
  column,
  base,
  theirs,
  ours,
  conflict,
});
const row = (given: Partial<Row>): Row => ({
  table: 'document',
  label: 'document',
  id: '1',
  change: 'update',
  status: 'clean',
  why: null,
  segment_id: null,
  values: [],
  words: null,
  theirs_by: [],
  ours_by: [],
  ...given,
});

test('of a new row what it says is shown, not the ids and dates of the engine, and nothing that is empty', () => {
  const values = [
    value('id', null, 'a1'),
    value('canonical_name', null, 'Ana'),
    value('folded_names', null, 'ana'),
    value('created_at', null, '2026-01-01'),
    value('path', null, '/srv/box/a.jpg'),
    value('curation_state', null, 'unreviewed'),
    value('names', null, []),
    value('metadata', null, {}),
    value('language', null, null),
  ];
  expect(valuesOf(row({ change: 'insert', values }))).toEqual([
    { name: 'Name', before: '', after: 'Ana', ours: null },
  ]);
});

test('a row that is only marked as gone was removed, and one whose mark went was brought back', () => {
  const marked = (...given: Parameters<typeof value>) =>
    row({ label: 'segment', values: [value('by_hand', false, true), value(...given)] });
  const removed = marked('deleted_at', null, '2026-01-01');
  expect([changeOf(removed), valuesOf(removed), whatOf(removed)]).toEqual(['delete', [], 'Line or region']);
  expect(changeOf(marked('deleted_at', '2026-01-01', null))).toBe('restore');
  expect(changeOf(marked('retracted', false, true))).toBe('delete');
  expect(changeOf(marked('name', 'a', 'b'))).toBe('update');
  expect(whatOf(row({ label: 'thing of a plugin' }))).toBe('thing of a plugin');
});

test('lists and places are said as words', () => {
  expect(said(['Ana', 'Anna'])).toBe('Ana, Anna');
  expect(said([{ label: 'Paris', lat: 48.86, lon: 2.35 }])).toBe('Paris');
});

test('a page that only moved says from where to where', () => {
  expect(valuesOf(row({ values: [value('parent_id', 'box-1', 'box-2')] }))).toEqual([
    { name: 'parent id', before: 'box-1', after: 'box-2', ours: null },
  ]);
});

test('what only follows the line that it is on shows none of its ids', () => {
  expect(valuesOf(row({ values: [value('representation_id', '01a2', '01a3')] }))).toEqual([]);
});

test('in a conflict both values are said, also an empty one', () => {
  const values = [value('name', 'a.jpg', 'b.jpg', null, true)];
  expect(valuesOf(row({ status: 'conflict', values }))).toEqual([
    { name: 'Name', before: 'a.jpg', after: 'b.jpg', ours: '' },
  ]);
});

test('a reading in conflict names what the project reads', () => {
  const values = [value('content', null, 'Dear Sir', 'Deer Sire')];
  const words = [{ change: 'added' as const, text: 'Dear Sir' }];
  expect(rivalOf(row({ change: 'insert', status: 'conflict', words, values }))).toBe('Deer Sire');
  expect(rivalOf(row({ change: 'insert', words, values }))).toBeNull();
  expect(valuesOf(row({ change: 'insert', words, values }))).toEqual([]);
  const remade = [value('content', null, 'Dear Sir', null)];
  const conflict = row({ change: 'insert', status: 'conflict', why: 'remade', words, values: remade });
  expect([rivalOf(conflict), whyOf(conflict)]).toEqual([null, expect.stringContaining('split or joined')]);
});

test('a long value is cut between characters', () => {
  expect(said('𝔄'.repeat(401))).toBe('𝔄'.repeat(400) + '…');
});

test('the outlines before and after stand in one drawing', () => {
  const before = { rect: [0, 0, 0.5, 0.5] };
  const after = { polygon: [[0.5, 0.5], [1, 0.5], [1, 1]] }; // prettier-ignore
  const drawn = (...given: Parameters<typeof value>) => outlinesOf(row({ values: [value(...given)] }));
  const sides = (...given: Parameters<typeof value>) => drawn(...given)?.sides.map((one) => one.side);
  expect(drawn('anchor', before, after)?.box).toEqual([0, 0, 1, 1]);
  expect(sides('anchor', before, after)).toEqual(['base', 'theirs']);
  expect(sides('anchor', before, after, { rect: [0, 0, 0.2, 0.2] })).toEqual(['base', 'ours', 'theirs']);
  expect(sides('anchor', null, after)).toEqual(['theirs']);
  expect(sides('anchor', before, null)).toEqual(['base']);
  expect(outlinesOf(row({ values: [value('name', 'a', 'b')] }))).toBeNull();
});

test('an outline that differs only in a late corner is another outline', () => {
  const long = (last: number) => ({
    polygon: [...Array.from({ length: 60 }, (_, at): [number, number] => [at / 60, 0.123456]), [last, 0.2]],
  });
  const values = [value('anchor', long(0.5), long(0.6), long(0.7), true)];
  expect(outlinesOf(row({ values }))?.sides.map((one) => one.side)).toEqual(['base', 'ours', 'theirs']);
});

test('beside outlines nothing is said that the engine works out from them', () => {
  const anchor = value('anchor', { rect: [0, 0, 0.5, 0.5] }, { rect: [0, 0, 0.6, 0.5] });
  const engine = [
    value('tile', 56, 73, 56, true),
    value('by_hand', false, true, true, true),
    value('joined_or_split_in', null, '01a2'),
  ];
  expect(valuesOf(row({ status: 'conflict', values: [anchor, ...engine] }))).toEqual([]);
  const kind = value('kind_raw', 'DefaultLine', 'Heading');
  expect(valuesOf(row({ values: [anchor, ...engine, kind] })).map((one) => one.after)).toEqual(['Heading']);
  expect(valuesOf(row({ values: [value('tile', 56, 73)] }))).toHaveLength(1);
});

test('those who made a group are named once', () => {
  const ana = { kind: 'machine' as const, name: 'ana', audit_id: '1', action_name: 'x', created_at: '' };
  const rows = [row({ theirs_by: [ana] }), row({ theirs_by: [{ ...ana, audit_id: '2' }] })];
  expect(makersOf({ rows } as unknown as Group)).toHaveLength(1);
});
