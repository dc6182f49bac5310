"""The row of a candidate from the start: what it is, where it runs, what it would cost. Scores are added when
it is answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium_recipes.bakeoffs.contenders import ABSENT, Contender
from armarium_recipes.schemas.cards import Card

STATED = (
    *("pin", "reader", "model", "provider", "rule_rank"),
    *("carbon_g_per_page", "trainable", "size_gb", "material"),
)
"""What a row takes from its card as it is."""


def row_of(contender: Contender, volume: int) -> dict[str, Any]:
    """Return the row of a contender, or of a kind for which there is no card."""
    if contender.card is None:
        return {
            **_facts(f"{contender.kind}:none@0", ABSENT[contender.kind][0]),
            "role": contender.role,
            "not_scored": contender.why,
            "cost_usd": {"value": None, "basis": "unknown", "from": "There is no such reader here."},
            "local": contender.kind != "cloud",
        }
    card, is_local = contender.card, contender.card.runs_where == "this_mac"
    return {
        **_facts(card.id, card.name),
        **{name: getattr(card, name) for name in STATED},
        "role": contender.role,
        "runs_on": "this-machine" if is_local else f"cloud:{card.provider or card.id}",
        "local": is_local,
        "cost_usd": cost_of(card, volume),
        "carbon_from": "Its card states it." if card.carbon_g_per_page is not None else None,
        "not_scored": contender.why,
        # It is about the figures that the card states, or says that there are none; those of this row are measured.
        "note": None if contender.why is None else card.note,
    }


def _facts(card: str, name: str) -> dict[str, Any]:
    return {
        "card": card,
        "name": name,
        "pin": {},
        "reader": None,
        "model": None,
        "provider": None,
        "rule_rank": None,
        "runs_on": "this-machine",
        "carbon_g_per_page": None,
        "carbon_from": None,
        "power": None,
        "trainable": False,
        "size_gb": 0.0,
        "material": [],
        "note": None,
        "measured_as": None,
    }


def carbon_of(power: Mapping[str, float], cpu_seconds_per_page: float) -> dict[str, Any]:
    """Return grams of carbon dioxide a page, from the electricity a person stated and the processor time of the run."""
    watts, grid = power["watts"], power["grid_g_per_kwh"]
    return {
        "carbon_g_per_page": round(cpu_seconds_per_page * watts / 3_600_000 * grid, 6),
        "carbon_from": f"Estimate: {cpu_seconds_per_page:g} CPU-seconds a page in this run, at {watts:g} watts and {grid:g} grams "
        "a kilowatt-hour, as stated.",
    }


def cost_of(card: Card, volume: int) -> dict[str, Any]:
    """Return the cost of reading *volume* pages: nothing on this machine, otherwise by the price its card states."""
    if card.runs_where != "provider":
        return {"value": 0.0, "basis": "measured", "from": "It runs on this machine, free of charge."}
    if card.cost_per_page is None:
        return {"value": None, "basis": "unknown", "from": "The price of this model is unknown."}
    return {
        "value": round(card.cost_per_page * volume, 4),
        "basis": "estimate",
        "from": f"{volume} pages at {card.cost_per_page} US dollars, the price its card states.",
    }
