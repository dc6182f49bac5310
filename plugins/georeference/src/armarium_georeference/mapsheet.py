"""A pass on the ground as one HTML file that needs no network: picture, coastlines, segments, residuals as arrows."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import orjson

from armarium.api import font_faces
from armarium_georeference.onground import Outline
from armarium_georeference.transforms import PassTransform, pixels_up
from armarium_georeference.warping import Warp, Window

if TYPE_CHECKING:
    from PIL import Image

    from armarium_georeference.fitting import Points

LONGEST = 1200
"""The longer side of the drawn map, in pixels."""
_ARROW = 60
"""The least length, in pixels, at which the longest residual is drawn."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
_MOST_LINES = 40
_LETTERS = "Armarium letters"
"""The font family under which the page uses its embedded letters."""


def map_page(
    transform: PassTransform,
    title: str,
    image: Image.Image,
    outlines: Sequence[Outline],
    texts: dict[str, Any],
) -> str:
    """Return the page. *transform* is ready; *image* is its picture, or a smaller one; *texts* are readings by segment."""
    import numpy as np

    assert transform.fit is not None and transform.plane is not None  # noqa: PT018
    assert transform.size is not None
    true = np.array([[point["lon"], point["lat"]] for point in transform.counting], dtype=np.float64)
    control = transform.plane.project(true)
    warp = Warp(transform.fit, transform.size)
    window = warp.window(control, LONGEST)
    width, height = window.size
    layers = [
        f'<g class="grid">{"".join(_graticule(transform, window))}</g>',
        f'<path class="coast" d="{_coast(transform, window)}"/>',
        f'<image id="picture" width="{width}" height="{height}" href="{_data(warp.draw(image, window))}"/>',
        f'<path class="coast above" d="{_coast(transform, window)}"/>',
        f'<g class="segments">{"".join(_shapes(transform, window, outlines, texts))}</g>',
        f'<g class="residuals">{"".join(_arrows(transform, window, control))}</g>',
        _scale_bar(window),
    ]
    notes = [point["note"] or "" for point in transform.counting]
    faces, fonts = font_faces("".join([title, *notes, *(text.text for text in texts.values())]), _LETTERS)
    lettering = (
        f" Letters: {', '.join(font.family for font in fonts)} (SIL Open Font License 1.1)." if fonts else ""
    )
    return _PAGE.format(
        title=escape(title),
        faces=faces,
        family=_LETTERS,
        width=width,
        height=height,
        layers="\n".join(layers),
        words=_words(transform),
        rows="".join(_rows(transform)),
        lettering=escape(lettering),
    )


def _data(picture: Image.Image) -> str:
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=80)
    return "data:image/webp;base64," + base64.b64encode(out.getvalue()).decode()


def _path(places: Points, *, close: bool) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places.tolist()) + ("Z" if close else "")


def _runs(transform: PassTransform, window: Window, lonlat: Points) -> Iterator[Points]:
    """Return the parts of a line that are in the window or near it, in pixels."""
    import numpy as np

    from armarium_georeference.planes import BadCoordinates

    assert transform.plane is not None
    try:
        at = window.pixels(transform.plane.project(lonlat))
    except BadCoordinates:
        return
    width, height = window.size
    near = (np.abs(at - [width / 2, height / 2]) < [width, height]).all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], near.astype(np.int8), [0]])))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - start > 1:
            yield at[start:end]


def _coast(transform: PassTransform, window: Window) -> str:
    import numpy as np

    stored = orjson.loads(files("armarium_georeference").joinpath("coastlines/land-50m.json").read_bytes())
    scale, origin = np.array(stored["scale"]), np.array(stored["translate"])
    assert transform.plane is not None
    corners = np.array(
        [
            [x, y]
            for x in np.linspace(window.west, window.east, 9)
            for y in np.linspace(window.south, window.north, 9)
        ]
    )
    corner_lonlat = transform.plane.unproject(corners)
    lowest, highest = float(corner_lonlat[:, 1].min()) - 3, float(corner_lonlat[:, 1].max()) + 3
    parts: list[str] = []
    for flat in stored["arcs"]:
        arc = np.cumsum(np.array(flat, dtype=np.float64).reshape(-1, 2), axis=0) * scale + origin
        arc = np.clip(arc, [-180, -90], [180, 90])
        if arc[:, 1].max() < lowest or arc[:, 1].min() > highest:
            continue
        parts.extend(_path(run, close=False) for run in _runs(transform, window, arc))
    return "".join(parts)


