"""What other families add to searching: scopes of the query language, and kinds of hits."""

from __future__ import annotations

from armarium.api import Engine
from armarium_search.hookspecs import Kind, Scope, armarium_search_kinds, armarium_search_scopes

ENTITY_SCOPES = ("people", "places", "organizations")


def scopes_of(engine: Engine) -> dict[str, list[Scope]]:
    """Return the scopes of the query language, by name; several may search under the same name, and those of entities are
    there in every project.
    """
    scopes: dict[str, list[Scope]] = {name: [] for name in ENTITY_SCOPES}
    for scope in engine.points.collect(armarium_search_scopes):
        scopes.setdefault(scope.name, []).append(scope)
    return scopes


def kinds_of(engine: Engine) -> dict[str, Kind]:
    """Return the kinds of hits that families add, by their word of `include`."""
    return {kind.name: kind for kind in engine.points.collect(armarium_search_kinds)}
