// What the sources say: written, changed and withdrawn, each as one step that can be undone.
import { api, ask, type Schemas } from '$lib/api/client';
import { t } from '$lib/i18n/index.svelte';
import { tellRefusal } from '$lib/notices.svelte';
import { tellUndoable } from '$lib/steps.svelte';

export type Claim = Schemas['Claim'];

export const createClaim = (body: Schemas['ClaimCreate']) => ask(api.POST('/api/claims', { body }));
export const changeClaim = (id: string, body: Schemas['ClaimUpdateBody']) =>
  ask(api.PATCH('/api/claims/{claim_id}', { params: { path: { claim_id: id } }, body }));

export async function withdrawClaim(id: string, then: () => void): Promise<void> {
  try {
    const done = await ask(api.DELETE('/api/claims/{claim_id}', { params: { path: { claim_id: id } } }));
    tellUndoable(t('statement.withdrawn'), [done.audit_id], then);
    then();
  } catch (reason) {
    tellRefusal(reason);
  }
}
