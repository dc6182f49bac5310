// Short messages at the edge of the window: what was done, what was refused.
import { t } from './i18n/index.svelte';
import { Refused } from './api/client';
import { go, link } from './router.svelte';

export interface Notice {
  id: number;
  text: string;
  bad: boolean;
  /** The text is a sentence of the engine. */
  said: boolean;
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

/** Show a message; what it returns dismisses it. */
export function tell(
  text: string,
  options: { bad?: boolean; said?: boolean; act?: Notice['act'] } = {},
): number {
  const id = next++;
  if (shown.length > 2) shown.shift();
  shown.push({ id, text, bad: options.bad ?? false, said: options.said ?? false, act: options.act });
  if (!options.bad) setTimeout(() => dismiss(id), SHOWN_MS);
  return id;
}

/** Where in the workbench that can be mended which a refusal names a command for. */
function remedyOf({ code }: Refused): Notice['act'] {
  if (code !== 'runtime_missing') return undefined;
  return { label: t('settings.toRuntimes'), run: () => go(link('settings', 'machine')) };
}

/** Say why something did not work. */
export function tellRefusal(reason: unknown): void {
  if (reason instanceof DOMException && reason.name === 'AbortError') return;
  if (!(reason instanceof Refused)) throw reason;
  if (reason.status === 0) tell(t('app.unreachable'), { bad: true });
  else if (reason.status !== 401) tell(reason.message, { bad: true, said: true, act: remedyOf(reason) });
}

/** Do what a person asked for; say why if the engine refuses it. */
export async function attempt(doing: () => Promise<void>): Promise<void> {
  try {
    await doing();
  } catch (reason) {
    tellRefusal(reason);
  }
}

/** What a view shows once it is answered (`{#await …}`); why not is told, and then nothing comes. */
export const tellIfRefused = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((reason: unknown) => {
    tellRefusal(reason);
    return new Promise<never>(() => {});
  });

/** What a person asks for at one place of a view; *busy* while it is done, so that nothing is asked for twice. */
export class Doing {
  busy = $state(false);
  async attempt(doing: () => Promise<void>): Promise<void> {
    this.busy = true;
    try {
      await attempt(doing);
    } finally {
      this.busy = false;
    }
  }
}
