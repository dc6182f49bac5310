"""Writing the saved recipe, within an action: its parts, its overrides, and its version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import ActionContext, new_id
from armarium_documents.api import documents
from armarium_recipes.errors import no_folder, no_folder_named, override_elsewhere, override_twice
from armarium_recipes.models import ONLY, overrides, setups
from armarium_recipes.project.saving import SavedSetup, override_of, read_saved
from armarium_recipes.rules.situation import understand_answers
from armarium_recipes.schemas.project import SaveSetup
from armarium_recipes.schemas.recipe import Override


def change(ctx: ActionContext, p: SaveSetup) -> SavedSetup:
    """Write the parts that *p* names; unchanged parts raise no version and leave no trace. Invalid for new
    answers that name an unknown purpose, layer, job, language or script.
    """
    before = read_saved(ctx.conn)
    fields_sent = p.model_fields_set
    answers = p.answers if "answers" in fields_sent else before.answers
    recipe = p.recipe if "recipe" in fields_sent else before.recipe
    places = (p.overrides or []) if "overrides" in fields_sent else before.overrides
    same_parts = answers == before.answers and _content(recipe) == _content(before.recipe)
    same_places = [_key_of(place) for place in places] == [_key_of(override) for override in before.overrides]
    if same_parts and same_places:
        return before
    if answers is not None and answers != before.answers:
        understand_answers(ctx.engine, answers)
    if not same_places:
        _write_overrides(ctx, places)
    row = ctx.conn.execute(setups.select().where(setups.c.id == ONLY)).first()
    rises = recipe is not None or before.recipe is not None
    values = {
        "answers": answers.model_dump(mode="json") if answers is not None else None,
        "recipe": recipe.model_dump(mode="json") if recipe is not None else None,
        "version": (row.version if row is not None else 0) + int(rises),
        "updated_at": ctx.now,
    }
    if row is None:
        ctx.conn.execute(setups.insert().values(id=ONLY, **values))
    else:
        ctx.conn.execute(setups.update().where(setups.c.id == ONLY).values(**values))
    return read_saved(ctx.conn)


def _content(recipe: Any) -> Any:
    """Return everything in a recipe except its version, which the project counts."""
    return recipe.model_dump(mode="json", exclude={"version"}) if recipe is not None else None


def _key_of(override: Override) -> tuple[Any, ...]:
    return (*override.place, override.card.id, override.card.source)


def _write_overrides(ctx: ActionContext, after: Sequence[Override]) -> None:
    """Add new overrides and remove those that are gone; the others are not touched unless their position changes."""
    rows_by_key = {_key_of(override_of(row)): row for row in ctx.conn.execute(overrides.select())}
    places = set()
    last, staying = -1, set()
    for override in after:
        if override.place in places:
            raise override_twice(override.step, override.folder_id or "the project")
        places.add(override.place)
        if (override.scope == "folder") != (override.folder_id is not None):
            raise no_folder_named()
        row = rows_by_key.get(_key_of(override))
        if row is None:
            last += 1
            _insert_override(ctx, override, last)
            continue
        staying.add(row.id)
        if row.position <= last:
            ctx.conn.execute(overrides.update().where(overrides.c.id == row.id).values(position=last + 1))
        last = max(row.position, last + 1)
    removed_ids = [row.id for row in rows_by_key.values() if row.id not in staying]
    if removed_ids:
        ctx.conn.execute(overrides.delete().where(overrides.c.id.in_(removed_ids)))


def _insert_override(ctx: ActionContext, override: Override, position: int) -> None:
    if override.folder_id is not None:
        _require_folder(ctx, override.folder_id)
    row = {
        "id": new_id(),
        "scope": override.scope,
        "folder_id": override.folder_id,
        "step": override.step,
        "card": override.card.model_dump(mode="json"),
        "position": position,
        "set_by": ctx.principal.name,
        "set_at": ctx.now,
    }
    ctx.conn.execute(overrides.insert().values(row))


def _require_folder(ctx: ActionContext, folder_id: str) -> None:
    row = ctx.conn.execute(
        documents.select().where(documents.c.id == folder_id, documents.c.deleted_at.is_(None))
    ).first()
    if row is None:
        raise override_elsewhere(folder_id)
    if row.doc_type != "folder":
        raise no_folder(folder_id)
    ctx.target(folder_id)
