// What is done to the lines of a page. Each is one step that can be undone.
import { api, ask } from '$lib/api/client';
import { dropDraft } from '$lib/drafts.svelte';
import { t } from '$lib/i18n/index.svelte';
import { tellUndoable } from '$lib/steps.svelte';
import type { Line } from './lines';
import type { PageState } from './state.svelte';

/** The version of a line as it was shown. */
export const versionOf = (page: PageState, line: Line) => page.shapeById.get(line.id)?.version ?? 1;

export async function deleteLine(page: PageState, line: Line): Promise<void> {
  const index = page.lines.findIndex((one) => one.id === line.id);
  const body = { segment_ids: [line.id], expected_versions: [versionOf(page, line)] };
  const done = await ask(api.POST('/api/segments/delete', { body }));
  dropDraft(line.id);
  await page.reload();
  page.select(page.lines[Math.min(index, page.lines.length - 1)]?.id ?? null);
  tellUndoable(t('page.deleted'), [done.audit_id]);
}

/** Take a region or a cell away; the lines in it stay. */
export async function deleteShape(page: PageState, id: string): Promise<void> {
  const body = { segment_ids: [id], expected_versions: [page.shapeById.get(id)?.version ?? 1] };
  await ask(api.POST('/api/segments/delete', { body }));
  page.region = null;
  await page.reload();
}

export async function joinWithNext(page: PageState, line: Line): Promise<void> {
  const next = page.lines[page.lines.findIndex((one) => one.id === line.id) + 1];
  if (!next) return;
  const done = await ask(
    api.POST('/api/segments/merge', {
      body: { keep_id: line.id, segment_ids: [next.id], expected_versions: [versionOf(page, next)] },
    }),
  );
  await page.reload();
  tellUndoable(t('page.joined'), [done.audit_id]);
}

export async function chooseReading(segment: string, reading: string): Promise<void> {
  await ask(
    api.POST('/api/segments/{segment_id}/readings/choice', {
      params: { path: { segment_id: segment } },
      body: { representation_id: reading },
    }),
  );
}

export const readingsOf = async (segment: string) =>
  ask(
    api.GET('/api/segments/{segment_id}/readings', {
      params: { path: { segment_id: segment }, query: { kind: 'transcription' } },
    }),
  );

export async function usePass(pass: string): Promise<void> {
  await ask(
    api.PUT('/api/segments/passes/{pass_id}/working', {
      params: { path: { pass_id: pass } },
      body: { working: true },
    }),
  );
}

/** Say of characters of a line, counted as the engine counts them, that they cannot be read for certain. */
export async function markUnclear(segment: string, text: string, from: number, to: number): Promise<void> {
  const count = (until: number) => Array.from(text.slice(0, until)).length;
  const span = to > from ? { char_start: count(from), char_end: count(to) } : {};
  await ask(api.POST('/api/editorial', { body: { segment_id: segment, kind: 'unclear', ...span } }));
}

export async function withdrawFact(id: string): Promise<void> {
  await ask(api.POST('/api/editorial/{fact_id}/withdraw', { params: { path: { fact_id: id } } }));
}
