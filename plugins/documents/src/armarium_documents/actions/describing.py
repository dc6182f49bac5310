"""Takes descriptions of many documents from a table, in one step."""

from __future__ import annotations

import base64
from typing import Any

from armarium.api import ActionContext, Example, Route, action, asking, json_text, raw_of, withheld_nodes
from armarium_documents.errors import table_has_problems
from armarium_documents.queries.metadata.planning import attributes_of, plan_import
from armarium_documents.schemas.metadata import MetadataParams, MetadataPlan


def _example(ex: Example) -> dict[str, Any]:
    made = ex.run("document.create", {"name": "Letters"})
    table = f"document.id;place;document.date_iso\r\n{made['id']};Toledo;1750-03\r\n"
    return {"table": base64.b64encode(table.encode()).decode()}


@action(
    "document.import_metadata",
    params=MetadataParams,
    result=MetadataPlan,
    summary="Describe documents by a table: attributes, labels, dates, prototypes, a row a document.",
    route=Route("POST", "/api/documents/metadata", name="import_metadata"),
    words="Described documents by a table",
    example=_example,
)
def import_metadata(ctx: ActionContext, p: MetadataParams) -> dict[str, Any]:
    """All of it is one step, undone as one. Refused (422) if a value is not of its type, a row is about several documents or one
    that another row is about, unless `skip`; rows about no document are left out. Forbidden below a lock.
    """
    with asking(ctx.principal), ctx.project.db.read() as conn:
        hidden, lists = withheld_nodes(conn), attributes_of(conn)
    plan = plan_import(ctx.conn, p, hidden=hidden, lists=lists, owner=ctx.principal.may("owner"))
    number, first = plan.problems()
    if number and not p.skip:
        raise table_has_problems(f"{number:,} part{'s' if number > 1 else ''}", first)
    by_fields: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for identity, fields in plan.updates.items():
        if "attributes" in fields:
            fields["attributes"] = json_text(fields["attributes"])
        by_fields.setdefault(tuple(fields), []).append((*fields.values(), ctx.now, identity))
    for names, rows in by_fields.items():
        sets = "".join(f"{name} = ?, " for name in names)
        raw_of(ctx.conn).executemany(f"UPDATE document SET {sets}updated_at = ? WHERE id = ?", rows)
    if p.parent_id is not None:
        ctx.target(p.parent_id)
    ctx.target(*plan.updates)
    ctx.note_changes(document_ids=plan.updates)
    return plan.answer()
