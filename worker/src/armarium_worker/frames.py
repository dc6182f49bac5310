"""One frame on a pipe: a fixed header, a JSON object and optional raw bytes; reading and writing whole frames.

Header, 14 bytes, big-endian: magic `ARMW`, version (1 byte), reserved (1 byte, 0), length of the JSON text
(4 bytes), length of the raw bytes that follow it (4 bytes).
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import IO, Any

from .errors import ProtocolError

MAGIC = b"ARMW"
VERSION = 1
HEADER = struct.Struct(">4sBBII")
MAX_JSON = 32 * 1024 * 1024
MAX_BINARY = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: a JSON object, and raw bytes when the message carries any."""

    body: dict[str, Any]
    binary: bytes = b""


def encode_frame(body: dict[str, Any], binary: bytes = b"") -> bytes:
    """Return the bytes of one frame; raises ProtocolError when it is over the limits or cannot be expressed as JSON."""
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise ProtocolError(f"A message must be plain JSON, and this one is not: {error}.") from error
    if len(text) > MAX_JSON or len(binary) > MAX_BINARY:
        raise ProtocolError(
            f"A message of {len(text)} + {len(binary)} bytes is over the limit of {MAX_JSON} + {MAX_BINARY}; "
            "send fewer items at a time."
        )
    return HEADER.pack(MAGIC, VERSION, 0, len(text), len(binary)) + text + binary


def write_frame(stream: IO[bytes], body: dict[str, Any], binary: bytes = b"") -> None:
    """Write one whole frame and flush it."""
    stream.write(encode_frame(body, binary))
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame | None:
    """Return the next frame; None at a clean end of the stream; raises ProtocolError for anything but a whole frame."""
    header = _read_exactly(stream, HEADER.size, may_end=True)
    if header is None:
        return None
    magic, version, reserved, json_length, binary_length = HEADER.unpack(header)
    if magic != MAGIC or reserved != 0:
        raise ProtocolError(
            f"Expected the start of a frame and found {header[:8]!r}; something else writes on this pipe."
        )
    if version != VERSION:
        raise ProtocolError(f"This frame is of protocol version {version}, and this side speaks {VERSION}.")
    if json_length > MAX_JSON or binary_length > MAX_BINARY:
        raise ProtocolError(
            f"A frame announces {json_length} + {binary_length} bytes, over the limit of {MAX_JSON} + {MAX_BINARY}."
        )
    text = _read_exactly(stream, json_length)
    binary = _read_exactly(stream, binary_length) if binary_length else b""
    try:
        body = json.loads(text or b"")
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"The text of a frame is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise ProtocolError("The text of a frame must be a JSON object.")
    return Frame(body, binary or b"")


def _read_exactly(stream: IO[bytes], count: int, *, may_end: bool = False) -> bytes | None:
    """Read `count` bytes; return None when the stream ends before the first of them and `may_end` allows it."""
    parts: list[bytes] = []
    missing = count
    while missing:
        part = stream.read(min(missing, 1 << 20))
        if not part:
            if may_end and missing == count:
                return None
            raise ProtocolError(f"The stream ended inside a frame, {missing} bytes short.")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
