// Writes what was drawn: a changed shape, a new line, a new region, a line cut in two. Each one step.
import { api, ask, type Schemas } from '$lib/api/client';
import { dropDraft } from '$lib/drafts.svelte';
import { versionOf } from './doing';
import { around, boxOf, cut, type Figure } from './geometry';
import type { Line } from './lines';
import { isInside, type Point, type Shape } from './shapes';
import type { PageState } from './state.svelte';

type Cell = Schemas['Cell'];
const LINE_HEIGHT = 0.025;
const mutable = (points: Point[]): number[][] => points.map((p) => [...p]);

/** A figure as the engine takes it, measured on the picture that the page shows. */
const anchorOf = (figure: Figure, rendition: string | undefined) => ({
  rect: boxOf(figure),
  polygon: mutable(figure.outline),
  ...(rendition ? { rendition_id: rendition } : {}),
});
const baselineOf = (figure: Figure) => (figure.baseline ? mutable(figure.baseline) : null);

const renditionOf = (page: PageState, id?: string) =>
  (id ? page.shapeById.get(id) : page.shapes[0])?.rendition ?? undefined;

export async function changeShape(page: PageState, id: string, figure: Figure): Promise<void> {
  await ask(
    api.PUT('/api/segments/{segment_id}', {
      params: { path: { segment_id: id } },
      body: {
        segment_id: id,
        expected_version: page.shapeById.get(id)?.version ?? 1,
        anchor: anchorOf(figure, renditionOf(page, id)),
        baseline: baselineOf(figure),
      },
    }),
  );
  await page.reload();
}

/** The pass that is shown; a new one where the page has none. */
async function passOf(page: PageState): Promise<string> {
  const shown = page.text?.pass_id;
  if (shown) return shown;
  const made = await ask(
    api.POST('/api/segments/passes', { body: { document_id: page.id, name: 'Drawn by hand' } }),
  );
  return made.id;
}

async function draw(page: PageState, kind: 'line' | 'region', figure: Figure): Promise<string> {
  const middle = boxOf(figure);
  const [x, y] = [middle[0] + middle[2] / 2, middle[1] + middle[3] / 2];
  const region =
    kind === 'line'
      ? page.shapes.find((one) => one.kind === 'region' && isInside(one.outline, x, y))?.id
      : undefined;
  const made = await ask(
    api.POST('/api/segments', {
      body: {
        document_id: page.id,
        pass_id: await passOf(page),
        kind,
        anchor: anchorOf(figure, renditionOf(page)),
        baseline: baselineOf(figure),
        ...(region ? { parent_segment_id: region } : {}),
      },
    }),
  );
  await page.reload();
  return made.id;
}

export async function drawLine(page: PageState, baseline: Point[]): Promise<void> {
  const vertical = page.isVertical;
  const sizes = page.shapes.filter((one) => one.kind === 'line').map((one) => one.box[vertical ? 2 : 3]);
  const height = sizes.sort((a, b) => a - b)[sizes.length >> 1] ?? LINE_HEIGHT;
  page.select(await draw(page, 'line', { outline: around(baseline, height, vertical), baseline }));
}

export async function drawRegion(page: PageState, outline: Point[]): Promise<void> {
  page.region = await draw(page, 'region', { outline, baseline: null });
}

/** Say which cell of a table a region is, or that it is none. */
export async function placeInTable(page: PageState, shape: Shape, cell: Cell | null): Promise<void> {
  const params = { path: { segment_id: shape.id } };
  const body = { segment_id: shape.id, expected_version: shape.version, cell };
  await ask(api.PUT('/api/segments/{segment_id}', { params, body }));
  await page.reload();
}

/** Cut a line in two where its text is cut. */
export async function splitLine(page: PageState, line: Line, text: string, at: number): Promise<void> {
  const shape = page.shapeById.get(line.id);
  if (!shape || at <= 0 || at >= text.length) return;
  const [vertical, backwards] = [line.direction.startsWith('ttb'), line.direction === 'rtl'];
  const pieces = cut(shape, backwards ? 1 - at / text.length : at / text.length, vertical);
  if (backwards) pieces.reverse();
  const words = [text.slice(0, at).trim(), text.slice(at).trim()];
  await ask(
    api.POST('/api/segments/split', {
      body: {
        segment_id: line.id,
        expected_version: versionOf(page, line),
        parts: pieces.map((figure, index) => ({
          anchor: anchorOf(figure, renditionOf(page, line.id)),
          baseline: baselineOf(figure),
          text: words[index] ?? '',
        })),
      },
    }),
  );
  dropDraft(line.id);
  await page.reload();
}
