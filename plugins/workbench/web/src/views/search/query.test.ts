import { expect, test, vi } from 'vitest';

const refusal = "'19' is not a date to search by.";
vi.stubGlobal('fetch', async (request: Request) => {
  const { query } = (await request.json()) as { query: string };
  const half = query.endsWith('dates:19');
  const body = half
    ? { detail: refusal, code: 'bad_date' }
    : { results: [{ document_id: query }], total_results: 1, total_is_exact: true, has_more: false };
  const headers = { 'Content-Type': 'application/json' };
  return new Response(JSON.stringify(body), { status: half ? 422 : 200, headers });
});
const { notices } = await import('$lib/notices.svelte');
const { filtersOf, Search } = await import('./query.svelte');

const asked = (query: string, from = '') => ({
  query,
  from,
  to: '',
  folder: '',
  fuzzy: false,
  sort: 'relevance' as const,
});

test('half of a query is refused where its hits would be, with none of an earlier one, and no message', async () => {
  const search = new Search();
  await search.now(asked('will'));
  expect(search.hits).toHaveLength(1);
  await search.now(asked('will dates:19'));
  expect([search.hits, search.answer, search.refused]).toEqual([[], null, refusal]);
  expect(notices()).toEqual([]);
  await search.now(asked('will dates:1914'));
  expect([search.hits.length, search.refused]).toEqual([1, null]);
});

test('a date that is still being typed narrows nothing', () => {
  const from = (text: string) => filtersOf(asked('will', text)).date_from;
  expect(['1', '191', '1914', '1914-', '1914-08', '1914-08-07', '-0043'].map(from)).toEqual([
    null,
    null,
    '1914',
    null,
    '1914-08',
    '1914-08-07',
    '-0043',
  ]);
});
