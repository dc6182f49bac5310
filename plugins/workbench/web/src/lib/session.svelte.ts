// Who is using this browser: signed in by the one-time code of the link, then by a cookie that scripts cannot read.
import { api, ask, Refused, whenSignedOut, type Schemas } from './api/client';
import { go } from './router.svelte';

type State = 'asking' | 'in' | 'out' | 'unreachable';
let state = $state<State>('asking');
let refused = $state(false);
type Role = Schemas['SessionStanding']['role'];
const RANK: Record<Role, number> = { viewer: 0, editor: 1, owner: 2 };
let role = $state<Role>('owner');

export const session = {
  get state() {
    return state;
  },
  /** Whether the last code was refused. */
  get refused() {
    return refused;
  },
  /** Whether whoever is signed in has at least this role; what may not be done is not offered. */
  may: (wanted: Role) => RANK[role] >= RANK[wanted],
};

/** The sheet of styles hides what states with `data-needs` that it takes a higher role. */
async function askRole(): Promise<void> {
  role = (await ask(api.GET('/api/auth/session'))).role;
  document.documentElement.dataset['role'] = role;
}

whenSignedOut(() => (state = 'out'));

/** *name* is what the history calls who signs in: of a link, which is for the owner, the application's. */
export async function signIn(code: string, name = 'Workbench'): Promise<void> {
  refused = false;
  try {
    await ask(api.POST('/api/auth/session', { body: { code: code.trim(), name: name.trim() } }));
    await askRole();
    state = 'in';
  } catch (reason) {
    refused = reason instanceof Refused && reason.status !== 0;
    state = refused ? 'out' : 'unreachable';
  }
}

/** Use the code in the address, if there is one, and take it out of the address; else ask whether the cookie is good. */
export async function startSession(): Promise<void> {
  if (await useCodeInAddress()) return;
  try {
    await askRole();
    state = 'in';
  } catch (reason) {
    state = reason instanceof Refused && reason.status === 401 ? 'out' : 'unreachable';
  }
}

async function useCodeInAddress(): Promise<boolean> {
  const given = new URLSearchParams(location.hash.replace(/^#/, ''));
  const code = given.get('code');
  if (!code) return false;
  go(`#${given.get('to') ?? '/'}`, true);
  await signIn(code);
  return true;
}
// A link opened in a window that shows the workbench already.
addEventListener('hashchange', () => void useCodeInAddress());
