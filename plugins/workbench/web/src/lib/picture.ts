// Which pages have a picture, and the piece of it around what was drawn on a page; each page is asked about once.
import { address } from '$lib/api/client';

export type Size = [width: number, height: number];

async function told<T>(path: string, library: string | undefined): Promise<T> {
  const answer = await fetch(address(path, library === undefined ? {} : { library }));
  if (!answer.ok) throw new Error(`${answer.status}`);
  return (await answer.json()) as T;
}

/** Asks once for each page of each project; a question that had no answer is asked again the next time. */
function once<T>(question: (document: string, library: string | undefined) => Promise<T>, otherwise: T) {
  const known = new Map<string, Promise<T>>();
  return (document: string, library?: string): Promise<T> => {
    const key = address(document, library === undefined ? {} : { library });
    const answer =
      known.get(key) ??
      question(document, library).catch(() => {
        known.delete(key);
        return otherwise;
      });
    known.set(key, answer);
    return answer;
  };
}

/** Whether a page has a picture. */
export const hasPicture = once(
  async (document, library) =>
    (await told<{ has_thumbnail: boolean }>(`/api/documents/${document}`, library)).has_thumbnail,
  false,
);

/** The size of a page's picture; null where it has none. */
export const sizeOf = once<Size | null>(async (document, library) => {
  if (!(await hasPicture(document, library))) return null;
  const info = `/api/iiif/image/${document}/info.json`;
  const { width, height } = await told<{ width: number; height: number }>(info, library);
  return [width, height];
}, null);

/** The cut-out of *box*, in fractions of the page. */
export const cutOutOf = (document: string, box: readonly number[], library: string | undefined): string =>
  address(
    `/api/iiif/image/${document}/pct:${box.map((one) => (one * 100).toFixed(4)).join(',')}/!900,900/0/default.jpg`,
    library === undefined ? {} : { library },
  );
