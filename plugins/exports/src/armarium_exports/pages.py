"""Pages as text to be read: headings, paragraphs of lines, tables, and notes on what is unclear or restored."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Engine, ServiceError, is_among, parse_xml
from armarium_documents.api import annotation_table, documents, pages_under
from armarium_exports.selection import list_tops
from armarium_formats.api import PageSegment, page_of_pass, statements_about
from armarium_source_model.api import (
    LineMaker,
    first_strong_direction,
    is_provisional,
    ladder_of_pass,
    page_facts,
    page_text,
    pages_transcribed,
    reading_rule,
    working_pass,
)

_HEADINGS = ("heading", "header", "title")
_NOTES = {
    "unclear": "unclear", "supplied": "supplied", "gap": "illegible or lost", "del": "deleted",
    "add": "added", "surplus": "surplus", "sic": "sic",
}  # fmt: skip
"""Elements of TEI that become a note, and its words."""


@dataclass(slots=True)
class Line:
    """A line of a page. *notes* comment on passages in it."""

    text: str
    notes: list[str] = field(default_factory=list)
    segment_id: str | None = None
    is_rtl: bool = False
    maker: LineMaker | None = None


@dataclass(slots=True)
class Block:
    """A paragraph, or a heading of the page itself, or a table."""

    lines: list[Line] = field(default_factory=list)
    is_heading: bool = False
    rows: list[list[str]] | None = None


@dataclass(slots=True)
class ReadablePage:
    """A page in readable form. *makers*: who stands behind its lines, those of tables included."""

    document_id: str
    title: str
    blocks: list[Block] = field(default_factory=list)
    is_rtl: bool = False
    language: str | None = None
    makers: list[LineMaker] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    """What families state of its text as a whole, in sentences."""
    furniture: int = 0
    """Lines with a text that are left out, because they are not text of the page: headers, folios, stamps."""

    @property
    def has_text(self) -> bool:
        """Whether anything of it was read."""
        return any(block.rows or any(line.text.strip() for line in block.lines) for block in self.blocks)

    @property
    def lines(self) -> Iterator[Line]:
        """Return every line, except those of tables."""
        for block in self.blocks:
            yield from block.lines


def readable_page(engine: Engine, conn: Connection, document_id: str) -> ReadablePage:
    """Return the page with the counting transcriptions of its working pass; without a pass, with its own text."""
    document = documents.c
    name, label, content = conn.execute(
        select(document.name, document.page_label, document.page_content).where(document.id == document_id)
    ).one()
    page = ReadablePage(document_id, f"{name} ({label})" if label and label != name else name)
    pass_id, _ = working_pass(conn, document_id, reading_rule(conn))
    facts = page_facts(conn, document_id, pass_id)
    direction = getattr(facts.first("direction"), "value", None)
    page.is_rtl = direction == "rtl"
    page.language = getattr(facts.first("language"), "value", None)
    if pass_id is None:
        page.blocks = _of_text(content or "", direction)
        return page
    if is_provisional(pass_id):
        page.blocks = _of_text(page_text(conn, document_id, rule=reading_rule(conn)).text, direction)
        return page
    assembled, _ = page_of_pass(conn, document_id, pass_id, engine=engine)
    page.makers = assembled.page.makers()
    furniture = [segment for segment in assembled.page.walk() if segment.is_furniture]
    inside = {
        line.id for segment in furniture for line in segment.walk() if line.kind == "line" and _text(line)
    }
    page.furniture = len(inside)
    page.statements = [statement.sentence for statement in statements_about(engine, conn, document_id)]
    remarks = _remarks(conn, document_id)
    page.blocks = list(_blocks(assembled.page.in_order(), assembled.rows, remarks))
    ladder = ladder_of_pass(conn, document_id, pass_id)
    for line in page.lines:
        line.is_rtl = _is_rtl(line.text, ladder.value("direction", line.segment_id))
    return page


def _is_rtl(text: str, direction: str | None) -> bool:
    """Return whether a line runs from right to left: as stated, else by its first strongly directional letter."""
    return (direction or first_strong_direction(text)) == "rtl"


def _of_text(text: str, direction: str | None) -> list[Block]:
    return [
        Block([Line(line, is_rtl=_is_rtl(line, direction)) for line in paragraph.split("\n")])
        for paragraph in text.replace("\r\n", "\n").split("\n\n")
        if paragraph.strip()
    ]


def _remarks(conn: Connection, document_id: str) -> dict[str, list[str]]:
    """Return people's notes on lines: segment to text."""
    annotation = annotation_table.c
    query = (
        select(annotation.targets, annotation.text)
        .where(annotation.document_id == document_id, annotation.text.is_not(None))
        .order_by(annotation.id)
    )
    by_segment: dict[str, list[str]] = {}
    for targets, text in conn.execute(query):
        for target in targets or ():
            by_segment.setdefault(target.get("segment_id", ""), []).append(text)
    return by_segment


def _blocks(
    ordered: Sequence[PageSegment], rows: dict[str, str], remarks: dict[str, list[str]]
) -> Iterator[Block]:
    """Turn regions in reading order into blocks; lines in no region become a paragraph of their own."""
    inside: set[str] = set()
    places = {id(segment): place for place, segment in enumerate(ordered)}
    loose = Block()
    for segment in ordered:
        if segment.id in inside or segment.is_furniture:
            inside.update(page_segment.id for page_segment in segment.walk())
            continue
        if segment.kind == "region":
            if loose.lines:
                yield loose
                loose = Block()
            block, ids = _of_region(segment, rows, remarks, places)
            inside.update(ids)
            if block.lines or block.rows:
                yield block
        else:
            inside.update(page_segment.id for page_segment in segment.walk())
            loose.lines += [_line(segment, rows, remarks)] if _text(segment) else []
    if loose.lines:
        yield loose


