"""The content of a site: folders, pages with their lines, entities and statements with verdicts, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy import Connection, select

from armarium.api import Engine, Library, ServiceError, is_among, name_key
from armarium_checking.api import verdicts
from armarium_documents.api import documents, pages_under, primary_row
from armarium_exports.pages import Block, Line, readable_page
from armarium_exports.record_types import record_types
from armarium_exports.selection import Selection, list_tops
from armarium_iiif.api import Picture, picture
from armarium_source_model.api import (
    LineMaker,
    outline_of,
    segments,
    words_of_pass,
    words_of_sum,
    working_pass,
)

_REVIEWED = {"claim": ("shortlisted", "curated"), "entity": ("verified",)}
_NEVER = ("rejected", "merged")
KINDS = {"person": "people", "location": "places", "organization": "organizations", "event": "events"}


@dataclass
class Content:
    """The parts of a site that are small enough to be held in memory; pages are read one after another."""

    page_ids: list[str] = field(default_factory=list)
    folders: list[dict[str, Any]] = field(default_factory=list)
    loose: list[dict[str, Any]] = field(default_factory=list)
    """Pages that are in no folder of the site."""
    entities: list[dict[str, Any]] = field(default_factory=list)
    statements: list[dict[str, Any]] = field(default_factory=list)


def content_of(
    engine: Engine,
    conn: Connection,
    selection: Selection,
    target_id: str | None,
    *,
    recursive: bool,
    include_unreviewed: bool,
) -> Content:
    """Return the pages in reading order with their folders, and what is said about them."""
    document = documents.c
    roots = [target_id] if target_id is not None else list_tops(conn)
    pages = [page for page in pages_under(conn, roots) if page in selection.ids]
    if target_id is not None and not recursive:
        pages = [page for page in pages if page == target_id]
    rows = conn.execute(
        select(document.id, document.name, document.parent_id, document.doc_type, document.page_label).where(
            is_among(document.id, selection.ids)
        )
    )
    nodes = {row.id: row for row in rows}
    content = Content(pages)
    content.folders, content.loose = _folders(nodes, pages)
    _knowledge(engine, conn, selection, content, include_unreviewed=include_unreviewed)
    return content


def _folders(nodes: Mapping[str, Any], pages: list[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return folders that contain pages, in the order of their first page, each with its contents; and pages
    in no folder.
    """
    folders: dict[str, dict[str, Any]] = {}
    loose: list[dict[str, Any]] = []
    for page in pages:
        node = nodes[page]
        entry = {"id": page, "name": node.name, "label": node.page_label or node.name}
        if node.parent_id not in nodes:
            loose.append(entry)
            continue
        way = _way(nodes, node.parent_id)
        for number, folder_id in enumerate(way):
            if folder_id not in folders:
                folders[folder_id] = {
                    "id": folder_id,
                    "name": nodes[folder_id].name,
                    "first": page,
                    "count": 0,
                    "folders": [],
                    "pages": [],
                }
                if number:
                    folders[way[number - 1]]["folders"].append(
                        {"id": folder_id, "name": nodes[folder_id].name}
                    )
            folders[folder_id]["count"] += 1
        folders[way[-1]]["pages"].append(entry)
    tops = [folder for folder in folders.values() if nodes[folder["id"]].parent_id not in nodes]
    while not loose and len(tops) == 1 and not tops[0]["pages"]:
        # A folder that contains only the folders of a site would add a step to every path.
        del folders[tops[0]["id"]]
        tops = [folders[folder["id"]] for folder in tops[0]["folders"]]
    for folder in folders.values():
        way = [above for above in _way(nodes, folder["id"]) if above in folders]
        folder["parent_id"] = way[-2] if len(way) > 1 else None
        folder["trail"] = [{"id": above, "name": nodes[above].name} for above in way]
    return list(folders.values()), loose


def _way(nodes: Mapping[str, Any], folder_id: str) -> list[str]:
    """Return a folder with those above it, the topmost first."""
    way = [folder_id]
    while (parent := nodes[way[-1]].parent_id) in nodes:
        way.append(parent)
    return way[::-1]


