"""Names that people give: in NFC, without leading and trailing blanks."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

AS_STORED = "as stored"
"""The context in which what was stored is parsed: the rules for names are younger than some rows."""


def proper_name(text: str) -> str:
    """Return *text* in NFC without outer blanks; raises ValueError where nothing is left, or for invisible characters."""
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise ValueError("a name needs at least one character that is not a blank")
    for character in name:
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            raise ValueError(f"a name holds no control characters, this one has U+{ord(character):04X}")
    return name


def _name_as_sent(text: str, info: ValidationInfo) -> str:
    return text if info.context == AS_STORED else proper_name(text)


ProperName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_name_as_sent)]
"""A name that is shown to people."""

ShortName = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_name_as_sent)]
"""A name that is shown to people in a list: of a device, a kind of thing."""
