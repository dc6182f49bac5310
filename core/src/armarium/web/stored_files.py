"""Answers with a stored file: it never changes under its checksum, so it is sent whole, in part, or not at all (304)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from armarium.errors import NotFound, ServiceError
from armarium.guard.places import open_plain
from armarium.web.http import REFUSALS, engine_of, json_response

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_RANGE = re.compile(r"bytes=\s*(\d{0,18}-\d{0,18}(?:\s*,\s*\d{0,18}-\d{0,18})*)\s*", re.IGNORECASE)
_MOST_RANGES = 16

STORED_FILE: dict[int | str, dict[str, Any]] = {
    206: {"description": "The bytes asked for by Range"},
    304: {"description": "Unchanged since the ETag sent"},
    416: REFUSALS(416)[416],
}
"""`responses=` of a route that answers with a stored file, besides its 200 and refusals."""


def stored_file(
    request: Request,
    path: Path,
    mime_type: str,
    checksum: str,
    *,
    name: str | None = None,
    save: bool = False,
) -> Response:
    """Return the file at *path*, whose bytes are those of *checksum*, according to RFC 9110: ETag, 304, 206 for byte
    ranges.

    A malformed Range is ignored, one outside the file is 416. *name* is the suggested file name, and *save* asks the
    browser to save the file rather than show it.
    """
    etag = f'"{checksum}"'
    headers = {"ETag": etag, "Cache-Control": "private, max-age=31536000, immutable"}
    if is_unchanged(request, etag):
        return Response(status_code=304, headers=headers)
    if "range" in request.headers:
        size = os.stat(path).st_size
        ranges = _parts(request, etag, size)
        if ranges == []:
            return json_response(
                {
                    "detail": f"The range asked for lies outside the file, which has {size:,} bytes.",
                    "code": "range_outside",
                },
                416,
                {**headers, "Content-Range": f"bytes */{size}"},
            )
        request_headers = [pair for pair in request.scope["headers"] if pair[0] != b"range"]
        if ranges is not None:
            request_headers.append((b"range", f"bytes={','.join(ranges)}".encode()))
        request.scope["headers"] = request_headers
    answer: Callable[..., Response] = partial(FileResponse, path)
    if path.is_symlink():
        # A linked file is opened once, along the checked path, and stays open while it is sent.
        try:
            file = open_plain(Path(os.readlink(path)), engine_of(request).paths.is_closed)
        except (OSError, ServiceError) as error:
            raise NotFound(
                f"The file {checksum[:12]}… is kept as a link, and nothing that may be read lies there any more.",
                code="object_missing",
            ) from error
        answer = partial(_LinkedFile, file)
    return answer(
        media_type=mime_type,
        headers=headers,
        filename=name,
        content_disposition_type="attachment" if save else "inline",
    )


def is_unchanged(request: Request, etag: str) -> bool:
    """Return whether the caller already has what *etag* stands for, according to its If-None-Match: the answer is then 304."""
    etags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return etag in etags or etags == ["*"]


class _LinkedFile(FileResponse):
    """An open file as an answer; it is closed with the answer."""

    def __init__(self, file: BinaryIO, **more: Any) -> None:
        self.file = file
        super().__init__(f"/dev/fd/{file.fileno()}", **more)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.file:
            await super().__call__(scope, receive, send)


def _parts(request: Request, etag: str, size: int) -> list[str] | None:
    """Return the requested ranges that lie in the file, maybe none; None where no Range counts and the whole file is
    sent.
    """
    match = _RANGE.fullmatch(request.headers["range"])
    if match is None or request.headers.get("if-range", etag) != etag:
        return None
    parts = [part.strip() for part in match[1].split(",")]
    ranges = []
    for part in parts:
        first, last = part.split("-")
        if (not first and not last) or (first and last and int(first) > int(last)):
            return None
        if int(first) < size if first else int(last) > 0 and size > 0:
            ranges.append(part)
    return ranges if len(parts) <= _MOST_RANGES else None
