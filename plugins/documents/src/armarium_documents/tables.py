"""Tables in files of people's own, as spreadsheets write them: encoding and separator are recognised or refused, and no
sign is ever replaced by another.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

LONGEST_LINE = 16 * 1024 * 1024
"""The longest line, in characters; a longer one belongs to no table."""
_PIECE = 64 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_STATED = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""The first line by which a spreadsheet names its separator."""
_SEPARATORS = ",;\t|"
_NO_LETTER = re.compile(
    r"[a-zA-ZÀ-ÿ][¡-©«-±´¶-¸»-¿×÷ˆ˜†‡‰™ƒ]+[a-zA-ZÀ-ÿ]|[£¥¤¦¨¯¸ˆ˜][a-zA-ZÀ-ÿ]|[À-ÖØ-öø-ÿ]{4,}"
)
"""Signs within a word that belong to none, or letters as no word has them (Cyrillic or Greek): the file is in another encoding
than the one supposed.
"""


_GUESSED = {"cp1252": "Windows-1252", "mac_roman": "Mac OS Roman"}
"""Encodings that fit nearly any bytes."""


class NotATable(ValueError):
    """Why a file is not a table that can be read; the text is a sentence for a person."""


class Sheet(NamedTuple):
    """A table as it is written: its headings, its rows as they are read, each with its line, and what was supposed."""

    headings: tuple[str, ...]
    rows: Iterator[tuple[int, Sequence[Any]]]
    """The number of its last line, and its cells: texts without blanks around them; those of a workbook with their types."""
    note: str | None
    """A sentence where the encoding had to be guessed."""
    separator: str | None = None


class Table(NamedTuple):
    """A table: its columns in lower case, its rows as they are read, each with its line, and what was supposed."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[int, dict[str, str]]]
    """The number of its last line, and its cells by column, without blanks around them."""
    note: str | None
    """A sentence where the encoding had to be guessed."""


def read_table(file: IO[bytes]) -> Table:
    """Return the table in *file*, which is read as its rows are asked for. Raises NotATable, also while rows are read."""
    sheet = read_separated(file)
    columns = tuple(heading.casefold() for heading in sheet.headings)
    rows = ((line, dict(zip(columns, cells, strict=False))) for line, cells in sheet.rows)
    return Table(columns, rows, sheet.note)


def read_separated(file: IO[bytes]) -> Sheet:
    """Return the table in *file* as it is written, as `read_table` does."""
    mark, encoding = _encoding_of(file)
    file.seek(mark)
    text = io.TextIOWrapper(file, encoding, newline="")
    lines = _lines_of(text)
    first = next(lines, "")
    match = _STATED.fullmatch(first)
    skipped = 1 if match is not None else 0
    if match is not None:
        first = next(lines, "")
    separator = match[1] if match is not None else max(_SEPARATORS, key=first.count)
    headings = tuple(heading.strip() for heading in next(csv.reader([first], delimiter=separator), []))
    if not any(headings):
        raise NotATable("it contains no table")
    guessed = _GUESSED.get(encoding)
    note = f"The file is not in UTF-8; it was read as {guessed}." if guessed else None
    return Sheet(headings, _rows_of(lines, separator, skipped + 1), note, separator)


def _encoding_of(file: IO[bytes]) -> tuple[int, str]:
    """Return where the text begins, and in which encoding it is."""
    head = file.read(_PIECE)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return len(mark), encoding
    even, odd = head[:512:2].count(0), head[1:512:2].count(0)
    if max(even, odd) * 4 > len(head[:512]):
        return 0, "utf-16-le" if odd > even else "utf-16-be"
    if _is_in_utf8(head, file):
        return 0, "utf-8"
    return 0, "mac_roman" if seems_mac_roman(head) else "cp1252"


_ODD = re.compile(
    r"(?<=[a-zß-ÿ])[À-ÖØ-ÞŠŽŒŸ]|(?<=[^\W\d_])[¡-©«-±´¶-¸»-¿×÷ˆ˜†‡‰™ƒ€\ufffd]+(?=[^\W\d_])"
    r"|(?<!\w)[ˆ˜†‡‰ƒ€\ufffd](?=[^\W\d_])"
)
"""What hardly stands in a word: the text is in another encoding."""


def seems_mac_roman(data: bytes) -> bool:
    """Return whether a text makes more sense as of an old Macintosh than as of Windows."""
    windows, mac = (
        len(_ODD.findall(data.decode(encoding, "replace"))) for encoding in ("cp1252", "mac_roman")
    )
    return windows > 2 * mac


def _is_in_utf8(head: bytes, file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        piece = head
        while piece:
            decoder.decode(piece)
            piece = file.read(_PIECE)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _lines_of(text: io.TextIOWrapper) -> Iterator[str]:
    try:
        while line := text.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise NotATable("it has a line of more than 16 million characters")
            if text.encoding in _GUESSED and not line.isascii() and _NO_LETTER.search(line):
                raise NotATable(_UNKNOWN)
            yield line.replace("\0", "")
    except UnicodeDecodeError as error:
        raise NotATable(
            _UNKNOWN
            if text.encoding in _GUESSED
            else f"it is damaged: a part of it is not in {text.encoding}"
        ) from error
    finally:
        # The file belongs to the caller, who may have closed it by now.
        with suppress(ValueError):
            text.detach()


_UNKNOWN = "its encoding is unknown, neither UTF-8 nor Windows-1252 nor Mac OS Roman; save it as CSV in UTF-8"


def _rows_of(lines: Iterator[str], separator: str, before: int) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=separator)
    try:
        for row in reader:
            yield before + reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise NotATable(f"line {before + reader.line_num} cannot be read ({error})") from error
