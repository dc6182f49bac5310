"""Values of descriptions as cells of a table: how each is written, and what a cell means for its declared type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from armarium_documents.dates.edtf import check_date
from armarium_documents.sheets import Unreadable, writable

_TRUTH = {
    **dict.fromkeys(("true", "yes", "1", "x", "sí", "si", "verdadero", "ja", "wahr", "oui", "vrai"), True),
    **dict.fromkeys(("false", "no", "0", "falso", "nein", "falsch", "non", "faux"), False),
}
_BETWEEN = re.compile(r"[|;\n]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(
    r"[+-]?\d{1,3}(?:(?P<group>[.,' \u00a0\u202f’])\d{3})(?:(?P=group)\d{3})*(?:(?P<mark>[.,])\d+)?"
)
_DAY = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")


class Unfit(ValueError):
    """Why a cell is not a value of its column; the text is a sentence for a person."""


class CellType(NamedTuple):
    """What a column's cells are: the declared type, or None; whether they contain several values."""

    kind: str | None = None
    options: Sequence[str] = ()
    many: bool = False


def write_cell(value: Any) -> Any:
    """Return a value as a cell: texts, numbers and truths as they are, plain lists with | between, all else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list) and value and all(_is_plain(member) for member in value):
        return " | ".join(value)
    return orjson.dumps(value).decode()


def _is_plain(value: Any) -> bool:
    return (
        isinstance(value, str)
        and value == value.strip() != ""
        and not _BETWEEN.search(value)
        and value[0] != "["
    )


def text_of(cell: Any) -> str:
    """Return a cell, or a written value, as it is compared with others."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return str(cell).strip().replace("\r\n", "\n")


def is_written_so(value: Any, cell: Any) -> bool:
    """Return whether a cell, or None for an empty one, is what an export writes for a value."""
    if isinstance(value, float) and type(cell) in (int, float):
        # A workbook is written with 16 digits, and some numbers have 17.
        return cell in (value, float(f"{value:.16g}"))
    return writable(text_of(write_cell(value))) == ("" if cell is None else writable(text_of(cell)))


def read_cell(cell: Any, cell_type: CellType, current: Any, separator: str | None) -> Any:
    """Return what a cell that is not empty means in its column; without a declared type, a value of the kind of the *current* one.
    Raises Unfit.
    """
    if isinstance(cell, Unreadable):
        raise Unfit(cell.why)
    text = text_of(cell)
    if isinstance(current, dict) or (isinstance(current, list) and text.startswith("[")):
        return _read_json(text)
    if cell_type.many or isinstance(current, list):
        if text.startswith("["):
            return _read_json(text)
        return list(dict.fromkeys(part.strip() for part in _BETWEEN.split(text) if part.strip()))
    kind = cell_type.kind
    if kind is None:
        if not isinstance(cell, str):
            return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
        kind = (
            "checkbox"
            if isinstance(current, bool)
            else "number"
            if isinstance(current, int | float)
            else "text"
        )
    if kind in ("number", "rating"):
        return _read_number(cell, separator)
    if kind == "checkbox":
        return read_truth(cell)
    if kind == "date":
        return read_day(cell)
    if kind == "choice":
        return _read_choice(text, cell_type.options)
    if kind == "url" and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", text):
        raise Unfit("an address begins with https:// or the like")
    return text


def _read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        raise Unfit("what is there is a list or an object, and this is not JSON") from None


def _read_number(cell: Any, separator: str | None) -> int | float:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
    text = text_of(cell)
    grouped = _GROUPED.fullmatch(text)
    # Where commas separate cells a comma may part thousands; where semicolons do, it is a decimal comma.
    if grouped is not None and grouped["mark"] is None and text.count(grouped["group"]) == 1:
        if grouped["group"] == "," and separator != ";":
            raise Unfit(
                "it may be thousands or have a decimal comma; write it without a comma, or as 1234 or 1.234"
            )
        if grouped["group"] == "." and separator == ";":
            raise Unfit("it may be thousands or have a decimal point; write it as 1234 or 1,234")
        if grouped["group"] in ".,":
            grouped = None
    if grouped is not None:
        if grouped["mark"] == grouped["group"]:
            raise Unfit("it is not a number")
        text = text.replace(grouped["group"], "")
    if not _NUMBER.fullmatch(text):
        raise Unfit("it is not a number")
    number = float(text.replace(",", "."))
    if abs(number) > 1e300:
        raise Unfit("it is too large a number")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def read_truth(cell: Any) -> bool:
    """Return true or false; Unfit for a cell that is neither."""
    truth = _TRUTH.get(text_of(cell).casefold())
    if truth is None:
        raise Unfit("it is neither true nor false")
    return truth


def read_day(cell: Any) -> str:
    """Return a date as it is stored; Unfit for a cell that is none, or may be two."""
    text = text_of(cell)
    if (isinstance(cell, int | float) and not isinstance(cell, bool) and cell > 9999) or re.fullmatch(
        r"\d{5}", text
    ):
        raise Unfit(
            "it may be a spreadsheet's number of a day; make the cells dates in the spreadsheet, or write 1750-03-21"
        )
    if match := _DAY.fullmatch(text):
        first, mark, second, year = int(match[1]), match[2], int(match[3]), match[4]
        if mark != "." and first <= 12 and second <= 12 and first != second:
            raise Unfit(f"it may be of month {first} or of month {second}; write it as {year}-{second:02}-{first:02} or {year}-{first:02}-{second:02}")  # fmt: skip
        day, month = (second, first) if second > 12 and mark != "." else (first, second)
        text = f"{year}-{month:02}-{day:02}"
    try:
        return check_date(text)
    except ValueError as fault:
        raise Unfit(str(fault)) from None


def _read_choice(text: str, options: Sequence[str]) -> str:
    if text in options:
        return text
    alike = [option for option in options if option.casefold() == text.casefold()]
    if len(alike) != 1:
        choices = ", ".join(options[:10]) + (" …" if len(options) > 10 else "")
        raise Unfit(f"the choices are {choices}")
    return alike[0]
