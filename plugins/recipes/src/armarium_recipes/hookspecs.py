"""The extension point of recipes: cards of models."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Engine, Library, hookspec
from armarium_recipes.schemas.cards import Card


@hookspec
def armarium_recipes_cards(engine: Engine, library: Library | None) -> Sequence[Card]:
    """Return cards of models that the plugin offers.

    Called in the thread of a read or job; must make no request. Of two cards with one id, ours or that of the plugin loaded
    first wins.
    """
