"""The contract of a format driver (entry-point group `armarium.formats`): its properties, reading,
writing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from armarium.api import Conflict, Invalid
from armarium_formats.page_model import FACT_KINDS, PageModel


@dataclass(frozen=True, slots=True)
class ReadContext:
    """The context of the bytes: file name, size of the page image in pixels, files beside it."""

    filename: str = "file"
    page_size: tuple[int, int] | None = None
    companions: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WriteContext:
    """Who writes and when: `created` is RFC 3339 in UTC, `creator` the program's name and version. `citation` is a line
    that says of which page at which step the file is a copy; a format that has a place for it states it.
    """

    created: str = "1970-01-01T00:00:00.000Z"
    creator: str = "Armarium"
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the written file lacks: what, how often, why."""

    what: str
    count: int
    why: str


class MarkWords(NamedTuple):
    """What a loss of marks counts: the kind of one, and its words."""

    kind: str
    words: str


CALLED = {"person": "name", "place": "name", "organization": "name", "divided": "divided word"}
CALLED |= {kind: kind for kind in ("date", "abbreviation", "style")} | dict.fromkeys(
    FACT_KINDS, "editorial fact"
)
"""What marks are called in a loss."""


What = TypeVar("What", str, MarkWords, str | MarkWords)


def as_losses(counted: Mapping[tuple[What, str], int]) -> list[Loss]:
    """Return losses by what and why, those that there are; marks of one kind and reason are one loss that names them ("2 names: ...")."""
    losses: list[Loss] = []
    marks: dict[tuple[str, str], list[MarkWords]] = {}
    for (lost, why), count in counted.items():
        if isinstance(lost, MarkWords):
            marks.setdefault((CALLED.get(lost.kind, "mark"), why), []).extend([lost] * count)
        elif count:
            losses.append(Loss(lost, count, why))
    for (kind, why), marked in marks.items():
        counted_kind = f"{len(marked)} {kind}{'' if len(marked) == 1 else 's'}"
        words = ", ".join(" ".join(mark.words.split()) for mark in marked if mark.words.strip())
        losses.append(Loss(f"{counted_kind}: {words}" if words else counted_kind, len(marked), why))
    return losses


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page as the text of a file, and what that file could not carry."""

    content: str
    losses: Sequence[Loss] = ()


@runtime_checkable
class FormatDriver(Protocol):
    """A format. A class without arguments; one instance is used from many threads and has no state.

    `sniff`, `read`, `write` and `validate` are pure functions: no files, no network, no clock. A refusal is a
    `ServiceError` (usually `Invalid`) with a sentence; any other exception counts as a bug of the driver and
    is answered as 422 naming it. `exercise_format` of `armarium_testing.formats` checks a driver
    against all of this.
    """

    name: ClassVar[str]
    """Lower case; what paths and bodies call it, and the name of its entry point."""
    label: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    """With the dot, lower case, the usual one first."""
    reads: ClassVar[bool]
    writes: ClassVar[bool]
    validated: ClassVar[bool]
    """Whether `validate` checks against a schema; an export that fails is never given out."""
    versions: ClassVar[tuple[str, ...]]
    aliases: ClassVar[tuple[str, ...]]
    """Other names it answers to, lower case."""

    def sniff(self, data: bytes) -> float:
        """Return the certainty, 0 to 1, that the bytes are this format, by content alone. Must not raise. The
        highest wins.
        """
        ...

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        """Return the pages of a file, at least one. Parse XML with `armarium.api.parse_xml`, HTML with
        `parse_html`.
        """
        ...

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        """Return one page as a file. Everything not carried is a `Loss`; nothing is left out silently."""
        ...

    def validate(self, content: str) -> list[str]:
        """Return what is wrong with a written file, in words; empty if it is valid."""
        ...


class Format:
    """A base for drivers that neither reads nor writes, so that a small driver states only what it does."""

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    extensions: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[bool] = False
    writes: ClassVar[bool] = False
    validated: ClassVar[bool] = False
    versions: ClassVar[tuple[str, ...]] = ()
    aliases: ClassVar[tuple[str, ...]] = ()
    file_ending: ClassVar[str] = ""
    """How its files end in folders that hold those of several formats, `.page.xml`; empty: its first extension."""
    places_words: ClassVar[bool] = False
    """Whether it has a place for words in lines, so that those whose place a reader stated are given to it as segments."""
    carries: ClassVar[frozenset[str]] = frozenset()
    """Which of `marks.KINDS` it writes; an export counts the others as losses."""

    def sniff(self, data: bytes) -> float:
        return 0.0

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        raise Invalid(f"{self.label} can be written here, but not read.", code="format_not_readable")

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        raise Conflict(f"{self.label} can be read here, but not written.", code="format_not_writable")

    def validate(self, content: str) -> list[str]:
        return []
