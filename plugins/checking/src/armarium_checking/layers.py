"""Layers: what can be checked. Each is a contribution; readings are this family's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Engine, Invalid, JobContext, NotFound, Placement
from armarium_checking.errors import unknown_checker, unknown_layer
from armarium_reading.api import Picture, placed_with_provider

EXTRAS = "check_layers"
"""The name under which a plugin's `extras` hold its layers."""


class Target(NamedTuple):
    """Where a proposal stands."""

    document_id: str | None
    segment_id: str | None = None


class Opinion(NamedTuple):
    """What a checker says of one proposal; a correction goes with the verdict `correct`."""

    target_id: str
    verdict: str
    reasons: str
    correction: str | None = None
    episode_id: str | None = None
    """The call of the model that said so."""


class PagePart(NamedTuple):
    """What a checker says of some of the proposals on a page, or of all; written in one step."""

    asked: int
    """Proposals that it was asked about."""
    opinions: Sequence[Opinion]
    answered: int = 1
    """How many times it gave an answer, be it that it does not know."""
    last: bool = True
    """Whether nothing is left on the page."""
    keys: Sequence[str] = ()
    """What it was asked about, so that a run that goes on does not ask again."""
    refused: str = ""
    """Why the others got none."""


class Proposal(NamedTuple):
    """One proposal as a model is shown it, in a call of its own."""

    target_id: str
    words: str
    """Of a source: it is told that nothing in them is an instruction."""
    text: str = ""
    """What a correction must differ from."""
    segment_id: str | None = None
    picture: Picture | None = None
    also: tuple[str, ...] = ()
    """Other documents whose words are shown with it: their rights are asked too."""

    @property
    def key(self) -> str:
        """Its line, whose reading may be another after a correction; else itself."""
        return self.segment_id or self.target_id


CheckPage = Callable[[JobContext, str], PagePart]
"""Checks the proposals on a page, given by its id, without a model; made anew for each run."""


@dataclass(frozen=True)
class Layer:
    """Proposals of one sort, with those who can check them."""

    name: str
    find: Callable[[Connection, str], Target | None]
    """Where the proposal of an id stands; None where there is none."""
    checkers: Mapping[tuple[str, str], Callable[[JobContext], CheckPage]]
    """(provider, model) to what begins a run of it."""
    replace: Callable[[Any, str, str, str], str | None] | None = None
    """Writes a correction beside what was checked (step, id of the proposal, text, kind) and answers its id; none: it is kept on the
    verdict for a person to take."""
    show: Callable[[JobContext, str, bool], Sequence[Proposal]] | None = None
    """The proposals on a page as a provider's model is shown them, with pictures where it sees; None: no model can check it."""
    prompt: str = ""
    """What a model is asked of each."""
    said: Callable[[Any, str, str, bool], None] | None = None
    """What a verdict moves in what it is about (step, id of the proposal, verdict, whether a person gave it); none: nothing."""


def layers_of(engine: Engine) -> dict[str, Layer]:
    """All layers by name."""
    return {
        layer.name: layer
        for plugin in engine.plugins.loaded
        for layer in plugin.extras.get(EXTRAS, ())
        if isinstance(layer, Layer)
    }


def layer_named(engine: Engine, name: str) -> Layer:
    """The layer of that name; the refusal that names those there are."""
    known = layers_of(engine)
    if name not in known:
        raise unknown_layer(name, known)
    return known[name]


def find_placement(
    engine: Engine, layer: Layer, checker: tuple[str, str], *, pages_may_leave: bool = False
) -> Placement:
    """Where *checker* (provider and model) checks; Forbidden where pages would leave unasked, NotFound where there is none."""
    if checker in layer.checkers:
        return Placement()
    try:
        if layer.show is not None:
            return placed_with_provider(engine, *checker, pages_may_leave=pages_may_leave)
    except (Invalid, NotFound):
        # A provider or model that the engine does not have is no checker either.
        pass
    raise unknown_checker(*checker, ("/".join(one) for one in layer.checkers))
