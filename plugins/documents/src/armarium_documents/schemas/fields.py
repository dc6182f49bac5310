"""Validated field types shared by the request models of documents: names, JSON objects, codes, ids."""

from __future__ import annotations

import re
import unicodedata
from calendar import isleap
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field

MAX_NAME = 1000
"""Characters of a name; longer than any shelf mark, short enough for a file name cut from it."""

MAX_DEPTH = 32
"""Levels of lists and objects inside attributes and the other free JSON fields."""

MAX_JSON_BYTES = 1024 * 1024
"""Size of one free JSON field."""

MAX_KEY = 200
"""Characters of an attribute's name."""

MAX_IDS = 10_000
"""Ids in one request."""


def clean_name(value: str) -> str:
    """Return *value* in NFC without outer spaces; ValueError for control characters or a bad length."""
    name = unicodedata.normalize("NFC", value).strip()
    if not name:
        raise ValueError("a name needs at least one character that is not a space")
    if len(name) > MAX_NAME:
        raise ValueError(f"a name has at most {MAX_NAME} characters, this one has {len(name)}")
    for character in name:
        if unicodedata.category(character) in ("Cc", "Cs") or character in "\u2028\u2029":
            raise ValueError(
                f"a name must not contain control characters, this one has U+{ord(character):04X}"
            )
    return name


def check_json(value: Any) -> Any:
    """Return *value* if it is JSON of bounded depth and size; otherwise ValueError with the reason."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                for key in item:
                    if not isinstance(key, str) or len(key) > MAX_KEY:
                        raise ValueError(f"an attribute's name is text of at most {MAX_KEY} characters")
                deeper.extend(item.values())
            elif isinstance(item, list):
                deeper.extend(item)
        if not deeper:
            break
        level = deeper
    else:
        raise ValueError(f"lists and objects may be nested {MAX_DEPTH} deep, these go deeper")
    try:
        size = len(orjson.dumps(value))
    except (TypeError, ValueError) as error:
        raise ValueError(f"this cannot be written as JSON: {error}") from error
    if size > MAX_JSON_BYTES:
        raise ValueError(f"at most {MAX_JSON_BYTES} bytes of JSON, this has {size}")
    return value


_DAY = r"[-+]?(?:[0-9]{4,9}|[0-9]{3}X|[0-9]{2}XX)(?:-(?:0[1-9]|1[0-2]|XX)(?:-(?:0[1-9]|[12][0-9]|3[01]|XX))?)?[?~%]?"
_DATE = re.compile(rf"{_DAY}(?:/(?:{_DAY}|\.\.)?)?|\.\./{_DAY}")
_FULL = re.compile(r"([-+]?[0-9]{4,9})-([0-9]{2})-([0-9]{2})")


def last_day(year: int, month: int) -> int:
    """Return the last day of a month in the proleptic Gregorian calendar, which ISO 8601 uses."""
    if month == 2:
        return 29 if isleap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def check_date(value: str) -> str:
    """Return *value* if it is a date in ISO 8601 or EDTF; ValueError otherwise."""
    if _DATE.fullmatch(value) is None:
        raise ValueError(
            "a date is written as 1750, 1750-03, 1750-03-21 or 1750/1752, with ? for uncertain and XX for unknown; "
            "the source's own words go into date_original"
        )
    for year, month, day in _FULL.findall(value):
        if int(day) > last_day(int(year), int(month)):
            raise ValueError(
                f"{year}-{month} has {last_day(int(year), int(month))} days, so there is no {year}-{month}-{day}; "
                "dates are of the Gregorian calendar, the source's own words go into date_original"
            )
    return value


def _unique(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(ids))


Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[0-9A-Za-z_-]+$")]
Ids = Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS), AfterValidator(_unique)]
"""Ids without repeats, in the order given."""

Name = Annotated[str, AfterValidator(clean_name)]
JsonObject = Annotated[dict[str, Any], AfterValidator(check_json)]
JsonList = Annotated[list[dict[str, Any]], Field(max_length=1000), AfterValidator(check_json)]
Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY, pattern=r"^[^\x00-\x1f\x7f]+$")]
Language = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$")]
"""A BCP 47 tag by form; whether the subtags exist is asked where the language is used."""
ScriptCode = Annotated[str, Field(pattern=r"^[A-Z][a-z]{3}$")]
"""An ISO 15924 code by form."""
ShortText = Annotated[str, Field(max_length=2000)]
IsoDate = Annotated[str, Field(max_length=100), AfterValidator(check_date)]
"""A date of ISO 8601, which may stop at the year or month, may be uncertain, and may reach to another."""
