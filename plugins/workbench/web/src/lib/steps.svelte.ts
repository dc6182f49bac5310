// Undo and redo: of what was done in this window, newest first, with the whole set a step belongs to.
import { api, ask, originWindow, Refused, type Schemas, writesAreAnswered } from './api/client';
import { sentIsSaved } from './drafts.svelte';
import { ofEngine, t } from './i18n/index.svelte';
import { tell, tellRefusal } from './notices.svelte';

export type Step = Schemas['AuditRow'];
const LOOKED_AT = 50;

/** Whether undoing the step would change anything: one that only put a job in the queue did not change the project. */
async function changedSomething(step: Step): Promise<boolean> {
  const detail = await ask(
    api.GET('/api/actions/audit/{audit_id}', { params: { path: { audit_id: step.id } } }),
  );
  return detail.changes.length > 0;
}

/** The newest step of this window that stands and is (not) an undo; none where another kind of step came after it. */
async function newest(undone: boolean): Promise<Step | null> {
  const query = { undone: false, limit: LOOKED_AT };
  const rows = (await ask(api.GET('/api/actions/audit', { params: { query } }))).items;
  for (const row of rows) {
    if (row.origin_window !== originWindow || !row.undoable) continue;
    const isUndo = row.reversal === 'undo';
    if (isUndo !== undone) {
      if (undone && row.reversal !== 'redo' && (await changedSomething(row))) return null;
      continue;
    }
    if (await changedSomething(row)) return row;
  }
  return null;
}

async function withItsSet(step: Step): Promise<string[]> {
  if (!step.set_id) return [step.id];
  const query = { set_id: step.set_id, undone: false, limit: 200 };
  const { items, total } = await ask(api.GET('/api/actions/audit', { params: { query } }));
  const ids = items.map((one) => one.id);
  while (ids.length < total) {
    const more = await ask(
      api.GET('/api/actions/audit', { params: { query: { ...query, offset: ids.length } } }),
    );
    if (more.items.length === 0) break;
    ids.push(...more.items.map((one) => one.id));
  }
  return ids;
}

/** Take steps back, all or none; the answer is what undoing them again would take. */
export async function takeBack(ids: string[]): Promise<string[]> {
  return (await ask(api.POST('/api/actions/audit/undo', { body: { audit_ids: ids } }))).audit_ids;
}

/** Say what was done, with a button that takes these steps back and *then* shows what is there again. */
export function tellUndoable(
  words: string,
  ids: string[],
  then: () => unknown = () => {},
  { said = false } = {},
): number {
  const run = () => void takeBack(ids).then(then).catch(tellRefusal);
  return tell(words, { said, act: { label: t('undo.undo'), run } });
}

/** The steps that a person wants taken back or done again, one after the other. */
let turn: Promise<void> = Promise.resolve();
const inTurn = (reverse: () => Promise<void>) => (): Promise<void> => {
  // What was done before the key was pressed is in the log once it is answered.
  const answered = Promise.all([sentIsSaved(), writesAreAnswered()]);
  const mine = turn.then(async () => {
    try {
      const [isSaved] = await answered;
      if (isSaved) await reverse();
      else tell(t('undo.notSaved'), { bad: true });
    } catch (reason) {
      tellUndo(reason);
    }
  });
  turn = mine.catch(() => {});
  return mine;
};

export const undo = inTurn(async () => {
  const step = await newest(false);
  if (!step) {
    tell(t('undo.nothing'));
    return;
  }
  const back = await takeBack(await withItsSet(step));
  tell(t('undo.undone', { words: ofEngine(step.words) }), {
    act: { label: t('undo.redo'), run: () => void takeBack(back).catch(tellRefusal) },
  });
});

export const redo = inTurn(async () => {
  const step = await newest(true);
  if (!step) {
    tell(t('undo.nothingRedo'));
    return;
  }
  await takeBack(await withItsSet(step));
  tell(t('undo.redone', { words: ofEngine(step.words) }));
});

const tellUndo = (reason: unknown) =>
  reason instanceof Refused && reason.status === 409
    ? tell(reason.message, { bad: true, said: true })
    : tellRefusal(reason);