def _knowledge(
    engine: Engine, conn: Connection, selection: Selection, content: Content, *, include_unreviewed: bool
) -> None:
    types = {record_type.name: record_type for record_type in record_types(engine)}

    def list_shown(name: str) -> Iterator[dict[str, Any]]:
        if name not in types:
            return
        for row in types[name].rows(conn, selection):
            state = row.get("curation_state")
            if state in _NEVER or (state not in _REVIEWED[name] and not include_unreviewed):
                continue
            yield row

    pages = set(content.page_ids)
    entities = {row["id"]: _entity(row) for row in list_shown("entity")}
    statements = [_statement(row, entities, pages) for row in list_shown("claim")]
    if "mention" in types:
        for row in types["mention"].rows(conn, selection):
            entity = entities.get(row.get("entity_id", ""))
            if entity is not None and row.get("document_id") in pages:
                entity["places"].append(_place(row, row.get("text") or entity["name"]))
    # What a verdict on an entity says may come from a withheld page that names it.
    unsure = _resting_on(types, conn, selection.withheld)
    by_target = _verdicts(conn, [*(entities.keys() - unsure), *(statement["id"] for statement in statements)])
    for entry in [*entities.values(), *statements]:
        entry["verdicts"] = by_target.get(entry["id"], [])
    for statement in statements:
        for entity_id in statement["entity_ids"]:
            entities[entity_id]["statements"].append(statement["id"])
    content.entities = sorted(entities.values(), key=lambda entity: (name_key(entity["name"]), entity["id"]))
    content.statements = statements


def _resting_on(types: Mapping[str, Any], conn: Connection, withheld: Mapping[str, str]) -> set[str]:
    """Return the entities that withheld documents name, or from which they were taken."""
    if not withheld:
        return set()
    of_them = Selection(frozenset(withheld), {}, False)
    entity_ids: set[str] = set()
    for name, key in (("entity", "id"), ("mention", "entity_id")):
        if name in types:
            entity_ids |= {row[key] for row in types[name].rows(conn, of_them) if row.get(key)}
    return entity_ids


