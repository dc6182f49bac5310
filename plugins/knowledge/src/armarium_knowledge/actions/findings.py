"""Note what a run found on a page, so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armarium.api import ActionContext, json_text, new_id
from armarium_knowledge.models import findings


def note_findings(
    ctx: ActionContext, document_id: str, kind: str, found: Iterable[tuple[str, Mapping[str, Any]]]
) -> None:
    """(key, item) of each thing that the run found, also of what stood there already; nothing where no run asks."""
    if ctx.run_id is None:
        return
    rows = [
        (new_id(), ctx.run_id, document_id, kind, key, json_text(dict(item)))
        for key, item in dict(found).items()
    ]
    ctx.bulk_insert(findings, ("id", "run_id", "document_id", "kind", "key", "item"), rows)
