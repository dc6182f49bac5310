"""Receives multipart bodies of many files, writing each to disk as it arrives: memory and open files stay
bounded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from armarium.api import BadRequest, Invalid
from armarium_formats.batches.disk import disk_refuses

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MAX_FIELD_BYTES = 64 * 1024
"""Of a field that is not a file."""

MAX_BOUNDARY_BYTES = 256
"""As many as the parser takes; RFC 2046 allows 70."""

MAX_HEADER_BYTES = 16 * 1024
"""Of what stands above one part."""


class ReceivedParts:
    """The parts of a body: files under the names they were sent with, other fields by name."""

    def __init__(self, folder: Path, file_field: str, max_files: int) -> None:
        self.folder = folder
        self.file_field = file_field
        self.max_files = max_files
        self.files: list[tuple[str, Path]] = []
        self.fields: dict[str, str] = {}
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._field = ""
        self._text = bytearray()
        self._open: BinaryIO | None = None
        self.ended = False

    def callbacks(self) -> MultipartCallbacks:
        """Return the parser's callbacks."""
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def close(self) -> None:
        """Close an incomplete file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _part_begin(self) -> None:
        self._headers = {}
        self._name = self._value = b""
        self._text = bytearray()

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]
        self._check_limits()

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._check_limits()

    def _check_limits(self) -> None:
        if len(self._name) + len(self._value) > MAX_HEADER_BYTES:
            raise Invalid("A part of the body has a header of more than 16 KiB.", code="bad_multipart")

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        field = options.get(b"name")
        if field is None:
            raise Invalid(
                "A part of the body has no name; send each file as the field `files`.", code="bad_multipart"
            )
        self._field = field.decode("utf-8", "replace")
        if self._field != self.file_field:
            return
        if b"filename" not in options:
            raise Invalid(
                f"The field {self.file_field!r} came without a file name; send the files themselves.",
                code="bad_multipart",
            )
        if len(self.files) >= self.max_files:
            raise Invalid(
                f"More than {self.max_files:,} files in one request; send them in parts.",
                code="too_many_files",
            )
        path = self.folder / f"sent-{len(self.files):05}"
        self.files.append((options[b"filename"].decode("utf-8", "replace"), path))
        self._open = path.open("wb")

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._open is not None:
            self._open.write(data[start:end])
        elif len(self._text) + end - start > MAX_FIELD_BYTES:
            raise Invalid(f"The field {self._field[:80]!r} is longer than 64 KiB.", code="bad_multipart")
        else:
            self._text += data[start:end]

    def _part_end(self) -> None:
        if self._open is not None:
            self.close()
        else:
            self.fields[self._field] = self._text.decode("utf-8", "replace")

    def _end(self) -> None:
        self.ended = True


async def receive(request: Request, folder: Path, file_field: str, *, max_files: int) -> ReceivedParts:
    """Write the files of a multipart body into *folder*. Raises Invalid for an invalid or incomplete body,
    BadRequest for a boundary that is too long, Unavailable when the disk is full.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise Invalid(
            f"The body is not multipart/form-data; send each file as the field {file_field!r}.",
            code="bad_multipart",
        )
    if len(boundary) > MAX_BOUNDARY_BYTES:
        raise BadRequest(
            f"The boundary of the body has {len(boundary)} characters; at most {MAX_BOUNDARY_BYTES} are "
            "allowed.",
            code="bad_multipart",
        )
    received = ReceivedParts(folder, file_field, max_files)
    try:
        parser = MultipartParser(boundary, received.callbacks())
        async for chunk in request.stream():
            if chunk:
                await run_in_threadpool(parser.write, chunk)
        await run_in_threadpool(parser.finalize)
    except FormParserError as fault:
        raise Invalid(f"The body is not valid multipart/form-data: {fault}.", code="bad_multipart") from None
    except OSError as error:
        raise disk_refuses(error) from error
    finally:
        received.close()
    if not received.ended:
        raise Invalid("The body ends before its last boundary; send it again.", code="bad_multipart")
    return received
