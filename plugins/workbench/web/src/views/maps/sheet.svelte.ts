// One georeferenced pass: its control points with their residuals, and where known places lie on its picture.
import { api, ask, type Schemas } from '$lib/api/client';
import { t } from '$lib/i18n/index.svelte';
import { tell, tellRefusal } from '$lib/notices.svelte';
import { tellUndoable } from '$lib/steps.svelte';
import type { Place } from './places';

const read = (pass_id: string) =>
  ask(api.GET('/api/georeference/passes/{pass_id}/transform', { params: { path: { pass_id } } }));
export type Transform = Awaited<ReturnType<typeof read>>;
export type ControlPoint = Schemas['ControlPoint'];
export interface Shown extends Place {
  x: number;
  y: number;
}
const AT_ONCE = 300;
export const TYPES = [
  'helmert',
  'polynomial1',
  'polynomial2',
  'polynomial3',
  'projective',
  'thin-plate-spline',
] as const;
export type Type = (typeof TYPES)[number];

export class Sheet {
  found = $state.raw<Transform | null>(null);
  /** Known places within the picture. */
  shown = $state.raw<Shown[]>([]);
  /** Where the transformation puts each control point, in fractions of the picture. */
  put = $state.raw(new Map<string, { x: number; y: number }>());

  constructor(
    readonly pass: string,
    private readonly changed: () => void,
  ) {}

  async load(places: Place[]): Promise<void> {
    this.found = await read(this.pass);
    if (this.found.status !== 'ready') {
      this.shown = [];
      this.put = new Map();
      return;
    }
    const points = this.found.control_points;
    const [at, marks] = await Promise.all([this.locate(places), this.locate(points)]);
    this.shown = at.filter(({ x, y }) => x >= 0 && x <= 1 && y >= 0 && y <= 1);
    this.put = new Map(marks.map((one) => [one.id, one]));
  }

  private async locate<T extends { lon: number; lat: number }>(
    given: T[],
  ): Promise<(T & { x: number; y: number })[]> {
    const found: (T & { x: number; y: number })[] = [];
    for (let at = 0; at < given.length; at += AT_ONCE) {
      const part = given.slice(at, at + AT_ONCE);
      const params = {
        path: { pass_id: this.pass },
        query: { place: part.map((one) => `${one.lon},${one.lat}`) },
      };
      const { items } = await ask(api.GET('/api/georeference/passes/{pass_id}/on-picture', { params }));
      items.forEach(({ x, y }, number) => {
        const one = part[number];
        if (one && x !== null && y !== null) found.push({ ...one, x, y });
      });
    }
    return found;
  }

  private async act(doing: Promise<unknown>): Promise<boolean> {
    try {
      await doing;
      this.changed();
      return true;
    } catch (reason) {
      tellRefusal(reason);
      return false;
    }
  }
  setPoint = (body: Schemas['PointCreateBody']) =>
    this.act(
      ask(
        api.POST('/api/georeference/passes/{pass_id}/control-points', {
          params: { path: { pass_id: this.pass } },
          body,
        }),
      ),
    );
  changePoint = (id: string, body: Schemas['PointUpdateBody']) =>
    this.act(
      ask(
        api.PATCH('/api/georeference/control-points/{point_id}', {
          params: { path: { point_id: id } },
          body,
        }),
      ),
    );
  removePoint = (id: string) =>
    this.act(
      ask(
        api.DELETE('/api/georeference/control-points/{point_id}', { params: { path: { point_id: id } } }),
      ).then(({ audit_id }) => tellUndoable(t('maps.pointGone'), [audit_id], this.changed)),
    );
  setType = (type: Type | null) =>
    this.act(
      ask(
        api.PUT('/api/georeference/passes/{pass_id}/transformation', {
          params: { path: { pass_id: this.pass } },
          body: { type },
        }),
      ).then((made) => made.notes.forEach((note) => tell(note, { said: true }))),
    );
}

/** The pass of a page on which its points are set: its newest map, else its first pass, else a new one. */
export async function passOf(document: string, name: string): Promise<string> {
  // An area without shapes: only the passes are wanted.
  const params = { path: { doc_id: document }, query: { area: '0,0,0.000001,0.000001' } };
  const found = await ask(api.GET('/api/segments/document/{doc_id}', { params }));
  const own = found.passes[0]?.id;
  if (own && !own.startsWith('legacy')) return own;
  return (await ask(api.POST('/api/segments/passes', { body: { document_id: document, name } }))).id;
}
