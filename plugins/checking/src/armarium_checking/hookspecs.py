"""The extension points of checking: layers of what can be checked, selections to measure, and what speaks for a reading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlalchemy import Connection

from armarium.api import JobContext, hookspec
from armarium_reading.api import Picture

if TYPE_CHECKING:
    from armarium.api import Engine, Library, Principal


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


@hookspec
def armarium_checking_selected(
    engine: Engine, library: Library, conn: Connection, by: Literal["query", "hand"], value: str
) -> Collection[str] | None:
    """Return the documents that a search finds, or the segments attributed to a hand; None: the family knows no such
    selection. Raises the family's refusal of a search or a hand that there is not.

    Called within the step that draws a sample. The first answer that is not None wins.
    """


@hookspec
def armarium_checking_taught(
    library: Library, conn: Connection, models: Collection[str]
) -> Mapping[str, Collection[str]]:
    """Return, of these models and readers, the pages and segments whose text is known to have taught them, by model.

    Called within the step that draws a sample: a line whose text taught the reader that is measured is never drawn. All
    answers count.
    """


@hookspec
def armarium_checking_pages_with(
    conn: Connection, words: Sequence[str], most: int
) -> Mapping[str, Sequence[str]] | None:
    """Return, by each of these folded words that stands somewhere, at most *most* pages with it.

    Called in the thread of a read, with the caller's connection, when lines with the same error are looked for. Without
    an answer all texts are looked through. The first answer that is not None wins.
    """


@hookspec
def armarium_checking_ink_says(
    engine: Engine,
    library: Library,
    conn: Connection,
    principal: Principal,
    lines: Sequence[tuple[str, str, str]],
    seconds: float,
) -> Mapping[int, float] | None:
    """Return, by the number of the line, how much likelier the ink is under another text than under what was read: the
    logarithm of the ratio. *lines*: segment, what was read, the other text; the likeliest proposals first. Lines of which
    nothing is known, and those for which *seconds* did not suffice, are left out.

    Called in the thread of a read, with the caller's connection, where somebody asked for it. The first answer that is not None
    wins.
    """
