"""The choice of candidates of a bake-off: the best three by the rules, a print engine beside them, and one of
each kind of reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from armarium_recipes.schemas.bakeoffs import Role
from armarium_recipes.schemas.cards import Card

Kind = Literal["linereader", "platform", "vision", "cloud", "print"]
TOP = 3
HANDWRITING, PRINTED = "handwriting", ("print", "typescript")
LOCAL_MODEL_SERVERS = ("mlx", "local-server", "vision")

ABSENT: dict[Kind, tuple[str, str]] = {
    "linereader": ("Line reader", "There is no line reader on this machine."),
    "platform": (
        "Text recognition of the operating system",
        "This system has no text recognition that the engine can call.",
    ),
    "vision": (
        "Vision model on this machine",
        ("There is no vision model on this machine, nor one served on it."),
    ),
    "cloud": (
        "Model on other machines",
        "No provider of models elsewhere is set up with a key.",
    ),
}
"""For each kind that a bake-off asks for, its name and the sentence to show if there is none."""


@dataclass(frozen=True)
class Contender:
    """A card in the table, its role, and the reason why it cannot be scored, if there is one."""

    card: Card | None
    kind: Kind
    role: Role
    why: str | None = None


def kind_of_card(card: Card, is_print_engine: Callable[[Card], bool]) -> Kind:
    """Return which kind of reader a card describes."""
    runtime = card.id.partition(":")[0]
    if card.runs_where == "provider" or runtime == "cloud":
        return "cloud"
    if runtime == "platform":
        return "platform"
    if runtime in LOCAL_MODEL_SERVERS or card.provider is not None:
        return "vision"
    return "print" if is_print_engine(card) else "linereader"


def speaks(card: Card, languages: Sequence[str]) -> bool:
    """Return whether a card names one of *languages*, or any language."""
    subtags = {tag.partition("-")[0].lower() for tag in languages}
    return not card.languages or any(tag.partition("-")[0].lower() in subtags for tag in card.languages)


def choose_contenders(
    ranked: Sequence[Card],
    *,
    material: str,
    languages: Sequence[str],
    is_print_engine: Callable[[Card], bool],
) -> list[Contender]:
    """Return the candidates of a bake-off of readers, from cards in the order of `rank`: ranked ones first,
    then refused ones.
    """

    def find_kind(card: Card) -> Kind:
        return kind_of_card(card, is_print_engine)

    # A card that only chooses among readers is not one itself.
    readers = [card for card in ranked if not card.id.startswith("builtin:")]
    able = [card for card in readers if material != HANDWRITING or find_kind(card) != "print"]
    best = [card for card in able if card.rule_rank is not None and card.in_recipe_rules][:TOP]
    chosen = [Contender(card, find_kind(card), "rule-rank", _refusal(card)) for card in best]
    if material in PRINTED:
        chosen_ids = {contender.card.id for contender in chosen if contender.card is not None}
        engine = next(
            (
                card
                for card in able
                if find_kind(card) == "print" and card.id not in chosen_ids and speaks(card, languages)
            ),
            None,
        )
        if engine is not None:
            chosen.append(Contender(engine, "print", "print-baseline", _refusal(engine)))
    for kind, (_, why) in ABSENT.items():
        if any(contender.kind == kind for contender in chosen):
            continue
        first = next((card for card in able if find_kind(card) == kind), None)
        reason = why if first is None else _refusal(first)
        chosen.append(Contender(first, kind, "contender", reason))
    return chosen


def _refusal(card: Card) -> str | None:
    if card.refused is not None:
        return card.refused.reason
    if card.runs_where == "this_mac" and not card.installed:
        return card.availability_words or "It is not on this machine."
    return None
