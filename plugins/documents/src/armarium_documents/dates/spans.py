"""Dates in figures alone, and forms that name no day: centuries and decades."""

from __future__ import annotations

import re
from typing import Literal

from armarium_documents.dates.components import Parts
from armarium_documents.dates.numbers import roman, spelled_out
from armarium_documents.dates.words import words_of

_ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_FIGURES = re.compile(r"(\d{1,2})(?: ?[/.-] ?)(\d{1,2}|[ivx]+)(?: ?[/.-] ?)(\d{4})")
_DUAL = re.compile(r"^(.*?)\b(\d{4}) ?/ ?(\d{1,4})$")
_CENTURY = re.compile(
    r"^(?:(?:the|el|le|la|im|in|des|du|del|s|l) )*(?:(?:siglo|sec|saec|saeculo|saeculi|seculo|siecle|s) ([ivx]+|\d\d?|[a-z]+)|([ivx]+|\d\d?|[a-z]+?)(?:st|nd|rd|th|e|eme)?\.? "
    r"(?:century|siecle|jahrhunderts?|jh|jhdt|saeculum|saeculo|c)\.?)$"
)
_DECADE = re.compile(
    r"^(?:the |los |las |les |die |in den )?(?:anos |decada de |annees )?(?:los )?(\d{3})0(?:s|er(?: jahre)?)?$"
)


def numeric(text: str, *, month_first: bool) -> Parts | None:
    """Parse a date in figures: 1742-03-12, 12/3/1742, 12.III.1742; otherwise None."""
    match = _ISO.fullmatch(text)
    if match is not None:
        year, month, day = (int(part) if part else None for part in match.groups())
        return Parts(year=year, month=month, day=day)
    match = _FIGURES.fullmatch(text)
    if match is None:
        return None
    day, month_text, year = int(match[1]), match[2], int(match[3])
    month = int(month_text) if month_text.isdigit() else roman(month_text) or 0
    if month_first or (month > 12 and month_text.isdigit()):
        day, month = month, day
    return Parts(year=year, month=month, day=day) if 1 <= month <= 12 else None


def dual_year(text: str) -> tuple[str, int] | None:
    """Return the later year of a dual date (1710/11) and the text before it; otherwise None."""
    match = _DUAL.match(text)
    if match is None:
        return None
    first, second = int(match[2]), match[3]
    later = int(second) if len(second) == 4 else int(str(first)[: 4 - len(second)] + second)
    if later < first and len(second) < 4:
        later += 10 ** len(second)
    return (match[1].strip(), later) if later == first + 1 else None


def century_or_decade(text: str) -> tuple[str, Literal["century", "decade"]] | None:
    """Return a century or a decade as EDTF (17XX, 174X); otherwise None."""
    text = " ".join(text.replace(".", " ").split())
    match = _CENTURY.match(text)
    if match is not None:
        number_text = match[1] or match[2]
        number = int(number_text) if number_text.isdigit() else roman(number_text)
        if number is None:
            spelled = spelled_out(words_of(number_text), 0)
            number = spelled[0] if spelled is not None else None
        return (f"{number - 1:02}XX", "century") if number is not None and 1 <= number <= 21 else None
    match = _DECADE.match(text)
    # A bare year that ends in zero is a year, not a decade.
    return (f"{match[1]}X", "decade") if match is not None and not text.isdigit() else None
