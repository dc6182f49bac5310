"""EXIF orientation: a file that states the size of the stored, unrotated picture has its shapes rotated with
the picture.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest
from batch_files import PAGE, rows, send, write_files
from test_folder_import import import_and_wait

from armarium.engine import Engine
from armarium.projects.libraries import Library

WIDTH, HEIGHT = 200, 120
BOX = (20, 30, 80, 50)
"""A dark patch on the picture as stored: left, top, right, bottom."""


def make_turned_picture(orientation: int, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """Return a picture with a dark patch and an EXIF orientation."""
    from PIL import Image

    image = Image.new("L", (width, height), 255)
    image.paste(0, BOX)
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    image.save(file, "PNG", exif=exif)
    return file.getvalue()


def page_around_patch(width: int = WIDTH, height: int = HEIGHT) -> bytes:
    left, top, right, bottom = BOX
    whole = PAGE.format(
        image="1.png", width=width, height=height, right=width - 2, bottom=height - 2, text="x"
    )
    line = f"2,2 {width - 2},2 {width - 2},20 2,20"
    assert line in whole
    return whole.replace(line, f"{left},{top} {right},{top} {right},{bottom} {left},{bottom}").encode()


def find_patch(data: bytes) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the patch on the picture as displayed, rotated by Pillow."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    left, top, right, bottom = image.point(lambda value: 255 - value).getbbox() or (0, 0, 0, 0)
    return left / image.width, top / image.height, (right - left) / image.width, (bottom - top) / image.height


def imported_line(library: Library) -> tuple[Any, list[str]]:
    ((rect,),) = rows(library, "SELECT json_extract(anchor, '$.rect') FROM segment WHERE kind = 'line'")
    ((notes,),) = rows(library, "SELECT notes FROM format_import")
    return orjson.loads(rect), orjson.loads(notes)


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
@pytest.mark.parametrize("scale", [1, 2])
def test_shapes_are_rotated_with_their_picture(
    engine: Engine, library: Library, orientation: int, scale: int
) -> None:
    picture = make_turned_picture(orientation)
    layout = page_around_patch()
    if scale == 2:
        from PIL import Image

        exif = Image.Exif()
        exif[0x0112] = orientation
        file = io.BytesIO()
        Image.open(io.BytesIO(picture)).resize((WIDTH * 2, HEIGHT * 2), 0).save(file, "PNG", exif=exif)
        picture = file.getvalue()
    send(engine, library, {"1.png": picture, "1.xml": layout})
    rect, notes = imported_line(library)
    assert rect == pytest.approx(find_patch(picture), abs=0.01)
    assert "the shapes were rotated with it" in " ".join(notes)
    assert "check whether the shapes fit" not in " ".join(notes)


@pytest.mark.parametrize("orientation", [6, 8])
def test_shapes_stated_for_the_upright_picture_are_not_rotated(
    engine: Engine, library: Library, orientation: int
) -> None:
    send(
        engine,
        library,
        {"1.png": make_turned_picture(orientation), "1.xml": page_around_patch(HEIGHT, WIDTH)},
    )
    rect, notes = imported_line(library)
    left, top, right, bottom = BOX
    assert rect == pytest.approx(
        (left / HEIGHT, top / WIDTH, (right - left) / HEIGHT, (bottom - top) / WIDTH), abs=0.001
    )
    assert notes == []


@pytest.mark.parametrize(("orientation", "height"), [(3, HEIGHT), (2, HEIGHT), (6, WIDTH)])
def test_an_orientation_that_the_size_cannot_show_is_noted(
    engine: Engine, library: Library, orientation: int, height: int
) -> None:
    send(
        engine,
        library,
        {"1.png": make_turned_picture(orientation, WIDTH, height), "1.xml": page_around_patch(WIDTH, height)},
    )
    assert "the same before and after; check whether the shapes fit" in " ".join(imported_line(library)[1])


def test_files_read_ahead_are_rotated_too(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_formats.driver import ReadContext
    from armarium_formats.jobs import layouts
    from armarium_formats.opening import OpenedFile, digest_of
    from armarium_formats.pagexml.driver import PageXml
    from armarium_formats.placing import place

    write_files(tmp_path / "box", {"1.png": make_turned_picture(6), "1.xml": page_around_patch()})

    def ahead(self: Any, number: int) -> tuple[OpenedFile, bytes]:
        data = page_around_patch()
        (page,) = PageXml().read(data, ReadContext("1.xml"))
        placed = place(page, (page.width, page.height), "1.xml", "pagexml")
        page.segments = []
        return OpenedFile(PageXml(), "1.xml", digest_of(data), [page], placed), data

    monkeypatch.setattr(layouts.ReadAhead, "take", ahead)
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    rect, _ = imported_line(library)
    assert rect == pytest.approx(find_patch(make_turned_picture(6)), abs=0.01)
    assert any("rotated with it" in note["note"] for note in found["notes"])
