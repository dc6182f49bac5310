// The projects this engine knows, and the one in the address.
import { openDrafts } from './drafts.svelte';
import { api, ask, useProject, type Schemas } from './api/client';

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

/** Make the project with this id the current one; false when the engine knows none. */
export async function enterProject(id: string | null): Promise<boolean> {
  if (id !== null && !known.some((one) => one.id === id)) await loadProjects();
  current = known.find((one) => one.id === id) ?? null;
  // Outside every project the last one stays named: what a view that is being left still asks for is about it.
  if (current) {
    useProject(current.path);
    openDrafts(current.library_uuid);
  }
  return id === null || current !== null;
}
