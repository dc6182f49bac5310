"""Transfer between projects: the plan, copies, moves, what undo leaves on either side, and every refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from documents_fixtures import EDITOR, OWNER, count, names_under, rows, sources_of
from transfer_fixtures import OpenProjects

from armarium.api import Conflict, Engine, Forbidden, NotFound, Principal, ServiceError
from armarium.projects.doctor import examine
from armarium_documents.actions.transfer.copying import plan
from armarium_documents.queries import trash
from armarium_documents.schemas.transfer import TransferRequest, TransferResult
from armarium_testing.digest import differences, table_digests


def digests(projects: OpenProjects) -> list[dict[str, str]]:
    return [table_digests(x.db, projects.engine.library_schema) for x in (projects.source, projects.target)]


def entries(library: Any) -> list[dict[str, Any]]:
    with library.db.read() as conn:
        found_entries = trash.entries(conn, limit=100, offset=0)
    assert found_entries["total"] == len(found_entries["items"])
    return list(found_entries["items"])


def create_box(projects: OpenProjects) -> tuple[str, str, str]:
    """Create a described folder with a note and a page that has a text; return (box, page, note)."""
    projects.do("classification.create", key="act", label="Act", parent_key="source")
    projects.do("classification.create", key="will", label="Will", parent_key="act")
    box = projects.make("Box", prototype_key="will", attributes={"shelfmark": "B 4"})
    page = projects.page(box)
    note = projects.note("Note", box)
    text = projects.do(
        "content_representation.create", document_id=page, kind="translation", content="Muy señor"
    )
    projects.do("representation.revise", representation_id=text["id"], content="Estimado señor")
    projects.do("document.update", document_id=note, attributes={"about": page, "unknown": "f" * 32})
    return box, page, note


def plan_transfer(
    projects: OpenProjects, items: list[str], mode: str = "copy", **more: Any
) -> dict[str, Any]:
    request = TransferRequest.model_validate(
        {"source_library": str(projects.source.path), "items": items, "mode": mode, "dry_run": True, **more}
    )
    return plan(projects.engine, projects.target, OWNER, request)


def test_a_plan_writes_nothing_and_counts_what_would_come(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    before = digests(projects)
    transfer = plan_transfer(projects, [box])
    TransferResult.model_validate(transfer)
    assert digests(projects) == before
    assert count(projects.source, "document_transfer") == count(projects.target, "document_transfer") == 0
    assert transfer["planned"] == {
        "documents": 3,
        "renditions": 1,
        "representations": 1,
        "page_records": 1,
        "files": 1,
    }
    assert (
        transfer["written"],
        transfer["transfer_id"],
        transfer["audit_id"],
        transfer["source_audit_id"],
    ) == (None,) * 4
    assert [word["key"] for word in transfer["vocabulary"]["made"]] == ["act", "will"]
    assert [word["key"] for word in transfer["vocabulary"]["matched"]] == ["source"]


def test_a_copy_is_whole_checked_and_names_only_itself(projects: OpenProjects) -> None:
    box, page, note = create_box(projects)
    before = digests(projects)[0]
    outcome = projects.outcome([box])
    result = outcome.result
    assert result is not None
    TransferResult.model_validate(result)
    assert result["written"] == result["planned"]
    assert (result["files_copied"], result["audit_id"]) == (1, outcome.audit_id)
    assert projects.live(projects.target) == [("1.jpg", "Box"), ("Box", "Sources"), ("Note", "Box")]
    assert digests(projects)[0] == before
    ((new_box, attributes),) = rows(projects.target, "SELECT id, attributes FROM document WHERE name = 'Box'")
    assert result["new_items"] == [{"source_id": box, "id": new_box}]
    assert "B 4" in attributes
    ((new_page,),) = rows(projects.target, "SELECT id FROM document WHERE name = '1.jpg'")
    ((about, unknown),) = rows(
        projects.target,
        "SELECT json_extract(attributes, '$.about'), json_extract(attributes, '$.unknown') FROM document"
        " WHERE name = 'Note'",
    )
    assert (about, unknown) == (new_page, "f" * 32)
    assert not {box, page, note} & {new_box, new_page}
    ((text,),) = rows(
        projects.target,
        "SELECT v.content FROM content_representation_revision v JOIN content_representation r"
        " ON r.id = v.representation_id JOIN document d ON d.id = r.document_id WHERE d.name = '1.jpg'",
    )
    assert text == "Estimado señor"
    assert [
        row[0] for row in rows(projects.target, "SELECT key FROM classification WHERE key IN ('act', 'will')")
    ]
    for library in (projects.source, projects.target):
        assert examine(projects.engine, library.path)["findings"] == []
    assert projects.states() == ("done", "done")
    assert rows(projects.target, "SELECT count(*) FROM job WHERE kind = 'thumbnails'") == [(1,)]


def test_undo_of_a_copy_sends_it_to_the_trash_and_redo_brings_it_back(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    before = digests(projects)
    outcome = projects.outcome([box])
    copied = digests(projects)
    undone = projects.engine.undo(projects.target, [outcome.audit_id], OWNER)
    (name,) = rows(projects.target, "SELECT action_name FROM audit ORDER BY seq DESC LIMIT 1")
    assert name == ("document.untransfer",)
    (entry,) = entries(projects.target)
    assert (entry["name"], entry["item_count"], entry["reason"]) == ("Box", 2, "deleted")
    assert entry["transfer_id"] == (outcome.result or {})["transfer_id"]
    assert "From" in entry["why"]
    assert projects.live(projects.target) == []
    assert projects.states()[1] == "taken-back"
    in_trash = digests(projects)
    assert differences(before[1], in_trash[1]) == [
        "classification",
        "content_representation",
        "content_representation_revision",
        "document",
        "rendition",
    ]
    redone = projects.engine.undo(projects.target, undone["audit_ids"], OWNER)
    assert digests(projects) == copied
    projects.engine.undo(projects.target, redone["audit_ids"], OWNER)
    assert digests(projects) == in_trash
    assert digests(projects)[0] == before[0]


def test_a_move_sends_the_source_to_its_trash_with_where_it_went(projects: OpenProjects) -> None:
    box, page, _ = create_box(projects)
    alias = projects.do("bookmark.create", target_id=page, name="The page")["id"]
    inner = projects.do("bookmark.create", target_id=page, parent_id=box, name="Within")["id"]
    transfer = plan_transfer(projects, [box], "move")
    result = projects.transfer([box], "move")
    assert (
        transfer["cuts"]
        == result["cuts"]
        == [{"kind": "alias", "id": alias, "name": "The page", "why": transfer["cuts"][0]["why"]}]
    )
    moved, cut = sorted(entries(projects.source), key=lambda entry: entry["name"])
    assert (moved["name"], moved["reason"], moved["item_count"]) == ("Box", "moved", 3)
    assert moved["moved_to_project"] == str(projects.target.path)
    assert moved["transfer_id"] == result["transfer_id"]
    assert moved["moved_on"] == moved["deleted_at"]
    assert str(projects.target.path) in moved["why"]
    assert cut["name"] == "The page"
    assert inner != alias
    assert projects.live(projects.source) == []
    assert [name for name, _ in projects.live(projects.target)] == ["1.jpg", "Box", "Note", "Within"]
    ((target_id,),) = rows(projects.target, "SELECT alias_target_id FROM document WHERE name = 'Within'")
    assert rows(projects.target, "SELECT name FROM document WHERE id = ?", target_id) == [("1.jpg",)]
    assert projects.states() == ("done", "done")


@pytest.mark.parametrize("side", ["target", "source"])
def test_undo_of_a_move_works_from_either_row(projects: OpenProjects, side: str) -> None:
    box, page, _ = create_box(projects)
    projects.do("bookmark.create", target_id=page, name="The page")
    before = digests(projects)
    outcome = projects.outcome([box], "move")
    moved = digests(projects)
    assert outcome.result is not None
    row = (
        (projects.target, outcome.audit_id)
        if side == "target"
        else (projects.source, outcome.result["source_audit_id"])
    )
    undone = projects.engine.undo(row[0], [row[1]], OWNER)
    assert digests(projects)[0] == before[0]
    assert [entry["name"] for entry in entries(projects.target)] == ["Box"]
    assert projects.states() == ("taken-back", "taken-back")
    redone = projects.engine.undo(row[0], undone["audit_ids"], OWNER)
    assert digests(projects) == moved
    assert projects.states() == ("done", "done")
    projects.engine.undo(row[0], redone["audit_ids"], OWNER)
    assert digests(projects)[0] == before[0]


def test_undo_of_a_move_is_refused_on_both_sides_or_none(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    outcome = projects.outcome([box], "move")
    assert outcome.result is not None
    projects.do("document.restore", document_id=box)
    before = digests(projects)
    with pytest.raises(Conflict) as refused:
        projects.engine.undo(projects.target, [outcome.audit_id], OWNER)
    assert refused.value.fields["reason"] == "changed"
    assert digests(projects) == before


def test_undo_of_a_move_needs_both_projects_open(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    outcome = projects.outcome([box], "move")
    projects.engine.libraries.release(projects.source.path)
    with pytest.raises(Conflict) as refused:
        projects.engine.undo(projects.target, [outcome.audit_id], OWNER)
    assert refused.value.fields["reason"] == "not-undoable"
    assert refused.value.fields["audit_id"] == outcome.audit_id
    assert "Open it" in refused.value.detail


def test_empty_trash_makes_a_move_permanent(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    outcome = projects.outcome([box], "move")
    with projects.source.db.read() as conn:
        assert trash.plan(conn, projects.engine)["moved"] == [
            {
                "target_path": str(projects.target.path),
                "target_name": "To",
                "count": 1,
                "sentence": "1 thing moved to To can then no longer be moved back.",
            }
        ]
    emptied = projects.do("document.empty_trash")
    assert emptied["made_permanent"][0]["target_name"] == "To"
    assert [name for name, _ in projects.live(projects.target)] == ["1.jpg", "Box", "Note"]
    assert examine(projects.engine, projects.target.path)["findings"] == []
    with pytest.raises(Conflict) as refused:
        projects.engine.undo(projects.target, [outcome.audit_id], OWNER)
    assert refused.value.fields["reason"] == "gone"
    assert [name for name, _ in projects.live(projects.target)] == ["1.jpg", "Box", "Note"]


def test_a_moved_thing_can_be_restored_beside_its_copy(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    projects.transfer([box], "move")
    assert projects.do("document.restore", document_id=box)["into_sources"] is False
    assert len(projects.live(projects.source)) == len(projects.live(projects.target)) == 3


def test_things_arrive_in_the_order_given_beneath_the_folder_named(projects: OpenProjects) -> None:
    shelf = projects.do("document.create", projects.target, name="Shelf")["id"]
    projects.do("document.create", projects.target, name="There", parent_id=shelf, node_kind="note")
    first, second = projects.note("Second"), projects.note("First")
    projects.transfer([second, first], target_parent_id=shelf)
    assert names_under(projects.target, shelf) == ["There", "First", "Second"]


def test_an_item_beneath_another_is_transferred_once(projects: OpenProjects) -> None:
    box, page, note = create_box(projects)
    result = projects.transfer([note, box, page])
    assert [item["source_id"] for item in result["new_items"]] == [box]
    assert len(projects.live(projects.target)) == 3


def test_what_is_in_the_trash_stays(projects: OpenProjects) -> None:
    box, page, _ = create_box(projects)
    projects.do("document.delete", ids=[page])
    assert projects.transfer([box])["planned"]["documents"] == 2
    assert projects.live(projects.target) == [("Box", "Sources"), ("Note", "Box")]


def test_an_alias_to_something_that_stays_is_left_behind(projects: OpenProjects) -> None:
    box, elsewhere = projects.make("Box"), projects.note("Elsewhere")
    alias = projects.do("bookmark.create", target_id=elsewhere, parent_id=box, name="Look there")["id"]
    (left,) = projects.transfer([box])["left_behind"]
    assert (left["kind"], left["id"]) == ("alias", alias)
    assert projects.live(projects.target) == [("Box", "Sources")]


def test_sources_may_be_copied_and_becomes_a_folder_like_others(projects: OpenProjects) -> None:
    sources = sources_of(projects.source)
    projects.note("Letter", sources)
    projects.transfer([sources])
    assert rows(
        projects.target, "SELECT count(*), count(system_key) FROM document WHERE name = 'Sources'"
    ) == [(2, 1)]
    with pytest.raises(Conflict) as refused:
        projects.transfer([sources], "move")
    assert refused.value.code == "sources_folder"


def test_copies_of_copies_and_the_way_back(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    projects.transfer([box])
    new = projects.transfer([box])["new_items"][0]["id"]
    back = OpenProjects(projects.engine, projects.target, projects.source)
    result = back.transfer([new], "move")
    assert result["files_copied"] == 0
    assert result["vocabulary"]["made"] == []
    assert len(projects.live(projects.source)) == 6
    assert len(projects.live(projects.target)) == 3
    for library in (projects.source, projects.target):
        assert examine(projects.engine, library.path)["findings"] == []


def test_a_linked_original_stays_a_link(projects: OpenProjects, tmp_path: Path) -> None:
    original = tmp_path / "original.jpg"
    original.write_bytes(b"a picture that stays where it is")
    digest = projects.source.objects.link_file(original)
    box = projects.make("Box")
    node = {"id": "a" * 32, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.jpg"}
    picture = {
        "checksum": digest,
        "mime_type": "image/jpeg",
        "size_bytes": 32,
        "pixel_width": 1,
        "pixel_height": 1,
    }
    projects.do("document.add_files", nodes=[{**node, "picture": picture}])
    result = projects.transfer([box])
    assert result["linked_originals"] == [{"document_id": "a" * 32, "path": str(original)}]
    assert (result["files_copied"], result["bytes_copied"]) == (0, 0)
    assert projects.target.objects.path(digest).is_symlink()


def test_a_lost_file_is_reported_and_the_rest_is_transferred(projects: OpenProjects) -> None:
    box, _, _ = create_box(projects)
    ((digest,),) = rows(projects.source, "SELECT checksum FROM rendition")
    projects.source.objects.remove(digest)
    result = projects.transfer([box])
    assert [(entry["kind"], entry["id"]) for entry in result["left_behind"]] == [("file", digest)]
    assert result["written"]["renditions"] == 1


# Refusals: none of them changes anything.


def _release(projects: OpenProjects) -> dict[str, Any]:
    projects.engine.libraries.release(projects.source.path)
    return {"items": ["a" * 32]}


def _alias(projects: OpenProjects) -> dict[str, Any]:
    return {"items": [projects.do("bookmark.create", target_id=projects.note("Note"))["id"]]}


def _trash(projects: OpenProjects) -> dict[str, Any]:
    note = projects.note("Note")
    projects.do("document.delete", ids=[note])
    return {"items": [note]}


def _lock(where: str) -> Any:
    def prepare(projects: OpenProjects) -> dict[str, Any]:
        box = projects.make("Box")
        inner = projects.make("Inner", box)
        note = projects.note("Note", inner)
        lock = {"above": box, "itself": inner, "beneath": note}[where]
        projects.do("document.lock", document_id=lock, locked=True)
        return {"items": [inner]}

    return prepare


def _into(**fields: Any) -> Any:
    def prepare(projects: OpenProjects) -> dict[str, Any]:
        result = projects.do("document.create", projects.target, name="Place", **fields)
        return {"items": [projects.note("Note")], "target_parent_id": result["id"]}

    return prepare


def _into_trash(projects: OpenProjects) -> dict[str, Any]:
    result = projects.do("document.create", projects.target, name="Place")
    projects.do("document.delete", projects.target, ids=[result["id"]])
    return {"items": [projects.note("Note")], "target_parent_id": result["id"]}


REFUSED = [
    ("source_not_open", 409, _release),
    (
        "same_project",
        400,
        lambda projects: {"items": ["a" * 32], "source_library": str(projects.target.path)},
    ),
    ("document_not_found", 404, lambda projects: {"items": [projects.note("Note"), "a" * 32]}),
    ("document_in_trash", 409, _trash),
    ("alias_stays", 409, _alias),
    ("node_locked", 403, _lock("above")),
    ("node_locked", 403, _lock("itself")),
    ("node_locked", 403, _lock("beneath")),
    ("target_not_a_folder", 400, _into(node_kind="note")),
    ("target_not_a_folder", 400, _into(doc_type="group")),
    ("document_in_trash", 409, _into_trash),
    (
        "document_not_found",
        404,
        lambda projects: {"items": [projects.note("Note")], "target_parent_id": "b" * 32},
    ),
    (
        "library_access_denied",
        403,
        lambda projects: {"items": ["a" * 32], "source_library": "/etc/Secret.library"},
    ),
]


@pytest.mark.parametrize(
    ("code", "status", "prepare"), REFUSED, ids=[f"{r[0]}-{n}" for n, r in enumerate(REFUSED)]
)
def test_refusals(projects: OpenProjects, code: str, status: int, prepare: Any) -> None:
    given = {"source_library": str(projects.source.path), **prepare(projects)}
    target = table_digests(projects.target.db, projects.engine.library_schema)
    for mode in ("copy", "move"):
        params = {**given, "mode": mode}
        request = TransferRequest.model_validate(params)
        with pytest.raises(ServiceError) as refused:
            projects.engine.run(projects.target, "document.transfer", params, OWNER)
        with pytest.raises(ServiceError) as refused_plan:
            plan(projects.engine, projects.target, OWNER, request)
        for one in (refused.value, refused_plan.value):
            assert (one.code, one.status) == (code, status)
    assert table_digests(projects.target.db, projects.engine.library_schema) == target
    assert count(projects.target, "document_transfer") == 0


def test_a_locked_place_is_for_owners(projects: OpenProjects) -> None:
    note = projects.note("Note")
    place = projects.do("document.create", projects.target, name="Place")["id"]
    projects.do("document.lock", projects.target, document_id=place, locked=True)
    params = {"source_library": str(projects.source.path), "items": [note], "target_parent_id": place}
    with pytest.raises(Forbidden):
        projects.engine.run(projects.target, "document.transfer", params, EDITOR)
    projects.engine.run(projects.target, "document.transfer", params, OWNER)
    assert projects.live(projects.target)[0] == ("Note", "Place")


def test_a_token_must_reach_both_projects(projects: OpenProjects) -> None:
    note = projects.note("Note")
    bound = Principal("person", "guest", "editor", libraries=frozenset({str(projects.target.path)}))
    params = {"source_library": str(projects.source.path), "items": [note]}
    with pytest.raises(Forbidden) as refused:
        projects.engine.run(projects.target, "document.transfer", params, bound)
    assert refused.value.code == "library_access_denied"


def test_a_tree_too_deep_for_its_place_is_refused(projects: OpenProjects) -> None:
    place = None
    for level in range(99):
        place = projects.do("document.create", projects.target, name=str(level), parent_id=place)["id"]
    box = projects.make("Box")
    projects.note("Note", box)
    with pytest.raises(ServiceError) as refused:
        projects.transfer([box], target_parent_id=place)
    assert refused.value.code == "too_deep"


def test_the_second_half_is_refused_unless_its_copy_exists(projects: OpenProjects) -> None:
    with pytest.raises(NotFound) as unknown:
        projects.do("document.transfer_out", transfer_id="a" * 32)
    assert unknown.value.code == "transfer_not_found"
    result = projects.transfer([projects.note("Note")], "move")
    with pytest.raises(Conflict) as done:
        projects.do("document.transfer_out", transfer_id=result["transfer_id"])
    assert done.value.code == "not_moving"


def test_a_transfer_is_no_part_of_another_step(projects: OpenProjects) -> None:
    note = projects.note("Note")
    params = {"source_library": str(projects.source.path), "items": [note]}
    with pytest.raises(Conflict):
        projects.engine.run(
            projects.target,
            "document.create",
            {"name": "Box"},
            OWNER,
            in_transaction=lambda ctx: ctx.run("document.transfer", params),
        )
    assert projects.live(projects.target) == []


def test_over_http(client: Any, engine: Engine, library: Any, tmp_path: Path) -> None:
    engine.run(None, "library.create", {"path": str(tmp_path / "From.library")}, OWNER)
    source = engine.libraries.get(tmp_path / "From.library")
    projects = OpenProjects(engine, source, library)
    note = projects.note("Note")
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
    assert projects.live(source) == [("Note", None)]
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
