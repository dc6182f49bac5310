"""Decodes text files: by byte order mark, by content, then by declaration, with a note if these disagree."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from armarium.api import Invalid
from armarium_documents.api import seems_mac_roman

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""(?:<\?xml[^>]{0,200}?encoding|charset)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE
)
_UNFIT = frozenset(
    {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem"}
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd]")

_LOOKED_AT = 1_000_000


class DecodedText(NamedTuple):
    """The characters of a file, their encoding, and a sentence if that differs from the declaration."""

    text: str
    encoding: str
    note: str | None = None


def head_of(data: bytes) -> bytes:
    """Return the beginning of a file for detection of its root element: UTF-16 as UTF-8, anything else
    unchanged.
    """
    head = data[:65_536]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return head.decode("utf-16", errors="ignore").encode()
    if b"\x00" in head[:4] and (wide := _detect_utf16(head)):
        return head.decode(wide, errors="ignore").encode()
    return head


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that an XML declaration or an HTML meta element near the beginning names."""
    match = _DECLARED.search(data[:4096])
    return match.group(1).decode("ascii") if match else None


def decode(data: bytes, declared: str | None = None) -> DecodedText:
    """Decode *data*; never fails. UTF-8 takes precedence over the declaration, because it hardly occurs by
    chance.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _with_losses(data[len(mark) :], encoding, None)
    if wide := _detect_utf16(data):
        return _with_losses(data, wide, "The file is in UTF-16 without a mark that says so")
    usable = _find_codec(declared)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        differs = usable not in (None, "utf-8", "ascii") and not text.isascii()
        return DecodedText(
            text, "utf-8", f"The file says that it is in {declared} but is in UTF-8" if differs else None
        )
    if usable not in (None, "utf-8", "ascii"):
        try:
            return DecodedText(data.decode(usable or ""), usable or "")
        except (UnicodeDecodeError, ValueError):
            pass
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    if bad * 4 < sum(1 for char in text if char > "\x7f"):
        return DecodedText(text, "utf-8", f"{bad} places of the file are not UTF-8; each is shown as \ufffd")
    why = f"is not in {declared} as it states" if declared else "is not in UTF-8"
    if seems_mac_roman(data[:_LOOKED_AT]):
        return _with_losses(data, "mac_roman", f"The file {why}; it was read as Mac OS Roman")
    return _with_losses(data, "cp1252", f"The file {why}; it was read as Windows-1252")


def _with_losses(data: bytes, encoding: str, note: str | None) -> DecodedText:
    """Decode *data*, and count what is not a sign of the encoding."""
    text = data.decode(encoding, "replace")
    bad = text.count("\ufffd")
    lost = f"{bad} places of the file are not {encoding.upper()}; each is shown as \ufffd" if bad else None
    return DecodedText(text, encoding, "; ".join(filter(None, (note, lost))) or None)


def rows_of(data: bytes, name: str, most: int) -> list[str]:
    """Return the lines of a small text file; `Invalid` for more than *most* bytes."""
    if len(data) > most:
        raise Invalid(
            f"{name} is {len(data) / 1e6:.0f} MB long; such a file has at most {most / 1e6:.0f} MB, more than any page.",
            code="file_too_large",
        )
    return decode(data).text.splitlines()


def is_text(text: str) -> bool:
    """Return whether characters are a text: hardly any control characters or replacement characters."""
    head = text[:_LOOKED_AT]
    return len(_CONTROL.findall(head)) * 100 <= len(head)


def reads_as_text(decoded: DecodedText) -> bool:
    """Return whether bytes are a text in the encoding used. Windows-1252 and Mac OS Roman fit any bytes: what is not ASCII to more than
    two fifths (a short word: to more than half, or with anything but letters) is noise, or in an unknown encoding.
    """
    head = decoded.text[:_LOOKED_AT]
    if not is_text(head) or decoded.encoding not in ("cp1252", "mac_roman"):
        return is_text(head)
    strange = [char for char in head if char > "\x7f"]
    if len(head) > 12:
        return len(strange) * 5 <= len(head) * 2
    return all(char.isalpha() for char in strange) and len(strange) * 2 <= len(head.strip()) + 1


def _detect_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a mark by the zero bytes beside ASCII characters."""
    head = data[:256]
    if len(head) < 4 or len(data) % 2:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if odd * 10 >= half * 9 and even == 0:
        return "utf-16-le"
    return "utf-16-be" if even * 10 >= half * 9 and odd == 0 else None


def _find_codec(name: str | None) -> str | None:
    """Return the codec of a declared encoding, None for an unknown one and for one that is not a text
    encoding.
    """
    try:
        codec = codecs.lookup(name) if name else None
        if codec is not None:
            "".encode(codec.name)  # what is not an encoding of text refuses here
    except (LookupError, ValueError):
        return None
    return None if codec is None or codec.name in _UNFIT else codec.name