def _entity(row: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(row.get("entity_type") or "other")
    return {
        "id": row["id"],
        "name": str(row.get("canonical_name") or "unnamed"),
        "kind": kind,
        "list": KINDS.get(kind, "others"),
        "names": [name.get("text") for name in row.get("names") or () if isinstance(name, Mapping)],
        "description": row.get("description"),
        "links": [
            {"authority": link.get("authority"), "uri": link.get("uri")}
            for link in row.get("authority_links") or ()
            if str(link.get("uri") or "").startswith(("http://", "https://"))
        ],
        "state": row.get("curation_state"),
        "places": [],
        "statements": [],
    }


def _statement(row: Mapping[str, Any], entities: Mapping[str, Any], pages: set[str]) -> dict[str, Any]:
    entity_ids = [row.get("subject_entity_id"), row.get("object_entity_id"), *(row.get("entity_ids") or ())]
    anchor = row.get("source_anchor") or {}
    document_id = row.get("source_document_id")
    source = None
    if document_id in pages:
        segment_id = row.get("segment_id") or anchor.get("segment_id")
        source = {"document_id": document_id, "segment_id": segment_id, "words": row.get("source_excerpt")}
    return {
        "id": row["id"],
        "text": str(row.get("text") or ""),
        "state": row.get("curation_state"),
        "standing": row.get("epistemic_status"),
        "entity_ids": [entity_id for entity_id in dict.fromkeys(entity_ids) if entity_id in entities],
        "source": source,
    }


def _place(row: Mapping[str, Any], words: str) -> dict[str, Any]:
    return {"document_id": row["document_id"], "segment_id": row.get("segment_id"), "words": words}


def _verdicts(conn: Connection, ids: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the verdicts, newest first, by what they are about."""
    verdict_columns = verdicts.c
    query = select(
        verdict_columns.target_id,
        verdict_columns.verdict,
        verdict_columns.reasons,
        verdict_columns.correction,
        verdict_columns.checker,
        verdict_columns.trust,
        verdict_columns.created_at,
    )
    by_target: dict[str, list[dict[str, Any]]] = {}
    for row in conn.execute(
        query.where(is_among(verdict_columns.target_id, ids)).order_by(
            verdict_columns.created_at.desc(), verdict_columns.id.desc()
        )
    ):
        by = (
            "a person"
            if row.trust == "person"
            else f"{row.checker.get('provider')}/{row.checker.get('model')}"
        )
        verdict = {"verdict": row.verdict, "reasons": row.reasons, "correction": row.correction, "by": by}
        by_target.setdefault(row.target_id, []).append(verdict | {"at": row.created_at[:10]})
    return by_target


def page_data(
    engine: Engine, library: Library, conn: Connection, page_id: str
) -> tuple[dict[str, Any], list[LineMaker], Picture | None]:
    """Return a page as the site shows it, who stands behind its lines, and its picture."""
    page = readable_page(engine, conn, page_id)
    try:
        image: Picture | None = picture(engine, library, page_id)
    except ServiceError:
        image = None
    rendition = None if image is None else primary_row(conn, page_id).rendition_id
    zones = _zones(conn, page_id, rendition) if image is not None else {}
    blocks = [_block(block, zones) for block in page.blocks]
    words = _words(conn, page_id, rendition) if image is not None else {}
    lines = [line for block in blocks for line in block.get("lines", ())]
    for number, line in enumerate(lines, 1):
        line["number"] = number
        line["stands"] = words.get(line["id"] or "", [])
    notes = [note for line in lines for note in line["notes"]]
    for number, note in enumerate(notes, 1):
        note["number"] = number
    data = {
        "id": page_id,
        "title": page.title,
        "language": page.language,
        "direction": "rtl" if page.is_rtl else "ltr",
        "blocks": blocks,
        "notes": notes,
        # The page ends it with a full stop.
        "made": ". ".join(
            filter(None, (words_of_sum(page.makers), " ".join(page.statements).removesuffix(".")))
        ),
    }
    return data, page.makers, image


def _block(block: Block, zones: Mapping[str, str]) -> dict[str, Any]:
    if block.rows is not None:
        return {"table": block.rows}
    return {"heading": block.is_heading, "lines": [_line(line, zones) for line in block.lines]}


def _line(line: Line, zones: Mapping[str, str]) -> dict[str, Any]:
    return {
        "text": line.text,
        "id": line.segment_id,
        "zone": zones.get(line.segment_id or ""),
        "notes": [{"text": note} for note in line.notes],
        "maker": line.maker.words if line.maker else None,
        "unchecked": line.maker is not None and not line.maker.by_person,
    }


def _zones(conn: Connection, page_id: str, rendition: str | None) -> dict[str, str]:
    """Return the outline of each line measured on the page's picture, in thousandths of its sides, as points
    of SVG.
    """
    pass_id, _ = working_pass(conn, page_id)
    segment = segments.c
    outlines = {}
    for row in conn.execute(
        select(segment.id, segment.anchor).where(segment.pass_id == pass_id, segment.deleted_at.is_(None))
    ):
        if row.anchor.get("rendition_id") not in (None, rendition):
            continue
        outlines[row.id] = _points(outline_of(row.anchor))
    return outlines


def _words(conn: Connection, page_id: str, rendition: str | None) -> dict[str, list[dict[str, str]]]:
    """Return the words of each line that somebody placed on the page's picture, with their outlines as `_zones`."""
    pass_id, _ = working_pass(conn, page_id)
    return {
        line_id: [
            {"text": word.text, "zone": _points(word.corners)}
            for word in words
            if word.rendition_id in (None, rendition)
        ]
        for line_id, words in (words_of_pass(conn, pass_id) if pass_id is not None else {}).items()
    }


def _points(points: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{1000 * x:.1f},{1000 * y:.1f}" for x, y in points)


def as_json(value: Any) -> bytes:
    """Return *value* as JSON that no HTML parser can mistake for markup."""
    return orjson.dumps(value).replace(b"<", b"\\u003c")
