// The people, places and other things of the project: what they are called, and what can be said of them.
import { api, ask, Refused, type Schemas } from '$lib/api/client';
import { t, type Key } from '$lib/i18n/index.svelte';

export type Entity = Schemas['Entity'];
export type Curation = 'unreviewed' | 'verified' | 'rejected';
export const TYPES = ['person', 'location', 'organization', 'event', 'concept', 'citation', 'other'];

/** What a type of entity is called; one that the owner added is called as it is. */
export const typeName = (type: string) => (TYPES.includes(type) ? t(`people.type.${type}` as Key) : type);

export interface Asked {
  q: string;
  type: string;
  state: string;
}
export const askEntities = (asked: Asked, at: { limit: number; offset: number }) => {
  const query = {
    q: asked.q.trim() || undefined,
    entity_type: asked.type || undefined,
    curation_state: (asked.state || undefined) as Curation | undefined,
    ...at,
  };
  return ask(api.GET('/api/entities', { params: { query } }));
};

/** Load something of an entity; where that is gone meanwhile its page says so, and not each part of it. */
export const unlessGone = (load: () => Promise<unknown>) => () =>
  load().catch((reason: unknown) => {
    if (!(reason instanceof Refused && reason.status === 404)) throw reason;
  });

export const getEntity = (id: string) =>
  ask(api.GET('/api/entities/{entity_id}', { params: { path: { entity_id: id } } }));
export const changeEntity = (id: string, body: Schemas['EntityUpdateBody']) =>
  ask(api.PATCH('/api/entities/{entity_id}', { params: { path: { entity_id: id } }, body }));
export const createEntity = (body: Schemas['EntityCreate']) => ask(api.POST('/api/entities', { body }));
export const deleteEntity = (id: string) =>
  ask(api.DELETE('/api/entities/{entity_id}', { params: { path: { entity_id: id } } }));
