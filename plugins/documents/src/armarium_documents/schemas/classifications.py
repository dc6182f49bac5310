"""Prototypes, their declarations and effective attributes, and kinds that a run proposes."""

from __future__ import annotations

import math
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from armarium.api import Color, Message, Params, Spelling, answer_of, listed
from armarium_documents.models import classifications
from armarium_documents.schemas.documents import DocType
from armarium_documents.schemas.fields import Attributes, Id, Key, Name, ShortText

PrototypeKey = Annotated[
    str,
    Spelling(
        r"^[a-z0-9][a-z0-9_.:-]{0,99}$",
        "a key of at most 100 small letters, digits, _ . : and -, of which the first is a letter or digit",
    ),
]
DeclarationType = Literal["text", "number", "rating", "date", "checkbox", "choice", "url", "reference"]


class DeclarationIn(Params):
    """An attribute that documents of a kind have."""

    key: Key
    label: Name
    type: DeclarationType = "text"
    renderer: Annotated[str, Field(min_length=1, max_length=64)] = "body"
    required: bool = False
    default: Any = None
    options: Annotated[list[ShortText], Field(max_length=1000)] = Field(default_factory=list)
    unit: Annotated[str, Field(max_length=64)] | None = None
    help: ShortText | None = None
    order: int = 0

    @field_validator("key")
    @classmethod
    def _no_quote(cls, key: str) -> str:
        if '"' in key:
            raise ValueError("an attribute's name must not contain a quotation mark")
        return unicodedata.normalize("NFC", key)

    @model_validator(mode="after")
    def _fits(self) -> DeclarationIn:
        if self.type == "choice" and not self.options:
            raise ValueError(f"{self.key} is a choice: it needs options")
        if self.type != "choice" and self.options:
            raise ValueError(f"{self.key} has options, which only a choice may have")
        if self.default is not None and not fits(self.default, self.type, self.options):
            raise ValueError(f"the default of {self.key} is not a {self.type}")
        return self


def fits(value: Any, kind: str, options: list[str]) -> bool:
    """Return whether *value* is of the declared type."""
    if kind in ("number", "rating"):
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "checkbox":
        return isinstance(value, bool)
    if kind == "choice":
        return value in options
    return isinstance(value, str)


class Declaration(Message):
    """A declaration, with the prototype that made it."""

    key: str
    label: str
    type: DeclarationType
    renderer: str
    required: bool
    default: Any
    options: list[str]
    unit: str | None
    help: str | None
    order: int
    from_key: str


@answer_of(classifications)
class Classification(Message):
    """A prototype as it is stored: its own declarations and defaults, not its parents'."""

    applies_to: list[str]
    declarations: list[Declaration]


ClassificationList = listed(Classification)


Declarations = Annotated[list[DeclarationIn], Field(max_length=500)]


def _require_distinct(declarations: list[DeclarationIn]) -> None:
    keys = [declaration.key for declaration in declarations]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"{key} is declared twice")


class ClassificationFields(Params):
    label: Name
    parent_key: PrototypeKey | None = None
    icon: Annotated[str, Field(max_length=100)] | None = None
    color: Color | None = None
    applies_to: Annotated[list[DocType], Field(max_length=5)] = Field(default_factory=list)
    declarations: Declarations = Field(default_factory=list)
    defaults: Attributes = Field(default_factory=dict)

    @model_validator(mode="after")
    def _each_once(self) -> ClassificationFields:
        _require_distinct(self.declarations)
        return self


class ClassificationCreateParams(ClassificationFields):
    """A new prototype; it inherits what its parent declares."""

    key: PrototypeKey


class ClassificationUpdateParams(Params):
    """Changes to a prototype: a field left out stays, null clears it, lists are replaced as a whole."""

    key: PrototypeKey
    label: Name | None = None
    parent_key: PrototypeKey | None = None
    icon: Annotated[str, Field(max_length=100)] | None = None
    color: Color | None = None
    applies_to: Annotated[list[DocType], Field(max_length=5)] | None = None
    declarations: Declarations | None = None
    defaults: Attributes | None = None

    @model_validator(mode="after")
    def _each_once(self) -> ClassificationUpdateParams:
        _require_distinct(self.declarations or [])
        if "label" in self.model_fields_set and self.label is None:
            raise ValueError("a prototype needs a label; leave it out to keep the one it has")
        return self


class ClassificationDeleted(Message):
    status: Literal["deleted"] = "deleted"
    id: str


class Resolved(Message):
    """A prototype with everything it inherits: the root's declarations first, overridden by nearer ones."""

    key: str
    label: str
    chain: list[str]
    declarations: list[Declaration]
    defaults: dict[str, Any]


class EffectiveAttributes(Message):
    """A document's effective attributes: its prototype's defaults overlaid with its own."""

    document_id: str
    prototype_key: str | None
    chain: list[str]
    declarations: list[Declaration]
    values: dict[str, Any]
    own_keys: list[str]


class ProposeKindParams(Params):
    """A kind that a run proposes for a node, with its evidence."""

    document_id: Id
    value: PrototypeKey
    said: Annotated[str, Field(max_length=10_000)]
    artifact_id: Id | None = None
    provider: Annotated[str, Field(max_length=200)] | None = None
    model: Annotated[str, Field(max_length=200)] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None


class KindAnswer(Message):
    document_id: str
    prototype_key: str | None
    state: Literal["pending", "accepted", "rejected"]
