// Looking through a branch: what is shown and chosen, and what is done with it. Each deed is one step to take back.
import { api, ask, Refused, type Schemas } from '$lib/api/client';
import { t, tn } from '$lib/i18n/index.svelte';
import { dismiss, tell, tellRefusal } from '$lib/notices.svelte';
import type { Changes } from '$lib/proposals.svelte';
import { tellUndoable } from '$lib/steps.svelte';
import { SvelteSet } from 'svelte/reactivity';
import type { Group, OnConflict } from './changes';

const PART = 25;

export class Review {
  branch = $state.raw<Schemas['BranchDetails'] | null>(null);
  /** How much there is; `total` is of what is filtered. */
  extent = $state.raw<Changes | null>(null);
  groups = $state.raw<Group[]>([]);
  /** Why it cannot be looked through. */
  refused = $state('');
  kind = $state<Group['kind'] | undefined>();
  status = $state<Group['status'] | undefined>();
  onConflict = $state<OnConflict>('refuse');
  readonly chosen = new SvelteSet<string>();
  /** The message that said why nothing was taken, until something is. */
  private undone = -1;

  constructor(readonly id: string) {}

  load = (more = false): void => void this.ask(more).catch(tellRefusal);

  private async ask(more: boolean): Promise<void> {
    const path = { branch_id: this.id };
    this.branch = await ask(api.GET('/api/branches/{branch_id}', { params: { path } }));
    if (this.branch.library_path === null) return;
    const query = {
      kind: this.kind,
      status: this.status,
      limit: more ? PART : Math.min(500, Math.max(PART, this.groups.length)),
      offset: more ? this.groups.length : 0,
    };
    try {
      const found = await ask(api.GET('/api/branches/{branch_id}/changes', { params: { path, query } }));
      this.extent = found;
      this.groups = more ? [...this.groups, ...found.items] : found.items;
      this.refused = '';
    } catch (reason) {
      if (!(reason instanceof Refused) || reason.status <= 0) throw reason;
      [this.refused, this.extent, this.groups] = [reason.message, null, []];
    }
    const there = new Set(this.groups.map((one) => one.id));
    for (const one of this.chosen) if (!there.has(one)) this.chosen.delete(one);
  }

  /** Take groups into the project; null takes all. */
  async take(groups: string[] | null): Promise<void> {
    const params = { path: { branch_id: this.id } };
    const body = { groups, on_conflict: this.onConflict };
    try {
      const done = await ask(api.POST('/api/branches/{branch_id}/merge', { params, body }));
      this.tell(done.job_id ? t('proposals.merging') : tn('proposals.taken', done.groups), done.audit_id);
    } catch (reason) {
      if (!(reason instanceof Refused)) throw reason;
      this.explain(reason, groups ?? []);
    }
  }

  /** Refusals that name groups: those in conflict are for the person to decide, those that are needed are chosen as well. */
  private explain(reason: Refused, asked: string[]): void {
    const named = (reason.body['groups'] ?? []) as string[];
    dismiss(this.undone);
    if (reason.code === 'merge_conflict')
      this.undone = tell(tn('proposals.undecided', named.length), { bad: true });
    else if (reason.code === 'needs_groups') {
      for (const one of [...asked, ...named]) this.chosen.add(one);
      this.undone = tell(tn('proposals.needed', named.length), { bad: true });
    } else tellRefusal(reason);
  }

  async reject(groups: string[], reason: string): Promise<void> {
    const params = { path: { branch_id: this.id } };
    try {
      const done = await ask(
        api.POST('/api/branches/{branch_id}/reject', { params, body: { groups, reason } }),
      );
      this.tell(tn('proposals.rejected', done.groups), done.audit_id);
    } catch (refusal) {
      tellRefusal(refusal);
    }
  }

  private tell(words: string, step: string): void {
    dismiss(this.undone);
    tellUndoable(words, [step], () => this.load());
    this.chosen.clear();
    this.load();
  }
}
