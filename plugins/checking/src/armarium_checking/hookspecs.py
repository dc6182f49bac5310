"""The extension point of checking: layers, that is, what can be checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import JobContext, hookspec
from armarium_reading.api import Picture


class Target(NamedTuple):
    """The page and segment of a proposal."""

    document_id: str | None
    segment_id: str | None = None


class Opinion(NamedTuple):
    """A checker's verdict on one proposal; a correction accompanies the verdict `correct`."""

    target_id: str
    verdict: str
    reasons: str
    correction: str | None = None
    episode_id: str | None = None
    """The model call that gave the verdict."""


class PagePart(NamedTuple):
    """A checker's verdicts on some or all of the proposals of a page; written in one step."""

    asked: int
    """The number of proposals it was asked about."""
    opinions: Sequence[Opinion]
    answered: int = 1
    """How many answers it gave, including those that it does not know."""
    last: bool = True
    """Whether the page is finished."""
    keys: Sequence[str] = ()
    """The proposals it was asked about, so that a resumed run does not ask again."""
    refused: str = ""
    """Why the others got no answer."""


class Proposal(NamedTuple):
    """One proposal as it is shown to a model, in a call of its own."""

    target_id: str
    words: str
    """Texts from a source: the model is told that nothing in them is an instruction."""
    text: str = ""
    """The text from which a correction must differ."""
    segment_id: str | None = None
    picture: Picture | None = None
    also: tuple[str, ...] = ()
    """Other documents whose words are shown with it: their rights are checked too."""

    @property
    def key(self) -> str:
        """Its line, whose reading may change with a correction; otherwise the proposal itself."""
        return self.segment_id or self.target_id


CheckPage = Callable[[JobContext, str], PagePart]
"""Checks the proposals on a page, given by its id, without a model; a new one is made for each run."""


@dataclass(frozen=True)
class Layer:
    """Proposals of one kind, with their checkers."""

    name: str
    find: Callable[[Connection, str], Target | None]
    """Returns the page and segment of a proposal by its id; None if it does not exist."""
    checkers: Mapping[tuple[str, str], Callable[[JobContext], CheckPage]]
    """(provider, model) to the function that starts a run of that checker."""
    replace: Callable[[Any, str, str, str], str | None] | None = None
    """Writes a correction beside what was checked (step, id of the proposal, text, kind) and returns its id;
    None: the correction is stored with the verdict, for a person to use.
    """
    show: Callable[[JobContext, str, bool], Sequence[Proposal]] | None = None
    """Returns the proposals on a page as they are shown to a provider's model, with pictures if it accepts
    them; None: no model can check the layer.
    """
    prompt: str = ""
    """The question a model is asked about each."""
    said: Callable[[Any, str, str, bool], None] | None = None
    """Called with a verdict (step, id of the proposal, verdict, whether a person gave it) to change what it
    is about; None: nothing changes.
    """


@hookspec
def armarium_checking_layers() -> Sequence[Layer]:
    """State the layers of proposals that the family adds.

    Called once, when an engine is assembled. Of two layers of one name, that of the plugin loaded last wins.
    """
