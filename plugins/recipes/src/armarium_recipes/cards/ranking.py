"""The order in which the rules choose cards, and the reason, in words, for each card they refuse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict, Unpack

from armarium_recipes.cards.shipped_cards import primary_subtag
from armarium_recipes.schemas.cards import Card, Refusal

FREE_GB = 2.0
"""Memory that must remain free beside a model."""

LAST = math.inf


class Conditions(TypedDict):
    """What a model must suit. Memory in GB; None: unknown, and no card is refused for it."""

    scripts: Sequence[str]
    languages: Sequence[str]
    materials: Sequence[str]
    memory_gb: float | None
    cloud_allowed: bool


def rank(cards: Iterable[Card], *, job: str, **conditions: Unpack[Conditions]) -> list[Card]:
    """Return the cards that do *job*: those the rules would choose, with `rule_rank` from 1, then the others
    with `refused`.

    The order: the CER in bands of one point (a CER
    measured here before a published one; cards with neither last), local before remote, cheaper, faster, less
    carbon, trainable, smaller (among models that only their authors measured, which come after the others: better by
    their figures), the card's id. A stand-in for a model comes after all cards that do the whole work.
    """
    accepted: list[Card] = []
    refused: list[Card] = []
    for card in cards:
        if job not in card.jobs:
            continue
        why = refusal_of(card, **conditions)
        changed = {"rule_rank": None, "refused": why}
        (accepted if why is None else refused).append(card.model_copy(update=changed))
    accepted.sort(key=lambda card: order_of(card, conditions["languages"]))
    ranked = [card.model_copy(update={"rule_rank": place}) for place, card in enumerate(accepted, start=1)]
    return [*ranked, *sorted(refused, key=lambda card: (not card.in_recipe_rules, card.id))]


def cer_of(card: Card, languages: Sequence[str]) -> float | None:
    """Return the CER a card is ranked by: the one measured here, otherwise the published one if the card
    names all of *languages*.
    """
    if card.cer_measured_here is not None:
        return card.cer_measured_here
    if card.cer_published is None:
        return None
    card_languages = {primary_subtag(tag) for tag in card.languages}
    return card.cer_published if all(primary_subtag(tag) in card_languages for tag in languages) else None


def is_known(card: Card, languages: Sequence[str]) -> bool:
    """Return whether a card is not a download that nobody measured."""
    return card.availability != "download" or cer_of(card, languages) is not None


def band_of(cer: float | None) -> float:
    """Return the band of one point that *cer* (0.1 is ten points) lies in; an unknown CER comes last."""
    # A CER such as 0.07 is slightly less than seven hundredths in binary; it belongs to the seventh band.
    return LAST if cer is None else math.floor(round(cer * 100, 6))


def order_of(
    card: Card, languages: Sequence[str]
) -> tuple[bool, float, bool, float, float, float, bool, tuple[float, float], str]:
    """Return the sort key of cards."""
    return (
        card.stands_in,
        band_of(cer_of(card, languages)),
        card.runs_where != "this_mac",
        LAST if card.cost_per_page is None else card.cost_per_page,
        LAST if card.pages_per_hour is None else -card.pages_per_hour,
        LAST if card.carbon_g_per_page is None else card.carbon_g_per_page,
        not card.trainable,
        (band_of(card.cer_of_authors or 0), card.size_gb),
        card.id,
    )


def refusal_of(card: Card, **conditions: Unpack[Conditions]) -> Refusal | None:
    """Return the first reason why the rules refuse *card*; None if they accept it. As `refusals_of`."""
    return next(refusals_of(card, **conditions), None)


def refusals_of(card: Card, **conditions: Unpack[Conditions]) -> Iterator[Refusal]:
    """Return every reason why the rules refuse *card*, in the order in which problems are listed."""
    languages, memory_gb = conditions["languages"], conditions["memory_gb"]
    if not card.in_recipe_rules:
        why = card.note or "It is outside the catalogue."
        yield Refusal(kind="not-here", reason=f"The rules choose only models of the catalogue. {why}")
    lacking = [script for script in conditions["scripts"] if card.scripts and script not in card.scripts]
    if lacking:
        yield Refusal(
            kind="no-model-for-script",
            reason=f"{card.name} does not read the script {_words(lacking)}; it reads {_words(card.scripts)}.",
        )
    card_languages = {primary_subtag(tag) for tag in card.languages}
    if languages and card_languages and not any(primary_subtag(tag) in card_languages for tag in languages):
        yield Refusal(
            kind="no-model-for-language",
            reason=f"{card.name} does not read the language {_words(languages)}; it reads {_words(card.languages)}.",
        )
    missing = [
        material
        for material in conditions["materials"]
        if material != "text" and card.material and material not in card.material
    ]
    if missing:
        yield Refusal(
            kind="no-reader-for-material",
            reason=f"{card.name} is not made for {_words(missing)}; it is made for {_words(card.material)}.",
        )
    if not card.open_licence:
        yield Refusal(
            kind="licence-not-accepted",
            reason=f"The licence of {card.name} ({card.licence or 'none is stated'}) must be accepted by a person first.",
        )
    if card.runs_where == "provider" and not conditions["cloud_allowed"]:
        yield Refusal(
            kind="cloud-not-allowed",
            reason=f"{card.name} runs on another machine, and pages may not leave this one.",
        )
    if card.availability == "not_here":
        yield Refusal(kind="not-here", reason=card.availability_words)
    if memory_gb is not None and card.memory_gb + FREE_GB > memory_gb and card.runs_where == "this_mac":
        yield Refusal(
            kind="not-enough-memory",
            reason=(
                f"{card.name} needs {card.memory_gb:g} GB of memory and {FREE_GB:g} GB are kept free; this machine has "
                f"{memory_gb:g} GB."
            ),
        )


def _words(names: Sequence[str]) -> str:
    first = list(names[:12])
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")
