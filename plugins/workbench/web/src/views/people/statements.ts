// What the sources say: written, changed and withdrawn, each as one step that can be undone.
import { api, ask, type Schemas } from '$lib/api/client';
import { t } from '$lib/i18n/index.svelte';
import { attempt } from '$lib/notices.svelte';
import { tellUndoable } from '$lib/steps.svelte';

export type Claim = Schemas['Claim'];

export const createClaim = (body: Schemas['ClaimCreate']) => ask(api.POST('/api/claims', { body }));
export const changeClaim = (id: string, body: Schemas['ClaimUpdateBody']) =>
  ask(api.PATCH('/api/claims/{claim_id}', { params: { path: { claim_id: id } }, body }));

export const withdrawClaim = (id: string, then: () => void) =>
  attempt(async () => {
    const done = await ask(api.DELETE('/api/claims/{claim_id}', { params: { path: { claim_id: id } } }));
    tellUndoable(t('statement.withdrawn'), [done.audit_id], then);
    then();
  });
