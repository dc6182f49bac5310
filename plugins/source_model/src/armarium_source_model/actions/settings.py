"""States and clears the language, script and direction of a page or of the project."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Invalid, action
from armarium_documents.api import require_document
from armarium_source_model.actions.facts import check_fact
from armarium_source_model.errors import refuse_provisional
from armarium_source_model.facts import KEYS
from armarium_source_model.models import source_settings
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.schemas.settings import ResolvedSettings, SettingClear, SettingPut


def _check_place(level: str, key: str, target_id: str | None) -> None:
    if level == "segment":
        raise Invalid(
            "What a segment states belongs to the segment: change it there, by an update of the segment.",
            code="level_of_other_route",
        )
    if level not in ("project", "node"):
        raise Invalid(
            f"There is no level {level!r}; facts are stated for the project or a node.", code="unknown_level"
        )
    if key not in KEYS:
        raise Invalid(f"There is no fact {key!r}; a {level} states {', '.join(KEYS)}.", code="unknown_key")
    if level == "node" and target_id is None:
        raise Invalid("A node's fact needs the target_id of the node.", code="target_required")
    if level == "project" and target_id is not None:
        raise Invalid(
            "The project's facts have no target_id; leave it out, or say level node.", code="target_refused"
        )
    refuse_provisional(target_id)


@action(
    "source_setting.set",
    result=ResolvedSettings,
    summary="State the language, script or direction of a node or of the whole project.",
    words="Stated a fact about {target_id|the project}",
)
def set_fact(ctx: ActionContext, p: SettingPut) -> dict[str, Any]:
    """Raises Invalid naming what is wrong with the level, key, target or value; NotFound."""
    _check_place(p.level, p.key, p.target_id)
    if not p.value:
        raise Invalid(
            "An empty value states nothing; clear the fact with source_setting.clear.", code="empty_value"
        )
    check_fact(ctx, p.key, p.value)
    if p.level == "node":
        require_document(ctx.conn, p.target_id or "")
        ctx.run("document.update", {"document_id": p.target_id, p.key: p.value})
    else:
        table = source_settings
        values = {"value": p.value, **ctx.provenance()}
        if ctx.conn.execute(table.update().where(table.c.key == p.key).values(**values)).rowcount == 0:
            ctx.conn.execute(table.insert().values(key=p.key, **values))
        ctx.target(f"project:{p.key}")
    return resolve_settings(ctx.project, ctx.conn, document_id=p.target_id)


@action(
    "source_setting.clear",
    result=ResolvedSettings,
    summary="Clear a stated fact, so that the next rung applies.",
    words="Cleared a fact about {target_id|the project}",
)
def clear_fact(ctx: ActionContext, p: SettingClear) -> dict[str, Any]:
    """Raises Invalid naming what is wrong with the level, key or target; NotFound. Clearing twice is
    allowed.
    """
    _check_place(p.level, p.key, p.target_id)
    if p.level == "node":
        require_document(ctx.conn, p.target_id or "")
        ctx.run("document.update", {"document_id": p.target_id, p.key: None})
    else:
        ctx.conn.execute(source_settings.delete().where(source_settings.c.key == p.key))
        ctx.target(f"project:{p.key}")
    return resolve_settings(ctx.project, ctx.conn, document_id=p.target_id)
