"""All cards of this machine, from every source that needs no network."""

from __future__ import annotations

from collections.abc import Callable

from armarium.api import Engine, Library
from armarium_recipes.cards.installed import installed_cards, provider_cards
from armarium_recipes.cards.repository import repository_cards
from armarium_recipes.cards.shipped import shipped_cards
from armarium_recipes.cards.trained import trained_cards, with_scores
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import CardChoice

CARDS = "model_cards"
"""The name under which a plugin's `extras` hold functions (engine, library) that answer cards of its own."""


def cards_here(engine: Engine, library: Library | None) -> list[Card]:
    """Shipped, installed, trained and contributed cards, those of the repository as it was last listed, and models of
    providers that are set up. Each id once: the first that has it. Asks no network."""
    found: dict[str, Card] = {}
    for source in _sources(engine):
        for card in source(engine, library):
            found.setdefault(card.id, card)
    return with_scores(list(found.values()), engine, library)


def find_card(engine: Engine, library: Library | None, choice: CardChoice) -> Card | None:
    """The card that *choice* names, where it is among those of this machine."""
    return next((card for card in cards_here(engine, library) if card.id == choice.id), None)


def _sources(engine: Engine) -> list[Callable[[Engine, Library | None], list[Card]]]:
    return [
        lambda engine, library: list(shipped_cards(engine)),
        lambda engine, library: list(trained_cards(engine, library)),
        lambda engine, library: list(installed_cards(engine)),
        lambda engine, library: repository_cards(engine),
        *(collect for _, collect in engine.plugins.contributions(CARDS)),
        lambda engine, library: list(provider_cards(engine)),
    ]
