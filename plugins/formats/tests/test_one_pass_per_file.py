"""A file has at most one live pass on a page, however the pass was created or restored."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library

TEXT = "Dear Sir\nI write to you\n"


def import_text(engine: Engine, library: Library, page: str, action: str) -> tuple[str, str]:
    """Import the same text into *page*; return the pass and the step."""
    one = {"document_id": page, "file": TEXT, "filename": "a.txt"}
    outcome = engine.run(library, action, one if action == "format.import" else {"files": [one]}, LOCAL_OWNER)
    result: dict[str, Any] = outcome.result or {}
    return str((result.get("items") or [result])[0]["pass_id"]), outcome.audit_id


def live_passes(library: Library) -> list[str]:
    with library.db.read() as conn:
        return list(conn.exec_driver_sql("SELECT id FROM segment_pass WHERE deleted_at IS NULL").scalars())


@pytest.mark.parametrize("action", ["format.import", "ingest.layouts"])
def test_an_import_is_not_redone_while_another_pass_of_the_same_file_is_live(
    engine: Engine, library: Library, page_document: str, action: str
) -> None:
    first, step = import_text(engine, library, page_document, action)
    (undone,) = engine.undo(library, [step], LOCAL_OWNER)["audit_ids"]
    second, _ = import_text(engine, library, page_document, "format.import")
    with pytest.raises(Conflict, match="imported again") as refused:
        engine.undo(library, [undone], LOCAL_OWNER)
    assert (refused.value.fields["because"], refused.value.fields["pass_id"]) == ("already_a_pass", second)
    assert live_passes(library) == [second]
    engine.run(library, "segment.pass_delete", {"pass_id": second}, LOCAL_OWNER)
    (second_audit_id,) = engine.undo(library, [undone], LOCAL_OWNER)["audit_ids"]
    assert live_passes(library) == [first]
    with pytest.raises(Conflict, match="imported again"):
        engine.run(library, "segment.pass_restore", {"pass_id": second}, LOCAL_OWNER)
    # Again with redo: undo the redo, restore the other pass, and the redo is refused.
    (audit_id,) = engine.undo(library, [second_audit_id], LOCAL_OWNER)["audit_ids"]
    engine.run(library, "segment.pass_restore", {"pass_id": second}, LOCAL_OWNER)
    with pytest.raises(Conflict, match="imported again"):
        engine.undo(library, [audit_id], LOCAL_OWNER)
    assert live_passes(library) == [second]


def test_a_pass_of_the_same_file_on_another_page_does_not_matter(
    engine: Engine, library: Library, page_document: str
) -> None:
    first, step = import_text(engine, library, page_document, "format.import")
    (undone,) = engine.undo(library, [step], LOCAL_OWNER)["audit_ids"]
    other = (
        engine.run(library, "document.create", {"name": "q", "doc_type": "page"}, LOCAL_OWNER).result or {}
    )
    elsewhere, _ = import_text(engine, library, str(other["id"]), "format.import")
    engine.undo(library, [undone], LOCAL_OWNER)
    assert sorted(live_passes(library)) == sorted([first, elsewhere])
