"""Names that people give: in NFC, without outer blanks and what nobody sees."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

AS_STORED = "as stored"
"""The context in which what was stored is parsed: the rules for names are younger than some rows."""


_UNSEEN = re.compile("[\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0001]")
"""Marks that show nothing, or reverse what is shown around them: two names would look alike, or one like another.

Joiners and the marks for left and right stay: scripts need them.
"""


def proper_name(text: str) -> str:
    """Return *text* in NFC without outer blanks and unseen marks; raises ValueError where nothing is left, or for
    control characters.
    """
    name = unicodedata.normalize("NFC", _UNSEEN.sub("", text)).strip()
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
