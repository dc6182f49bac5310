import { expect, test } from 'vitest';
import { byPage, confirmable, type Doubt } from './doubts';

const row = (kind: string, id: string, todo: Doubt['todo'], document = 'p') =>
  ({ kind, id, todo, document_id: document, segment_id: null, text: null, why: '' }) as Doubt;

test('pages keep the order in which they come first', () => {
  const rows = [
    row('mention', 'a', 'confirm', 'q'),
    row('mention', 'b', 'confirm'),
    row('claim', 'c', 'redo', 'q'),
  ];
  expect(byPage(rows).map(([page, found]) => [page, found.map((one) => one.id)])).toEqual([
    ['q', ['a', 'c']],
    ['p', ['b']],
  ]);
});

test('what rests on words that are gone is not confirmed with the rest, nor is what has to be read', () => {
  const rows = [
    row('statement', 's', 'confirm'),
    row('statement', 's', 'review'),
    row('statement', 'other', 'confirm'),
    row('statement', 'other', 'confirm'),
    row('interpretation', 'i', 'confirm'),
    row('reading', 'r', 'redo'),
  ];
  expect(confirmable(rows)).toEqual([{ kind: 'statement', id: 'other' }]);
});
