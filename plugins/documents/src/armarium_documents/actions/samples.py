"""A small picture for the examples of actions that need one."""

from __future__ import annotations

import struct
import zlib


def small_png(side: int = 8, grey: int = 200) -> bytes:
    """Return a grey PNG of *side* by *side* pixels, made without an imaging library."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([grey]) * side) * side
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
