"""Confirms that what a correction put in doubt still holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import ActionContext, Library, Route, Rows, action
from armarium_knowledge.errors import gone_from_text, not_confirmable
from armarium_knowledge.placing import PagePlaces, Place
from armarium_knowledge.queries import staleness
from armarium_knowledge.queries.claims import SOURCES, Pages, standing
from armarium_knowledge.records.claims import Claim, Interpretation, claim_sources
from armarium_knowledge.records.mentions import Mention
from armarium_knowledge.schemas.staleness import Confirm, Confirmed
from armarium_source_model.api import StaleRow, armarium_source_model_rests_on_text, text_fingerprint


@action(
    "knowledge.confirm",
    result=Confirmed,
    summary="Confirm that what rests on changed text still holds.",
    route=Route("POST", "/api/staleness/confirm", name="confirm_staleness"),
    words="Confirmed what a correction had put in doubt",
)
def confirm(ctx: ActionContext, p: Confirm) -> dict[str, Any]:
    """Confirm all or nothing. NotFound for what cannot be confirmed, Conflict if the words are gone."""
    families = ctx.engine.points.collect(armarium_source_model_rests_on_text)
    kinds = list(dict.fromkeys(kind for family in families for kind in family.kinds))
    for item in p.items:
        if not any(
            item.kind in family.kinds and family.confirm(ctx, item.kind, item.id) for family in families
        ):
            raise not_confirmable(item.kind, item.id, kinds)
        ctx.target(item.id)
    return {"confirmed": len(p.items)}


def _confirm_mention(ctx: ActionContext, identity: str) -> bool:
    row = Mention.rows.get(ctx.conn, identity)
    if row is None:
        return False
    places = PagePlaces(ctx.conn, row["document_id"])
    place = places.find(row)
    if not isinstance(place, Place):
        raise gone_from_text("mention", identity)
    _settle_row(ctx, Mention.rows, identity, places, place)
    ctx.note_changes(document_ids=[row["document_id"]], entity_ids=[row["entity_id"]])
    return True


def _settle_row(ctx: ActionContext, rows: Rows, row_id: str, places: PagePlaces, place: Place) -> None:
    place_now = {**place.columns, "text_fingerprint": places.fingerprint(place.segment_id)}
    rows.change(ctx.conn, row_id, place_now)


def _confirm_statement(ctx: ActionContext, identity: str) -> bool:
    if Claim.rows.get(ctx.conn, identity) is None:
        return False
    pages = Pages(ctx.conn)
    rows = SOURCES.all(
        ctx.conn, claim_sources.c.claim_id == identity, claim_sources.c.segment_id.is_not(None)
    )
    for row in rows:
        place, stale = standing(row, pages)
        if place is None:
            raise gone_from_text("statement", identity)
        if stale:
            _settle_row(ctx, SOURCES, row["id"], pages(row["document_id"]), place)
    ctx.note_changes(claim_ids=[identity], document_ids=[row["document_id"] for row in rows])
    return True


def _confirm_interpretation(ctx: ActionContext, identity: str) -> bool:
    row = Interpretation.rows.get(ctx.conn, identity)
    if row is None:
        return False
    mark = text_fingerprint(PagePlaces(ctx.conn, row["document_id"]).text)
    Interpretation.rows.change(ctx.conn, identity, {"text_fingerprint": mark})
    ctx.note_changes(interpretation_ids=[identity], document_ids=[row["document_id"]])
    return True


_CONFIRMS: dict[str, Callable[[ActionContext, str], bool]] = {
    "mention": _confirm_mention,
    "statement": _confirm_statement,
    "interpretation": _confirm_interpretation,
}


class RestingKnowledge:
    """What in this family rests on text."""

    kinds = ("mention", "statement", "interpretation", "artifact", "verdict")

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return mentions, statements, interpretations, catalogue records and passages of these pages, and
        verdicts on the first two.
        """
        resting = [
            *staleness.mentions_in_doubt(conn, document_ids),
            *staleness.statements_in_doubt(conn, document_ids),
        ]
        return [
            *resting,
            *staleness.verdicts_in_doubt(conn, resting),
            *staleness.interpretations_in_doubt(conn, document_ids),
            *staleness.artifacts_in_doubt(conn, document_ids),
        ]

    def confirm(self, ctx: ActionContext, kind: str, identity: str) -> bool:
        """Confirm all but artifacts, which are made again, and verdicts, which depend on what they are about."""
        confirms = _CONFIRMS.get(kind)
        return confirms is not None and confirms(ctx, identity)
