"""Who takes part in a bake-off: the best three by rule, a print engine beside them, and one of each kind of reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from armarium_recipes.schemas.bakeoffs import Role
from armarium_recipes.schemas.cards import Card

Kind = Literal["linereader", "platform", "vision", "cloud", "print"]
TOP = 3
LINE_READER = "linereader:"
"""What the ids of the line reader's cards begin with."""
HANDWRITING, PRINTED = "handwriting", ("print", "typescript")
LOCAL_MODEL_SERVERS = ("mlx", "local-server", "vision")

ABSENT: dict[Kind, tuple[str, str]] = {
    "linereader": ("Line reader", "No line reader is on this machine."),
    "platform": (
        "Text recognition of the operating system",
        "This system has no text recognition of its own that the engine can call.",
    ),
    "vision": ("Vision model of this machine", "No vision model is on this machine, nor served on it."),
    "cloud": ("Cloud reader", "No provider of models elsewhere is set up with a key."),
}
"""Of each kind that a bake-off asks for, its name and what is said where there is none."""


@dataclass(frozen=True)
class Contender:
    """A card in the table, in what role, and, where it cannot be scored whatever is on this machine, why."""

    card: Card | None
    kind: Kind
    role: Role
    why: str | None = None


def kind_of_card(card: Card, is_print_engine: Callable[[Card], bool]) -> Kind:
    """Which kind of reader a card is of."""
    runtime = card.id.partition(":")[0]
    if card.runs_where == "provider" or runtime == "cloud":
        return "cloud"
    if runtime == "platform":
        return "platform"
    if runtime in LOCAL_MODEL_SERVERS or card.provider is not None:
        return "vision"
    return "print" if is_print_engine(card) else "linereader"


def speaks(card: Card, languages: Sequence[str]) -> bool:
    """Whether a card names one of *languages*, or reads any."""
    wanted = {tag.partition("-")[0].lower() for tag in languages}
    return not card.languages or any(tag.partition("-")[0].lower() in wanted for tag in card.languages)


def choose_contenders(
    ranked: Sequence[Card],
    *,
    material: str,
    languages: Sequence[str],
    is_print_engine: Callable[[Card], bool],
) -> list[Contender]:
    """The candidates of a bake-off of readers, out of cards in the order of `rank`: those ranked, then those refused."""

    def kind(card: Card) -> Kind:
        return kind_of_card(card, is_print_engine)

    # What only chooses among readers is none itself.
    readers = [card for card in ranked if not card.id.startswith("builtin:")]
    able = [card for card in readers if material != HANDWRITING or kind(card) != "print"]
    best = [card for card in able if card.rule_rank is not None and card.in_recipe_rules][:TOP]
    chosen = [Contender(card, kind(card), "rule-rank", _refusal(card)) for card in best]
    if material in PRINTED:
        taken = {one.card.id for one in chosen if one.card is not None}
        engine = next(
            (one for one in able if kind(one) == "print" and one.id not in taken and speaks(one, languages)),
            None,
        )
        if engine is not None:
            chosen.append(Contender(engine, "print", "print-baseline", _refusal(engine)))
    for wanted, (_, why) in ABSENT.items():
        if any(one.kind == wanted for one in chosen):
            continue
        found = next((card for card in able if kind(card) == wanted), None)
        said = why if found is None else _refusal(found)
        chosen.append(Contender(found, wanted, "contender", said))
    return chosen


def _refusal(card: Card) -> str | None:
    if card.refused is not None:
        return card.refused.reason
    if card.runs_where == "this_mac" and not card.installed:
        return card.availability_words or "It is not on this machine."
    return None
