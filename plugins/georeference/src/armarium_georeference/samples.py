"""Records for the examples of actions: a map of four places around Paris, with a mark for each."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from armarium.api import Example, new_id

SIZE = (80, 60)
PLACES = ((0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 3.0, 49.0), (0.9, 0.9, 3.0, 48.5), (0.1, 0.9, 2.0, 48.5))
"""x, y in fractions of the picture; longitude, latitude."""


class SampleMap(NamedTuple):
    document_id: str
    pass_id: str
    segment_ids: list[str]


def sample_map(ex: Example) -> SampleMap:
    """Create a picture with a pass that has a line at each of `PLACES`."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("L", SIZE, 220).save(file, "PNG")
    assert ex.library is not None
    picture = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": SIZE[0],
        "pixel_height": SIZE[1],
    }
    folder = str(ex.run("document.create", {"name": "Maps"})["id"])
    page = new_id()
    node = {"id": page, "parent_id": folder, "doc_type": "file", "file_type": "image", "name": "Map.png"}
    ex.run("document.add_files", {"nodes": [{**node, "picture": picture}]})
    pass_id = str(ex.run("segment.pass_create", {"document_id": page, "name": "Places"})["id"])
    lines = [
        {
            "document_id": page,
            "pass_id": pass_id,
            "kind": "line",
            "anchor": {"rect": [x - 0.05, y - 0.02, 0.1, 0.04]},
        }
        for x, y, _, _ in PLACES
    ]
    made = ex.run("segment.create_many", {"segments": lines})["items"]
    return SampleMap(page, pass_id, [one["id"] for one in made])


def sample_point(page: SampleMap, number: int) -> dict[str, Any]:
    """Return the parameters that set the control point *number* of the map."""
    _, _, lon, lat = PLACES[number]
    return {"pass_id": page.pass_id, "segment_id": page.segment_ids[number], "lon": lon, "lat": lat}


def sample_annotation() -> dict[str, Any]:
    """Return a georeference annotation of the map."""
    width, height = SIZE
    corners = f"0,0 {width},0 {width},{height} 0,{height}"
    return {
        "type": "Annotation",
        "motivation": "georeferencing",
        "target": {
            "type": "SpecificResource",
            "source": {
                "id": "https://example.org/map",
                "type": "ImageService2",
                "width": width,
                "height": height,
            },
            "selector": {"type": "SvgSelector", "value": f'<svg><polygon points="{corners}" /></svg>'},
        },
        "body": {
            "type": "FeatureCollection",
            "transformation": {"type": "polynomial", "options": {"order": 1}},
            "features": [
                {
                    "type": "Feature",
                    "properties": {"resourceCoords": [x * width, y * height]},
                    "geometry": {"type": "Point", "coordinates": [lon, lat]},
                }
                for x, y, lon, lat in PLACES
            ],
        },
    }
