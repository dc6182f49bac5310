// The projects this engine knows, and the one in the address.
import { openDrafts } from './drafts.svelte';
import { api, ask, Refused, useProject, type Schemas } from './api/client';

export type Project = Schemas['KnownLibrary'];
let known = $state.raw<Project[]>([]);
let current = $state.raw<Project | null>(null);

export const projects = () => known;
export const project = () => current;
export const nameOf = (one: Project | null) =>
  one?.name ??
  one?.path
    .split('/')
    .at(-1)
    ?.replace(/\.library$/, '') ??
  '';

export async function loadProjects(): Promise<void> {
  known = (await ask(api.GET('/api/registry'))).libraries;
}

/** An open branch, which no list of projects has: it is named by its path. */
async function branchAt(path: string): Promise<Project | null> {
  try {
    return await ask(api.GET('/api/registry/resolve', { params: { query: { name: path } } }));
  } catch (reason) {
    if (reason instanceof Refused && reason.status > 0) return null;
    throw reason;
  }
}

/** Make the project with this id, or the branch at this path, the current one; false when the engine knows none. */
export async function enterProject(id: string | null): Promise<boolean> {
  if (id !== null && !known.some((one) => one.id === id)) await loadProjects();
  const found = known.find((one) => one.id === id);
  current = found ?? (id?.includes('/') ? await branchAt(id) : null);
  // Outside every project the last one stays named: what a view that is being left still asks for is about it.
  if (current) {
    useProject(current.path);
    openDrafts(current.library_uuid);
  }
  return id === null || current !== null;
}
