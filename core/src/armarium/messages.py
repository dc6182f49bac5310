"""The base classes of requests and answers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, create_model
from pydantic.warnings import UnsupportedFieldAttributeWarning
from pydantic_core import core_schema

from armarium.names.proper import AS_STORED

# FastAPI silences this while it declares its routes; a body's validator is built later, when it is first used.
warnings.filterwarnings("ignore", "The 'alias' attribute with value", UnsupportedFieldAttributeWarning)


class Message(BaseModel):
    """A request's body or an answer, or a part of one.

    Its validator is built when it is first used: building all of them took a third of the time that the engine took to
    start.
    """

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Return what was sent once and is stored; a name that was allowed then and would be refused today is taken as it is."""
        return cls.model_validate(stored, context=AS_STORED)


class Sent(Message):
    """What a caller sends, or a part of it; no type of JSON value is converted into another, as the schema states."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return _plainly(handler(source))


class Written(Message):
    """The answer of a write that returns nothing but the step by which to undo it."""

    audit_id: str


@cache
def written(result: type[BaseModel] | None, name: str | None = None) -> type[BaseModel]:
    """Return the model of an action's answer over HTTP, titled *name*: its result, and the step by which to undo it."""
    if result is None:
        return Written
    if "audit_id" in result.model_fields and result.model_fields["audit_id"].is_required():
        return result
    return create_model(
        name or f"{result.__name__}Written",
        __base__=result,
        __module__=result.__module__,
        __doc__=result.__doc__,
        audit_id=(str, ...),
    )


def _finite(value: Any) -> Any:
    """Return *value*, any JSON; raises ValueError for a number that JSON does not know, which would be stored as null."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and not math.isfinite(item):
            raise ValueError("NaN and Infinity are no JSON numbers; send a number, null or a text")
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
    return value


_PLAIN = frozenset({"bool", "int", "float"})


def _plainly(schema: Any) -> Any:
    """Return *schema* with its plain values strict: true is not 1, and a string of digits not a number."""
    if isinstance(schema, list):
        return [_plainly(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {
        name: part if name in ("default", "metadata", "serialization", "config") else _plainly(part)
        for name, part in schema.items()
    }
    kind = strict.get("type")
    if kind == "float":
        strict.setdefault("allow_inf_nan", False)
    if kind == "any":
        return core_schema.no_info_after_validator_function(_finite, core_schema.any_schema())
    if isinstance(kind, str) and kind in _PLAIN:
        strict.setdefault("strict", True)
    return strict


def sentence_of_faults(faults: Sequence[Mapping[str, Any]], whole: str) -> str:
    """Return where the first of pydantic's *faults* is and what it says, and how many there are besides; *whole*: what the
    request is called where the fault is nowhere in it.
    """
    more = f" And {len(faults) - 1} more." if len(faults) > 1 else ""
    return f"{'.'.join(map(str, faults[0]['loc'])) or whole}: {faults[0]['msg']}.{more}"


def plain_fault(words: str) -> str:
    """Return pydantic's message about a value, without its label and full stop, so that it can be used inside a
    sentence.
    """
    if words == "JSON decode error":
        return "the body is no JSON from this character on"
    return words.removeprefix("Value error, ").removesuffix(".")
