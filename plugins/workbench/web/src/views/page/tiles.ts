// Where OpenSeadragon gets the tiles of a page: the engine's IIIF image service, asked in the name of this project.
import OpenSeadragon from 'openseadragon';
import { address, api, ask } from '$lib/api/client';

interface Tiles {
  source: OpenSeadragon.TileSourceSpecifier;
  size: [width: number, height: number];
}

export async function tilesOf(document: string): Promise<Tiles> {
  const params = { path: { image_id: document } };
  const info = await ask(api.GET('/api/iiif/image/{image_id}/info.json', { params }));
  const source = new OpenSeadragon.IIIFTileSource(info as unknown as OpenSeadragon.TileSourceOptions);
  const tileUrl = source.getTileUrl.bind(source);
  // The service names its own address; the application asks at the one it was opened at.
  source.getTileUrl = (level, x, y) => {
    const url = tileUrl(level, x, y);
    return address(new URL(typeof url === 'string' ? url : url()).pathname);
  };
  const { width, height } = info as unknown as { width: number; height: number };
  return { source: source as unknown as OpenSeadragon.TileSourceSpecifier, size: [width, height] };
}

/** OpenSeadragon puts a style element into every page that has none of its own; our policy would refuse it, with an error. */
export function withoutStyleOfItsOwn(): void {
  if (document.querySelector('style[data-openseadragon-mobile-css]')) return;
  // An element of that name and of no known kind: it answers the question, and styles nothing.
  const none = document.createElementNS('urn:none', 'style');
  none.setAttribute('data-openseadragon-mobile-css', 'true');
  document.head.append(none);
}
