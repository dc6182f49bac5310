"""Answers 404, not 422, for malformed ids in paths, as for any unknown id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from armarium.errors import Invalid, NotFound

NO_ID = frozenset({"string_pattern_mismatch", "string_too_long", "string_too_short"})
"""Validation errors of a text that no id could have."""


def unknown_id(
    path: Mapping[str, Any], params: Mapping[str, Any] | BaseModel, refusal: Invalid
) -> NotFound | None:
    """Return the refusal to answer instead where an action refused a malformed value from the *path*."""
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
