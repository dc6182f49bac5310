// The way to the engine: typed by its published description, always about the current project, refusals as sentences.
import createClient from 'openapi-fetch';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];

/** What the engine refused, in its own words. `status` 0: it did not answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: string | null = null,
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

const PROJECT = 'X-Service-Library-Path';
/** Names this window of the browser in the log, so that its undo takes back only what was done in it. */
export const originWindow = (sessionStorage['armarium.window'] ??= crypto.randomUUID()) as string;
let project: string | null = null;
let signedOut = () => {};

/** From now on, requests are about this project (its path). */
export const useProject = (path: string) => void (project = path);
export const whenSignedOut = (then: () => void) => void (signedOut = then);

const writes = new Set<Promise<void>>();
/** Wait until the engine has answered every write that this window has sent; what it answered is told elsewhere. */
export const writesAreAnswered = () => Promise.all(writes);

/** Not by an `onRequest`, which is waited for: what is saved leaves before the next line is drawn. */
async function fetchHere(request: Request): Promise<Response> {
  request.headers.set('X-Service-Client', 'workbench');
  request.headers.set('X-Service-Origin-Window', originWindow);
  if (project !== null && !request.headers.has(PROJECT))
    request.headers.set(PROJECT, encodeURIComponent(project));
  const answer = fetch(request);
  // Files take as long as they take: nobody waits for them.
  if (request.method !== 'GET' && !request.headers.get('Content-Type')?.startsWith('multipart/')) {
    const answered = answer.then(
      () => void writes.delete(answered),
      () => void writes.delete(answered),
    );
    writes.add(answered);
  }
  const response = await answer;
  if (response.status === 401) signedOut();
  return response;
}
export const api = createClient<paths>({ baseUrl: location.origin, fetch: fetchHere });

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The answer of a request, or a `Refused`. `await ask(api.GET('/api/registry'))` */
export async function ask<T>(request: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await request;
  } catch (reason) {
    throw reason instanceof DOMException && reason.name === 'AbortError' ? reason : new Refused(0, '');
  }
  if (answer.response.ok) return answer.data as T;
  throw refusal(answer.response.status, answer.error);
}

export function refusal(status: number, error: unknown): Refused {
  const body = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  const detail = body['detail'];
  const sentence = Array.isArray(detail)
    ? detail.map((one: { msg?: string }) => one.msg ?? '').join(' ')
    : typeof detail === 'string'
      ? detail
      : `${status}`;
  return new Refused(status, sentence, typeof body['code'] === 'string' ? body['code'] : null, body);
}

/** The address of a picture or download of the current project, unless `library` names another, for `src` and `href`. */
export function address(path: string, query: Record<string, string | number | boolean> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  if (project !== null && !search.has('library')) search.set('library', project);
  return `${location.origin}${path}?${search}`;
}
