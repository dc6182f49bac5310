// Hands, signs and letterforms: three lists of the same kind, each of things that examples on pages show.
import { api, ask, type Schemas } from '$lib/api/client';

export type SortName = 'hands' | 'signs' | 'letters';
export interface Thing {
  id: string;
  name: string;
  /** What is known of it, in a few words. */
  detail: string;
  notes: string | null;
  character?: string;
  scribe?: string | null;
  date?: string | null;
  place?: string | null;
  style?: string | null;
}
export interface Example {
  id: string;
  segment: string;
  document: string;
  person: boolean;
}
export interface Fields {
  name: string;
  notes: string | null;
  character: string;
  scribe: string | null;
  date: string | null;
  place: string | null;
  style: string | null;
}
type Step = Promise<{ audit_id: string }>;

export interface Sort {
  /** What an example is: a whole line, or a part that is cut out of one. */
  cut: boolean;
  /** Whether a new one begins with an example. */
  needsExample: boolean;
  list: () => Promise<Thing[]>;
  examples: (thing: Thing) => Promise<Example[]>;
  /** Its steps are the newest first. */
  create: (fields: Fields, segment: string | null) => Promise<{ id: string; steps: string[] }>;
  change: (thing: Thing, fields: Fields) => Step;
  merge: (into: Thing, others: string[]) => Step;
  withdraw: (thing: Thing) => Step;
  add: (thing: Thing, segment: string) => Step;
  remove: (example: Example) => Step;
}

const inOneStep = ({ id, audit_id }: { id: string; audit_id: string }) => ({ id, steps: [audit_id] });
const few = (...words: (string | null | undefined)[]) => words.filter(Boolean).join(' · ');
type Row = { id: string; segment_id: string; document_id: string; provenance_kind: string };
const example = (one: Row): Example => ({
  id: one.id,
  segment: one.segment_id,
  document: one.document_id,
  person: one.provenance_kind === 'human',
});

const hands: Sort = {
  cut: false,
  needsExample: false,
  list: async () =>
    (await ask(api.GET('/api/hands'))).items.map((one) => ({
      ...one,
      name: one.label,
      detail: few(one.scribe, one.date, one.place, one.style),
    })),
  examples: async ({ id }) => {
    const params = { path: { hand_id: id } };
    return (await ask(api.GET('/api/hands/{hand_id}/attributions', { params }))).items.map(example);
  },
  create: ({ name: label, notes, scribe, date, place, style }) =>
    ask(api.POST('/api/hands', { body: { label, notes, scribe, date, place, style } })).then(inOneStep),
  change: ({ id }, { name: label, notes, scribe, date, place, style }) =>
    ask(
      api.PATCH('/api/hands/{hand_id}', {
        params: { path: { hand_id: id } },
        body: { label, notes, scribe, date, place, style },
      }),
    ),
  merge: ({ id }, other_ids) =>
    ask(api.POST('/api/hands/{hand_id}/merge', { params: { path: { hand_id: id } }, body: { other_ids } })),
  withdraw: ({ id }) => ask(api.POST('/api/hands/{hand_id}/withdraw', { params: { path: { hand_id: id } } })),
  add: ({ id }, segment_id) =>
    ask(api.POST('/api/hands/attributions', { body: { hand_id: id, segment_id } })),
  remove: ({ id }) =>
    ask(
      api.POST('/api/hands/attributions/{attribution_id}/withdraw', {
        params: { path: { attribution_id: id } },
      }),
    ),
};

const signs: Sort = {
  cut: true,
  needsExample: true,
  list: async () =>
    (await ask(api.GET('/api/signs'))).items.map((one) => ({
      ...one,
      detail: few(
        one.code_point,
        ...one.list_references.map((two) => `${two.authority} ${two.number}`),
        one.variant,
      ),
    })),
  examples: async ({ id }) => {
    const params = { path: { sign_id: id } };
    return (await ask(api.GET('/api/signs/{sign_id}/instances', { params }))).items.map(example);
  },
  create: async ({ name, notes }, segment) => {
    const body = { name, notes, picture_segment_id: segment ?? '' };
    const made = await ask(api.POST('/api/signs', { body }));
    // Its picture is the first place that shows it.
    const shown = await signs.add({ id: made.id, name, detail: '', notes }, segment ?? '');
    return { id: made.id, steps: [shown.audit_id, made.audit_id] };
  },
  change: ({ id }, { name, notes }) =>
    ask(api.PATCH('/api/signs/{sign_id}', { params: { path: { sign_id: id } }, body: { name, notes } })),
  merge: ({ id }, other_ids) =>
    ask(api.POST('/api/signs/{sign_id}/merge', { params: { path: { sign_id: id } }, body: { other_ids } })),
  withdraw: ({ id }) => ask(api.POST('/api/signs/{sign_id}/withdraw', { params: { path: { sign_id: id } } })),
  add: ({ id }, segment_id) =>
    ask(
      api.POST('/api/signs/{sign_id}/instances', { params: { path: { sign_id: id } }, body: { segment_id } }),
    ),
  remove: ({ id }) =>
    ask(api.POST('/api/signs/instances/{instance_id}/withdraw', { params: { path: { instance_id: id } } })),
};

const letters: Sort = {
  cut: true,
  needsExample: false,
  list: async () =>
    (await ask(api.GET('/api/letterforms/allographs'))).items.map((one: Schemas['Allograph']) => ({
      ...one,
      detail: one.character,
    })),
  examples: async ({ id }) => {
    const params = { query: { allograph_id: id } };
    return (await ask(api.GET('/api/letterforms', { params }))).items.map(example);
  },
  create: ({ name, notes, character }) =>
    ask(api.POST('/api/letterforms/allographs', { body: { name, notes, character } })).then(inOneStep),
  change: ({ id }, { name, notes }) =>
    ask(
      api.PATCH('/api/letterforms/allographs/{allograph_id}', {
        params: { path: { allograph_id: id } },
        body: { name, notes },
      }),
    ),
  merge: ({ id }, other_ids) =>
    ask(
      api.POST('/api/letterforms/allographs/{allograph_id}/merge', {
        params: { path: { allograph_id: id } },
        body: { other_ids },
      }),
    ),
  withdraw: ({ id }) =>
    ask(
      api.POST('/api/letterforms/allographs/{allograph_id}/withdraw', {
        params: { path: { allograph_id: id } },
      }),
    ),
  add: ({ id, character }, segment_id) =>
    ask(
      api.PUT('/api/letterforms/segment/{segment_id}', {
        params: { path: { segment_id } },
        body: { allograph_id: id, character: character ?? '' },
      }),
    ),
  remove: ({ segment }) =>
    ask(api.DELETE('/api/letterforms/segment/{segment_id}', { params: { path: { segment_id: segment } } })),
};

export const SORTS: Record<SortName, Sort> = { hands, signs, letters };
export const SORT_NAMES = Object.keys(SORTS) as SortName[];
