"""Converts a pass in the project to a page in pixels, from which every export starts; also a provisional one, the boxes of
an older result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from armarium_formats.as_filed import (
    drop_moved_glyphs,
    further_readings,
    further_texts,
    order_from,
    shapes_of,
)
from armarium_formats.driver import Loss, as_losses
from armarium_formats.marked_texts import lost_with_letters, mark_texts, of_letters
from armarium_formats.page_model import PageModel, PageOrder, PageSegment, PageText, checksum, kept_by
from armarium_source_model.api import (
    CountingText,
    LineMaker,
    ProvisionalPass,
    Reading,
    ReadingRule,
    ReadPass,
    SegmentRow,
    is_as_read,
    page_facts,
    read_pass,
    stored_places,
)


@dataclass(slots=True)
class AssembledPage:
    """A page ready to be written, and what had to be left out or decided."""

    page: PageModel
    segment_count: int
    readings: int
    losses: list[Loss] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    """The renditions that its shapes were measured on."""
    rows: dict[str, str] = field(default_factory=dict)
    """The ids of its segments in the project by those that they have in the file."""
    counting: dict[str, CountingText] = field(default_factory=dict)
    """The reading whose text a segment has, by the segment's id in the project."""
    every_reading: list[Reading] = field(default_factory=list)
    """All readings of its segments, of every kind, those that do not count too."""
    edited: set[str] = field(default_factory=set)
    """Ids in the project of segments whose text goes with the markup of the TEI file it was read from."""

    @property
    def reading_of(self) -> dict[str, str]:
        """The id of that reading."""
        return {segment_id: counting.representation_id for segment_id, counting in self.counting.items()}

    def state_makers(self, makers: Mapping[str, LineMaker]) -> None:
        """Say of the text of each line who stands behind it; *makers* by the ids of segments in the project."""
        for line in self.page.of_kind("line"):
            if line.texts and (maker := makers.get(self.rows[line.id])) is not None:
                line.texts[0].maker = maker


@dataclass(slots=True)
class _Part:
    """A segment with what is needed to order it among its siblings."""

    segment: PageSegment
    row_id: str
    rank: int
    sequence: int | None
    read_at: str | None
    is_empty: bool = False
    """Whether its file stated an empty text."""
    left: Sequence[str] = ()
    """What its file said of the letters of another text than the one that counts."""


def assemble(
    conn: Connection,
    document_id: str,
    pass_id: str,
    *,
    kind: str,
    rule: ReadingRule,
    size: tuple[int, int],
    imported: Mapping[str, Any] | None,
    sequence: Sequence[str] | None = None,
) -> AssembledPage:
    """Return the page of a pass in pixels of *size*. `imported` is what its import stored about the page.

    sequence: ids of segments in the order to export by, if other than as written.
    """
    read = read_pass(conn, document_id, pass_id, kind=kind, rule=rule)
    ranks = {identity: rank for rank, identity in enumerate(read.sequence)}
    further = further_readings(read)
    placed = stored_places(conn, [counting.representation_id for counting in read.counting.values()])
    rows = read.segments.values()
    page = PageModel(width=size[0], height=size[1])
    parts: dict[str, _Part] = {}
    frames: dict[str, None] = {}
    children: dict[str | None, list[_Part]] = {}
    for row in rows:
        if row.anchor.get("rendition_id"):
            frames[row.anchor["rendition_id"]] = None
        texts = further.get(row.id, ()) if kind == "transcription" else None
        parts[row.id] = _part(row, size, read, texts, ranks)
    for row in rows:
        parent = row.parent_segment_id if row.parent_segment_id in parts else None
        children.setdefault(parent, []).append(parts[row.id])
    for identity, counting in read.counting.items():
        stored = placed.get(counting.representation_id)
        if stored is not None and is_as_read(read.segments[identity], stored):
            parts[identity].segment.texts[0].places = stored.places.in_units(*size)
    moved = sum(drop_moved_glyphs(row, parts[row.id].segment, size) for row in rows)
    assembled = AssembledPage(
        page, len(rows), sum(1 for part in parts.values() if part.segment.texts), frames=list(frames)
    )
    assembled.counting, assembled.every_reading = read.counting, list(read.readings.values())
    assembled.edited = {
        identity
        for identity, part in parts.items()
        if any(kept_by("tei", text).get("xml") for text in part.segment.texts[:1])
    }
    for key, brothers in children.items():
        ordered = [part.segment for part in _brothers(brothers)]
        if key is None:
            page.segments = ordered
        else:
            parts[key].segment.children = ordered
    if moved:
        assembled.losses.append(
            Loss(
                "places of characters",
                moved,
                "their word has another shape than in the file, or the picture another size",
            )
        )
    assembled.losses += lost_with_letters(
        Counter(what for part in parts.values() for what in part.left),
        empty=sum(part.is_empty and not part.segment.texts for part in parts.values()),
    )
    _settle_texts(assembled, page.segments, {id(part.segment): part for part in parts.values()})
    _settle_ids(parts)
    assembled.rows = {part.segment.id: identity for identity, part in parts.items()}
    if imported:
        _give_back(page, imported, {part.segment.id for part in parts.values() if part.sequence is None})
    by_row = {identity: part.segment for identity, part in parts.items()}
    assembled.losses += mark_texts(conn, pass_id, by_row, page.extras)
    state_facts(conn, page, document_id, pass_id)
    if sequence is not None:
        _reorder(assembled, [parts[identity].segment for identity in sequence if identity in parts])
    order_regions(page)
    return assembled


