"""Records for the examples of actions: a map of four places around Paris, with a mark for each."""

from __future__ import annotations

from typing import Any

from armarium.api import Example
from armarium_testing.sample_pages import SamplePage, sample_page, sample_picture

SIZE = (80, 60)
PLACES = ((0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 3.0, 49.0), (0.9, 0.9, 3.0, 48.5), (0.1, 0.9, 2.0, 48.5))
"""x, y in fractions of the picture; longitude, latitude."""


def sample_map(ex: Example) -> SamplePage:
    """Create a picture with a pass that has a line at each of `PLACES`."""
    from PIL import Image

    lines = [{"anchor": {"rect": [x - 0.05, y - 0.02, 0.1, 0.04]}} for x, y, _, _ in PLACES]
    picture = sample_picture(ex, Image.new("L", SIZE, 220), "Map.png")
    return sample_page(ex, document_id=picture, segments=lines)


def sample_point(page: SamplePage, number: int) -> dict[str, Any]:
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