def _of_region(
    region: PageSegment, rows: dict[str, str], remarks: dict[str, list[str]], places: dict[int, int]
) -> tuple[Block, set[str]]:
    cells = [segment for segment in region.walk() if segment.cell is not None]
    if cells:
        ids = {segment.id for segment in region.walk()}
        return Block(rows=_table(cells)), ids
    parts = [segment for segment in region.in_order() if segment.kind != "region"]
    parts.sort(key=lambda part: places.get(id(part), len(places)))
    ids = {region.id, *(inner.id for part in parts for inner in part.walk())}
    lines = [_line(part, rows, remarks) for part in parts if not part.is_furniture and _text(part)]
    if not lines and region.text and not any(child.kind == "region" for child in region.children):
        lines = [Line(line) for line in region.text.split("\n")]
    is_heading = any(word in (region.kind_raw or "").casefold() for word in _HEADINGS)
    return Block(lines, is_heading=is_heading), ids


def _table(cells: Sequence[PageSegment]) -> list[list[str]]:
    places = [(cell.cell or {}, cell) for cell in cells]
    down = max(int(cell.get("row", 0)) for cell, _ in places) + 1
    across = max(int(cell.get("column", 0)) for cell, _ in places) + 1
    if down > 2_000 or across > 200:
        down, across = min(down, 2_000), min(across, 200)
    table = [["" for _ in range(across)] for _ in range(down)]
    for cell, segment in places:
        row, column = int(cell.get("row", 0)), int(cell.get("column", 0))
        if 0 <= row < down and 0 <= column < across:
            table[row][column] = " ".join(filter(None, (table[row][column], _whole_text(segment))))
    return table


def _whole_text(segment: PageSegment) -> str:
    return _text(segment) or " ".join(
        filter(None, (_whole_text(page_segment) for page_segment in segment.in_order()))
    )


def _text(segment: PageSegment) -> str:
    if segment.text:
        return segment.text
    return " ".join(
        page_segment.text
        for page_segment in segment.in_order()
        if page_segment.kind == "word" and page_segment.text
    )


def _line(segment: PageSegment, rows: dict[str, str], remarks: dict[str, list[str]]) -> Line:
    row_id = rows.get(segment.id, segment.id)
    maker = segment.texts[0].maker if segment.texts else None
    return Line(_text(segment), [*_of_markup(segment), *remarks.get(row_id, ())], row_id, maker=maker)


def _of_markup(segment: PageSegment) -> list[str]:
    """Return notes for what the markup of a reading marks as unclear, restored or lost."""
    extras: Any = segment.texts[0].extras if segment.texts else None
    xml = ((extras or {}).get("tei") or {}).get("xml")
    if not isinstance(xml, str):
        return []
    try:
        root = parse_xml(f"<line>{xml}</line>".encode(), name="a reading")
    except ServiceError:
        return []
    notes = []
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        word = _NOTES.get(element.tag.rpartition("}")[2])
        if word:
            words = "".join(str(piece) for piece in element.itertext()).strip()
            reason = element.get("reason")
            notes.append(f"{f'“{words}”: ' if words else ''}{word}{f' ({reason})' if reason else ''}")
    return notes


@dataclass(frozen=True, slots=True)
class Unit:
    """The content of one file: a page, or a document with its pages."""

    id: str
    title: str
    page_ids: tuple[str, ...]


def split_with_text(
    conn: Connection, page_ids: Sequence[str], barred: Collection[str]
) -> list[dict[str, str]]:
    """Return the transcribed pictures for which parts without a text stand among *page_ids* that are not *barred*, as
    `LeftOut`.
    """
    document, part = documents.c, documents.alias()
    unread = {page_id for page_id in page_ids if page_id not in barred} - pages_transcribed(conn, page_ids)
    wholes = (
        select(document.id, document.name)
        .distinct()
        .join(part, part.c.parent_id == document.id)
        .where(
            is_among(part.c.id, unread),
            document.doc_type.in_(("page", "file")),
            ~is_among(document.id, page_ids),
        )
    )
    names = {row.id: row.name for row in conn.execute(wholes)}
    return [
        {
            "document_id": whole,
            "why": f"{names[whole]} is split; the text of the whole picture is left out. Read its parts, or unsplit it.",
        }
        for whole in sorted(pages_transcribed(conn, list(names)))
    ]


def units_of(conn: Connection, per: str, scope_ids: Sequence[str] | None = None) -> list[Unit]:
    """Return pages in reading order, each alone or grouped by document or folder.

    A folder is what *scope_ids* names, else each node at the top of the project. A document is the outermost group or file above a page below the nearest folder; a page directly in a
    folder is a document of its own.
    """
    document = documents.c
    if scope_ids is None:
        scope_ids = list_tops(conn)
    pages = pages_under(conn, scope_ids)
    rows = conn.execute(
        select(document.id, document.name, document.parent_id, document.doc_type).where(
            document.deleted_at.is_(None)
        )
    )
    nodes = {row.id: row for row in rows}
    if per == "folder":
        return [
            Unit(scope_id, nodes[scope_id].name, tuple(pages_under(conn, [scope_id])))
            for scope_id in scope_ids
            if scope_id in nodes
        ]
    if per == "page":
        return [Unit(page, nodes[page].name, (page,)) for page in pages if page in nodes]
    gathered: dict[str, list[str]] = {}
    for page in pages:
        if page not in nodes:
            continue
        owner = nodes[page]
        while owner.parent_id in nodes and nodes[owner.parent_id].doc_type != "folder":
            owner = nodes[owner.parent_id]
        gathered.setdefault(owner.id, []).append(page)
    return [Unit(identity, nodes[identity].name, tuple(inner)) for identity, inner in gathered.items()]
