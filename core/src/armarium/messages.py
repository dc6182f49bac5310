"""The base of what requests and answers are made of."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, create_model
from pydantic.warnings import UnsupportedFieldAttributeWarning
from pydantic_core import core_schema

# FastAPI silences this while it declares its routes; a body's validator is made later, when it is first used.
warnings.filterwarnings("ignore", "The 'alias' attribute with value", UnsupportedFieldAttributeWarning)


class Message(BaseModel):
    """A request's body or an answer, or a part of one.

    Its validator is made when it is first used: making all of them took a third of the time that the engine took to start.
    """

    model_config = ConfigDict(defer_build=True)


class Sent(Message):
    """What a caller sends, or a part of it: no kind of JSON value is taken for another, as the description says."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return _plainly(handler(source))


class Written(Message):
    """A write that answers nothing but the step to undo it by."""

    audit_id: str


@cache
def written(result: type[BaseModel] | None, name: str | None = None) -> type[BaseModel]:
    """The answer of an action over HTTP, called *name*: its result, and the step to undo it by."""
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
    """*value*, any JSON; ValueError for a number that JSON does not know, which would be stored as nothing."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, float) and not math.isfinite(one):
            raise ValueError("NaN and Infinity are no JSON numbers; send a number, null or a text")
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
    return value


_PLAIN = frozenset({"bool", "int", "float"})


def _plainly(schema: Any) -> Any:
    """*schema* with its plain values strict: true is no 1, and a text of digits no number."""
    if isinstance(schema, list):
        return [_plainly(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        name: part if name in ("default", "metadata", "serialization", "config") else _plainly(part)
        for name, part in schema.items()
    }
    kind = made.get("type")
    if kind == "float":
        made.setdefault("allow_inf_nan", False)
    if kind == "any":
        return core_schema.no_info_after_validator_function(_finite, core_schema.any_schema())
    if isinstance(kind, str) and kind in _PLAIN:
        made.setdefault("strict", True)
    return made


def plain_fault(words: str) -> str:
    """What pydantic says is wrong with a value, without its label and full stop, so that a sentence can hold it."""
    if words == "JSON decode error":
        return "the body is no JSON from this character on"
    return words.removeprefix("Value error, ").removesuffix(".")
