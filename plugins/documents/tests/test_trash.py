"""The Trash: one entry for each deletion; entries are restored to their places, or removed for good without remains."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest
from documents_fixtures import EDITOR, MACHINE, OWNER, Run, add_picture, count, names_under, picture

from armarium.api import (
    Conflict,
    Engine,
    Forbidden,
    Library,
    NotFound,
    Outcome,
    ServiceError,
    Unavailable,
    raw_of,
)
from armarium.projects import doctor
from armarium_documents.queries import trash

Make = Callable[..., str]


def entries(library: Library) -> list[dict[str, object]]:
    with library.db.read() as conn:
        found_entries = trash.entries(conn, limit=100, offset=0)
    assert found_entries["count"] == len(found_entries["items"])
    return list(found_entries["items"])


def test_one_entry_for_each_thing_newest_first(do: Run, folder: Make, note: Make, library: Library) -> None:
    box = folder("Box")
    letters = folder("Letters", box)
    note("One", letters)
    two = note("Two", letters)
    do("document.delete", {"ids": [two]})
    do("document.delete", {"ids": [letters]})
    first, second = entries(library)
    assert (first["name"], first["item_count"], first["reason"]) == ("Letters", 1, "deleted")
    assert (first["from_folder_state"], first["from_folder_path"]) == ("live", "/Box")
    assert first["deleted_by"] == "owner"
    assert (second["name"], second["item_count"]) == ("Two", 0)
    assert (second["from_folder_state"], second["from_folder_path"]) == ("in-trash", "/Box/Letters")


def test_ids_beneath_other_ids_go_with_them(do: Run, folder: Make, note: Make, library: Library) -> None:
    box = folder("Box")
    inner = folder("Inner", box)
    text = note("Note", inner)
    outcome = do("document.delete", {"ids": [text, box, inner]})
    assert (outcome["ids"], outcome["item_count"], outcome["id"]) == ([box], 3, box)
    assert [entry["name"] for entry in entries(library)] == ["Box"]


def test_deleting_twice_is_refused(do: Run, folder: Make) -> None:
    box = folder("Box")
    do("document.delete", {"ids": [box]})
    with pytest.raises(Conflict) as refused:
        do("document.delete", {"ids": [box]})
    assert refused.value.code == "document_in_trash"
    with pytest.raises(NotFound):
        do("document.delete", {"ids": ["f" * 32]})


def test_restore_restores_everything_that_was_deleted_with_it(
    do: Run, folder: Make, note: Make, library: Library
) -> None:
    box = folder("Box")
    letters = folder("Letters", box)
    note("One", letters)
    gone_before = note("Two", letters)
    do("document.delete", {"ids": [gone_before]})
    do("document.delete", {"ids": [letters]})
    back = do("document.restore", {"document_id": letters})
    assert (back["folder_id"], back["folder_name"], back["into_sources"]) == (box, "Box", False)
    assert back["folder_in_trash_id"] is None
    assert names_under(library, letters) == ["One"]
    assert [entry["name"] for entry in entries(library)] == ["Two"]


def test_restore_at_the_top(do: Run, folder: Make) -> None:
    box = folder("Box")
    do("document.delete", {"ids": [box]})
    back = do("document.restore", {"document_id": box})
    assert (back["folder_id"], back["into_sources"]) == (None, False)
    assert "top of the project" in back["message"]


def test_restore_goes_to_sources_when_the_folder_is_in_the_trash(do: Run, folder: Make, note: Make) -> None:
    box = folder("Box")
    letters = folder("Letters", box)
    text = note("One", letters)
    do("document.delete", {"ids": [text]})
    do("document.delete", {"ids": [box]})
    back = do("document.restore", {"document_id": text})
    assert (back["folder_name"], back["into_sources"], back["folder_in_trash_id"]) == ("Sources", True, box)
    assert "Letters" in back["message"]


def test_what_went_along_can_be_restored_alone(do: Run, folder: Make, note: Make, library: Library) -> None:
    box = folder("Box")
    text = note("One", box)
    do("document.delete", {"ids": [box]})
    back = do("document.restore", {"document_id": text})
    assert back["into_sources"] is True
    (entry,) = entries(library)
    assert (entry["name"], entry["item_count"]) == ("Box", 0)


def test_what_is_not_in_the_trash_is_not_restored(do: Run, folder: Make) -> None:
    with pytest.raises(Conflict) as refused:
        do("document.restore", {"document_id": folder("Box")})
    assert refused.value.code == "not_in_trash"
    with pytest.raises(NotFound):
        do("document.restore", {"document_id": "f" * 32})


def test_an_editor_restores_nothing_into_a_locked_folder(do: Run, folder: Make, note: Make) -> None:
    box = folder("Box")
    text = note("Note", box)
    do("document.delete", {"ids": [text]})
    do("document.lock", {"document_id": box, "locked": True})
    with pytest.raises(Forbidden):
        do("document.restore", {"document_id": text}, EDITOR)


def test_two_people_restoring_the_same_thing(engine: Engine, library: Library, do: Run, folder: Make) -> None:
    box = folder("Box")
    do("document.delete", {"ids": [box]})
    said: list[str] = []

    def restore() -> None:
        try:
            engine.run(library, "document.restore", {"document_id": box}, OWNER)
            said.append("back")
        except Conflict as refusal:
            said.append(str(refusal.code))

    people = [threading.Thread(target=restore) for _ in range(2)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert sorted(said) == ["back", "not_in_trash"]


def test_delete_and_restore_are_taken_back(
    act: Callable[..., Outcome], engine: Engine, folder: Make, note: Make, library: Library
) -> None:
    box = folder("Box")
    note("One", box)
    deleted = act("document.delete", {"ids": [box]})
    engine.undo(library, [deleted.audit_id], OWNER)
    assert entries(library) == []
    assert names_under(library, box) == ["One"]


def test_the_plan_says_what_would_go_and_changes_nothing(
    engine: Engine, library: Library, do: Run, folder: Make
) -> None:
    box = folder("Box")
    data = picture()
    add_picture(engine, library, box, data)
    with library.db.read() as conn:
        assert trash.plan(conn, engine)["question"] == "The Trash is empty; there is nothing to remove."
    do("document.delete", {"ids": [box]})
    with library.db.read() as conn:
        plan = trash.plan(conn, engine)
    assert (plan["items"], plan["documents"], plan["bytes"]) == (1, 2, len(data))
    assert "cannot be undone" in plan["question"]
    assert count(library, "document", "deleted_at IS NOT NULL") == 2


def test_emptying_removes_rows_history_and_files_nothing_else_needs(
    engine: Engine, library: Library, do: Run, folder: Make
) -> None:
    box, kept_folder = folder("Box"), folder("Kept")
    alone, shared = picture(grey=10), picture(grey=250)
    removed_picture = add_picture(engine, library, box, alone)
    add_picture(engine, library, box, shared, "2.jpg")
    add_picture(engine, library, kept_folder, shared, "3.jpg")
    do("document.update", {"document_id": removed_picture, "name": "a name only history knows"})
    do("document.update", {"document_id": removed_picture, "name": "1.jpg"})
    deleted = engine.run(library, "document.delete", {"ids": [box]}, OWNER)
    outcome = do("document.empty_trash", {})
    assert outcome["removed"] == {"items": 1, "documents": 3, "statements": 0, "entities": 0, "files": 1}
    assert outcome["bytes_freed"] == len(alone)
    assert outcome["snapshot_id"]
    assert len(list(library.objects.digests())) == 1
    assert count(library, "document") == 3
    assert count(library, "rendition") == 1
    assert count(library, "document__history", f"id = '{removed_picture}'") == 0
    assert count(library, "rendition__history", f"document_id = '{removed_picture}'") == 0
    with pytest.raises(ServiceError) as refused:
        engine.undo(library, [deleted.audit_id], OWNER)
    assert refused.value.fields["reason"] == "gone"
    assert engine.verify_audit(library) is None


def test_an_empty_trash_is_emptied_without_a_snapshot(do: Run, library: Library) -> None:
    outcome = do("document.empty_trash", {})
    assert (outcome["snapshot_id"], outcome["removed"]["documents"]) == (None, 0)


def test_only_a_person_empties_the_trash(do: Run) -> None:
    with pytest.raises(Forbidden) as refused:
        do("document.empty_trash", {}, MACHINE)
    assert refused.value.code == "person_only"


def test_nothing_is_removed_when_no_snapshot_can_be_made(
    do: Run, folder: Make, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = folder("Box")
    do("document.delete", {"ids": [box]})
    # Root may write to a folder without permissions, so the test puts a file in its place.
    library.snapshots.rmdir()
    library.snapshots.write_text("in the way")
    with pytest.raises(Unavailable) as refused:
        do("document.empty_trash", {})
    assert refused.value.status == 503
    assert "nothing was changed" in refused.value.detail
    assert [entry["name"] for entry in entries(library)] == ["Box"]
    os.unlink(library.snapshots)


def test_a_node_that_an_undo_brought_back_alone_stays_alive(
    act: Callable[..., Outcome], engine: Engine, do: Run, folder: Make, note: Make, library: Library
) -> None:
    box = folder("Box")
    text = note("Note", box)
    deleted = act("document.delete", {"ids": [text]})
    do("document.delete", {"ids": [box]})
    engine.undo(library, [deleted.audit_id], OWNER)
    do("document.empty_trash", {})
    with library.db.read() as conn:
        raw = raw_of(conn)
        row = raw.execute(
            "SELECT p.name FROM document d JOIN document p ON p.id = d.parent_id WHERE d.id = ?", (text,)
        ).fetchone()
    assert row == ("Sources",)


def test_the_parameters_of_empty_trash_take_nothing(do: Run) -> None:
    with pytest.raises(ServiceError):
        do("document.empty_trash", {"everything": True})


def test_an_editor_empties_no_trash_that_holds_something_locked(
    do: Run, folder: Make, note: Make, library: Library
) -> None:
    box = folder("Box")
    note("Letter", box)
    do("document.lock", {"document_id": box, "locked": True})
    do("document.delete", {"ids": [box]})
    with pytest.raises(Forbidden) as refused:
        do("document.empty_trash", {}, EDITOR)
    assert refused.value.code == "node_locked"
    assert len(entries(library)) == 1
    do("document.empty_trash", {}, OWNER)
    assert entries(library) == []


def test_the_doctor_misses_a_file_that_only_an_undo_or_a_redo_would_need(
    do: Run, act: Callable[..., Outcome], folder: Make, library: Library, engine: Engine
) -> None:
    new_picture = add_picture(engine, library, folder("Box"), picture())
    with library.db.read() as conn:
        raw = raw_of(conn)
        (added,) = raw.execute(
            "SELECT id FROM audit WHERE action_name = 'document.add_files' ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        (digest,) = raw.execute(
            "SELECT checksum FROM rendition WHERE document_id = ?", (new_picture,)
        ).fetchone()
    engine.undo(library, [added], OWNER)
    assert doctor.examine(engine, library.path)["healthy"]
    library.objects.remove(digest)
    report = doctor.examine(engine, library.path)
    assert not report["healthy"]
    (told,) = [finding["what"] for finding in report["findings"]]
    assert digest[:12] in told
    assert "redo" in told
