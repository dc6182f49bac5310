"""Records what a run found on a page, so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armarium.api import ActionContext, json_text, new_id
from armarium_knowledge.records.claims import findings


def note_findings(
    ctx: ActionContext, document_id: str, kind: str, keyed_items: Iterable[tuple[str, Mapping[str, Any]]]
) -> None:
    """Record (key, item) of each thing the run found, including what already existed; nothing if no run asks for it."""
    if ctx.run_id is None:
        return
    rows = [
        (new_id(), ctx.run_id, document_id, kind, key, json_text(dict(item)))
        for key, item in dict(keyed_items).items()
    ]
    ctx.bulk_insert(findings, ("id", "run_id", "document_id", "kind", "key", "item"), rows)
