"""What the audit row records of an action's parameters: never the words of a source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from armarium.actions.definition import SourceTextMark


@cache
def _source_fields(model: type[BaseModel]) -> frozenset[str]:
    def is_marked(annotation: Any) -> bool:
        return any(isinstance(part, SourceTextMark) or is_marked(part) for part in get_args(annotation))

    return frozenset(
        name
        for name, info in model.model_fields.items()
        if any(isinstance(mark, SourceTextMark) for mark in info.metadata) or is_marked(info.annotation)
    )


_LONGEST_WORD = 200
_LONGEST_LIST = 50


def redact_params(params: BaseModel) -> dict[str, Any]:
    """Return *params* for the audit row: ids, numbers and settings; for words of a source only their length."""
    source = _source_fields(type(params))
    return {
        name: _count(getattr(params, name)) if name in source else _stored_value(getattr(params, name))
        for name in params.model_fields_set
        if name in type(params).model_fields
    }


def _stored_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_WORD else _count(value)
    if isinstance(value, BaseModel):
        return redact_params(value)
    if isinstance(value, Mapping):
        return {"keys": sorted(str(key) for key in value)[:_LONGEST_LIST]}
    if isinstance(value, list | tuple | set | frozenset):
        return (
            [_stored_value(item) for item in value] if len(value) <= _LONGEST_LIST else {"count": len(value)}
        )
    return str(value)


def _count(value: Any) -> Any:
    if isinstance(value, str):
        return {"characters": len(value)}
    if isinstance(value, bytes):
        return {"bytes": len(value)}
    if isinstance(value, Mapping | list | tuple):
        return {"count": len(value)}
    return value
