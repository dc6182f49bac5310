"""Creating, changing and locking nodes, and every refusal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import EDITOR, OWNER, Run

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound, Outcome, raw_of
from armarium_documents.api import FLAGS

Make = Callable[..., str]


def test_every_project_starts_with_the_folder_sources(library: Library) -> None:
    with library.db.read() as conn:
        raw = raw_of(conn)
        rows = raw.execute("SELECT name, doc_type, parent_id FROM document").fetchall()
    assert rows == [("Sources", "folder", None)]


def test_a_new_folder_is_answered_with_its_defaults(do: Run) -> None:
    result = do("document.create", {"name": "Letters", "attributes": {"box": 3}})
    assert result["doc_type"] == "folder"
    assert result["node_kind"] == "document"
    assert result["attributes"] == {"box": 3}
    assert result["source_authority"] == "unknown"
    assert result["status"] == "active"
    assert result["child_count"] == 0
    assert result["has_thumbnail"] is False
    assert result["is_locked"] is False
    assert result["deleted_at"] is None
    assert "system_key" not in result
    assert "trash_root_id" not in result


def test_a_name_is_normalised_to_nfc_and_trimmed(do: Run) -> None:
    assert do("document.create", {"name": " Cafe\u0301 "})["name"] == "Café"


@pytest.mark.parametrize(
    "name", ["", "   ", "a\x00b", "a\nb", "a\u2028b", "x" * 1001, "n" * 10_000, "\x1b[31m"]
)
def test_an_invalid_name_is_refused(do: Run, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        do("document.create", {"name": name})
    assert refused.value.code == "invalid_request"


def nest(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def test_attributes_may_be_nested_thirty_two_deep_and_no_deeper(do: Run) -> None:
    do("document.create", {"name": "Deep", "attributes": nest(31)})
    for depth in (33, 500, 10_000):
        with pytest.raises(Invalid):
            do("document.create", {"name": "Deep", "attributes": nest(depth)})


def test_attributes_are_bounded(do: Run) -> None:
    with pytest.raises(Invalid):
        do("document.create", {"name": "Wide", "attributes": {"k": "x" * 1_100_000}})
    with pytest.raises(Invalid):
        do("document.create", {"name": "Key", "attributes": {"k" * 201: 1}})


def test_unknown_fields_and_fields_of_the_server_are_refused(do: Run) -> None:
    for field in ("id", "created_at", "created_by", "deleted_at", "system_key", "metadata"):
        with pytest.raises(Invalid):
            do("document.create", {"name": "Letters", field: "x"})


def test_a_parent_must_be_there_live_and_able(do: Run, folder: Make, note: Make) -> None:
    with pytest.raises(NotFound, match="There is no document"):
        do("document.create", {"name": "A", "parent_id": "0" * 32})
    text = note("A note")
    with pytest.raises(Invalid) as refused:
        do("document.create", {"name": "A", "parent_id": text})
    assert refused.value.code == "not_a_container"
    assert refused.value.detail.startswith("“A note” (note) cannot hold this. Choose a folder")
    group = folder("A group", doc_type="group")
    with pytest.raises(Invalid):
        do("document.create", {"name": "A folder", "parent_id": group})
    box = folder("A box")
    do("document.delete", {"ids": [box]})
    with pytest.raises(Conflict) as trashed:
        do("document.create", {"name": "A", "parent_id": box})
    assert trashed.value.code == "document_in_trash"


def test_a_group_must_be_in_a_folder_or_a_group(do: Run, folder: Make) -> None:
    page = folder("A page", doc_type="page")
    with pytest.raises(Invalid):
        do("document.create", {"name": "A group", "parent_id": page, "doc_type": "group"})
    assert folder("Inner", folder("Outer", doc_type="group"), doc_type="group")


def test_a_note_holds_words_and_a_folder_does_not(do: Run, folder: Make) -> None:
    with pytest.raises(Invalid):
        do("document.create", {"name": "A", "page_content": "words"})
    with pytest.raises(Invalid):
        do("document.create", {"name": "A", "node_kind": "note", "doc_type": "folder"})
    with pytest.raises(Invalid) as refused:
        do("document.update", {"document_id": folder("B"), "page_content": "words"})
    assert refused.value.code == "not_a_text"


def test_the_words_of_a_note_stay_out_of_the_audit_log(act: Callable[..., Outcome], library: Library) -> None:
    act("document.create", {"name": "N", "node_kind": "note", "page_content": "canary in the mine"})
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert not raw.execute("SELECT 1 FROM audit WHERE params LIKE '%canary%'").fetchall()


def test_the_tree_is_at_most_a_hundred_levels_deep(do: Run, folder: Make) -> None:
    parent: str | None = None
    for level in range(100):
        parent = folder(f"Level {level}", parent)
    with pytest.raises(Invalid) as refused:
        folder("One more", parent)
    assert refused.value.code == "too_deep"


def test_update_changes_what_is_named_and_nothing_else(do: Run, folder: Make) -> None:
    new_folder = folder("Leters", attributes={"a": 1}, language="es", date_original="hacia 1750")
    changed = do("document.update", {"document_id": new_folder, "name": "Letters", "is_starred": True})
    assert (changed["name"], changed["is_starred"]) == ("Letters", True)
    assert (changed["attributes"], changed["language"]) == ({"a": 1}, "es")
    cleared = do("document.update", {"document_id": new_folder, "language": None, "attributes": None})
    assert (cleared["language"], cleared["attributes"], cleared["date_original"]) == (None, {}, "hacia 1750")


@pytest.mark.parametrize(
    "change",
    [
        {"language": "not a tag"},
        {"script": "latin"},
        {"direction": "up"},
        {"source_authority": "great"},
        {"attributes": []},
        {"is_starred": "perhaps"},
        {"case_id": "x" * 2001},
        {"sort_order": 4},
    ],
)
def test_update_refuses_invalid_values(do: Run, folder: Make, change: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        do("document.update", {"document_id": folder("A"), **change})


def test_a_name_cannot_be_cleared(do: Run, folder: Make) -> None:
    with pytest.raises(Invalid) as refused:
        do("document.update", {"document_id": folder("A"), "name": None})
    assert refused.value.code == "name_required"


def test_sources_keeps_its_name_and_place(do: Run, folder: Make, library: Library) -> None:
    with library.db.read() as conn:
        raw = raw_of(conn)
        (sources,) = raw.execute("SELECT id FROM document WHERE system_key = 'sources'").fetchone()
    do("document.update", {"document_id": sources, "is_flagged": True})
    for name, params in (
        ("document.update", {"document_id": sources, "name": "Other"}),
        ("document.delete", {"ids": [sources]}),
        ("document.move", {"ids": [sources], "parent_id": folder("Box")}),
    ):
        with pytest.raises(Conflict) as refused:
            do(name, params)
        assert refused.value.code == "sources_folder"


def test_a_lock_stops_editors_from_changing_it_and_all_beneath(do: Run, folder: Make, note: Make) -> None:
    box = folder("Box")
    inner = folder("Inner", box)
    text = note("Note", inner)
    free = note("Free")
    do("document.lock", {"document_id": box, "locked": True})
    for name, params in (
        ("document.create", {"name": "New", "parent_id": inner}),
        ("document.update", {"document_id": text, "name": "Other"}),
        ("document.update", {"document_id": box, "name": "Other"}),
        ("document.move", {"ids": [text], "parent_id": None}),
        ("document.move", {"ids": [free], "parent_id": inner}),
        ("document.delete", {"ids": [text]}),
        ("document.delete", {"ids": [box]}),
    ):
        with pytest.raises(Forbidden) as refused:
            do(name, params, EDITOR)
        assert refused.value.code == "node_locked"
        assert refused.value.fields["document_id"] == box
    do("document.update", {"document_id": text, "name": "Other"}, OWNER)
    do("document.lock", {"document_id": box, "locked": False})
    do("document.update", {"document_id": text, "name": "Third"}, EDITOR)


def test_a_locked_node_inside_keeps_its_folder_from_the_trash(do: Run, folder: Make) -> None:
    box = folder("Box")
    do("document.lock", {"document_id": folder("Inner", box), "locked": True})
    with pytest.raises(Forbidden):
        do("document.delete", {"ids": [box]}, EDITOR)
    do("document.delete", {"ids": [box]}, OWNER)


def test_a_change_may_name_what_it_was_made_upon(client: Any, folder: Make) -> None:
    box = folder("Box")
    read = client.get(f"/api/documents/{box}").json()["updated_at"]
    time.sleep(0.002)
    mine = {"name": "Box 1", "expected_updated_at": read}
    changed = client.patch(f"/api/documents/{box}", json=mine)
    assert (changed.status_code, changed.json()["name"]) == (200, "Box 1")
    stale = client.patch(f"/api/documents/{box}", json={**mine, "name": "Box 2"})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_version")
    assert stale.json()["current_updated_at"] == changed.json()["updated_at"]
    assert client.get(f"/api/documents/{box}").json()["name"] == "Box 1"
    assert client.patch(f"/api/documents/{box}", json={"name": "Box 3"}).status_code == 200


def test_only_an_owner_locks(do: Run, folder: Make) -> None:
    with pytest.raises(Forbidden) as refused:
        do("document.lock", {"document_id": folder("Box"), "locked": True}, EDITOR)
    assert refused.value.code == "owner_only"


@pytest.mark.parametrize(
    "date",
    ["1750", "1750-03", "1750-03-21", "1750?", "17XX", "175X", "1750-XX", "1750-03~", "1750/1752-03", "-0044-03-15",
     "1750/..", "../1750", "1750/"],
)  # fmt: skip
def test_a_date_is_one_of_iso_8601(do: Run, folder: Make, date: str) -> None:
    assert do("document.update", {"document_id": folder("Box"), "date_iso": date})["date_iso"] == date


@pytest.mark.parametrize(
    "date", ["yesterday", "", "21 March 1750", "1750-3", "1750-13", "1750-03-32", "50", "1750 "]
)
def test_words_are_no_date(do: Run, folder: Make, date: str) -> None:
    with pytest.raises(Invalid, match="a date is written as 1750, 1750-03"):
        do("document.update", {"document_id": folder("Box"), "date_iso": date})


@pytest.mark.parametrize("date", ["1750-02-30", "1750-02-29", "1700-02-29", "1750-04-31", "1750/1751-06-31?"])
def test_a_day_that_no_month_has_is_no_date(do: Run, folder: Make, date: str) -> None:
    with pytest.raises(Invalid, match="so there is no"):
        do("document.update", {"document_id": folder("Box"), "date_iso": date})
    with pytest.raises(Invalid, match="so there is no"):
        do("document.create", {"name": "Letter", "date_iso": date})


def test_a_leap_day_is_a_date(do: Run, folder: Make) -> None:
    for date in ("1752-02-29", "2000-02-29", "-0004-02-29"):
        assert do("document.update", {"document_id": folder("Box"), "date_iso": date})["date_iso"] == date


def test_update_is_taken_back_to_the_letter(
    engine: Engine, library: Library, act: Callable[..., Outcome], folder: Make
) -> None:
    from armarium_testing.digest import table_digests

    new_folder = folder("Letters", attributes={"a": [1, {"b": None}]}, date_iso="1750-03")
    before = table_digests(library.db, engine.library_schema)
    outcome = act(
        "document.update", {"document_id": new_folder, "name": "Wills", "attributes": {}, "date_iso": None}
    )
    engine.undo(library, [outcome.audit_id], OWNER)
    assert table_digests(library.db, engine.library_schema) == before


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_is_sent_stored_asked_for_and_cleared(do: Run, client: Any, flag: str) -> None:
    result = do("document.create", {"name": "Wills", flag: True})
    do("document.create", {"name": "Letters"})
    assert result[flag] is True
    asked = {"attr": f"document.{flag}", "op": "eq", "value": True, "type": "checkbox"}
    rows = client.post("/api/documents/dataset/query", json={"filters": [asked]}).json()["rows"]
    assert [row["id"] for row in rows] == [result["id"]]
    assert do("document.update", {"document_id": result["id"], flag: None})[flag] is False