def state_facts(conn: Connection, page: PageModel, document_id: str, pass_id: str | None) -> None:
    """Set the language, script and direction stated for the page."""
    facts = page_facts(conn, document_id, pass_id)
    # A file has one place for what is stated of the whole page, by whomever: the page, what it is part of, the project.
    page.language = fact.stated if (fact := facts.first("language")) else page.language
    page.script = fact.stated if (fact := facts.first("script")) else page.script
    page.direction = fact.stated if (fact := facts.first("direction")) else page.direction


def order_regions(page: PageModel) -> None:
    """Name the regions in order, if nothing else does."""
    if page.order is None and len(page.segments) > 1:
        regions = [segment.id for segment in _top_in_order(page) if segment.kind == "region"]
        page.order = PageOrder(items=[PageOrder(region) for region in regions]) if regions else None


def _reorder(assembled: AssembledPage, in_order: Sequence[PageSegment]) -> None:
    """Put the page into a named order: regions by their first part in it, lines within their region.

    A page already in that order is unchanged, including the groups of its file.
    """
    page = assembled.page
    ids = {id(segment) for segment in in_order}
    if [id(segment) for segment in page.in_order() if id(segment) in ids] == [
        id(segment) for segment in in_order
    ]:
        return
    page.order = PageOrder(items=[PageOrder(segment.id) for segment in in_order])
    line_ids = [segment.id for segment in in_order if segment.kind == "line"]
    top = _top_in_order(page)
    regions = [segment.id for segment in top if segment.kind == "region"]
    for segment in page.walk():
        segment.children = _settle_positions(segment.in_order(page.order))
    page.segments = _settle_positions(top)
    page.order = PageOrder(items=[PageOrder(region) for region in regions]) if regions else None
    lines = set(line_ids)
    page_line_ids = [segment.id for segment in page.in_order() if segment.id in lines]
    apart = sum(
        1 for line_id, page_line_id in zip(line_ids, page_line_ids, strict=False) if line_id != page_line_id
    )
    why = "the order alternates between regions; in a file, lines are within their region"
    assembled.losses += as_losses({("places of lines in the order", why): apart})


def _settle_positions(brothers: list[PageSegment]) -> list[PageSegment]:
    """Renumber siblings, positions stated by the file included."""
    if any(segment.position is not None for segment in brothers):
        for number, segment in enumerate(brothers):
            segment.position = number
    return brothers


def _top_in_order(page: PageModel) -> list[PageSegment]:
    top = {id(segment) for segment in page.segments}
    return [segment for segment in page.in_order() if id(segment) in top]


def _part(
    row: SegmentRow,
    size: tuple[int, int],
    read: ReadPass,
    further: Sequence[Reading] | None,
    ranks: Mapping[str, int],
) -> _Part:
    """One row as a segment: polygon else rect in pixels, its counting text, and what its import kept."""
    filed: dict[str, Any] = row.metadata.get("format") or {}
    points, path = shapes_of(row.anchor, row.baseline, filed, row.metadata, size)
    segment = PageSegment(
        id=filed.get("id") or f"s{row.id}",
        kind=row.kind,
        kind_raw=row.kind_raw,
        points=points,
        baseline=path,
        is_furniture=row.is_furniture,
        language=row.language,
        script=row.script,
        direction=row.direction,
        cell=row.cell,
        confidence=row.confidence,
        position=filed.get("position"),
        extras=filed.get("extras"),
    )
    read_at: str | None = None
    lost: list[str] = []
    counting = read.counting.get(row.id)
    if counting is not None:
        reading = read.readings[counting.representation_id]
        read_at, text = reading.created_at, PageText(counting.text, reading.confidence)
        first = filed.get("text")
        if first and first["of"] == checksum(counting.text):
            text.extras = first["extras"]
        elif first:
            lost = of_letters(first["extras"])
        segment.texts = [text]
    if further is not None and segment.texts and counting is not None:
        segment.texts += further_texts(counting.representation_id, further, filed)
    rank = ranks.get(row.id, len(ranks))
    return _Part(segment, row.id, rank, filed.get("sequence"), read_at, "empty" in filed, lost)


