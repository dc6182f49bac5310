"""Retires choices of readings that were corrected elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from armarium.api import ActionContext, is_among
from armarium_source_model.models import reading_choices


def retire_choices(ctx: ActionContext, corrected: Collection[str], made_at: Collection[str]) -> None:
    """Retire the choices, made at one of these moments, of readings that are now *corrected*, as a correction here would."""
    ctx.conn.execute(
        reading_choices.update()
        .where(
            is_among(reading_choices.c.representation_id, corrected),
            is_among(reading_choices.c.created_at, made_at),
            reading_choices.c.superseded_at.is_(None),
        )
        .values(superseded_at=ctx.now)
    )
