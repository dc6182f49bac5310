"""Transfer between projects: the plan, copies, moves, what undo leaves on either side, and every refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from documents_ground import EDITOR, OWNER, count, names_under, rows, sources_of
from transfer_ground import Two

from armarium.api import Conflict, Engine, Forbidden, NotFound, Principal, ServiceError
from armarium.projects.doctor import examine
from armarium_documents.actions.transfer.copying import plan
from armarium_documents.queries import trash
from armarium_documents.schemas.transfer import TransferRequest, TransferResult
from armarium_testing.digest import differences, table_digests


def digests(two: Two) -> list[dict[str, str]]:
    return [table_digests(x.db, two.engine.library_schema) for x in (two.source, two.target)]


def entries(library: Any) -> list[dict[str, Any]]:
    with library.db.read() as conn:
        found = trash.entries(conn, limit=100, offset=0)
    assert found["total"] == len(found["items"])
    return list(found["items"])


def box_of(two: Two) -> tuple[str, str, str]:
    """A described folder with a page that has a text, and a note beneath; (box, page, note)."""
    two.do("classification.create", key="act", label="Act", parent_key="source")
    two.do("classification.create", key="will", label="Will", parent_key="act")
    box = two.make("Box", prototype_key="will", attributes={"shelfmark": "B 4"})
    page = two.page(box)
    note = two.note("Note", box)
    text = two.do("content_representation.create", document_id=page, kind="translation", content="Muy señor")
    two.do("representation.revise", representation_id=text["id"], content="Estimado señor")
    two.do("document.update", document_id=note, attributes={"about": page, "unknown": "f" * 32})
    return box, page, note


def plan_transfer(two: Two, items: list[str], mode: str = "copy", **more: Any) -> dict[str, Any]:
    request = TransferRequest.model_validate(
        {"source_library": str(two.source.path), "items": items, "mode": mode, "dry_run": True, **more}
    )
    return plan(two.engine, two.target, OWNER, request)


def test_a_plan_writes_nothing_and_counts_what_would_come(two: Two) -> None:
    box, _, _ = box_of(two)
    before = digests(two)
    found = plan_transfer(two, [box])
    TransferResult.model_validate(found)
    assert digests(two) == before
    assert count(two.source, "document_transfer") == count(two.target, "document_transfer") == 0
    assert found["planned"] == {
        "documents": 3,
        "renditions": 1,
        "representations": 1,
        "page_records": 1,
        "files": 1,
    }
    assert (found["written"], found["transfer_id"], found["audit_id"], found["source_audit_id"]) == (
        None,
    ) * 4
    assert [word["key"] for word in found["vocabulary"]["made"]] == ["act", "will"]
    assert [word["key"] for word in found["vocabulary"]["matched"]] == ["source"]


def test_a_copy_is_whole_checked_and_names_only_itself(two: Two) -> None:
    box, page, note = box_of(two)
    before = digests(two)[0]
    outcome = two.outcome([box])
    result = outcome.result
    assert result is not None
    TransferResult.model_validate(result)
    assert result["written"] == result["planned"]
    assert (result["files_copied"], result["audit_id"]) == (1, outcome.audit_id)
    assert two.live(two.target) == [("1.jpg", "Box"), ("Box", "Sources"), ("Note", "Box")]
    assert digests(two)[0] == before
    ((new_box, attributes),) = rows(two.target, "SELECT id, attributes FROM document WHERE name = 'Box'")
    assert result["new_items"] == [{"source_id": box, "id": new_box}]
    assert "B 4" in attributes
    ((new_page,),) = rows(two.target, "SELECT id FROM document WHERE name = '1.jpg'")
    ((about, unknown),) = rows(
        two.target,
        "SELECT json_extract(attributes, '$.about'), json_extract(attributes, '$.unknown') FROM document"
        " WHERE name = 'Note'",
    )
    assert (about, unknown) == (new_page, "f" * 32)
    assert not {box, page, note} & {new_box, new_page}
    ((text,),) = rows(
        two.target,
        "SELECT v.content FROM content_representation_revision v JOIN content_representation r"
        " ON r.id = v.representation_id JOIN document d ON d.id = r.document_id WHERE d.name = '1.jpg'",
    )
    assert text == "Estimado señor"
    assert [row[0] for row in rows(two.target, "SELECT key FROM classification WHERE key IN ('act', 'will')")]
    for library in (two.source, two.target):
        assert examine(two.engine, library.path)["findings"] == []
    assert two.states() == ("done", "done")
    assert rows(two.target, "SELECT count(*) FROM job WHERE kind = 'thumbnails'") == [(1,)]


def test_undo_of_a_copy_sends_it_to_the_trash_and_redo_brings_it_back(two: Two) -> None:
    box, _, _ = box_of(two)
    before = digests(two)
    outcome = two.outcome([box])
    copied = digests(two)
    undone = two.engine.undo(two.target, [outcome.audit_id], OWNER)
    (name,) = rows(two.target, "SELECT action_name FROM audit ORDER BY seq DESC LIMIT 1")
    assert name == ("document.untransfer",)
    (entry,) = entries(two.target)
    assert (entry["name"], entry["item_count"], entry["reason"]) == ("Box", 2, "deleted")
    assert entry["transfer_id"] == (outcome.result or {})["transfer_id"]
    assert "From" in entry["why"]
    assert two.live(two.target) == []
    assert two.states()[1] == "taken-back"
    in_trash = digests(two)
    assert differences(before[1], in_trash[1]) == [
        "classification",
        "content_representation",
        "content_representation_revision",
        "document",
        "rendition",
    ]
    redone = two.engine.undo(two.target, undone["audit_ids"], OWNER)
    assert digests(two) == copied
    two.engine.undo(two.target, redone["audit_ids"], OWNER)
    assert digests(two) == in_trash
    assert digests(two)[0] == before[0]


def test_a_move_sends_the_source_to_its_trash_with_where_it_went(two: Two) -> None:
    box, page, _ = box_of(two)
    alias = two.do("bookmark.create", target_id=page, name="The page")["id"]
    inner = two.do("bookmark.create", target_id=page, parent_id=box, name="Within")["id"]
    found = plan_transfer(two, [box], "move")
    result = two.transfer([box], "move")
    assert (
        found["cuts"]
        == result["cuts"]
        == [{"kind": "alias", "id": alias, "name": "The page", "why": found["cuts"][0]["why"]}]
    )
    moved, cut = sorted(entries(two.source), key=lambda entry: entry["name"])
    assert (moved["name"], moved["reason"], moved["item_count"]) == ("Box", "moved", 3)
    assert moved["moved_to_project"] == str(two.target.path)
    assert moved["transfer_id"] == result["transfer_id"]
    assert moved["moved_on"] == moved["deleted_at"]
    assert str(two.target.path) in moved["why"]
    assert cut["name"] == "The page"
    assert inner != alias
    assert two.live(two.source) == []
    assert [name for name, _ in two.live(two.target)] == ["1.jpg", "Box", "Note", "Within"]
    ((target_id,),) = rows(two.target, "SELECT alias_target_id FROM document WHERE name = 'Within'")
    assert rows(two.target, "SELECT name FROM document WHERE id = ?", target_id) == [("1.jpg",)]
    assert two.states() == ("done", "done")


@pytest.mark.parametrize("side", ["target", "source"])
def test_undo_of_a_move_works_from_either_row(two: Two, side: str) -> None:
    box, page, _ = box_of(two)
    two.do("bookmark.create", target_id=page, name="The page")
    before = digests(two)
    outcome = two.outcome([box], "move")
    moved = digests(two)
    assert outcome.result is not None
    row = (
        (two.target, outcome.audit_id)
        if side == "target"
        else (two.source, outcome.result["source_audit_id"])
    )
    undone = two.engine.undo(row[0], [row[1]], OWNER)
    assert digests(two)[0] == before[0]
    assert [entry["name"] for entry in entries(two.target)] == ["Box"]
    assert two.states() == ("taken-back", "taken-back")
    redone = two.engine.undo(row[0], undone["audit_ids"], OWNER)
    assert digests(two) == moved
    assert two.states() == ("done", "done")
    two.engine.undo(row[0], redone["audit_ids"], OWNER)
    assert digests(two)[0] == before[0]


def test_undo_of_a_move_is_refused_on_both_sides_or_none(two: Two) -> None:
    box, _, _ = box_of(two)
    outcome = two.outcome([box], "move")
    assert outcome.result is not None
    two.do("document.restore", document_id=box)
    before = digests(two)
    with pytest.raises(Conflict) as refused:
        two.engine.undo(two.target, [outcome.audit_id], OWNER)
    assert refused.value.fields["reason"] == "changed"
    assert digests(two) == before


def test_undo_of_a_move_needs_both_projects_open(two: Two) -> None:
    box, _, _ = box_of(two)
    outcome = two.outcome([box], "move")
    two.engine.libraries.release(two.source.path)
    with pytest.raises(Conflict) as refused:
        two.engine.undo(two.target, [outcome.audit_id], OWNER)
    assert refused.value.fields["reason"] == "not-undoable"
    assert refused.value.fields["audit_id"] == outcome.audit_id
    assert "Open it" in refused.value.detail


def test_empty_trash_makes_a_move_permanent(two: Two) -> None:
    box, _, _ = box_of(two)
    outcome = two.outcome([box], "move")
    with two.source.db.read() as conn:
        assert trash.plan(conn, two.engine)["moved"] == [
            {
                "target_path": str(two.target.path),
                "target_name": "To",
                "count": 1,
                "sentence": "1 thing moved to To can then no longer be moved back.",
            }
        ]
    emptied = two.do("document.empty_trash")
    assert emptied["made_permanent"][0]["target_name"] == "To"
    assert [name for name, _ in two.live(two.target)] == ["1.jpg", "Box", "Note"]
    assert examine(two.engine, two.target.path)["findings"] == []
    with pytest.raises(Conflict) as refused:
        two.engine.undo(two.target, [outcome.audit_id], OWNER)
    assert refused.value.fields["reason"] == "gone"
    assert [name for name, _ in two.live(two.target)] == ["1.jpg", "Box", "Note"]


def test_a_moved_thing_can_be_restored_beside_its_copy(two: Two) -> None:
    box, _, _ = box_of(two)
    two.transfer([box], "move")
    assert two.do("document.restore", document_id=box)["into_sources"] is False
    assert len(two.live(two.source)) == len(two.live(two.target)) == 3


def test_things_arrive_in_the_order_given_beneath_the_folder_named(two: Two) -> None:
    shelf = two.do("document.create", two.target, name="Shelf")["id"]
    two.do("document.create", two.target, name="There", parent_id=shelf, node_kind="note")
    first, second = two.note("Second"), two.note("First")
    two.transfer([second, first], target_parent_id=shelf)
    assert names_under(two.target, shelf) == ["There", "First", "Second"]


def test_what_lies_beneath_another_item_goes_once(two: Two) -> None:
    box, page, note = box_of(two)
    result = two.transfer([note, box, page])
    assert [item["source_id"] for item in result["new_items"]] == [box]
    assert len(two.live(two.target)) == 3


def test_what_is_in_the_trash_stays(two: Two) -> None:
    box, page, _ = box_of(two)
    two.do("document.delete", ids=[page])
    assert two.transfer([box])["planned"]["documents"] == 2
    assert two.live(two.target) == [("Box", "Sources"), ("Note", "Box")]


def test_an_alias_to_something_that_stays_is_left_behind(two: Two) -> None:
    box, elsewhere = two.make("Box"), two.note("Elsewhere")
    alias = two.do("bookmark.create", target_id=elsewhere, parent_id=box, name="Look there")["id"]
    (left,) = two.transfer([box])["left_behind"]
    assert (left["kind"], left["id"]) == ("alias", alias)
    assert two.live(two.target) == [("Box", "Sources")]


def test_sources_may_be_copied_and_becomes_a_folder_like_others(two: Two) -> None:
    sources = sources_of(two.source)
    two.note("Letter", sources)
    two.transfer([sources])
    assert rows(two.target, "SELECT count(*), count(system_key) FROM document WHERE name = 'Sources'") == [
        (2, 1)
    ]
    with pytest.raises(Conflict) as refused:
        two.transfer([sources], "move")
    assert refused.value.code == "sources_folder"


def test_copies_of_copies_and_the_way_back(two: Two) -> None:
    box, _, _ = box_of(two)
    two.transfer([box])
    new = two.transfer([box])["new_items"][0]["id"]
    back = Two(two.engine, two.target, two.source)
    result = back.transfer([new], "move")
    assert result["files_copied"] == 0
    assert result["vocabulary"]["made"] == []
    assert len(two.live(two.source)) == 6
    assert len(two.live(two.target)) == 3
    for library in (two.source, two.target):
        assert examine(two.engine, library.path)["findings"] == []


def test_a_linked_original_stays_a_link(two: Two, tmp_path: Path) -> None:
    original = tmp_path / "original.jpg"
    original.write_bytes(b"a picture that stays where it is")
    digest = two.source.objects.link_file(original)
    box = two.make("Box")
    node = {"id": "a" * 32, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.jpg"}
    picture = {
        "checksum": digest,
        "mime_type": "image/jpeg",
        "size_bytes": 32,
        "pixel_width": 1,
        "pixel_height": 1,
    }
    two.do("document.add_files", nodes=[{**node, "picture": picture}])
    result = two.transfer([box])
    assert result["linked_originals"] == [{"document_id": "a" * 32, "path": str(original)}]
    assert (result["files_copied"], result["bytes_copied"]) == (0, 0)
    assert two.target.objects.path(digest).is_symlink()


def test_a_file_that_is_lost_is_said_and_the_rest_comes(two: Two) -> None:
    box, _, _ = box_of(two)
    ((digest,),) = rows(two.source, "SELECT checksum FROM rendition")
    two.source.objects.remove(digest)
    result = two.transfer([box])
    assert [(left["kind"], left["id"]) for left in result["left_behind"]] == [("file", digest)]
    assert result["written"]["renditions"] == 1


# Refusals: nothing is changed by any of them.


def _release(two: Two) -> dict[str, Any]:
    two.engine.libraries.release(two.source.path)
    return {"items": ["a" * 32]}


def _alias(two: Two) -> dict[str, Any]:
    return {"items": [two.do("bookmark.create", target_id=two.note("Note"))["id"]]}


def _trash(two: Two) -> dict[str, Any]:
    note = two.note("Note")
    two.do("document.delete", ids=[note])
    return {"items": [note]}


def _lock(where: str) -> Any:
    def prepare(two: Two) -> dict[str, Any]:
        box = two.make("Box")
        inner = two.make("Inner", box)
        note = two.note("Note", inner)
        lock = {"above": box, "itself": inner, "beneath": note}[where]
        two.do("document.lock", document_id=lock, locked=True)
        return {"items": [inner]}

    return prepare


def _into(**fields: Any) -> Any:
    def prepare(two: Two) -> dict[str, Any]:
        made = two.do("document.create", two.target, name="Place", **fields)
        return {"items": [two.note("Note")], "target_parent_id": made["id"]}

    return prepare


def _into_trash(two: Two) -> dict[str, Any]:
    made = two.do("document.create", two.target, name="Place")
    two.do("document.delete", two.target, ids=[made["id"]])
    return {"items": [two.note("Note")], "target_parent_id": made["id"]}


REFUSED = [
    ("source_not_open", 409, _release),
    ("same_project", 400, lambda two: {"items": ["a" * 32], "source_library": str(two.target.path)}),
    ("document_not_found", 404, lambda two: {"items": [two.note("Note"), "a" * 32]}),
    ("document_in_trash", 409, _trash),
    ("alias_stays", 409, _alias),
    ("node_locked", 403, _lock("above")),
    ("node_locked", 403, _lock("itself")),
    ("node_locked", 403, _lock("beneath")),
    ("target_not_a_folder", 400, _into(node_kind="note")),
    ("target_not_a_folder", 400, _into(doc_type="group")),
    ("document_in_trash", 409, _into_trash),
    ("document_not_found", 404, lambda two: {"items": [two.note("Note")], "target_parent_id": "b" * 32}),
    (
        "library_access_denied",
        403,
        lambda two: {"items": ["a" * 32], "source_library": "/etc/Secret.library"},
    ),
]


@pytest.mark.parametrize(
    ("code", "status", "prepare"), REFUSED, ids=[f"{r[0]}-{n}" for n, r in enumerate(REFUSED)]
)
def test_refusals(two: Two, code: str, status: int, prepare: Any) -> None:
    given = {"source_library": str(two.source.path), **prepare(two)}
    target = table_digests(two.target.db, two.engine.library_schema)
    for mode in ("copy", "move"):
        params = {**given, "mode": mode}
        request = TransferRequest.model_validate(params)
        with pytest.raises(ServiceError) as refused:
            two.engine.run(two.target, "document.transfer", params, OWNER)
        with pytest.raises(ServiceError) as refused_plan:
            plan(two.engine, two.target, OWNER, request)
        for one in (refused.value, refused_plan.value):
            assert (one.code, one.status) == (code, status)
    assert table_digests(two.target.db, two.engine.library_schema) == target
    assert count(two.target, "document_transfer") == 0


def test_a_locked_place_is_for_owners(two: Two) -> None:
    note = two.note("Note")
    place = two.do("document.create", two.target, name="Place")["id"]
    two.do("document.lock", two.target, document_id=place, locked=True)
    params = {"source_library": str(two.source.path), "items": [note], "target_parent_id": place}
    with pytest.raises(Forbidden):
        two.engine.run(two.target, "document.transfer", params, EDITOR)
    two.engine.run(two.target, "document.transfer", params, OWNER)
    assert two.live(two.target)[0] == ("Note", "Place")


def test_a_token_must_reach_both_projects(two: Two) -> None:
    note = two.note("Note")
    bound = Principal("person", "guest", "editor", libraries=frozenset({str(two.target.path)}))
    params = {"source_library": str(two.source.path), "items": [note]}
    with pytest.raises(Forbidden) as refused:
        two.engine.run(two.target, "document.transfer", params, bound)
    assert refused.value.code == "library_access_denied"


def test_a_tree_too_deep_for_its_place_is_refused(two: Two) -> None:
    place = None
    for level in range(99):
        place = two.do("document.create", two.target, name=str(level), parent_id=place)["id"]
    box = two.make("Box")
    two.note("Note", box)
    with pytest.raises(ServiceError) as refused:
        two.transfer([box], target_parent_id=place)
    assert refused.value.code == "too_deep"


def test_the_second_half_is_refused_unless_its_copy_stands(two: Two) -> None:
    with pytest.raises(NotFound) as unknown:
        two.do("document.transfer_out", transfer_id="a" * 32)
    assert unknown.value.code == "transfer_not_found"
    result = two.transfer([two.note("Note")], "move")
    with pytest.raises(Conflict) as done:
        two.do("document.transfer_out", transfer_id=result["transfer_id"])
    assert done.value.code == "not_moving"


def test_a_transfer_is_no_part_of_another_step(two: Two) -> None:
    note = two.note("Note")
    params = {"source_library": str(two.source.path), "items": [note]}
    with pytest.raises(Conflict):
        two.engine.run(
            two.target,
            "document.create",
            {"name": "Box"},
            OWNER,
            in_transaction=lambda ctx: ctx.run("document.transfer", params),
        )
    assert two.live(two.target) == []


def test_over_http(client: Any, engine: Engine, library: Any, tmp_path: Path) -> None:
    engine.run(None, "library.create", {"path": str(tmp_path / "From.library")}, OWNER)
    source = engine.libraries.get(tmp_path / "From.library")
    two = Two(engine, source, library)
    note = two.note("Note")
    body = {"source_library": str(source.path), "items": [note], "mode": "move"}
    dry = client.post("/api/documents/transfer", json={**body, "dry_run": True})
    assert dry.status_code == 200
    assert dry.json()["planned"] == {"documents": 1, "files": 0}
    done = client.post("/api/documents/transfer", json=body)
    assert done.status_code == 200
    TransferResult.model_validate(done.json())
    assert done.headers["X-Service-Audit-Id"] == done.json()["audit_id"]
    listed = client.get(
        "/api/documents/trash",
        params={"library": quote(str(source.path))},
        headers={"X-Service-Library-Path": ""},
    )
    assert listed.json()["items"][0]["reason"] == "moved"
    undone = client.post(f"/api/actions/audit/{done.json()['audit_id']}/undo")
    assert undone.status_code == 200
    assert two.live(source) == [("Note", None)]
    for wrong, status in (
        ({**body, "items": []}, 422),
        ({**body, "mode": "steal"}, 422),
        ({**body, "colour": 1}, 422),
        ({**body, "items": ["f" * 32]}, 404),
        ({**body, "source_library": str(library.path)}, 400),
        ({**body, "source_library": "relative.library"}, 403),
    ):
        answer = client.post("/api/documents/transfer", json=wrong)
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"]
