"""All cards of this machine, from every source that needs no network."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from armarium.api import Engine, Library
from armarium_recipes.cards.hub import kept_cards
from armarium_recipes.cards.installed_models import installed_cards, provider_cards
from armarium_recipes.cards.repository import repository_cards
from armarium_recipes.cards.shipped_cards import shipped_cards
from armarium_recipes.cards.trained_models import trained_cards, with_scores
from armarium_recipes.hookspecs import armarium_recipes_cards
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import Override, Recipe

BECAUSE = {
    "shipped": "It is in the catalogue shipped with the engine.",
    "installed": "It is among the models on this machine.",
    "linereader-repository": "It is published in the line readers' repository.",
    "model-hub": "It was found on the model hub.",
    "cloud": "A provider that is set up serves it.",
}
"""Why a card is offered, by its source."""
BECAUSE_OF_PROVIDER = "The provider {} serves it."


def cards_here(engine: Engine, library: Library | None) -> list[Card]:
    """Return shipped, installed, trained and contributed cards, those of the repository as last listed, and
    models of the providers that are set up. If an id occurs twice, the first wins. Makes no request.
    """
    cards: dict[str, Card] = {}
    for source in _sources(engine):
        for card in source(engine, library):
            cards.setdefault(card.id, _with_because(card))
    return with_scores(list(cards.values()), engine, library)


def cards_for(engine: Engine, library: Library | None, ids: Iterable[str]) -> list[Card]:
    """Like `cards_here`, plus the cards with *ids* that were listed from the model hub earlier, which the rules
    never choose but a person may.
    """
    cards = cards_here(engine, library)
    lacking = set(ids) - {card.id for card in cards}
    return cards + (kept_cards(engine, lacking) if lacking else [])


def _with_because(card: Card) -> Card:
    """Return *card* with the reason why it is offered, if its source does not state one."""
    if card.offered_because:
        return card
    because = BECAUSE_OF_PROVIDER.format(card.provider) if card.provider else BECAUSE[card.source]
    return card.model_copy(update={"offered_because": because})


def chosen_ids(recipe: Recipe | None, overrides: Iterable[Override] = ()) -> set[str]:
    """Return the ids of the cards that a recipe's steps and overrides name."""
    steps = recipe.steps if recipe is not None else ()
    return {step.card.id for step in steps if step.card is not None} | {
        override.card.id for override in overrides
    }


def _sources(engine: Engine) -> list[Callable[[Engine, Library | None], list[Card]]]:
    return [
        lambda engine, library: list(shipped_cards(engine)),
        lambda engine, library: list(trained_cards(engine, library)),
        lambda engine, library: list(installed_cards(engine)),
        lambda engine, library: repository_cards(engine),
        lambda engine, library: [
            card for cards in engine.points.ask(armarium_recipes_cards, engine, library) for card in cards
        ],
        lambda engine, library: list(provider_cards(engine)),
    ]
