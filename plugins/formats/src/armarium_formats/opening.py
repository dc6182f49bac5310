"""Opens a layout file: chooses the driver and reads all pages; nothing is written yet."""

from __future__ import annotations

import gc
import hashlib
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armarium.api import Invalid, ServiceError, TooLarge
from armarium_formats.catalogue import reader
from armarium_formats.driver import FormatDriver, ReadContext
from armarium_formats.errors import NoPageSize
from armarium_formats.page_model import PageModel
from armarium_formats.placing import PlacedSegments

if TYPE_CHECKING:
    from armarium.api import Engine

log = logging.getLogger("armarium.formats")

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Of a layout file: it is held in memory while it is read."""

MAX_COMPANION_BYTES = 16 * 1024 * 1024
"""Of a file that belongs to a layout file."""

MAX_SIDE = 10_000_000
"""Of a page, in pixels: more than any picture, less than any number that cannot be counted with."""

Size = tuple[int, int]
"""Width and height in pixels."""


@dataclass(slots=True)
class OpenedFile:
    """A layout file that was read: its driver, its sha256, its pages."""

    driver: FormatDriver
    filename: str
    digest: str
    pages: list[PageModel]
    placed: PlacedSegments | None = None
    """The segments of its only page in fractions of the size that it states, where that was done ahead: then they stand
    here alone."""


def open_layout(
    engine: Engine,
    data: bytes,
    filename: str,
    *,
    asked: str | None = None,
    page_size: Size | None = None,
    companions: Mapping[str, bytes] | None = None,
    likely: str | None = None,
) -> OpenedFile:
    """Read a layout file; *likely* is the driver of the previous file. Raises Invalid (empty, without a page,
    or the driver's reason), TooLarge, not_recognised, not_readable.
    """
    if not data:
        raise Invalid(f"{filename} is empty (0 bytes); a layout file was expected.", code="empty_file")
    if len(data) > MAX_FILE_BYTES:
        raise TooLarge(
            f"{filename} is longer than {MAX_FILE_BYTES >> 20} MiB, more than any page; split it into one "
            "file per page.",
            code="file_too_large",
        )
    for name, companion in (companions or {}).items():
        if len(companion) > MAX_COMPANION_BYTES:
            raise TooLarge(
                f"{name} is longer than {MAX_COMPANION_BYTES >> 20} MiB; a file next to a layout file is a "
                "small one.",
                code="companion_too_large",
            )
    driver = reader(engine, data, filename, asked, likely=likely)
    with collector_waits():
        pages = _read(driver, data, ReadContext(filename, page_size, companions or {}))
    return OpenedFile(driver, filename, digest_of(data), pages)


def digest_of(data: bytes) -> str:
    """Return the sha256 under which a file's bytes are stored."""
    return hashlib.sha256(data).hexdigest()


def _read(driver: FormatDriver, data: bytes, context: ReadContext) -> list[PageModel]:
    """Return the pages of the file; an exception in the driver becomes a refusal."""
    try:
        pages = driver.read(data, context)
    except ServiceError:
        raise
    except Exception as fault:
        log.exception("the format driver %s failed to read a file", driver.name)
        raise Invalid(
            f"{context.filename} could not be read as {driver.label}: the driver failed ({type(fault).__name__}).",
            code="driver_failed",
        ) from fault
    if not pages:
        raise Invalid(f"{context.filename} contains no page.", code="no_page")
    return pages


def choose_page(pages: list[PageModel], choice: str | None) -> tuple[PageModel, list[int]]:
    """Return the requested page (default: the first) and the numbers of the others, from 1."""
    number = 1
    if choice:
        number = int(choice.replace("-", ",").split(",")[0])
        if not 1 <= number <= len(pages):
            raise Invalid(
                f"The file has {len(pages)} {'page' if len(pages) == 1 else 'pages'}; page {number} was "
                "requested.",
                code="no_such_page",
            )
    return pages[number - 1], [other for other in range(1, len(pages) + 1) if other != number]


NO_SHAPES = "Nothing in the file has a shape and the page has no picture, so each segment is the whole page."


def decide_size(page: PageModel, picture: Size | None, filename: str, notes: list[str]) -> Size:
    """Return the pixel size to which the file's shapes refer: its own, else its picture's; notes which."""
    if max(page.width, page.height) > MAX_SIDE:
        raise Invalid(
            f"{filename} declares a page of {page.width:.6g} x {page.height:.6g} pixels; no picture has a side of more than "
            f"{MAX_SIDE:,}. Correct the size in the file.",
            code="page_too_large",
        )
    if page.width > 0 and page.height > 0:
        size = page.width, page.height
        if picture is not None and picture != size:
            notes.append(
                f"The file's page has {size[0]} x {size[1]} pixels, the page's image {picture[0]} x "
                f"{picture[1]}; "
                + (
                    "shapes were scaled to it."
                    if are_alike(size, picture)
                    else "the proportions differ, so check whether the shapes fit."
                )
            )
        return size
    if (
        picture is None
        and page.segments
        and not any(segment.points or segment.baseline for segment in page.walk())
    ):
        notes.append(NO_SHAPES)
        return 1, 1
    if picture is None:
        raise NoPageSize(filename)
    notes.append(
        f"The file does not declare the size of its page; the image's is used, {picture[0]} x {picture[1]} "
        "pixels."
    )
    return picture


def are_alike(size: Size, other: Size) -> bool:
    """Return whether two sizes have the same proportions, within one per cent."""
    return abs(size[0] * other[1] - size[1] * other[0]) <= 0.01 * size[0] * other[1]


_waiting = threading.Lock()
_waiters = 0


@contextmanager
def collector_waits() -> Iterator[None]:
    """Pause Python's cycle collector while a file becomes rows.

    A page of some thousand segments makes so many objects (none of them in a cycle) that the collector would
    scan the whole engine once or twice: a fifth of the import time. A collector that was already off stays
    off.
    """
    global _waiters
    with _waiting:
        if _waiters == 0 and not gc.isenabled():
            is_held = False
        else:
            is_held = True
            _waiters += 1
            gc.disable()
    try:
        yield
    finally:
        if is_held:
            with _waiting:
                _waiters -= 1
                if _waiters == 0:
                    gc.enable()
