"""A PDF file while it is written: each object goes to the file at once and only its place is remembered (ISO 32000-1, 7.5)."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import BinaryIO

Value = "str | bytes"


class PdfFile:
    """Objects of a file, numbered as they are asked for; memory holds eight bytes of each."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.md5(usedforsecurity=False)
        self._at = 0
        self._places: list[int] = []
        # The second line says that the file is binary (7.5.2).
        self._write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")

    def reserve(self) -> int:
        """Return the number of an object that is written later."""
        self._places.append(0)
        return len(self._places)

    def add(self, body: str, number: int | None = None) -> int:
        """Write an object; return its number."""
        number = number or self.reserve()
        self._places[number - 1] = self._at
        self._write(f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1"))
        return number

    def stream(
        self,
        data: bytes | Iterable[bytes],
        entries: Mapping[str, str],
        *,
        length: int | None = None,
        packed: bool = True,
    ) -> int:
        """Write a stream, its bytes packed here unless *packed* is false; return its number.

        *data* may come piece by piece if its *length* is known, and is then written as it is.
        """
        number = self.reserve()
        header = dict(entries)
        pieces: Iterable[bytes]
        if isinstance(data, bytes):
            if packed:
                data, header = zlib.compress(data, 6), {**header, "Filter": "/FlateDecode"}
            pieces, length = (data,), len(data)
        else:
            pieces = data
        self._places[number - 1] = self._at
        self._write(
            f"{number} 0 obj\n{dictionary({**header, 'Length': str(length)})}\nstream\n".encode("latin-1")
        )
        for piece in pieces:
            self._write(piece)
        self._write(b"\nendstream\nendobj\n")
        return number

    def finish(self, catalog: int, information: int) -> None:
        """Write the table of objects and the trailer."""
        start, size = self._at, len(self._places) + 1
        identity = self._digest.hexdigest()
        self._write(f"xref\n0 {size}\n0000000000 65535 f \n".encode())
        for place in self._places:
            self._write(f"{place:010d} 00000 n \n".encode())
        self._write(
            f"trailer\n<< /Size {size} /Root {catalog} 0 R /Info {information} 0 R /ID [<{identity}> <{identity}>] >>\n"
            f"startxref\n{start}\n%%EOF\n".encode()
        )

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self._at += len(data)


def dictionary(entries: Mapping[str, str]) -> str:
    """Return a dictionary whose values are written already."""
    return "<< " + " ".join(f"/{name} {value}" for name, value in entries.items()) + " >>"


def text(value: str) -> str:
    """Return a text string: printable ASCII as it is, any other in UTF-16 (7.9.2.2)."""
    if all(" " <= sign <= "~" for sign in value):
        return "(" + re.sub(r"([\\()])", r"\\\1", value) + ")"
    return f"<feff{value.encode('utf-16-be', 'replace').hex()}>"


def number(value: float) -> str:
    """Return a number with as many digits as a place on a page needs."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))
