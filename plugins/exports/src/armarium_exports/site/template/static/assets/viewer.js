// Deep zoom over the tiles beside this site; without it the still picture stays.
const zoom = document.getElementById("zoom");
const still = document.getElementById("still");
if (zoom && still && window.OpenSeadragon) {
  const folder = new URL(zoom.dataset.folder, location.href).href;
  const source = { "@context": "http://iiif.io/api/image/3/context.json", id: folder, type: "ImageService3",
    protocol: "http://iiif.io/api/image", profile: "level0", ...JSON.parse(zoom.dataset.source) };
  const tools = document.querySelector(".tools");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Zoom";
  button.setAttribute("aria-pressed", "false");
  tools.prepend(button, " ");
  let viewer = null;
  const outline = (id) => {
    if (!viewer) return;
    viewer.clearOverlays();
    const zone = document.getElementById("zone-" + id);
    if (!zone) return;
    const points = zone.getAttribute("points").trim().split(/\s+/).map((one) => one.split(",").map(Number));
    const xs = points.map((one) => one[0] / 1000), ys = points.map((one) => one[1] / 1000);
    const ratio = source.height / source.width;
    const box = new OpenSeadragon.Rect(Math.min(...xs), Math.min(...ys) * ratio,
      Math.max(...xs) - Math.min(...xs), (Math.max(...ys) - Math.min(...ys)) * ratio);
    const mark = document.createElement("div");
    mark.className = "mark";
    viewer.addOverlay({ element: mark, location: box });
    viewer.viewport.fitBoundsWithConstraints(new OpenSeadragon.Rect(box.x - 0.05, box.y - 0.1, box.width + 0.1, box.height + 0.2));
  };
  const target = () => (/^#(?:line|zone)-(.+)$/.exec(location.hash) || [])[1];
  button.addEventListener("click", () => {
    const on = zoom.hidden;
    zoom.hidden = !on;
    still.hidden = on;
    button.setAttribute("aria-pressed", String(on));
    if (on && !viewer) {
      viewer = OpenSeadragon({ element: zoom, tileSources: source, showNavigationControl: false,
        crossOriginPolicy: false, gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true } });
      viewer.addOnceHandler("open", () => target() && outline(target()));
    }
  });
  window.addEventListener("hashchange", () => target() && outline(target()));
}
