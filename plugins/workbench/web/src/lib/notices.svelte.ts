// Short messages at the edge of the window: what was done, what was refused.
import { t } from './i18n/index.svelte';
import { Refused } from './api/client';

export interface Notice {
  id: number;
  text: string;
  bad: boolean;
  act?: { label: string; run: () => void };
}
const SHOWN_MS = 7000;
let next = 0;
const shown = $state<Notice[]>([]);
export const notices = () => shown;

export function dismiss(id: number): void {
  const at = shown.findIndex((one) => one.id === id);
  if (at >= 0) shown.splice(at, 1);
}

export function tell(text: string, options: { bad?: boolean; act?: Notice['act'] } = {}): void {
  const id = next++;
  if (shown.length > 2) shown.shift();
  shown.push({ id, text, bad: options.bad ?? false, act: options.act });
  if (!options.bad) setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Say why something did not work. */
export function tellRefusal(reason: unknown): void {
  if (reason instanceof DOMException && reason.name === 'AbortError') return;
  if (!(reason instanceof Refused)) throw reason;
  if (reason.status !== 401) tell(reason.status === 0 ? t('app.unreachable') : reason.message, { bad: true });
}
