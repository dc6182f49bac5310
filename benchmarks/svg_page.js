// The peer of row 44: the outlines of a page as plain SVG over the same viewer with the same tiles.
window.viewerOf = async (id, project) => {
  const ask = async (path) => (await fetch(`${path}?library=${encodeURIComponent(project)}`)).json();
  const [info, found] = await Promise.all([
    ask(`/api/iiif/image/${id}/info.json`),
    ask(`/api/segments/document/${id}/shapes`),
  ]);
  const source = new OpenSeadragon.IIIFTileSource(info);
  const url = source.getTileUrl.bind(source);
  source.getTileUrl = (...at) =>
    `${new URL(url(...at)).pathname}?library=${encodeURIComponent(project)}`;
  const viewer = OpenSeadragon({
    element: document.getElementById('page'),
    drawer: 'canvas',
    showNavigationControl: false,
    immediateRender: true,
    animationTime: 0.35,
    springStiffness: 9,
  });
  viewer.addOnceHandler('tile-drawn', () => performance.mark('page.picture'));
  return { viewer, info, shapes: found.shapes, source };
};
window.openPage = async (id, project) => {
  const { viewer, info, shapes, source } = await viewerOf(id, project);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'shapes');
  const all = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  svg.append(all);
  for (const { polygon, rect } of shapes) {
    const [x, y, w, h] = rect;
    const outline = polygon ?? [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
    const shape = document.createElementNS('http://www.w3.org/2000/svg', 'polygon');
    shape.setAttribute('points', outline.map(([u, v]) => `${u * info.width},${v * info.height}`).join(' '));
    shape.addEventListener('click', () => {
      all.querySelector('.chosen')?.removeAttribute('class');
      shape.setAttribute('class', 'chosen');
    });
    all.append(shape);
  }
  const place = () => {
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    const at = (u, v) => image.imageToViewerElementCoordinates(new OpenSeadragon.Point(u, v));
    const [o, r] = [at(0, 0), at(1, 0)];
    all.setAttribute('transform', `translate(${o.x} ${o.y}) scale(${r.x - o.x})`);
  };
  viewer.addHandler('update-viewport', place);
  viewer.canvas.append(svg);
  performance.mark('page.shapes');
  viewer.open(source);
};
