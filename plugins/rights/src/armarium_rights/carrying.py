"""What holds for an item from above is stated on its copy in another project: a transfer loosens nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import ActionContext
from armarium_documents.api import Carrier, Limits
from armarium_rights.pictures import cuts_of, records_seen_on
from armarium_rights.queries import applying, combine_records


def find_limits(
    conn: Connection, items: Sequence[str], documents: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the fields of a record about each of the *items*, and of the parts cut from a picture that stays, which states
    what holds for it from elsewhere.
    """
    copied, cuts = set(documents), cuts_of(conn)
    parts = {cut for cut in copied & cuts.source_of.keys() if cuts.source_of[cut] not in copied}
    limits = {}
    for document_id in dict.fromkeys([*items, *sorted(parts)]):
        rules = applying(conn, [document_id])
        rules += records_seen_on(conn, document_id, cuts) if document_id in parts else []
        rules_held = [row for row in rules if row["document_id"] not in copied]
        if rules_held:
            limits[document_id] = _fields_of(combine_records(rules_held))
    return limits


def _fields_of(combined: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "holders": combined["holders"],
        "labels": combined["labels"],
        "conditions": "\n".join(combined["conditions"]) or None,
        "restricted": combined["restricted"],
        "readers": combined["readers"] or [],
        "model_use": combined["model_use"],
    }


def state_limits(ctx: ActionContext, document_id: str, limits: Mapping[str, Any]) -> None:
    """Add the record to the copy."""
    ctx.run("rights.set", {"target_kind": "document", "target_id": document_id, **limits})


carrier = Carrier(limits=Limits(find_limits, state_limits))
