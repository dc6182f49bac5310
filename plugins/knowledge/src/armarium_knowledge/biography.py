"""Everything the project knows of an entity, as text: names, description, dates, places, statements,
relations, sources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import inf
from typing import Any

from sqlalchemy import Connection

from armarium.api import is_among, now
from armarium_documents.api import documents_named, span_of
from armarium_knowledge.queries.claims import shown_claims, with_entity
from armarium_knowledge.queries.entities import entity, survivor_of
from armarium_knowledge.queries.graph import neighbourhood
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.claims import Claim, claims

MEDIA = {
    "markdown": ("md", "text/markdown"),
    "text": ("txt", "text/plain"),
    "json": ("json", "application/json"),
}
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+')
LONGEST_NAME = 80
"""The most characters of the name in a file name; with the id and in UTF-8 still shorter than any file system
allows.
"""


def biography(conn: Connection, entity_id: str) -> dict[str, Any]:
    """Return all of it as JSON; for a merged entity, that of the one it was merged into."""
    subject = entity(conn, entity_id)
    subject = entity(conn, survivor_of(conn, subject["id"]))
    left_out = HiddenKnowledge(conn).claims
    conditions = [
        with_entity(subject["id"]),
        claims.c.merged_into_id.is_(None),
        claims.c.curation_state != "rejected",
    ]
    if left_out:
        conditions.append(~is_among(claims.c.id, left_out))
    rows = shown_claims(conn, Claim.rows.all(conn, *conditions))
    rows.sort(key=lambda row: (*_in_time(row["time_start"]), row["created_at"], row["id"]))
    graph = neighbourhood(conn, subject["id"], depth=1, limit=1000)
    names = {node["id"]: node["canonical_name"] for node in graph["nodes"]}
    cited = dict.fromkeys([*(row["source_document_id"] for row in rows), *subject["source_document_ids"]])
    sources = documents_named(conn, [document_id for document_id in cited if document_id is not None])
    titles = {source["id"]: source["name"] for source in sources}
    return {
        "entity": subject,
        "names": subject["names"],
        "dates": subject["date_values"],
        "places": subject["place_values"],
        "statements": [_describe_statement(row, titles) for row in rows],
        "relations": [
            {**edge, "source_name": names[edge["source"]], "target_name": names[edge["target"]]}
            for edge in graph["edges"]
        ],
        "sources": [
            {key: source[key] for key in ("id", "name", "page_label", "date_original")} for source in sources
        ],
        "generated_at": now(),
    }


def _in_time(edtf: str | None) -> tuple[bool, float, str]:
    """Return what dates of EDTF are ordered by: those without a beginning come first, no date at all last."""
    span = span_of(edtf or "")
    return edtf is None, -inf if span is None else span.start, edtf or ""


def _describe_statement(row: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    fields = ("id", "text", "time_start", "time_end", "curation_state", "epistemic_status", "source_excerpt")
    label = ", ".join(row["source_page_labels"])
    title = titles.get(row["source_document_id"] or "")
    citation = None if title is None else f"{title}, {label}" if label and label != title else title
    return {
        **{name: row[name] for name in fields},
        "document_id": row["source_document_id"],
        "citation": citation,
    }


def write_biography(content: Mapping[str, Any], form: str) -> bytes:
    """Format a biography as markdown, text or json."""
    if form == "json":
        return json.dumps(content, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    return "\n".join(_write_lines(content, form == "markdown")).encode("utf-8", "surrogatepass") + b"\n"


def _write_lines(content: Mapping[str, Any], marked: bool) -> list[str]:
    about = content["entity"]
    plain = _one_line if not marked else _escape_words
    title = plain(about["canonical_name"])
    lines = [
        f"# {title}" if marked else title,
        "" if marked else "=" * len(title),
        f"{plain(about['entity_type'])}",
    ]

    def section(name: str, items: list[str]) -> None:
        if items:
            lines.extend(["", f"## {name}" if marked else name, *([""] if marked else ["-" * len(name)])])
            lines.extend(f"- {item}" for item in items)

    section("Names", [_format_name(name, plain) for name in content["names"]])
    if about["description"]:
        section("Description", [plain(about["description"])])
    section("Dates", [_format_date(date, plain) for date in content["dates"]])
    section("Places", [_format_place(place, plain) for place in content["places"]])
    section("Statements", [_format_statement(statement, plain) for statement in content["statements"]])
    section(
        "Relations",
        [
            f"{plain(relation['source_name'])} – {plain(relation['predicate']) or 'with'} – {plain(relation['target_name'])}"
            for relation in content["relations"]
        ],
    )
    section("Sources", [plain(source["name"]) for source in content["sources"]])
    return lines


def _one_line(words: str | None) -> str:
    return " ".join((words or "").split())


def _escape_words(words: str | None) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", _one_line(words))


def _format_name(name: Mapping[str, Any], plain: Any) -> str:
    marks = [name["romanized"], name["language"], name["script"], name["when"]]
    more = ", ".join(plain(mark) for mark in marks if mark)
    return f"{plain(name['text'])} ({more})" if more else plain(name["text"])


def _format_date(date: Mapping[str, Any], plain: Any) -> str:
    span = "/".join(filter(None, (date["iso_start"], date["iso_end"])))
    return f"{plain(date['as_written'])} ({span})" if span else plain(date["as_written"])


def _format_place(place: Mapping[str, Any], plain: Any) -> str:
    coordinates = f" ({place['lat']}, {place['lon']})" if place["lat"] is not None else ""
    return f"{plain(place['label'])}{coordinates}"


def _format_statement(statement: Mapping[str, Any], plain: Any) -> str:
    when = "/".join(filter(None, (statement["time_start"], statement["time_end"])))
    begun = f"{when}: " if when else ""
    source = f" [{plain(statement['citation'])}]" if statement["citation"] else ""
    return f"{begun}{plain(statement['text'])}{source}"


def file_name(about: Mapping[str, Any], form: str) -> str:
    """Return a name that every file system accepts: the entity's, and the first 8 characters of its id."""
    name = _UNSAFE.sub(" ", about["canonical_name"])
    name = " ".join(name.split()).strip(". ")[:LONGEST_NAME].strip(". ") or "entity"
    return f"{name}-{about['id'][:8]}.{MEDIA[form][0]}"
