import { expect, test, vi } from 'vitest';

const asked: string[][] = [];
vi.stubGlobal('fetch', async (request: Request) => {
  const { document_ids } = (await request.json()) as { document_ids: string[] };
  asked.push(document_ids);
  const items = document_ids
    .filter((id) => id !== 'withheld')
    .map((id) => ({ document_id: id, name: '0001.jpg', folders: [`Box of ${id}`] }));
  return new Response(JSON.stringify({ items }), { headers: { 'Content-Type': 'application/json' } });
});
const { locate, shortPath } = await import('./folders');

test('pages that are shown together are asked about together', async () => {
  const found = await Promise.all(['one', 'two', 'withheld', 'one'].map(locate));
  expect(found.map((one) => one?.folders[0] ?? null)).toEqual([
    'Box of one',
    'Box of two',
    null,
    'Box of one',
  ]);
  expect(asked).toEqual([['one', 'two', 'withheld']]);
  // A page may have been moved since.
  await locate('one');
  expect(asked.length).toBe(2);
});

test('a path is short, and both ends of it and of its names can be read', () => {
  expect(shortPath(['A', 'B', 'C'])).toEqual(['A', 'B', 'C']);
  expect(shortPath(['A', 'B', 'C', 'D', 'E'])).toEqual(['A', '…', 'D', 'E']);
  expect(shortPath(['Correspondence of the chancellery of Lima, 1742'])).toEqual([
    'Correspondenc…of Lima, 1742',
  ]);
});
