"""An id in a path that cannot be one names nothing: answered as any unknown id is, not as a fault of the body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from armarium.errors import Invalid, NotFound

NO_ID = frozenset({"string_pattern_mismatch", "string_too_long", "string_too_short"})
"""The faults a text has that no id could have."""


def unknown_id(
    path: Mapping[str, Any], params: Mapping[str, Any] | BaseModel, refusal: Invalid
) -> NotFound | None:
    """The refusal to answer instead where an action refused, by its form, a value that stood in the *path*."""
    for fault in refusal.fields.get("errors", ()):
        if fault["type"] not in NO_ID:
            continue
        value: Any = params if isinstance(params, Mapping) else None
        for part in fault["loc"]:
            if isinstance(value, Mapping):
                value = value.get(part)
            elif isinstance(value, list | tuple) and isinstance(part, int):
                value = value[part]
            else:
                value = None
        for name, said in path.items():
            if isinstance(value, str) and value == said:
                kind = "document" if name == "doc_id" else name.removesuffix("_id").replace("_", " ")
                return NotFound(
                    f"There is no {kind} {said[:100]!r} here; list them to find the right one.",
                    code="not_found",
                )
    return None
