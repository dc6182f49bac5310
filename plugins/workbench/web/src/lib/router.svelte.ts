// Where the person is. Addresses live in the fragment (`#/p/PROJECT/page/ID?line=…`), so the server knows only `/`.

export interface Place {
  project: string | null;
  view: string;
  id: string | null;
  query: URLSearchParams;
}

/** Read a fragment such as `#/p/7f/page/12?line=3`. */
export function read(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  const query = new URLSearchParams(search);
  if (parts[0] !== 'p' || parts[1] === undefined)
    return { project: null, view: parts[0] ?? 'projects', id: parts[1] ?? null, query };
  return { project: parts[1], view: parts[2] ?? 'library', id: parts[3] ?? null, query };
}

let place = $state.raw<Place>(read(location.hash));
addEventListener('hashchange', () => (place = read(location.hash)));

export const here = () => place;

type Query = Record<string, string | number | null | undefined>;

/** The address of a view; of the current project unless another is named. */
export function link(view: string, id?: string | null, query: Query = {}, project = place.project): string {
  const path = project ? ['p', project, view] : [view];
  if (id) path.push(id);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

/** Go to an address made by `link`; `replace` leaves no step in the browser's history. */
export function go(address: string, replace = false): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  place = read(address);
}
