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
    found = entity(conn, entity_id)
    found = entity(conn, survivor_of(conn, found["id"]))
    left_out = HiddenKnowledge(conn).claims
    where = [
        with_entity(found["id"]),
        claims.c.merged_into_id.is_(None),
        claims.c.curation_state != "rejected",
    ]
    if left_out:
        where.append(~is_among(claims.c.id, left_out))
    rows = shown_claims(conn, Claim.rows.all(conn, *where))
    rows.sort(key=lambda one: (*_in_time(one["time_start"]), one["created_at"], one["id"]))
    graph = neighbourhood(conn, found["id"], depth=1, limit=1000)
    names = {one["id"]: one["canonical_name"] for one in graph["nodes"]}
    cited = dict.fromkeys([*(one["source_document_id"] for one in rows), *found["source_document_ids"]])
    sources = documents_named(conn, [one for one in cited if one is not None])
    titles = {one["id"]: one["name"] for one in sources}
    return {
        "entity": found,
        "names": found["names"],
        "dates": found["date_values"],
        "places": found["place_values"],
        "statements": [_statement(one, titles) for one in rows],
        "relations": [
            {**edge, "source_name": names[edge["source"]], "target_name": names[edge["target"]]}
            for edge in graph["edges"]
        ],
        "sources": [
            {key: one[key] for key in ("id", "name", "page_label", "date_original")} for one in sources
        ],
        "generated_at": now(),
    }


def _in_time(written: str | None) -> tuple[bool, float, str]:
    """Return what dates of EDTF are ordered by: those without a beginning come first, no date at all last."""
    span = span_of(written or "")
    return written is None, -inf if span is None else span.start, written or ""


def _statement(one: Mapping[str, Any], titles: Mapping[str, str]) -> dict[str, Any]:
    told = ("id", "text", "time_start", "time_end", "curation_state", "epistemic_status", "source_excerpt")
    label = ", ".join(one["source_page_labels"])
    title = titles.get(one["source_document_id"] or "")
    citation = None if title is None else f"{title}, {label}" if label and label != title else title
    return {
        **{name: one[name] for name in told},
        "document_id": one["source_document_id"],
        "citation": citation,
    }


def write_biography(found: Mapping[str, Any], form: str) -> bytes:
    """Format a biography as markdown, text or json."""
    if form == "json":
        return json.dumps(found, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    return "\n".join(_lines(found, form == "markdown")).encode("utf-8", "surrogatepass") + b"\n"


def _lines(found: Mapping[str, Any], marked: bool) -> list[str]:
    about = found["entity"]
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

    section("Names", [_name(one, plain) for one in found["names"]])
    if about["description"]:
        section("Description", [plain(about["description"])])
    section("Dates", [_date(one, plain) for one in found["dates"]])
    section("Places", [_place(one, plain) for one in found["places"]])
    section("Statements", [_format_statement(one, plain) for one in found["statements"]])
    section(
        "Relations",
        [
            f"{plain(one['source_name'])} – {plain(one['predicate']) or 'with'} – {plain(one['target_name'])}"
            for one in found["relations"]
        ],
    )
    section("Sources", [plain(one["name"]) for one in found["sources"]])
    return lines


def _one_line(words: str | None) -> str:
    return " ".join((words or "").split())


def _escape_words(words: str | None) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", _one_line(words))


def _name(one: Mapping[str, Any], plain: Any) -> str:
    marks = [one["romanized"], one["language"], one["script"], one["when"]]
    more = ", ".join(plain(mark) for mark in marks if mark)
    return f"{plain(one['text'])} ({more})" if more else plain(one["text"])


def _date(one: Mapping[str, Any], plain: Any) -> str:
    span = "/".join(filter(None, (one["iso_start"], one["iso_end"])))
    return f"{plain(one['as_written'])} ({span})" if span else plain(one["as_written"])


def _place(one: Mapping[str, Any], plain: Any) -> str:
    where = f" ({one['lat']}, {one['lon']})" if one["lat"] is not None else ""
    return f"{plain(one['label'])}{where}"


def _format_statement(one: Mapping[str, Any], plain: Any) -> str:
    when = "/".join(filter(None, (one["time_start"], one["time_end"])))
    begun = f"{when}: " if when else ""
    source = f" [{plain(one['citation'])}]" if one["citation"] else ""
    return f"{begun}{plain(one['text'])}{source}"


def file_name(about: Mapping[str, Any], form: str) -> str:
    """Return a name that every file system accepts: the entity's, and the first 8 characters of its id."""
    name = _UNSAFE.sub(" ", about["canonical_name"])
    name = " ".join(name.split()).strip(". ")[:LONGEST_NAME].strip(". ") or "entity"
    return f"{name}-{about['id'][:8]}.{MEDIA[form][0]}"
