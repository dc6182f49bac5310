"""Resolves language, script, direction and encoding of a selection, and names the rung that states each."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Table

from armarium.api import Invalid, Library, list_steps, query, raw_of, versions
from armarium_documents.api import documents, require_document
from armarium_source_model.counting import HUMAN, IMPORTED
from armarium_source_model.errors import refuse_provisional
from armarium_source_model.facts import KEYS, Holder, Ladder, Statement
from armarium_source_model.models import segments
from armarium_source_model.order import Shape
from armarium_source_model.queries.facts import page_facts
from armarium_source_model.queries.passes import reading_rule, working_pass
from armarium_source_model.queries.readings import counting_of_segments
from armarium_source_model.queries.segments import get_segment
from armarium_source_model.queries.shapes import read_page
from armarium_source_model.schemas.settings import ResolvedSettings
from armarium_source_model.writing import Answer, PageWriting


class Fact(NamedTuple):
    """One resolved fact."""

    value: str | None
    status: str
    rung: str
    basis: str
    source: str


NEVER = Fact(None, "never-determined", "default", "nothing states it", "derived")


@query("/api/source-settings/resolve", summary="What one selection is written in", answer=ResolvedSettings)
def resolve(
    conn: Connection, library: Library, segment_id: str | None = None, document_id: str | None = None
) -> dict[str, Any]:
    """Resolve the facts of one selection, each with its rung."""
    if (segment_id is None) == (document_id is None):
        raise Invalid("Name a segment_id, or a document_id for the page: exactly one.", code="one_selection")
    refuse_provisional(segment_id)
    return resolve_settings(library, conn, document_id=document_id, segment_id=segment_id)


def resolve_settings(
    library: Library, conn: Connection, *, document_id: str | None = None, segment_id: str | None = None
) -> dict[str, Any]:
    """Return the facts of a segment, a page, or the project if neither is named (ResolvedSettings)."""
    segment = None if segment_id is None else get_segment(conn, segment_id)
    node = segment.document_id if segment is not None else document_id
    pass_id: str | None = None
    if segment is not None:
        pass_id = segment.pass_id
    elif node is not None:
        require_document(conn, node)
        pass_id, _ = working_pass(conn, node, reading_rule(conn))
    ladder = Ladder(page_facts(conn, node, pass_id), _list_holders(conn, segment_id))
    facts: dict[str, Fact] = {}
    writing: PageWriting | None = None
    for key in KEYS:
        statement = ladder.find_stated(key, segment_id)
        if statement is not None:
            facts[key] = _describe_statement(conn, statement, segment_id, node)
        elif key == "language":
            facts[key] = NEVER
        else:
            if writing is None:
                writing = _determine_writing(conn, segment, node, pass_id, ladder)
            answer = writing.script(segment_id) if key == "script" else writing.direction(segment_id)
            facts[key] = NEVER if answer is None else _describe_derived(answer)
    facts["encoding"] = _encoding(library, facts["script"])
    return {
        "document_id": node,
        "segment_id": segment_id,
        "settings": [{"key": key, **fact._asdict()} for key, fact in facts.items()],
    }


_AROUND = """
WITH RECURSIVE up(id, language, script, direction, name, parent, steps) AS (
  SELECT id, language, script, direction, coalesce(kind_raw, kind), parent_segment_id, 0 FROM segment WHERE id = ?
  UNION ALL
  SELECT s.id, s.language, s.script, s.direction, coalesce(s.kind_raw, s.kind), s.parent_segment_id, up.steps + 1
  FROM up JOIN segment s ON s.id = up.parent WHERE s.deleted_at IS NULL AND up.steps < 1000)
