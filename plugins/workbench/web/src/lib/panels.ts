// Panels that plugins add: which there are, and what passes between one in its sandboxed frame and the application.
import { api, ask, type Schemas } from './api/client';

export type Panel = Schemas['ShownPanel'];
export type PanelPlace = Panel['place'];
/** What a panel is told of the view it is in. */
export interface Chosen {
  page?: string | null;
  line?: string | null;
  entity?: string | null;
}

let known: Promise<Panel[]> | null = null;
/** The panels of a place; asked of the engine once. */
export async function panelsOf(place: PanelPlace): Promise<Panel[]> {
  known ??= ask(api.GET('/api/panels')).then((found) => found.items);
  known.catch(() => (known = null));
  return (await known).filter((one) => one.place === place);
}

export async function tokenOf(panel: Panel): Promise<string> {
  const path = { plugin: panel.plugin, name: panel.name };
  return (await ask(api.POST('/api/panels/{plugin}/{name}/token', { params: { path } }))).token;
}

/** Whether a message is a panel's greeting; anything else it says is not listened to. */
export const isGreeting = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && (data as Record<string, unknown>)['armarium'] === 'ready';
