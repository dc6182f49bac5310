"""Helpers for the tests of canvas: picture cards with thumbnails, and queries."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER

OWNER = LOCAL_OWNER
EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor")
NOWHERE = "f" * 32
RED, GREEN = (200, 40, 40), (40, 160, 60)


def add_picture(
    engine: Engine, library: Library, parent_id: str, colour: tuple[int, int, int] = RED, name: str = "1.png"
) -> str:
    """Add an image of one colour, without a thumbnail yet; return its id."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (60, 60), colour).save(file, "PNG")
    picture = {
        "checksum": library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": 60,
        "pixel_height": 60,
    }
    node = {"id": new_id(), "parent_id": parent_id, "doc_type": "file", "file_type": "image", "name": name}
    engine.run(library, "document.add_files", {"nodes": [{**node, "picture": picture}]}, OWNER)
    return str(node["id"])


def rows(library: Library, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        return raw.execute(statement, given).fetchall()


def draw_canvas(client: Any, folder_id: str, **query: Any) -> Any:
    """Return the picture of a canvas, decoded."""
    from PIL import Image

    answer = client.get(f"/api/canvas/folders/{folder_id}/canvas-picture", params=query)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), answer.text
    image = Image.open(io.BytesIO(answer.content))
    image.load()
    return image


def is_near(colour: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether two colours are equal within the tolerance of JPEG."""
    return all(abs(a - b) < 25 for a, b in zip(colour, wanted, strict=True))
