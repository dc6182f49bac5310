"""Tables that people keep in spreadsheets: workbooks (XLSX) beside separated text. No formula is computed, and none is written."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from itertools import chain
from math import isfinite
from typing import IO, Any, Literal, NamedTuple

from armarium.api import check_archive
from armarium_documents.errors import cell_too_long
from armarium_documents.tables import NotATable, Sheet, read_separated

MOST_ROWS = 200_000
MOST_COLUMNS = 1_000
LONGEST_CELL = 32_767
"""Characters of a cell of a workbook; programs cut what is longer."""

TableFormat = Literal["csv", "xlsx"]

_LAST_ROW = 1_048_576
"""The last row that a sheet can have; a file may state any number."""
_MOST_MEMBERS = 2_000
_MOST_BYTES = 400_000_000
_MOST_TEXTS = 100_000_000
"""Bytes of the texts that the cells of a workbook share: they are held in memory."""
_MOST_MARKS, _MOST_IN_A_ROW = 24_000_000, 200_000
"""Tags of a sheet and of one of its rows: 200,000 rows of thirty cells with values. A row is held in memory."""
_MOST_EMPTY = 1_000_000
"""Cells and rows of a sheet that say nothing: each costs as much time as one with a value."""
_ROW = re.compile(rb"<(?:[A-Za-z][\w.-]*:)?row[\s/>]")
_EMPTY = re.compile(rb"<(?:[A-Za-z][\w.-]*:)?(?:c|row)(?:\s[^<>]*)?>\s*</")
_RISKY = re.compile(r"'*[=+\-@\t\r]")
"""How a text begins that a spreadsheet takes for a formula; one more apostrophe before it makes it a text."""
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Signs that no cell of a workbook can hold; U+FFFD stands for them."""
_EXACT = 2**53
"""Up to which number a workbook holds whole numbers exactly; a larger one is a text there."""


class Unreadable(NamedTuple):
    """A cell that has no value of its own, and why."""

    shown: str
    why: str


def read_sheet(data: bytes) -> Sheet:
    """Return the table in the bytes of a file. Raises NotATable, also while rows are read, and Invalid for an archive that
    is not to be unpacked.
    """
    if data.startswith(b"PK\x03\x04"):
        return _read_workbook(data)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise NotATable("it is a workbook of an old Excel (.xls), or has a password; save it as .xlsx or CSV")
    sheet = read_separated(io.BytesIO(data))
    headings = tuple(_without_quote(heading) for heading in sheet.headings)
    rows = ((line, [_without_quote(cell) for cell in cells]) for line, cells in sheet.rows)
    return sheet._replace(headings=headings, rows=_check_rows(rows))


