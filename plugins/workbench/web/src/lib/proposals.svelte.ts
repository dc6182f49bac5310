// How many finished branches wait for a person to look through them.
import { api, ask, Refused, type Schemas } from './api/client';
import { calmly, onChange } from './changes.svelte';
import { t, tn } from './i18n/index.svelte';
import { project } from './project.svelte';

export type Branch = Schemas['Branch'];
export type Changes = Schemas['BranchChanges'];

let count = $state(0);
export const waiting = () => count;

/** What a branch changed in all; a sentence where that cannot be looked through, null where its package is gone. */
export async function extentOf(branch: Branch): Promise<Changes | string | null> {
  if (branch.library_path === null) return null;
  const params = { path: { branch_id: branch.id }, query: { limit: 1 } };
  try {
    return await ask(api.GET('/api/branches/{branch_id}/changes', { params }));
  } catch (reason) {
    if (reason instanceof Refused && reason.status > 0) return reason.message;
    throw reason;
  }
}

/** “12 pages, 340 lines changed”. */
export const inWords = ({ pages, lines }: Changes): string =>
  pages + lines === 0
    ? t('proposals.onlyProject')
    : t('proposals.extent', { pages: tn('proposals.pages', pages), lines: tn('proposals.lines', lines) });

async function countWaiting(): Promise<void> {
  const of = project()?.id;
  let found = 0;
  try {
    for (const branch of (await ask(api.GET('/api/branches'))).items) {
      const extent = branch.proposed_at === null ? null : await extentOf(branch);
      if (extent !== null && typeof extent !== 'string' && extent.total > 0) found += 1;
    }
  } catch (reason) {
    if (!(reason instanceof Refused)) throw reason;
    return;
  }
  if (of === project()?.id) count = found;
}

/** Keep count while a project is open: an effect. Comparing a branch is dear, so that only what may settle one asks again. */
export function followProposals(): (() => void) | undefined {
  count = 0;
  if (project() === null) return undefined;
  void countWaiting();
  const again = calmly(() => void countWaiting(), 1000);
  return onChange(({ kind, data }) => {
    const undone = (data['metadata'] as { inverse_of?: string | null } | undefined)?.inverse_of;
    if (kind === 'job') return;
    if (kind !== 'change' || String(data['type']).startsWith('branches.') || undone) again();
  });
}
