"""What language, script, direction and encoding a selection has, and which of four rungs says so (B 4.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Library, raw_of, versions
from armarium_documents.api import documents, require_document
from armarium_source_model.counting import HUMAN, IMPORTED
from armarium_source_model.order import line_shape_direction
from armarium_source_model.queries.passes import reading_rule, working_pass
from armarium_source_model.queries.readings import counting_of_segments
from armarium_source_model.queries.segments import get_segment
from armarium_source_model.queries.shapes import block_shapes
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.settings import KEYS
from armarium_source_model.scripts import (
    MAY_RUN_VERTICALLY,
    UNKNOWN_LANGUAGES,
    UNKNOWN_SCRIPTS,
    direction_of_script,
    script_of,
)
from armarium_source_model.text import first_strong_direction


class Fact(NamedTuple):
    """One resolved fact."""

    value: str | None
    status: str
    rung: str
    basis: str
    source: str


NEVER = Fact(None, "never-determined", "default", "nothing states it", "derived")


def resolve_settings(
    library: Library, conn: Connection, *, document_id: str | None = None, segment_id: str | None = None
) -> dict[str, Any]:
    """The facts of one selection (ResolvedSettings): a segment, a page, or the project when neither is named."""
    segment = None if segment_id is None else get_segment(conn, segment_id)
    page = segment.document_id if segment is not None else document_id
    if page is not None:
        require_document(conn, page)
    found = {key: _stated(conn, key, segment, page) for key in KEYS}
    derived = _Derived(library, conn, segment, page)
    if found["script"] is None:
        found["script"] = derived.script()
    if found["direction"] is None:
        found["direction"] = derived.direction(found["script"])
    facts = {key: found[key] or NEVER for key in KEYS}
    facts["encoding"] = _encoding(library, facts["script"])
    return {
        "document_id": page,
        "segment_id": segment_id,
        "settings": [{"key": key, **fact._asdict()} for key, fact in facts.items()],
    }


def _known(key: str, value: str, rung: str, basis: str, source: str) -> Fact:
    unknown = (
        UNKNOWN_LANGUAGES if key == "language" else UNKNOWN_SCRIPTS if key == "script" else frozenset[str]()
    )
    if value in unknown:
        return Fact(None, "unknown", rung, f"{basis}: {value}, looked for and not found out", source)
    return Fact(value, "known", rung, basis, source)


def _source(provenance_kind: str) -> str:
    return {HUMAN: "person", IMPORTED: "import"}.get(provenance_kind, "run")


def _stated(conn: Connection, key: str, segment: Any, page: str | None) -> Fact | None:
    """The nearest rung that states a fact; None when only the default is left."""
    if segment is not None and getattr(segment, key) is not None:
        source = "person" if segment.by_hand else _source(segment.provenance_kind)
        return _known(key, getattr(segment, key), "segment", "stated on the segment", source)
    if page is not None:
        row = (
            raw_of(conn)
            .execute(
                "WITH RECURSIVE up(id, parent_id, name, value, steps) AS ("
                f" SELECT id, parent_id, name, {key}, 0 FROM document WHERE id = ?"
                f" UNION ALL SELECT d.id, d.parent_id, d.name, d.{key}, up.steps + 1"
                " FROM up JOIN document d ON d.id = up.parent_id WHERE up.steps < 1000)"
                " SELECT id, name, value FROM up WHERE value IS NOT NULL ORDER BY steps LIMIT 1",
                (page,),
            )
            .fetchone()
        )
        if row is not None:
            where = "stated on the page" if row[0] == page else f"stated on {row[1]}, which it is part of"
            return _known(key, row[2], "document", where, _who_stated(conn, row[0], key))
    row = conn.exec_driver_sql(
        "SELECT value, provenance_kind FROM source_setting WHERE key = ?", (key,)
    ).one_or_none()
    if row is not None:
        return _known(key, row[0], "project", "stated for the project", _source(row[1]))
    return None


def _who_stated(conn: Connection, document_id: str, key: str) -> str:
    """Who last gave a node this fact, out of the history of the node."""
    before: Any = None
    step: int | None = None
    for state in versions(conn, documents, document_id):
        value = state["values"][key]
        if value != before:
            step, before = state["audit_seq"], value
    row = conn.exec_driver_sql("SELECT actor_kind FROM audit WHERE seq = ?", (step,)).one_or_none()
    return "person" if row is None or row[0] == "person" else "run"


class _Derived:
    """What shapes and letters tell when nobody states it; worked out only when asked."""

    def __init__(self, library: Library, conn: Connection, segment: Any, page: str | None) -> None:
        self.library, self.conn, self.segment, self.page = library, conn, segment, page
        self._text: str | None = None

    def text(self) -> str:
        if self._text is None:
            self._text = ""
            rule = reading_rule(self.library)
            if self.segment is not None:
                found = counting_of_segments(self.conn, [self.segment.id], rule=rule)
                self._text = found[self.segment.id].text if self.segment.id in found else ""
            if not self._text and self.page is not None:
                self._text = page_text(self.conn, self.page, rule=rule).text
        return self._text

    def script(self) -> Fact | None:
        script = script_of(self.text())
        return None if script is None else Fact(script, "known", "default", "read off the letters", "derived")

    def direction(self, script: Fact | None) -> Fact:
        code = script.value if script is not None else None
        if self.page is not None and (code is None or code in MAY_RUN_VERTICALLY):
            pass_id, _ = working_pass(self.conn, self.page)
            shapes, aspect = ([], 1.0) if pass_id is None else block_shapes(self.conn, self.page, pass_id)
            shape = line_shape_direction(shapes, aspect)
            if shape is not None:
                return Fact(shape, "known", "default", "most lines are twice as tall as wide", "derived")
        strong = first_strong_direction(self.text())
        if strong is not None:
            return Fact(strong, "known", "default", "the first letter that has a direction", "derived")
        if code is not None:
            return Fact(direction_of_script(code), "known", "default", f"the script {code}", "derived")
        return Fact("ltr", "known", "default", "nothing tells otherwise", "derived")


def _encoding(library: Library, script: Fact) -> Fact:
    for row in library.setting("scripts") or ():
        if row.get("code") == script.value and row.get("encoding"):
            return Fact(row["encoding"], "known", "project", f"the project's row of {script.value}", "person")
    return NEVER
