// Places that the project knows, and where they are drawn: degrees on a plain grid, or fractions of a map's picture.
import { api, ask, type Schemas } from '$lib/api/client';
import { number, t } from '$lib/i18n/index.svelte';

export type Map = Schemas['MapSheet'];
export interface Place {
  id: string;
  name: string;
  lon: number;
  lat: number;
}
const PART = 500;
const MOST = 3000;

/** The places of the project with coordinates, and how many have none. */
export async function knownPlaces(): Promise<{ places: Place[]; without: number }> {
  const places: Place[] = [];
  let without = 0;
  for (let offset = 0, total = 1; offset < Math.min(total, MOST); offset += PART) {
    const query = { entity_type: 'location', limit: PART, offset };
    const found = await ask(api.GET('/api/entities', { params: { query } }));
    total = found.total;
    for (const one of found.items) {
      const at = one.place_values.map(middleOf).find((it) => it !== null);
      if (at) places.push({ id: one.id, name: one.canonical_name, lon: at[0], lat: at[1] });
      else without += 1;
    }
  }
  return { places, without };
}

type Point = [lon: number, lat: number];
const isNumber = (one: unknown): one is number => typeof one === 'number' && Number.isFinite(one);

/** The middle of a place value, in degrees; null for one without coordinates. */
export function middleOf(value: Record<string, unknown>): Point | null {
  if (isNumber(value['lon']) && isNumber(value['lat'])) return [value['lon'], value['lat']];
  const box = value['geo_bbox'];
  if (Array.isArray(box) && box.length === 4 && box.every(isNumber)) {
    const [west, south, east, north] = box as [number, number, number, number];
    // A box that begins east of where it ends lies across the antimeridian (RFC 7946, section 5.2).
    const middle = (west + east + (west > east ? 360 : 0)) / 2;
    return [middle > 180 ? middle - 360 : middle, (south + north) / 2];
  }
  const found: Point[] = [];
  collect((value['geojson'] as { coordinates?: unknown } | null | undefined)?.coordinates, found);
  if (found.length === 0) return null;
  const mean = (at: 0 | 1) => found.reduce((sum, one) => sum + one[at], 0) / found.length;
  return [mean(0), mean(1)];
}
function collect(given: unknown, into: Point[]): void {
  if (!Array.isArray(given)) return;
  if (isNumber(given[0]) && isNumber(given[1])) into.push([given[0], given[1]]);
  else given.forEach((one) => collect(one, into));
}

export interface Grid {
  west: number;
  east: number;
  south: number;
  north: number;
  /** Degrees between two lines. */
  step: number;
}
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

/** A grid of degrees around places; the whole globe where there are none. */
export function gridAround(points: readonly { lon: number; lat: number }[]): Grid {
  if (points.length === 0) return { west: -180, east: 180, south: -90, north: 90, step: 30 };
  const lons = points.map((one) => one.lon);
  const lats = points.map((one) => one.lat);
  const [w, e] = [Math.min(...lons), Math.max(...lons)];
  const [s, n] = [Math.min(...lats), Math.max(...lats)];
  const margin = Math.max((e - w) * 0.12, (n - s) * 0.12, 0.05);
  const west = Math.max(-180, w - margin);
  const east = Math.min(180, e + margin);
  const south = Math.max(-90, s - margin);
  const north = Math.min(90, n + margin);
  const widest = Math.max(east - west, north - south);
  return { west, east, south, north, step: STEPS.find((one) => widest / one <= 10) ?? 30 };
}

/** Multiples of *step* between two degrees. */
export function linesBetween(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => +((first + at) * step).toFixed(6));
}

/** Degrees as one writes them: 48.5° N; the equator and the first meridian lie on no side. */
export const degrees = (value: number, names: [positive: string, negative: string]) =>
  `${number(Math.abs(value))}° ${value === 0 ? '' : value < 0 ? names[1] : names[0]}`.trim();

/** Metres by which something is off: to the metre, of a plan of a house to the decimetre. */
export const metresOff = (value: number) => number(value < 10 ? +value.toFixed(1) : Math.round(value));

/** The middle of a place value, written in degrees; empty where it has no coordinates. */
export function whereOf(value: Record<string, unknown>): string {
  const at = middleOf(value);
  const [north = '', east = '', south = '', west = ''] = [...t('maps.compass')];
  return at ? `(${degrees(at[1], [north, south])}, ${degrees(at[0], [east, west])})` : '';
}
