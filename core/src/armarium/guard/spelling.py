"""Texts of one form: a pattern that programs read, and the words in which a refusal says what is wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema


@dataclass(frozen=True)
class Spelling:
    """In `Annotated[str, Spelling(pattern, words)]`: the text matches *pattern*, or is refused with "should be <words>"."""

    pattern: str
    words: str

    def check(self, text: str) -> str:
        """Return *text*; PydanticCustomError, of pydantic's own type for it, where it has another form."""
        if re.fullmatch(self.pattern, text) is None:
            raise PydanticCustomError("string_pattern_mismatch", "should be {words}", {"words": self.words})
        return text

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}


RowId = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Spelling(r"^[0-9A-Za-z_-]+$", "an id: letters, digits, _ and -"),
]
Checksum = Annotated[str, Spelling(r"^[0-9a-f]{64}$", "a SHA-256 digest: 64 characters, 0-9 and a-f")]
LanguageTag = Annotated[
    str,
    Field(max_length=64),
    Spelling(r"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$", "a BCP 47 language tag, such as es, la or de-Latf"),
]
"""A language tag by form; whether the subtags exist is asked where the language is used."""
ScriptCode = Annotated[str, Spelling(r"^[A-Z][a-z]{3}$", "an ISO 15924 code of four letters, such as Latn")]
Color = Annotated[str, Spelling(r"^#[0-9a-fA-F]{6}$", "a colour such as #3366cc")]
