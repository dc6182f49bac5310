"""Thumbnails: drawn once, drawn again when the derived folder is gone or was not copied, and never an obstacle to anything."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import OWNER, add_picture, count, picture, rows

from armarium.api import Engine, Library
from armarium_documents.queries.files import thumbnail_file

Make = Callable[..., str]


def thumbnail(library: Library, page: str) -> Any:
    from PIL import Image

    image = Image.open(thumbnail_file(library, page)[0])
    image.load()
    return image


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        ("1", "PNG"),
        ("L", "PNG"),
        ("LA", "PNG"),
        ("P", "PNG"),
        ("RGB", "TIFF"),
        ("RGBA", "PNG"),
        ("CMYK", "JPEG"),
        ("I;16", "PNG"),
        ("I;16", "TIFF"),
        ("F", "TIFF"),
    ],
)
def test_pictures_of_every_mode_have_one(
    engine: Engine, library: Library, folder: Make, mode: str, form: str
) -> None:
    from PIL import Image

    file = io.BytesIO()
    Image.new(mode, (900, 600)).save(file, form)
    page = add_picture(engine, library, folder("Box"), file.getvalue())
    engine.jobs.run_until_idle(library)
    image = thumbnail(library, page)
    assert (image.size, image.format) == ((512, 341), "JPEG")


def test_a_long_strip_keeps_a_pixel(engine: Engine, library: Library, folder: Make) -> None:
    page = add_picture(engine, library, folder("Box"), picture(3000, 2, form="PNG"))
    engine.jobs.run_until_idle(library)
    assert thumbnail(library, page).size == (512, 1)


def test_a_small_picture_is_not_blown_up(engine: Engine, library: Library, folder: Make) -> None:
    page = add_picture(engine, library, folder("Box"), picture(40, 30))
    engine.jobs.run_until_idle(library)
    assert thumbnail(library, page).size == (40, 30)


def test_a_thumbnail_of_a_lost_derived_folder_is_drawn_when_it_is_asked_for(
    engine: Engine, library: Library, folder: Make, client: Any
) -> None:
    page = add_picture(engine, library, folder("Box"), picture())
    engine.jobs.run_until_idle(library)
    answer = client.get(f"/api/documents/{page}/thumbnail")
    shutil.rmtree(library.derived_folder)
    second_answer = client.get(f"/api/documents/{page}/thumbnail")
    assert (second_answer.status_code, second_answer.content) == (200, answer.content)
    assert thumbnail(library, page).size == (120, 90)


def test_a_new_primary_gets_a_new_thumbnail_at_once_and_its_undo_the_former(
    engine: Engine, library: Library, folder: Make, client: Any
) -> None:
    from armarium_documents.api import add_rendition

    page = add_picture(engine, library, folder("Box"), picture())
    engine.jobs.run_until_idle(library)
    other_data = library.objects.put_bytes(picture(60, 60))
    with library.db.write() as conn:
        ctx, before, raw = engine.bus.open_step(conn, "document.update", library, OWNER, None)
        rendition = add_rendition(
            ctx,
            page,
            checksum=other_data,
            mime_type="image/jpeg",
            role="enhanced",
            pixel_width=60,
            pixel_height=60,
        )
        engine.bus.close_step(ctx, before, raw, {}, undoable=True)
    choice = {"document_id": page, "rendition_id": rendition}
    chosen = engine.run(library, "rendition.set_primary", choice, OWNER)
    assert client.get(f"/api/documents/{page}/thumbnail").status_code == 200
    assert thumbnail(library, page).size == (60, 60)
    assert rows(library, "SELECT role FROM rendition WHERE document_id = ? AND is_primary", page) == [
        ("enhanced",)
    ]
    engine.jobs.run_until_idle(library)
    assert thumbnail(library, page).size == (60, 60)
    engine.undo(library, [chosen.audit_id], OWNER)
    assert thumbnail(library, page).size == (120, 90)


def test_documents_that_are_gone_or_broken_do_not_stop_the_rest(
    engine: Engine, library: Library, folder: Make
) -> None:
    import orjson

    box = folder("Box")
    broken = add_picture(engine, library, box, b"no picture at all", "broken")
    good = add_picture(engine, library, box, picture(), "good")
    with library.db.write() as conn:
        from armarium.jobs.queue import NewJob, enqueue

        wanted = {"document_ids": ["f" * 32, broken, box, good]}
        job = enqueue(conn, NewJob("thumbnails", wanted, "all", lane="images"))
    engine.jobs.run_until_idle(library)
    ((state, result),) = rows(library, "SELECT state, result FROM job WHERE id = ?", job)
    assert state == "done"
    assert [entry["document_id"] for entry in orjson.loads(result)["failed"]] == [broken, box]
    assert count(library, "thumbnail") == 1
    assert thumbnail(library, good).size == (120, 90)
