"""A page as every format driver sees it: segments with pixel shapes and texts, an order, and a format's
extras.

The model is independent of XML. What a file states and no field can hold goes into `extras`, under the name
of the driver that understands it, so that the same driver can write it back.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from armarium_source_model.api import LetterPlaces, LineMaker

Point: TypeAlias = tuple[float, float]
"""x and y in pixels of the page's image, origin top left."""

SegmentKind: TypeAlias = Literal["region", "line", "word"]


@dataclass(frozen=True, slots=True)
class TextMark:
    """A statement about the characters *start* to *end* of a text (both None: all of it).

    `kind` is that of an editorial fact (`FACT_KINDS`), whose `stated` holds reason, place, certainty, extent,
    quantity, unit, source; `sign`, with the `sign`'s key; or what else a file says: person, place, organization
    (`ref`: an address that identifies it), date (`when`), abbreviation (`expansion`), style (`rend`), divided (part of
    a word over a line's end: its `whole`), and for anything else its own word, in `name`. Other details stand under
    the file's names. `source` is, by driver, how the file writes it.
    """

    kind: str
    start: int | None = None
    end: int | None = None
    stated: Mapping[str, str] = field(default_factory=dict)
    source: Mapping[str, str] = field(default_factory=dict)

    def span_in(self, text: str) -> tuple[int, int]:
        """Return the characters of *text*, whose mark it is."""
        if self.start is None or self.end is None:
            return (len(text) if self.kind == "lost" else 0), len(text)
        return self.start, self.end


FACT_KINDS = frozenset({"unclear", "lost", "restored", "supplied", "superfluous", "deleted", "added"})
"""The kinds of editorial facts."""


@dataclass(frozen=True, slots=True)
class PageHand:
    """A hand of the page: its label and description (scribe, date, place, style, notes)."""

    label: str
    stated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageSign:
    """A sign of the page: its name, its character if it has a code point, its numbers in lists."""

    name: str
    character: str | None = None
    references: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class PageStatement:
    """What a family states of the page's text as a whole, in a sentence: what it is about, when it was stated, by whom."""

    about: str
    sentence: str
    date: str
    by: str


@dataclass(slots=True)
class PageText:
    """One text of a segment. `confidence` 0 to 1; `kind` as readings have it. `maker`: who stands behind it, where
    the project knows. `places`: where its letters stand, in pixels, where a reader has said so.
    """

    text: str
    confidence: float | None = None
    kind: str = "transcription"
    extras: dict[str, Any] | None = None
    marks: Sequence[TextMark] = ()
    maker: LineMaker | None = None
    places: LetterPlaces | None = None


