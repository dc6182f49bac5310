"""The only write of hands' readers: which reader reads the lines of a hand."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, NameOrMaterialPath, Route, ServiceError, action, new_id
from armarium_paleography.api import hands
from armarium_reading.api import choose
from armarium_recipes.bakeoffs import refusals
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.models_bakeoffs import champions
from armarium_recipes.queries.bakeoffs import champion_answer
from armarium_recipes.schemas.bakeoffs import ChampionSet, SetChampion


@action(
    "project.set_champion",
    result=ChampionSet,
    summary="Set the reader of a hand's lines.",
    words="Set the reader of a hand",
    route=Route("PUT", "/api/recipes/project/champions", name="set_champion"),
)
def set_champion(ctx: ActionContext, p: SetChampion) -> dict[str, Any]:
    """From now on it reads the lines attributed to this hand alone. NotFound for an unknown hand, Invalid for
    a withdrawn hand and for a card that cannot read lines on this machine.
    """
    hand = ctx.conn.execute(select(hands).where(hands.c.id == p.hand_id)).mappings().first()
    if hand is None:
        raise refusals.unknown_hand(p.hand_id)
    ctx.target(p.hand_id)
    here = champions.c.hand_id == p.hand_id
    before = ctx.conn.execute(select(champions).where(here)).mappings().first()
    if p.card is None:
        if before is not None:
            ctx.conn.execute(champions.delete().where(here))
        return {"hand_id": p.hand_id, "champion": None}
    if hand["withdrawn_at"] is not None:
        raise refusals.withdrawn_hand(dict(hand))
    card = next((card for card in cards_here(ctx.engine, ctx.project) if card.id == p.card), None)
    if card is None:
        raise refusals.no_card(p.card)
    why = None
    if "read-a-line" not in card.jobs or card.reader is None:
        why = "It is not a reader of lines on this machine."
    else:
        model = None if card.model is None else NameOrMaterialPath(card.model)
        try:
            choose(ctx.engine, ctx.library, reader=card.reader, method="read_lines", model=model)
        except ServiceError as refusal:
            why = refusal.detail
    if why is not None:
        raise refusals.reads_no_lines_here(p.card, why)
    if before is not None and (before["card"], before["bakeoff_id"]) == (p.card, p.bakeoff_id):
        return {"hand_id": p.hand_id, "champion": champion_answer({**before, "label": hand["label"]})}
    row = {
        "id": new_id() if before is None else before["id"],
        "hand_id": p.hand_id,
        "card": card.id,
        "name": card.name,
        "reader": card.reader,
        "model": card.model,
        "bakeoff_id": p.bakeoff_id,
        **ctx.provenance(),
    }
    if before is None:
        ctx.conn.execute(champions.insert().values(row))
    else:
        ctx.conn.execute(champions.update().where(here).values(row))
    return {"hand_id": p.hand_id, "champion": champion_answer({**row, "label": hand["label"]})}