SELECT id, language, script, direction, name, parent FROM up ORDER BY steps
"""


def _list_holders(conn: Connection, segment_id: str | None) -> list[tuple[Holder, str | None]]:
    """Return a segment, withdrawn or not, and the live segments that contain it."""
    if segment_id is None:
        return []
    rows = raw_of(conn).execute(_AROUND, (segment_id,)).fetchall()
    return [(Holder("segment", *row[:5]), row[5]) for row in rows]


def _determine_writing(
    conn: Connection,
    segment: Row[Any] | None,
    node: str | None,
    pass_id: str | None,
    ladder: Ladder,
) -> PageWriting:
    """Return what determines the writing of the selection where nobody states it."""
    if node is None or pass_id is None:
        return PageWriting([], ladder.page, {}, ladder=ladder)
    rule = reading_rule(conn)
    page, _ = read_page(conn, node, pass_id, rule)
    if segment is None or segment.id in page.by_id:
        return page
    # A withdrawn segment, or a word whose line is read whole, is resolved beside what the page is read by.
    own = counting_of_segments(conn, [segment.id], rule=rule)
    return page.with_segment(
        Shape(
            segment.id,
            segment.kind,
            segment.bbox_x,
            segment.bbox_y,
            segment.bbox_w,
            segment.bbox_h,
            segment.parent_segment_id,
            True,
            segment.direction,
            segment.kind_raw,
            segment.script,
        ),
        own[segment.id].text if segment.id in own else "",
    )


def _describe_statement(
    conn: Connection, statement: Statement, segment_id: str | None, node: str | None
) -> Fact:
    """Return a statement with its author, in words."""
    holder, key = statement.holder, statement.key
    if holder.kind == "segment":
        if holder.id == segment_id:
            basis = "stated on the segment"
        else:
            basis = f"stated on the {holder.name} {holder.id}, which contains it"
        source = _who_stated_segment(conn, holder.id, key)
    elif holder.kind == "file":
        basis = f"stated for the page by the file {holder.name}"
        source = _source(
            _provenance(conn, "SELECT provenance_kind FROM segment_pass WHERE id = ?", holder.id)
        )
    elif holder.kind == "project":
        basis = "stated for the project"
        source = _source(_provenance(conn, "SELECT provenance_kind FROM source_setting WHERE key = ?", key))
    else:
        basis = "stated on the page" if holder.id == node else f"stated on {holder.name}, which it is part of"
        source = _who_stated(conn, documents, holder.id, key)[1]
    if statement.value is None:
        return Fact(
            None, "unknown", statement.rung, f"{basis}: {statement.stated}, examined but undetermined", source
        )
    return Fact(statement.value, "known", statement.rung, basis, source)


def _source(provenance_kind: str) -> str:
    return {HUMAN: "person", IMPORTED: "import"}.get(provenance_kind, "run")


def _provenance(conn: Connection, query: str, key: str) -> str:
    return str(conn.exec_driver_sql(query, (key,)).scalar_one())


def _who_stated(conn: Connection, table: Table, identity: str, key: str) -> tuple[int, str]:
    """Return the index in a row's history at which it was last given this fact, and the author."""
    before: Any = None
    step: int | None = None
    at = 0
    for number, state in enumerate(versions(conn, table, identity)):
        value = state["values"][key]
        if value != before:
            step, before, at = state["audit_seq"], value, number
    made_by = list_steps(conn, numbers=step) if step is not None else []
    return at, "person" if not made_by or made_by[0].actor_kind == "person" else "run"


def _who_stated_segment(conn: Connection, segment_id: str, key: str) -> str:
    """Like `_who_stated`; what a segment was created with is stated by its maker: an import, a run, a
    person.
    """
    at, source = _who_stated(conn, segments, segment_id, key)
    if at > 0:
        return source
    return _source(_provenance(conn, "SELECT provenance_kind FROM segment WHERE id = ?", segment_id))


def _describe_derived(answer: Answer) -> Fact:
    return Fact(answer.value, "known", "default", answer.basis, "derived")


def _encoding(library: Library, script: Fact) -> Fact:
    for row in library.setting("scripts") or ():
        if row.get("code") == script.value and row.get("encoding"):
            return Fact(row["encoding"], "known", "project", f"the project's row of {script.value}", "person")
    return NEVER