@dataclass(slots=True)
class PageSegment:
    """A region, line or word.

    `points` is the outline in pixels, empty if the file has none; `baseline` runs in writing direction.
    `texts[0]` is the text that counts, others are alternatives. `position` is the place among its siblings
    that the file states; without it they are in document order. `kind_raw` is the file's own word for its
    type. `line_order` is how the lines of a region follow each other: tb, bt, lr or rl. `shape_of` is the
    segment of the project that lent its shape.
    """

    id: str
    kind: SegmentKind
    kind_raw: str | None = None
    points: list[Point] = field(default_factory=list)
    baseline: list[Point] = field(default_factory=list)
    texts: list[PageText] = field(default_factory=list)
    children: list[PageSegment] = field(default_factory=list)
    position: int | None = None
    is_furniture: bool = False
    language: str | None = None
    script: str | None = None
    direction: str | None = None
    confidence: float | None = None
    cell: dict[str, int] | None = None
    extras: dict[str, Any] | None = None
    line_order: str | None = None
    shape_of: str | None = None
    hand: str | None = None
    """The key of one of the page's hands."""
    seconds: tuple[float, float] | None = None
    """Of a line of a recording: when it is heard, from and to."""

    @property
    def text(self) -> str:
        """Return the text that counts, empty if it has none."""
        return self.texts[0].text if self.texts else ""

    @property
    def place_in_table(self) -> tuple[int, int]:
        """Return its row and column, from 0."""
        return (self.cell or {}).get("row", 0), (self.cell or {}).get("column", 0)

    def walk(self) -> Iterator[PageSegment]:
        """Yield this segment and all below it, parents first, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def in_order(self, order: PageOrder | None = None) -> list[PageSegment]:
        """Return its children in reading order: by *order*, by stated position if each has one, else in
        document order.
        """
        return _rank_siblings(order_siblings(self.children), _ranks(order))


@dataclass(slots=True)
class PageOrder:
    """A node of the reading order: a group if it has `items`, else a reference to a segment by id.

    A group may also belong to a region (`segment_id`), whose parts it orders.
    """

    segment_id: str | None = None
    items: list[PageOrder] = field(default_factory=list)
    is_ordered: bool = True
    extras: dict[str, Any] | None = None

    def walk(self) -> Iterator[PageOrder]:
        """Yield this node and all below it."""
        yield self
        for item in self.items:
            yield from item.walk()


@dataclass(slots=True)
class PageModel:
    """One page: its image's name and size in pixels, its top-level segments, its order.

    `notes` state each deviation that the reader tolerated; `kept` counts what is in extras, by a readable
    label; `unknown_classes` are the file's own words for types of regions without a counterpart here.
    """

    width: int
    height: int
    image: str = ""
    segments: list[PageSegment] = field(default_factory=list)
    order: PageOrder | None = None
    language: str | None = None
    script: str | None = None
    direction: str | None = None
    extras: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    version: str | None = None
    unknown_classes: list[str] = field(default_factory=list)
    line_order: str | None = None
    hands: dict[str, PageHand] = field(default_factory=dict)
    signs: dict[str, PageSign] = field(default_factory=dict)
    """By keys that are lawful ids of XML and stand nowhere else."""
    statements: Sequence[PageStatement] = ()

    @property
    def proportion(self) -> float | None:
        """The width divided by the height; None where the file gives no size."""
        return self.width / self.height if self.width > 0 and self.height > 0 else None

    def walk(self) -> Iterator[PageSegment]:
        """Yield every segment, parents first, in document order."""
        for segment in self.segments:
            yield from segment.walk()

    def of_kind(self, kind: SegmentKind) -> list[PageSegment]:
        """Return every segment of one kind, in document order."""
        return [segment for segment in self.walk() if segment.kind == kind]

    def lines(self) -> list[PageSegment]:
        """Return every line, in reading order."""
        return [segment for segment in self.in_order() if segment.kind == "line"]

    def makers(self) -> list[LineMaker]:
        """Return who stands behind the texts of its lines, as far as is known."""
        return [
            segment.texts[0].maker
            for segment in self.of_kind("line")
            if segment.texts and segment.texts[0].maker
        ]

    def in_order(self) -> list[PageSegment]:
        """Return every segment once, in reading order, parents before children.

        The explicit order comes first; what it does not name follows by stated position or in document order.
        """
        segments: list[PageSegment] = []
        ids: set[int] = set()

        def take(segment: PageSegment) -> None:
            if id(segment) in ids:
                return
            ids.add(id(segment))
            segments.append(segment)
            for child in _rank_siblings(segment.in_order(), ranks):
                take(child)

        ranks = _ranks(self.order)
        for segment in _rank_siblings(order_siblings(self.segments), ranks):
            take(segment)
        return segments


def checksum(text: str) -> int:
    """Return a checksum by which an export, or a reader, sees whether a text is still the one that was filed."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def keep_for(driver: str, part: PageSegment | PageText, key: str, value: Any) -> None:
    """Keep in the extras of a driver something that the model has no field for."""
    part.extras = part.extras or {}
    part.extras.setdefault(driver, {})[key] = value


def kept_by(driver: str, thing: PageSegment | PageText | PageOrder) -> dict[str, Any]:
    """Return what *driver* kept of a thing beyond the model; changes to it are kept only if there is something."""
    return (thing.extras or {}).get(driver) or {}


def order_siblings(segments: list[PageSegment]) -> list[PageSegment]:
    """Order siblings by stated position if every one states it, else keep document order."""
    if segments and all(segment.position is not None for segment in segments):
        return sorted(segments, key=lambda segment: segment.position or 0)
    return list(segments)


def misses_places(segments: list[PageSegment]) -> bool:
    """Return whether stated positions of some siblings are ignored because others state none, and the order
    differs.
    """
    positions = [segment.position for segment in segments if segment.position is not None]
    return 0 < len(positions) < len(segments) and positions != sorted(positions)


def _ranks(order: PageOrder | None) -> dict[str, int]:
    """Return the segments that an order names, each with its rank."""
    ranks: dict[str, int] = {}
    for node in order.walk() if order is not None else ():
        if node.segment_id is not None:
            ranks.setdefault(node.segment_id, len(ranks))
    return ranks


def _rank_siblings(segments: list[PageSegment], ranks: dict[str, int]) -> list[PageSegment]:
    """Move siblings named in the explicit order to its sequence; the others keep their places.

    A sibling counts as named if something inside it is: regions of a table, say.
    """
    if not ranks:
        return segments
    keyed: list[tuple[int, PageSegment]] = []
    for segment in segments:
        own = ranks.get(segment.id)
        if own is None and segment.kind == "region":
            inside = [ranks[part.id] for part in segment.walk() if part.id in ranks]
            own = min(inside) if inside else None
        if own is not None:
            keyed.append((own, segment))
    places = iter(segment for _, segment in sorted(keyed, key=lambda pair: pair[0]))
    keyed_ids = {id(segment) for _, segment in keyed}
    return [next(places) if id(segment) in keyed_ids else segment for segment in segments]
