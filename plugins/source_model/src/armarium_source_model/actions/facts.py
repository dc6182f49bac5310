"""Checks languages, scripts and directions, wherever they are stated: project, node, segment, reading."""

from __future__ import annotations

from armarium.api import ActionContext, Invalid
from armarium_source_model.schemas.settings import DIRECTIONS
from armarium_source_model.scripts import is_language, is_private, is_script


def check_fact(ctx: ActionContext, key: str, value: str) -> None:
    """Raise Invalid unless *value* is a BCP 47 tag, an ISO 15924 (or declared private) code, or a
    direction.
    """
    if key == "language" and not is_language(value):
        raise Invalid(
            f"{value!r} is not a BCP 47 tag; write one such as fr, la-Latn or qaa (private use).",
            code="bad_language",
        )
    if key == "direction" and value not in DIRECTIONS:
        raise Invalid(
            f"{value!r} is not a direction; use one of {', '.join(DIRECTIONS)}.", code="bad_direction"
        )
    if key == "script":
        rows = ctx.project.setting("scripts") or ()
        declared = {row["code"] for row in rows if row.get("declared") and row.get("name")}
        if not is_script(value, declared):
            more = (
                " A private code must first be declared by the project with a name."
                if is_private(value)
                else ""
            )
            raise Invalid(f"{value!r} is not an ISO 15924 script code.{more}", code="bad_script")


class StatedFacts:
    """Checks what the segments of one call state, each value once."""

    def __init__(self, ctx: ActionContext) -> None:
        self.ctx = ctx
        self._sound: set[tuple[str, str]] = set()

    def check(self, language: str | None, script: str | None) -> None:
        """Like `check_fact`, for the facts that are stated."""
        for fact in (("language", language), ("script", script)):
            key, value = fact
            if value is not None and (key, value) not in self._sound:
                check_fact(self.ctx, key, value)
                self._sound.add((key, value))
