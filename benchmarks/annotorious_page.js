// Another peer of row 44, where ARMARIUM_ANNOTORIOUS names its files: the outlines of a page in Annotorious, over the same viewer.
window.openPage = async (id, project) => {
  const { viewer, info, shapes, source } = await viewerOf(id, project);
  const annotorious = AnnotoriousOSD.createOSDAnnotator(viewer, {
    drawingEnabled: false,
  });
  const annotations = shapes.map(({ id, polygon, rect: [x, y, w, h] }) => {
    const outline = polygon ?? [
      [x, y],
      [x + w, y],
      [x + w, y + h],
      [x, y + h],
    ];
    const points = outline.map(([u, v]) => [u * info.width, v * info.height]);
    const [across, down] = [0, 1].map((axis) =>
      points.map((point) => point[axis]),
    );
    const bounds = {
      minX: Math.min(...across),
      minY: Math.min(...down),
      maxX: Math.max(...across),
      maxY: Math.max(...down),
    };
    return {
      id,
      bodies: [],
      target: {
        annotation: id,
        selector: { type: "POLYGON", geometry: { bounds, points } },
      },
    };
  });
  window.chooseShape = (number) =>
    annotorious.setSelected(annotations[number * 9].id);
  viewer.addOnceHandler("open", () => {
    annotorious.setAnnotations(annotations, true);
    requestAnimationFrame(() => performance.mark("page.shapes"));
  });
  viewer.open(source);
};
