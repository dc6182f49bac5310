"""Validated field types shared by the request models of documents: names, JSON objects, codes, ids."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import AfterValidator, BaseModel, Field, create_model

from armarium.api import LanguageTag, RowId, Spelling, proper_name
from armarium.api import ScriptCode as ScriptCode
from armarium_documents.dates.edtf import check_date
from armarium_documents.flags import FLAGS

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
    """Return *value* as `proper_name` does; ValueError also for one that is too long."""
    name = proper_name(value)
    if len(name) > MAX_NAME:
        raise ValueError(f"a name has at most {MAX_NAME} characters, this one has {len(name)}")
    return name


def check_json(value: Any, most_bytes: int = MAX_JSON_BYTES) -> Any:
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
    if size > most_bytes:
        raise ValueError(f"at most {most_bytes} bytes of JSON, this has {size}")
    return value


def _require_unique(ids: list[str]) -> list[str]:
    return list(dict.fromkeys(ids))


Id = RowId
Ids = Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS), AfterValidator(_require_unique)]
"""Ids without repeats, in the order given."""


def compose_names(value: dict[str, Any]) -> dict[str, Any]:
    """Return attributes with their names in NFC, as all names are stored; ValueError if two are then the same."""
    attributes = {unicodedata.normalize("NFC", name): attribute for name, attribute in value.items()}
    if len(attributes) < len(value):
        raise ValueError(
            "two attributes have one name, with its letters composed differently; keep one of them"
        )
    return attributes


Name = Annotated[str, AfterValidator(clean_name)]
JsonObject = Annotated[dict[str, Any], AfterValidator(check_json)]
Attributes = Annotated[JsonObject, AfterValidator(compose_names)]
JsonList = Annotated[list[dict[str, Any]], Field(max_length=1000), AfterValidator(check_json)]
Key = Annotated[
    str,
    Field(min_length=1, max_length=MAX_KEY),
    Spelling(r"^[^\x00-\x1f\x7f]+$", "a name without control characters"),
]
Language = LanguageTag
ShortText = Annotated[str, Field(max_length=2000)]
IsoDate = Annotated[str, Field(max_length=100), AfterValidator(check_date)]
"""A date of ISO 8601, which may stop at the year or month, may be uncertain, and may reach to another."""


M = TypeVar("M", bound=BaseModel)


def with_flags(default: bool | None) -> Callable[[type[M]], type[M]]:
    """Give a model a field for each flag, with this default; None: the field may be left out or null."""

    def add(model: type[M]) -> type[M]:
        kind: Any = bool if default is not None else bool | None
        fields: dict[str, Any] = {name: (kind, default) for name in FLAGS if name not in model.model_fields}
        return create_model(
            model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields
        )

    return add
