"""Fields shared by several requests of paleography."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

Id = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Others = Annotated[list[Id], Field(min_length=1, max_length=1_000)]
Words = Annotated[str, Field(max_length=10_000)]
Short = Annotated[str, Field(min_length=1, max_length=80)]
Certainty = Annotated[float, Field(ge=0, le=1, description="0 to 1")]
FactKind = Literal["unclear", "lost", "restored", "supplied", "superfluous", "deleted", "added"]
_CODE_POINT = re.compile(r"U\+(?:[0-9A-F]{4}|[1-9A-F][0-9A-F]{4}|10[0-9A-F]{4})")


def _code_point(value: str) -> str:
    if not _CODE_POINT.fullmatch(value) or ("U+D800" <= value <= "U+DFFF" and len(value) == 6):
        raise ValueError(
            "a code point is written as U+ and four to six upper-case hexadecimal digits, without "
            "superfluous zeros, such as U+A75B"
        )
    return value


CodePoint = Annotated[str, AfterValidator(_code_point)]
