// The people, places and other things of the project: what they are called, and what can be said of them.
import { api, ask, type Schemas } from '$lib/api/client';
import { tellRefusal } from '$lib/notices.svelte';
import { t, type Key } from '$lib/i18n/index.svelte';

export type Entity = Schemas['Entity'];
export type Curation = 'unreviewed' | 'verified' | 'rejected';
export const TYPES = ['person', 'location', 'organization', 'event', 'concept', 'citation', 'other'];
const PART = 100;

/** What a type of entity is called; one that the owner added is called as it is. */
export const typeName = (type: string) => (TYPES.includes(type) ? t(`people.type.${type}` as Key) : type);

export class Entities {
  items = $state.raw<Entity[]>([]);
  total = $state<number | null>(null);
  private round = 0;

  async load(asked: { q: string; type: string; state: string }, more = false): Promise<void> {
    const round = ++this.round;
    const query = {
      q: asked.q.trim() || undefined,
      entity_type: asked.type || undefined,
      curation_state: (asked.state || undefined) as Curation | undefined,
      limit: more ? PART : Math.max(PART, this.items.length),
      offset: more ? this.items.length : 0,
    };
    try {
      const found = await ask(api.GET('/api/entities', { params: { query } }));
      if (round !== this.round) return;
      this.items = more ? [...this.items, ...found.items] : found.items;
      this.total = found.total;
    } catch (reason) {
      tellRefusal(reason);
    }
  }
}

export const getEntity = (id: string) =>
  ask(api.GET('/api/entities/{entity_id}', { params: { path: { entity_id: id } } }));
export const changeEntity = (id: string, body: Schemas['EntityUpdateBody']) =>
  ask(api.PATCH('/api/entities/{entity_id}', { params: { path: { entity_id: id } }, body }));
export const createEntity = (body: Schemas['EntityCreate']) => ask(api.POST('/api/entities', { body }));
export const deleteEntity = (id: string) =>
  ask(api.DELETE('/api/entities/{entity_id}', { params: { path: { entity_id: id } } }));