def _graticule(transform: PassTransform, window: Window) -> Iterator[str]:
    import numpy as np

    assert transform.plane is not None
    x, y = np.meshgrid(np.linspace(window.west, window.east, 24), np.linspace(window.south, window.north, 24))
    grid_lonlat = transform.plane.unproject(np.column_stack([x.ravel(), y.ravel()]))
    grid_lonlat = grid_lonlat[np.isfinite(grid_lonlat).all(axis=1)]
    south, north = float(grid_lonlat[:, 1].min()), float(grid_lonlat[:, 1].max())
    middle = float(grid_lonlat[len(grid_lonlat) // 2, 0])
    about = (grid_lonlat[:, 0] - middle + 180) % 360 - 180 + middle
    west, east = float(about.min()), float(about.max())
    step = next((step for step in _STEPS if (north - south) / step <= 8 and (east - west) / step <= 16), 30)
    lines = []
    for number in range(math.floor(south / step), math.ceil(north / step) + 1):
        lat = number * step
        if abs(lat) < 90:
            lines.append(
                (
                    f"{abs(lat):g}° {'N' if lat >= 0 else 'S'}",
                    np.column_stack([np.linspace(west, east, 200), np.full(200, lat)]),
                )
            )
    for number in range(math.floor(west / step), math.ceil(east / step) + 1):
        lon = (number * step + 180) % 360 - 180
        span = np.clip(np.linspace(south, north, 200), -89.99, 89.99)
        lines.append(
            (f"{abs(lon):g}° {'E' if lon >= 0 else 'W'}", np.column_stack([np.full(200, lon), span]))
        )
    width, height = window.size
    for label, line in lines[:_MOST_LINES]:
        for run in _runs(transform, window, line):
            yield f'<path d="{_path(run, close=False)}"/>'
            visible = [
                point for point in run.tolist() if 4 < point[0] < width - 40 and 12 < point[1] < height - 4
            ]
            if visible:
                yield f'<text x="{visible[0][0] + 3:.0f}" y="{visible[0][1] - 3:.0f}">{label}</text>'


def _shapes(
    transform: PassTransform, window: Window, outlines: Sequence[Outline], texts: dict[str, Any]
) -> Iterator[str]:
    import numpy as np

    assert transform.fit is not None
    assert transform.size is not None
    marks = {point["segment_id"] for point in transform.points}
    for outline in outlines:
        if outline.id in marks or outline.rendition_id != transform.rendition_id:
            continue
        ground = transform.fit.apply(pixels_up(np.array(outline.ring, dtype=np.float64), transform.size))
        if not np.isfinite(ground).all():
            continue
        text = texts.get(outline.id)
        words = escape(text.text if text is not None else outline.kind)
        yield f'<path class="{escape(outline.kind)}" d="{_path(window.pixels(ground), close=True)}"><title>{words}</title></path>'


def _arrows(transform: PassTransform, window: Window, control: Points) -> Iterator[str]:
    at = window.pixels(control).tolist()
    errors = [residual["error_m"] for residual in transform.residuals if residual["error_m"] is not None]
    longest = max(errors, default=0.0)
    # Metres on the ground are about metres of the plane; arrows too short to be seen are lengthened.
    times = max(1.0, _ARROW * window.scale / longest) if longest > 0 else 1.0
    for number, (residual, (x, y)) in enumerate(zip(transform.residuals, at, strict=True), start=1):
        if residual["error_m"] is not None:
            dx, dy = residual["dx_m"] * times / window.scale, -residual["dy_m"] * times / window.scale
            if math.hypot(dx, dy) > 1:
                yield f'<path class="arrow" marker-end="url(#head)" d="M{x:.1f} {y:.1f}l{dx:.1f} {dy:.1f}"/>'
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/><text x="{x + 6:.1f}" y="{y - 6:.1f}">{number}</text>'


def _scale_bar(window: Window) -> str:
    metres = 10 ** math.floor(math.log10(window.scale * window.size[0] / 4))
    metres *= next(
        factor for factor in (5, 2, 1) if factor * metres <= window.scale * window.size[0] / 3 or factor == 1
    )
    label = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    length, y = metres / window.scale, window.size[1] - 14
    plate = f'<rect x="6" y="{y - 20}" width="{length + 16:.0f}" height="28"/>'
    return f'<g class="bar">{plate}<path d="M14 {y}h{length:.1f}m0 -5v5m{-length:.1f} -5v5"/><text x="18" y="{y - 5}">{label}</text></g>'


def _metres(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"


def _words(transform: PassTransform) -> str:
    assert transform.plane is not None
    lines = [
        f"{transform.type}, {len(transform.counting)} control points, fitted in: {transform.plane.words}.",
        f"Root mean square error: {_metres(transform.rms_m)} m." if transform.rms_m is not None else "",
        (
            "Arrows lead from where a control point is to where the map puts it; they are drawn longer than "
            "they are."
        ),
        *transform.notes,
    ]
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)


def _rows(transform: PassTransform) -> Iterator[str]:
    for number, (point, residual) in enumerate(
        zip(transform.counting, transform.residuals, strict=True), start=1
    ):
        cells = (
            str(number),
            f"{point['lat']:.6f}, {point['lon']:.6f}",
            _metres(residual["dx_m"]),
            _metres(residual["dy_m"]),
            _metres(residual["error_m"]),
            point["note"] or "",
        )
        yield "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>
{faces}
body {{ font: 15px/1.45 "{family}", system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fff; max-width: 1250px; }}
svg {{ width: 100%; height: auto; background: #eaf1f5; border: 1px solid #bbb; }}
.grid path {{ fill: none; stroke: #9db4c0; stroke-width: .6; }} .grid text, .bar text {{ font-size: 11px; fill: #456; }}
.grid text {{ paint-order: stroke; stroke: #eaf1f5; stroke-width: 3; }} .bar rect {{ fill: #fffffff0; }}
.coast {{ fill: none; stroke: #235; stroke-width: 1.4; }} .above {{ stroke-width: .8; stroke-dasharray: 5 3; }}
.segments path {{ fill: #c0500022; stroke: #c05000; stroke-width: 1; }} .segments path:hover {{ fill: #c0500066; }}
.residuals circle {{ fill: #fff; stroke: #b00020; stroke-width: 2; }} .arrow {{ stroke: #b00020; stroke-width: 2; }}
.residuals text {{ font-size: 13px; font-weight: 600; fill: #b00020; paint-order: stroke; stroke: #fff; stroke-width: 3; }}
.bar path {{ fill: none; stroke: #222; stroke-width: 2; }}
table {{ border-collapse: collapse; }} td, th {{ padding: .15rem .8rem .15rem 0; text-align: left; }}
</style></head><body>
<h1>{title}</h1>
<p><label>Picture <input type="range" min="0" max="100" value="75"
 oninput="document.getElementById('picture').style.opacity = this.value / 100"></label></p>
<svg viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto">
<path d="M0 0L8 4L0 8z" fill="#b00020"/></marker></defs>
{layers}
</svg>
<p id="said" dir="auto" aria-live="polite">Point at a shape to read its text.</p>
{words}
<table><tr><th></th><th>Latitude, longitude</th><th>East, m</th><th>North, m</th><th>Error, m</th><th></th></tr>{rows}</table>
<p>Coastlines: Natural Earth.{lettering}</p>
<style>#picture {{ opacity: .75 }}</style>
<script>
document.querySelector(".segments").addEventListener("pointerover", (event) => {{
  const words = event.target.querySelector("title");
  if (words) document.getElementById("said").textContent = words.textContent;
}});
</script>
</body></html>
"""
