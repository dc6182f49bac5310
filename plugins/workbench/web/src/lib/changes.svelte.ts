// The engine's change stream: what changed, which jobs go on. Views listen; nobody polls.
import { address } from './api/client';
import { tellRefusal } from './notices.svelte';

export interface Change {
  kind: 'change' | 'job' | 'resync' | 'reconnected';
  data: Record<string, unknown>;
}
type Listener = (change: Change) => void;

const listeners = new Set<Listener>();
let source: EventSource | null = null;
let connected = $state(true);
export const isConnected = () => connected;

/** Be told of changes, for instance in an effect: `$effect(() => onChange((change) => …))`. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const tellAll = (change: Change) => listeners.forEach((listener) => listener(change));

/** Follow the current project's changes, or none. The browser reconnects by itself and resumes by number. */
export function follow(on: boolean): void {
  source?.close();
  source = on ? new EventSource(address('/api/changes/stream')) : null;
  if (!source) return;
  for (const kind of ['change', 'job', 'resync'] as const)
    source.addEventListener(kind, (event) => tellAll({ kind, data: JSON.parse(event.data) }));
  source.onerror = () => (connected = false);
  source.onopen = () => {
    if (!connected) tellAll({ kind: 'reconnected', data: {} });
    connected = true;
  };
}

/** Call *run* at most once every *ms* milliseconds, and once more at the end. */
export function calmly(run: () => void, ms = 300): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      run();
    }, ms);
  };
}

/** Load what a view shows, and again, at most every *ms* milliseconds, when a change *concerns* it; refusals are told.
 *  What it returns loads at once. Called while a component is set up. */
export function keepLoaded(
  load: () => Promise<unknown>,
  ms: number,
  concerns: (change: Change) => boolean = () => true,
): () => void {
  let left = false;
  const again = () => void (left || load().catch(tellRefusal));
  again();
  const reload = calmly(again, ms);
  $effect(() => onChange((change) => concerns(change) && reload()));
  // Once it is left, a view has nothing to load: what it was about is no longer given to it.
  $effect(() => () => void (left = true));
  return again;
}