def _brothers(parts: list[_Part]) -> list[_Part]:
    """Order siblings as in the file; new ones come after the one they follow on the page."""
    numbered = sorted(
        (part for part in parts if part.sequence is not None), key=lambda part: part.sequence or 0
    )
    new = [part for part in parts if part.sequence is None]
    if not numbered or not new:
        return numbered or sorted(new, key=lambda part: part.rank)
    following: dict[int | None, list[_Part]] = {}
    last: int | None = None
    for part in sorted(parts, key=lambda part: part.rank):
        if part.sequence is not None:
            last = id(part)
        else:
            following.setdefault(last, []).append(part)
    ordered = following.get(None, [])[:]
    for part in numbered:
        ordered += [part, *following.get(id(part), ())]
    if any(part.segment.position is not None for part in numbered):
        # Stated positions (readingOrder {index:…}) have to make room: all brothers are numbered anew.
        read = following.get(None, [])[:]
        for part in sorted(
            numbered, key=lambda part: (part.segment.position is None, part.segment.position or 0)
        ):
            read += [part, *following.get(id(part), ())]
        for number, part in enumerate(read):
            part.segment.position = number
    return ordered


def _settle_texts(
    assembled: AssembledPage, segments: Sequence[PageSegment], parts: Mapping[int, _Part]
) -> None:
    """Omit texts that a later correction above or below has superseded."""
    renewed = dropped = 0
    lost: Counter[str] = Counter()

    def newest_below(segment: PageSegment) -> str:
        newest = ""
        for child in segment.children:
            own = parts[id(child)].read_at or ""
            newest = max(newest, own, newest_below(child))
        return newest

    def settle(segment: PageSegment) -> None:
        nonlocal renewed, dropped
        own = parts[id(segment)].read_at
        if segment.kind == "line" and own is not None:
            for word in segment.children:
                if word.texts and (parts[id(word)].read_at or "") < own:
                    lost.update(of_letters(word.texts[0].extras or {}))
                    word.texts = []
                    dropped += 1
        if segment.kind == "region" and own is not None and newest_below(segment) > own:
            texts = [part.text for part in segment.walk() if part.kind == "line" and part.text]
            segment.texts = [PageText("\n".join(texts))]
            renewed += 1
        for child in segment.children:
            settle(child)

    for segment in segments:
        settle(segment)
    why = "they are older than a reading of their lines; written anew from the lines"
    assembled.losses += as_losses({("texts of regions", why): renewed})
    assembled.losses += lost_with_letters(lost)
    why = "they are older than the reading of their line, which counts"
    assembled.losses += as_losses({("texts of words", why): dropped})


def _settle_ids(parts: Mapping[str, _Part]) -> None:
    """Make ids unique: a copy of an imported segment gets its own."""
    ids: set[str] = set()
    for part in sorted(
        parts.values(), key=lambda part: (part.sequence is None, part.sequence or 0, part.row_id)
    ):
        if part.segment.id in ids:
            part.segment.id = f"s{part.row_id}"
        ids.add(part.segment.id)


def _give_back(page: PageModel, imported: Mapping[str, Any], added: set[str]) -> None:
    """Restore what the import stored about the page as a whole: its order without deleted and with new
    segments.

    Regions that the file left out of its order stay out of it.
    """
    page.image = imported.get("image") or ""
    page.language = imported.get("language")
    page.script = imported.get("script")
    page.direction = imported.get("direction")
    page.extras = imported.get("extras") or {}
    filed_order = imported.get("order")
    if filed_order:
        alive = {segment.id for segment in page.walk()}
        order = order_from(filed_order, alive)
        if order is not None:
            order.items += [PageOrder(segment.id) for segment in _top_in_order(page) if segment.id in added]
        page.order = order


def assemble_provisional(
    conn: Connection, document_id: str, provisional: ProvisionalPass, *, kind: str, size: tuple[int, int]
) -> AssembledPage:
    """Return the page as it will be once the boxes are segments, in pixels of *size*. A box has only a
    transcription.
    """
    page = PageModel(*size)
    rows: dict[str, str] = {}
    for box in provisional.segments:
        points, baseline = shapes_of(box["anchor"], box["baseline"], {}, box["metadata"], size)
        segment = PageSegment(
            f"box-{box['box_index']}",
            box["kind"],
            points=points,
            baseline=baseline,
            confidence=box["confidence"],
            texts=[PageText(box["text"], maker=provisional.maker)]
            if box["text"] and kind == "transcription"
            else [],
        )
        rows[segment.id] = box["id"]
        page.segments.append(segment)
    state_facts(conn, page, document_id, None)
    order_regions(page)
    readings = sum(1 for segment in page.segments if segment.texts)
    return AssembledPage(page, len(page.segments), readings, rows=rows)
