"""The layout and items of a canvas: what is saved and preserved, every refusal, and undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from canvas_helpers import EDITOR, NOWHERE, OWNER, rows

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound
from armarium_testing.digest import differences, table_digests

Run = Any
Make = Callable[..., str]


def save(do: Run, folder: str, *places: dict[str, Any], remove: list[str] | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = do(
        "canvas.save_layout", {"folder_id": folder, "rows": list(places), "remove": remove or []}
    )
    return answer


def item(do: Run, folder: str, kind: str = "note", **fields: Any) -> str:
    return str(do("canvas.item_create", {"folder_id": folder, "kind": kind, **fields})["id"])


def test_saving_is_an_upsert_that_keeps_what_is_left_out(folder: str, card: Make, do: Run) -> None:
    first_card, other_card = card("one"), card("other")
    made = save(
        do,
        folder,
        {"item_id": first_card, "x": 10.5, "y": -20, "w": 200, "h": 100, "style": "card blue", "z_index": 2},
        {"item_id": other_card, "x": 0, "y": 0},
    )
    assert [row["item_id"] for row in made["rows"]] == [other_card, first_card]
    row = made["rows"][1]
    assert row["id"] == f"{folder}::{first_card}"
    assert (row["x"], row["y"], row["z"], row["w"], row["angle"]) == (10.5, -20, 0, 200, 0)
    row = save(do, folder, {"item_id": first_card, "x": 1, "y": 2, "h": None})["rows"][1]
    assert (row["x"], row["y"], row["w"], row["h"], row["style"]) == (1, 2, 200, None, "card blue")
    remaining_rows = save(do, folder, remove=[first_card, NOWHERE])["rows"]
    assert [row["item_id"] for row in remaining_rows] == [other_card]


def test_a_place_waits_for_a_document_that_left(folder: str, card: Make, do: Run) -> None:
    first_card = card()
    away = str(do("document.create", {"name": "Away"})["id"])
    save(do, folder, {"item_id": first_card, "x": 5, "y": 5})
    do("document.move", {"ids": [first_card], "parent_id": away})
    assert save(do, folder)["rows"] == []
    do("document.move", {"ids": [first_card], "parent_id": folder})
    assert [row["x"] for row in save(do, folder)["rows"]] == [5]


def test_undo_is_refused_after_a_later_change_of_the_same_card(
    engine: Engine, library: Library, folder: str, card: Make, do: Run
) -> None:
    first_card, other_card = card("one"), card("other")
    save(do, folder, {"item_id": first_card, "x": 0, "y": 0})
    before = table_digests(library.db, engine.library_schema)
    params = {"folder_id": folder, "rows": [{"item_id": i, "x": 9, "y": 9} for i in (first_card, other_card)]}
    outcome = engine.run(library, "canvas.save_layout", params, OWNER)
    engine.undo(library, [outcome.audit_id], OWNER)
    assert differences(before, table_digests(library.db, engine.library_schema)) == []
    outcome = engine.run(library, "canvas.save_layout", params, OWNER)
    save(do, folder, {"item_id": first_card, "x": 10, "y": 9})
    with pytest.raises(Conflict) as refusal:
        engine.undo(library, [outcome.audit_id], OWNER)
    assert refusal.value.fields["reason"] == "changed"


@pytest.mark.parametrize(
    "row",
    [
        {"x": float("nan"), "y": 0},
        {"x": 0, "y": float("inf")},
        {"x": 2_000_000, "y": 0},
        {"x": 0, "y": 0, "w": 0},
        {"x": 0, "y": 0, "h": -5},
        {"x": 0},
        {"x": 0, "y": 0, "colour": "red"},
    ],
)
def test_a_row_without_a_valid_place_is_refused(
    folder: str, card: Make, do: Run, row: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as refusal:
        save(do, folder, {"item_id": card(), **row})
    assert refusal.value.code == "invalid_request"


def test_an_item_is_named_once(folder: str, card: Make, do: Run) -> None:
    first_card = card()
    row = {"item_id": first_card, "x": 0, "y": 0}
    for places, remove in (([row, row], []), ([row], [first_card])):
        with pytest.raises(Invalid, match="named twice"):
            save(do, folder, *places, remove=remove)


def test_only_children_of_the_folder_are_placed(library: Library, folder: str, card: Make, do: Run) -> None:
    group = str(do("document.create", {"name": "G", "doc_type": "group", "parent_id": folder})["id"])
    removed_card = card("gone")
    do("document.delete", {"ids": [removed_card]})
    other = item(do, str(do("document.create", {"name": "Other"})["id"]))
    with pytest.raises(NotFound, match=NOWHERE):
        save(do, folder, {"item_id": card(), "x": 0, "y": 0}, {"item_id": NOWHERE, "x": 0, "y": 0})
    for stranger in (card("inside", group), removed_card, folder, other):
        with pytest.raises(Invalid) as refusal:
            save(do, folder, {"item_id": card(), "x": 0, "y": 0}, {"item_id": stranger, "x": 0, "y": 0})
        assert refusal.value.code == "not_on_canvas"
    assert rows(library, "SELECT count(*) FROM canvas_place") == [(0,)]


def test_items_from_first_to_last(library: Library, folder: str, card: Make, do: Run) -> None:
    note = do(
        "canvas.item_create",
        {"folder_id": folder, "kind": "note", "text": "Who?", "payload": {"a": [1, {"b": None}]}},
    )
    assert (note["text"], note["payload"], note["source_item_id"]) == ("Who?", {"a": [1, {"b": None}]}, None)
    first_card = card()
    link = item(do, folder, "link", source_item_id=note["id"], target_item_id=first_card, text="see")
    save(do, folder, {"item_id": note["id"], "x": 1, "y": 1}, {"item_id": first_card, "x": 2, "y": 2})
    changed = do("canvas.item_update", {"item_id": note["id"], "kind": "quote", "text": None})
    assert (changed["kind"], changed["text"], changed["payload"]) == ("quote", None, {"a": [1, {"b": None}]})
    assert do("canvas.item_update", {"item_id": note["id"], "payload": None})["payload"] == {}
    other_card = card("other")
    assert (
        do("canvas.item_update", {"item_id": link, "target_item_id": other_card})["target_item_id"]
        == other_card
    )
    outcome = do("canvas.item_delete", {"item_id": note["id"]})
    assert outcome == {"status": "deleted", "id": note["id"], "removed_link_ids": [link]}
    left = save(do, folder)
    assert ([row["item_id"] for row in left["rows"]], left["items"]) == ([first_card], [])


def test_texts_of_items_are_not_in_the_audit(library: Library, folder: str, do: Run) -> None:
    made = item(do, folder, text="a secret of the source")
    do("canvas.item_update", {"item_id": made, "text": "another secret"})
    assert "secret" not in str(rows(library, "SELECT params FROM audit"))


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"kind": "note", "source_item_id": "@one"}, "bad_link"),
        ({"kind": "link"}, "bad_link"),
        ({"kind": "link", "source_item_id": "@one"}, "bad_link"),
        ({"kind": "link", "source_item_id": "@one", "target_item_id": "@one"}, "bad_link"),
        ({"kind": "link", "source_item_id": "@one", "target_item_id": NOWHERE}, "not_found"),
        ({"kind": "link", "source_item_id": "@one", "target_item_id": "@link"}, "not_on_canvas"),
        ({"kind": "picture"}, "invalid_request"),
        ({"kind": "note", "payload": {"a": "x" * 70_000}}, "invalid_request"),
        ({"kind": "note", "created_by": "me"}, "invalid_request"),
    ],
)
def test_an_item_that_cannot_be_is_refused(
    folder: str, card: Make, do: Run, fields: dict[str, Any], code: str
) -> None:
    first_card, other_card = card("one"), card("other")
    named = {
        "@one": first_card,
        "@link": item(do, folder, "link", source_item_id=first_card, target_item_id=other_card),
    }
    given = {
        key: named.get(value, value) if isinstance(value, str) else value for key, value in fields.items()
    }
    with pytest.raises((Invalid, NotFound)) as refusal:
        do("canvas.item_create", {"folder_id": folder, **given})
    assert refusal.value.code == code


def test_a_payload_is_not_nested_without_end(folder: str, do: Run) -> None:
    payload: dict[str, Any] = {}
    for _ in range(100):
        payload = {"a": payload}
    with pytest.raises(Invalid, match="nested"):
        item(do, folder, payload=payload)


def test_a_change_keeps_the_rules_of_links(folder: str, card: Make, do: Run) -> None:
    first_card, other_card = card("one"), card("other")
    link = item(do, folder, "link", source_item_id=first_card, target_item_id=other_card)
    note = item(do, folder)
    for params, code in (
        ({"item_id": note, "kind": "link"}, "kind_stays"),
        ({"item_id": link, "kind": "note"}, "kind_stays"),
        ({"item_id": note, "kind": None}, "invalid_request"),
        ({"item_id": link, "target_item_id": None}, "bad_link"),
        ({"item_id": link, "target_item_id": first_card}, "bad_link"),
        ({"item_id": note, "target_item_id": first_card}, "bad_link"),
    ):
        with pytest.raises(Invalid) as refusal:
            do("canvas.item_update", params)
        assert refusal.value.code == code


def test_a_canvas_is_bounded(folder: str, do: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armarium_canvas.actions.MAX_ITEMS", 1)
    item(do, folder)
    with pytest.raises(Invalid) as refusal:
        item(do, folder)
    assert refusal.value.code == "canvas_full"


def test_locked_trashed_and_unknown_folders(folder: str, card: Make, do: Run) -> None:
    first_card, made = card(), item(do, folder)
    writes: list[tuple[str, dict[str, Any]]] = [
        ("canvas.save_layout", {"folder_id": folder, "rows": [{"item_id": first_card, "x": 0, "y": 0}]}),
        ("canvas.item_create", {"folder_id": folder, "kind": "note"}),
        ("canvas.item_update", {"item_id": made, "text": "x"}),
        ("canvas.item_delete", {"item_id": made}),
    ]
    do("document.lock", {"document_id": folder, "locked": True})
    for name, params in writes:
        with pytest.raises(Forbidden) as locked:
            do(name, params, EDITOR)
        assert locked.value.code == "node_locked"
    do("document.delete", {"ids": [folder]})
    for name, params in writes:
        with pytest.raises(Conflict) as trashed:
            do(name, params)
        assert trashed.value.code == "document_in_trash"
    for name, params in writes:
        key = "folder_id" if "folder_id" in params else "item_id"
        with pytest.raises(NotFound):
            do(name, {**params, key: NOWHERE})


def test_a_note_has_no_canvas(card: Make, do: Run) -> None:
    with pytest.raises(Invalid) as refusal:
        do("canvas.item_create", {"folder_id": card(), "kind": "note"})
    assert refusal.value.code == "not_a_folder"


def test_a_purge_removes_the_canvas_too(library: Library, folder: str, card: Make, do: Run) -> None:
    item(do, folder)
    save(do, folder, {"item_id": card(), "x": 0, "y": 0})
    do("document.delete", {"ids": [folder]})
    do("document.empty_trash", {})
    assert rows(library, "SELECT count(*) FROM canvas_place") == [(0,)]
    assert rows(library, "SELECT count(*) FROM canvas_item") == [(0,)]
