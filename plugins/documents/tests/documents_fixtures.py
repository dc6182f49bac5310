"""Fixtures for the tests of documents: callers, pictures to import, and queries of a project."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER

OWNER = LOCAL_OWNER
EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor")
VIEWER = replace(LOCAL_OWNER, role="viewer", name="a viewer")
MACHINE = replace(LOCAL_OWNER, kind="machine", name="an agent")

Run = Callable[..., dict[str, Any]]


def picture(width: int = 120, height: int = 90, *, grey: int = 180, form: str = "JPEG", **how: Any) -> bytes:
    """Return an encoded picture in one grey with a darker corner top left, so that a rotation shows."""
    from PIL import Image

    image = Image.new("L", (width, height), grey)
    image.paste(20, (0, 0, max(1, width // 4), max(1, height // 4)))
    file = io.BytesIO()
    image.save(file, form, **how)
    return file.getvalue()


def make_turned_picture(orientation: int, form: str = "JPEG") -> bytes:
    """Return a picture of 120 by 90 stored pixels whose EXIF orientation turns it."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = orientation
    return picture(form=form, exif=exif)


def add_picture(
    engine: Engine, library: Library, parent_id: str, data: bytes, name: str = "1.jpg", **fields: Any
) -> str:
    """Add an image node with the picture *data*; return its id."""
    identity = new_id()
    node = {
        "id": identity,
        "parent_id": parent_id,
        "doc_type": "file",
        "file_type": "image",
        "name": name,
        "picture": {
            "checksum": library.objects.put_bytes(data),
            "mime_type": "image/jpeg",
            "size_bytes": len(data),
            "pixel_width": 120,
            "pixel_height": 90,
        },
        **fields,
    }
    engine.run(library, "document.add_files", {"nodes": [node]}, OWNER)
    return identity


def rows(library: Library, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        return raw.execute(statement, given).fetchall()


def names_under(library: Library, parent_id: str | None) -> list[str]:
    """Return the names of the live children, in order."""
    found_rows = rows(
        library,
        "SELECT name FROM document WHERE parent_id IS ? AND deleted_at IS NULL ORDER BY sort_order, name, id",
        parent_id,
    )
    return [row[0] for row in found_rows]


def count(library: Library, table: str, where: str = "1") -> int:
    """Return the number of rows of *table*."""
    return int(rows(library, f"SELECT count(*) FROM {table} WHERE {where}")[0][0])


def imported_of(library: Library, name: str = "pages") -> str:
    """Return the id of the folder in Sources that was made for the imported folder *name*."""
    found_rows = rows(
        library,
        "SELECT id FROM document WHERE parent_id = ? AND name = ? AND doc_type = 'folder' AND deleted_at IS NULL",
        sources_of(library),
        name,
    )
    ((identity,),) = found_rows
    return str(identity)


def sources_of(library: Library) -> str:
    """Return the id of the folder Sources."""
    return str(rows(library, "SELECT id FROM document WHERE system_key = 'sources'")[0][0])
