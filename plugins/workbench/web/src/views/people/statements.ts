// What the sources say: written, changed and withdrawn, each as one step that can be undone.
import { api, ask, type Schemas } from '$lib/api/client';
import { t } from '$lib/i18n/index.svelte';
import { tell, tellRefusal } from '$lib/notices.svelte';
import { takeBack } from '$lib/steps.svelte';

export type Claim = Schemas['Claim'];

export const createClaim = (body: Schemas['ClaimCreate']) => ask(api.POST('/api/claims', { body }));
export const changeClaim = (id: string, body: Schemas['ClaimUpdateBody']) =>
  ask(api.PATCH('/api/claims/{claim_id}', { params: { path: { claim_id: id } }, body }));

export async function withdrawClaim(id: string, then: () => void): Promise<void> {
  try {
    const done = await ask(api.DELETE('/api/claims/{claim_id}', { params: { path: { claim_id: id } } }));
    const undo = () => void takeBack([done.audit_id]).then(then, tellRefusal);
    tell(t('statement.withdrawn'), { act: { label: t('undo.undo'), run: undo } });
    then();
  } catch (reason) {
    tellRefusal(reason);
  }
}
