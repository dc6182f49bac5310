"""Helpers for the tests of images: pictures whose pixels encode their position, and queries."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER

OWNER = LOCAL_OWNER
EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor")
NOWHERE = "f" * 32
WIDTH, HEIGHT = 120, 90

UNDONE = {
    1: None, 2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_90",
    7: "TRANSVERSE", 8: "ROTATE_270",
}  # fmt: skip
"""How an upright picture is stored so that its orientation makes it upright again."""


def chart(width: int = WIDTH, height: int = HEIGHT) -> Any:
    """Return a picture whose red is the column and whose green is the row, so that any crop shows its
    position.
    """
    from PIL import Image

    image = Image.new("RGB", (width, height))
    image.putdata([(x, y, 99) for y in range(height) for x in range(width)])
    return image


def make_stored(orientation: int = 1, form: str = "PNG", image: Any = None) -> bytes:
    """Return the chart as a file, stored so that *orientation* makes it upright."""
    from PIL import Image

    image = image or chart()
    how = UNDONE[orientation]
    if how is not None:
        image = image.transpose(Image.Transpose[how])
    exif = Image.Exif()
    if orientation != 1:
        exif[0x0112] = orientation
    file = io.BytesIO()
    image.save(file, form, exif=exif)
    return file.getvalue()


def add_page(
    engine: Engine,
    library: Library,
    parent_id: str,
    data: bytes | None = None,
    *,
    orientation: int = 1,
    name: str = "1.png",
    size: tuple[int, int] = (WIDTH, HEIGHT),
    mime_type: str = "image/png",
    **fields: Any,
) -> str:
    """Add an image node with *data* (by default the chart) as its picture; return its id."""
    data = data if data is not None else make_stored(orientation)
    node = {
        "id": new_id(),
        "parent_id": parent_id,
        "doc_type": "file",
        "file_type": "image",
        "name": name,
        "picture": {
            "checksum": library.objects.put_bytes(data),
            "mime_type": mime_type,
            "size_bytes": len(data),
            "pixel_width": size[0],
            "pixel_height": size[1],
            "params": {"exif_orientation": orientation} if orientation != 1 else {},
        },
        **fields,
    }
    engine.run(library, "document.add_files", {"nodes": [node]}, OWNER)
    return str(node["id"])


def rows(library: Library, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        return raw.execute(statement, given).fetchall()


def live_names(library: Library, parent_id: str) -> list[str]:
    """Return the names of the live children in their order."""
    found_rows = rows(
        library,
        "SELECT name FROM document WHERE parent_id = ? AND deleted_at IS NULL ORDER BY sort_order, name, id",
        parent_id,
    )
    return [row[0] for row in found_rows]


def picture_of(library: Library, document_id: str) -> Any:
    """Return the primary picture of a document, decoded."""
    from PIL import Image

    ((checksum,),) = rows(
        library, "SELECT checksum FROM rendition WHERE document_id = ? AND is_primary", document_id
    )
    image = Image.open(library.objects.path(checksum))
    image.load()
    return image
