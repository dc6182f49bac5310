import { expect, test } from 'vitest';
import { makersOf, outlinesOf, rivalOf, said, valuesOf, type Group, type Row } from './changes';

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
    value('names', null, []),
    value('metadata', null, {}),
    value('language', null, null),
  ];
  expect(valuesOf(row({ change: 'insert', values }))).toEqual([
    { name: 'canonical name', before: '', after: 'Ana', ours: null },
  ]);
});

test('a page that only moved says from where to where', () => {
  expect(valuesOf(row({ values: [value('parent_id', 'box-1', 'box-2')] }))).toEqual([
    { name: 'parent id', before: 'box-1', after: 'box-2', ours: null },
  ]);
});

test('in a conflict both values are said, also an empty one', () => {
  const values = [value('name', 'a.jpg', 'b.jpg', null, true)];
  expect(valuesOf(row({ status: 'conflict', values }))).toEqual([
    { name: 'name', before: 'a.jpg', after: 'b.jpg', ours: '' },
  ]);
});

test('a reading in conflict names what the project reads', () => {
  const values = [value('content', null, 'Dear Sir', 'Deer Sire')];
  const words = [{ change: 'added' as const, text: 'Dear Sir' }];
  expect(rivalOf(row({ change: 'insert', status: 'conflict', words, values }))).toBe('Deer Sire');
  expect(rivalOf(row({ change: 'insert', words, values }))).toBeNull();
  expect(valuesOf(row({ change: 'insert', words, values }))).toEqual([]);
});

test('a long value is cut between characters', () => {
  expect(said('𝔄'.repeat(401))).toBe('𝔄'.repeat(400) + '…');
});

test('the outlines before and after stand in one drawing', () => {
  const before = { rect: [0, 0, 0.5, 0.5] };
  const after = { polygon: [[0.5, 0.5], [1, 0.5], [1, 1]] }; // prettier-ignore
  expect(outlinesOf(row({ values: [value('anchor', before, after)] }))).toEqual({
    box: [0, 0, 900, 1200],
    before: '0.0,0.0 450.0,0.0 450.0,600.0 0.0,600.0',
    after: '450.0,600.0 900.0,600.0 900.0,1200.0',
  });
  expect(outlinesOf(row({ values: [value('name', 'a', 'b')] }))).toBeNull();
});

test('those who made a group are named once', () => {
  const ana = { kind: 'machine' as const, name: 'ana', audit_id: '1', action_name: 'x', created_at: '' };
  const rows = [row({ theirs_by: [ana] }), row({ theirs_by: [{ ...ana, audit_id: '2' }] })];
  expect(makersOf({ rows } as unknown as Group)).toHaveLength(1);
});
