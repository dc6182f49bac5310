// What was typed and is not yet acknowledged by the engine. It stays in this browser until it is, whatever happens.
import { SvelteMap } from 'svelte/reactivity';
import { api, ask, originWindow, Refused, type Schemas } from './api/client';
import { onChange } from './changes.svelte';

export type Written = Schemas['CorrectedReadingWritten'];
export interface Draft {
  segment: string;
  /** The page it is on. */
  document: string;
  text: string;
  /** The reading that counted when typing began; null where there was none. */
  seen: string | null;
  /** typing: not sent yet. sending. waiting: the engine did not answer, tried again. refused: it said no. */
  state: 'typing' | 'sending' | 'waiting' | 'conflict' | 'refused';
  why?: string;
}

const KEY = 'armarium.draft.';
const RETRY_MS = 4000;
const drafts = new SvelteMap<string, Draft>();
/** Drafts that another window of this browser left behind: where they are kept, and with which text they were found. */
const inherited = new Map<string, { key: string; text: string }>();
let space = '';
let retry: ReturnType<typeof setTimeout> | undefined;

/** The drafts of a project, as they were left when the window was closed or the engine went away. */
export function openDrafts(project: string): void {
  space = `${KEY}${project}.`;
  drafts.clear();
  inherited.clear();
  sending.clear();
  sentLast = null;
  for (const key of Object.keys(localStorage).filter((one) => one.startsWith(space))) {
    const draft = keptAt(key);
    if (!draft || (drafts.has(draft.segment) && key !== keyOf(draft.segment))) continue;
    drafts.set(draft.segment, draft.state === 'sending' ? { ...draft, state: 'waiting' } : draft);
    inherited.set(draft.segment, { key, text: draft.text });
  }
  sendWaiting();
}

export const draftOf = (segment: string): Draft | undefined => drafts.get(segment);
export const unsaved = (): Draft[] => [...drafts.values()];

/** Each window keeps what is typed in it under a name of its own: two of one browser may be at one line. */
const keyOf = (segment: string) => `${space}${segment}.${originWindow}`;
const keptAt = (key: string) => JSON.parse(localStorage.getItem(key) ?? 'null') as Draft | null;

function keep(draft: Draft): void {
  drafts.set(draft.segment, draft);
  localStorage.setItem(keyOf(draft.segment), JSON.stringify(draft));
}

/** Forget a draft. What another window has typed on since stays kept. */
export function dropDraft(segment: string): void {
  drafts.delete(segment);
  localStorage.removeItem(keyOf(segment));
  const found = inherited.get(segment);
  inherited.delete(segment);
  if (found && keptAt(found.key)?.text === found.text) localStorage.removeItem(found.key);
}

/** Note what is being typed. */
export function typed(segment: string, document: string, text: string, seen: string | null): void {
  const before = drafts.get(segment);
  keep({ segment, document, text, seen: before ? before.seen : seen, state: 'typing' });
}

/** What is under way, by line; and the line that a person sent last. */
const sending = new Map<string, Promise<Written | null>>();
let sentLast: string | null = null;
export const isSending = (segment: string): boolean => sending.has(segment);

/** Send a draft; the answer when it is acknowledged, else null: the draft then says why it is still here. */
export function send(segment: string): Promise<Written | null> {
  sentLast = segment;
  return sendInTurn(segment);
}

/** What is typed on in a line that is being sent goes after it, on top of what was saved by then. */
function sendInTurn(segment: string): Promise<Written | null> {
  const before = sending.get(segment);
  if (before && drafts.get(segment)?.state !== 'typing') return before;
  const now = before
    ? before.then(() => (drafts.get(segment)?.state === 'typing' ? post(segment) : null))
    : post(segment);
  sending.set(segment, now);
  void now.then(() => sending.get(segment) === now && sending.delete(segment));
  return now;
}

/** Wait for the answers to what is being sent; whether what a person sent last was saved, or was refused long ago. */
export async function sentIsSaved(): Promise<boolean> {
  const last = sentLast ?? '';
  const isAwaited = sending.has(last);
  await Promise.all(sending.values());
  const state = drafts.get(last)?.state;
  return !(state === 'waiting' || (isAwaited && (state === 'conflict' || state === 'refused')));
}

async function post(segment: string): Promise<Written | null> {
  const draft = drafts.get(segment);
  if (!draft) return null;
  keep({ ...draft, state: 'sending', why: undefined });
  try {
    const written = await ask(
      api.POST('/api/segments/{segment_id}/correct', {
        params: { path: { segment_id: segment } },
        body: { text: draft.text, expected_counting_id: draft.seen },
      }),
    );
    // Typed on meanwhile: that is a draft on top of what was just saved.
    const now = drafts.get(segment);
    if (now && now.text !== draft.text) keep({ ...now, seen: written.id, state: 'typing' });
    else dropDraft(segment);
    for (const tell of listeners) tell(segment, written);
    return written;
  } catch (reason) {
    keep(leftOver(drafts.get(segment) ?? draft, reason));
    return null;
  }
}

function leftOver(draft: Draft, reason: unknown): Draft {
  const { status, message } = reason instanceof Refused ? reason : { status: 0, message: '' };
  if (status === 0 || status >= 500 || status === 401 || status === 429) {
    retry ??= setTimeout(() => {
      retry = undefined;
      sendWaiting();
    }, RETRY_MS);
    return { ...draft, state: 'waiting' };
  }
  return { ...draft, state: status === 409 ? 'conflict' : 'refused', why: message };
}

/** After a conflict: the person has seen what counts now and decides for their own text. */
export function insist(segment: string, seen: string | null): Promise<Written | null> {
  const draft = drafts.get(segment);
  if (draft) keep({ ...draft, seen, state: 'typing' });
  return send(segment);
}

function sendWaiting(): void {
  for (const draft of [...drafts.values()]) if (draft.state === 'waiting') void sendInTurn(draft.segment);
}

type Saved = (segment: string, written: Written) => void;
const listeners = new Set<Saved>();
/** Be told of what was acknowledged, also after it had to wait. */
export function onSaved(listener: Saved): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

onChange(({ kind }) => {
  if (kind === 'reconnected') sendWaiting();
});
