"""Inspects a layout file: its format, its validity, and what each format would lose of it; nothing is
stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.api import Invalid, MaterialPath, PathNotAllowed, ServiceError, image_info, names_in, open_plain
from armarium_formats.batches.batch_files import on_disk
from armarium_formats.batches.names import (
    called_picture,
    is_companion,
    layout_stems,
    picture_keys,
    plain,
    spelled_alike,
)
from armarium_formats.catalogue import drivers
from armarium_formats.decoding import decode
from armarium_formats.driver import FormatDriver, ReadContext, WriteContext
from armarium_formats.opening import (
    MAX_COMPANION_BYTES,
    MAX_FILE_BYTES,
    OpenedFile,
    Size,
    decide_size,
    open_layout,
)
from armarium_formats.page_model import PageModel
from armarium_formats.placing import place

if TYPE_CHECKING:
    from armarium.api import Engine, IsClosed

MAX_PROBLEMS = 20

MAX_BESIDE = 10_000
"""Files of a folder that are looked at for a picture and class names."""

UNNAMED = "page.jpg"


def check_on_disk(engine: Engine, path: MaterialPath, *, asked: str | None = None) -> dict[str, Any]:
    """Inspect a file on this machine, with the picture and class names beside it.

    Raises Invalid if there is no file, and what `inspect` raises.
    """
    received_file = on_disk(path)
    is_closed = engine.paths.is_closed
    folder = received_file.path.parent
    names = [name for name, is_folder in sorted(names_in(folder))[:MAX_BESIDE] if not is_folder]
    companions = {}
    for name in filter(is_companion, names):
        if (data := _read_beside(folder / name, is_closed)) is not None:
            companions[name] = data
    stems = layout_stems(received_file.name)
    loosely = set(map(plain, stems))
    pictures = [name for name in names if called_picture(name) and loosely & set(picture_keys(name))]
    pictures = spelled_alike(stems[-1], pictures, str)
    size = _size_of(folder / pictures[0], is_closed) if len(pictures) == 1 else None
    with received_file.open(is_closed) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    return inspect(engine, data, received_file.name, asked=asked, page_size=size, companions=companions)


def _read_beside(path: Path, is_closed: IsClosed) -> bytes | None:
    """Return the contents of a file beside the inspected one; None for a link, which may lead elsewhere, and
    one too large.
    """
    try:
        with open_plain(path, is_closed) as file:
            data = file.read(MAX_COMPANION_BYTES + 1)
    except (OSError, Invalid, PathNotAllowed):
        return None
    return data if len(data) <= MAX_COMPANION_BYTES else None


def _size_of(path: Path, is_closed: IsClosed) -> Size | None:
    try:
        file = open_plain(path, is_closed)
    except (OSError, Invalid, PathNotAllowed):
        return None
    with file:
        return image_info(Path(f"/dev/fd/{file.fileno()}"), name=path.name).upright_size


def inspect(
    engine: Engine,
    data: bytes,
    filename: str,
    *,
    asked: str | None = None,
    page_size: Size | None = None,
    companions: Mapping[str, bytes] | None = None,
) -> dict[str, Any]:
    """Inspect a file as an import would read it. Refuses as `open_layout` does; why a page could not be
    imported is in its `refused`.
    """
    opened = open_layout(engine, data, filename, asked=asked, page_size=page_size, companions=companions)
    valid, problems = _obeys(opened, data)
    pages = [_page(opened, page, number, page_size) for number, page in enumerate(opened.pages, 1)]
    return {
        "filename": filename,
        "format": opened.driver.name,
        "label": opened.driver.label,
        "version": opened.pages[0].version,
        "valid": valid,
        "problems": problems[:MAX_PROBLEMS],
        "pages": pages,
        "losses": [
            {"format": driver.name, **_assess_format(driver, opened.pages)}
            for driver in drivers(engine)
            if driver.writes
        ],
    }


def _page(opened: OpenedFile, page: PageModel, number: int, picture: Size | None) -> dict[str, Any]:
    notes = list(page.notes)
    counts = {kind: len(page.of_kind(kind)) for kind in ("region", "line", "word")}
    refused: str | None = None
    try:
        placed = place(
            page, decide_size(page, picture, opened.filename, notes), opened.filename, opened.driver.name
        )
    except ServiceError as refusal:
        refused = refusal.detail
        readings = sum(1 for segment in page.walk() if segment.text.strip())
    else:
        notes += placed.notes
        readings = len(placed.texts)
    return {
        "number": number,
        "image": page.image,
        "width": page.width,
        "height": page.height,
        "counts": {**counts, "readings": readings},
        "unknown_classes": list(page.unknown_classes),
        "kept": [{"what": what, "count": count} for what, count in sorted(page.kept.items())],
        "notes": notes,
        "refused": refused,
    }


def _obeys(opened: OpenedFile, data: bytes) -> tuple[bool | None, list[str]]:
    """Return whether the file is valid by its format's schema; None if its version has no schema here."""
    driver = opened.driver
    if not driver.validated:
        return None, [f"{driver.label} has no schema."]
    version, written_version = opened.pages[0].version, _written_version(opened)
    if written_version is not None and version is not None and version != written_version:
        return None, [f"There is a schema here for {driver.label} {written_version}, not for {version}."]
    problems = driver.validate(decode(data).text)
    return not problems, problems


def _written_version(opened: OpenedFile) -> str | None:
    """Return the version that a driver writes, for which it has a schema: read from its own output."""
    if not opened.driver.writes:
        return None
    page = PageModel(width=100, height=100, image=UNNAMED)
    written_bytes = opened.driver.write(page, WriteContext()).content.encode()
    return opened.driver.read(written_bytes, ReadContext(opened.filename))[0].version


def _assess_format(driver: FormatDriver, pages: list[PageModel]) -> dict[str, Any]:
    """Return what a format would lose of all the pages, and whether its output is valid."""
    losses: Counter[tuple[str, str]] = Counter()
    problems: list[str] = []
    for page in pages:
        # An export names the document's picture where the file named none.
        named_page = page if page.image else replace(page, image=UNNAMED)
        try:
            rewritten = driver.write(named_page, WriteContext())
        except ServiceError as refusal:
            problems.append(refusal.detail)
            continue
        for loss in rewritten.losses:
            losses[(loss.what, loss.why)] += loss.count
        if driver.validated:
            problems += driver.validate(rewritten.content)
    return {
        "losses": [{"what": what, "count": count, "why": why} for (what, why), count in losses.items()],
        "problems": problems[:MAX_PROBLEMS],
    }