def _check_rows(rows: Iterable[tuple[int, Sequence[Any]]]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Yield the rows that are not empty; NotATable where there are too many."""
    count = 0
    for line, cells in rows:
        if not any(cell not in ("", None) for cell in cells):
            continue
        count += 1
        if count > MOST_ROWS:
            raise NotATable(f"it has more than {MOST_ROWS:,} rows; split it")
        yield line, cells


def _read_workbook(data: bytes) -> Sheet:
    members = {member.filename: member for member in check_archive(data, max_members=_MOST_MEMBERS, max_bytes=_MOST_BYTES, name="The workbook")}  # fmt: skip
    if "xl/workbook.xml" not in members:
        raise NotATable("it is not an Excel workbook; save it as .xlsx or CSV")
    texts = members.get("xl/sharedStrings.xml")
    if texts is not None and texts.file_size > _MOST_TEXTS:
        raise NotATable(f"its texts take more than {_MOST_TEXTS // 10**6} MB; split it")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in members:
            if name.endswith((".xml", ".rels")):
                with archive.open(name) as file:
                    if b"<!DOCTYPE" in file.read(4096).replace(b"\0", b"").upper():
                        raise NotATable("a part of it has a DOCTYPE, as no spreadsheet writes one")
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
        sheet = next((worksheet for worksheet in book.worksheets if worksheet.sheet_state == "visible"), None)
        if sheet is None:
            raise NotATable("it has no sheet that is shown")
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(sheet._worksheet_path) as file:
            _check_marks(file)
        # What the file states of its own size may be wrong.
        sheet.reset_dimensions()
        first = next(iter(sheet.iter_rows(max_row=1, max_col=MOST_COLUMNS + 1, values_only=True)), ())
    except NotATable:
        raise
    except Exception as fault:
        raise NotATable(f"it is damaged ({type(fault).__name__})") from fault
    width = max((at for at, cell in enumerate(first, 1) if cell is not None), default=0)
    headings = tuple("" if cell is None else str(cell).strip() for cell in first[:width])
    if not any(headings):
        raise NotATable("the first row of its first sheet has no headings")
    if len(headings) > MOST_COLUMNS:
        raise NotATable(f"it has more than {MOST_COLUMNS} columns")
    notes = []
    if len(book.worksheets) > 1:
        notes.append(f"Only the sheet “{sheet.title}” was read.")
    if any(name.endswith("vbaProject.bin") for name in members):
        notes.append("Its macros were not read.")
    return Sheet(headings, _check_rows(_rows_of(sheet, len(headings))), " ".join(notes) or None)


def _check_marks(file: IO[bytes]) -> None:
    """Refuse a sheet of more tags, empty cells included, than could be read in time; NotATable. What hides where a row
    ends makes the row longer.
    """
    marks, empty, in_row, unfinished = 0, 0, 0, b""
    while data := file.read(1 << 20):
        data, cut, unfinished = (unfinished + data).rpartition(b"<")
        unfinished = cut + unfinished
        if b"<!" in data or unfinished.startswith(b"<!"):
            raise NotATable("its sheet has a comment or a CDATA section, as no spreadsheet writes one")
        for number, row in enumerate(_ROW.split(data)):
            in_row = row.count(b"<") + (in_row if number == 0 else 0)
            if in_row > _MOST_IN_A_ROW:
                raise NotATable("a row of it has more cells than a spreadsheet can have")
        marks += data.count(b"<")
        empty += data.count(b"/>") + len(_EMPTY.findall(data))
        if empty > _MOST_EMPTY:
            raise NotATable(
                f"its sheet has more than {_MOST_EMPTY:,} cells that are empty; delete the rows and columns without values"
            )
        if marks > _MOST_MARKS:
            raise NotATable("its sheet has too many cells; split it")


def _rows_of(sheet: Any, width: int) -> Iterator[tuple[int, list[Any]]]:
    before = None
    try:
        for line, row in enumerate(sheet.iter_rows(min_row=2, max_row=_LAST_ROW, max_col=width), 2):
            # All rows that the file leaves out are one and the same object, and there may be a million of them.
            if row is not before:
                yield line, [_cell(cell) for cell in row]
            before = row
    except Exception as fault:
        raise NotATable(f"it is damaged ({type(fault).__name__})") from fault


def _cell(cell: Any) -> Any:
    value = cell.value
    if cell.data_type == "f":
        why = (
            "it is a formula, and none is computed here; replace formulas by their values in the spreadsheet"
        )
        return Unreadable(str(value)[:100], why)
    if cell.data_type == "e":
        return Unreadable(str(value), "the spreadsheet has an error there")
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and not isfinite(value):
        return Unreadable(str(value), "it is too large a number")
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(timespec="seconds")
    return value.isoformat() if isinstance(value, date | time) else value


def writable(text: str) -> str:
    """Return a text as a cell of a workbook holds it."""
    return _UNWRITABLE.sub("\ufffd", text)


def _without_quote(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell) else cell


def write_sheet(
    headings: Sequence[str], rows: Iterable[Sequence[Any]], format_name: TableFormat
) -> Iterator[bytes]:
    """Yield a table as a file: separated text as Excel opens it too, or a workbook. What looks like a formula is a text."""
    if format_name == "csv":
        yield from _write_separated(headings, rows)
        return
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Documents")
    sheet.freeze_panes = "A2"
    # Closed also where a value is refused, so that no half of a file stays open.
    with closing(sheet):
        for row in chain((headings,), rows):
            cells = []
            for heading, value in zip(headings, row, strict=True):
                if isinstance(value, int) and abs(value) > _EXACT:
                    value = str(value)
                if not isinstance(value, str):
                    cells.append(value)
                    continue
                if len(value) > LONGEST_CELL:
                    raise cell_too_long(heading, len(value), LONGEST_CELL)
                cell = WriteOnlyCell(sheet, writable(value))
                cell.data_type = "s"
                cells.append(cell)
            sheet.append(cells)
    out = io.BytesIO()
    book.save(out)
    yield out.getvalue()


def _write_separated(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    # With the mark by which Excel knows UTF-8.
    out.write("\ufeff")
    for row in chain((headings,), rows):
        writer.writerow([_make_inert(cell) for cell in row])
        if out.tell() > 65_536:
            yield out.getvalue().encode("utf-8", "replace")
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode("utf-8", "replace")


def _make_inert(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{value}" if isinstance(value, str) and _RISKY.match(value) else value
