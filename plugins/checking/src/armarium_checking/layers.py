"""Layers: what can be checked. Plugins contribute them; this family's own is readings."""

from __future__ import annotations

from armarium.api import Engine, Invalid, NotFound, Placement
from armarium_checking.errors import unknown_checker, unknown_layer
from armarium_checking.hookspecs import Layer, armarium_checking_layers
from armarium_reading.api import placed_with_provider


def layers_of(engine: Engine) -> dict[str, Layer]:
    """Return all layers by name."""
    return {layer.name: layer for layer in engine.points.collect(armarium_checking_layers)}


def layer_named(engine: Engine, name: str) -> Layer:
    """Return the layer of that name. Raises a refusal that names the existing ones."""
    layers = layers_of(engine)
    if name not in layers:
        raise unknown_layer(name, layers)
    return layers[name]


def find_placement(
    engine: Engine, layer: Layer, checker: tuple[str, str], *, pages_may_leave: bool = False
) -> Placement:
    """Return where *checker* (provider and model) runs: in the engine, or at its provider. Raises Forbidden if
    pages would leave without permission, Invalid if there is no such checker.
    """
    if checker in layer.checkers:
        return Placement()
    try:
        if layer.show is not None:
            return placed_with_provider(engine, *checker, pages_may_leave=pages_may_leave)
    except (Invalid, NotFound):
        # A provider or model unknown to the engine is not a checker either.
        pass
    raise unknown_checker(*checker, ("/".join(checker) for checker in layer.checkers))
