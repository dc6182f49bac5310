"""Branches: made, worked on as projects, their changes shown page by page, merged in one step that is undone as one."""

from __future__ import annotations

import dataclasses
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from branch_pair import MACHINE, OTHER, Pair
from PIL import Image

from armarium.api import Conflict, Engine, Forbidden, Invalid, NotFound, raw_of
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium_agents.branches.queries import compare_words, list_branches, read_branch
from armarium_testing.digest import differences


def test_a_branch_is_a_copy_that_works_as_a_project_and_is_not_listed(pair: Pair) -> None:
    listed = [one["path"] for one in pair.engine.libraries.list_registered()]
    pair.engine.libraries.get(pair.path)
    assert [one["path"] for one in pair.engine.libraries.list_registered()] == listed
    own = {"branch", "branch_settled", "branch_rejected", "library_setting", "library"}
    assert set(differences(pair.state(), pair.state(pair.branch))) <= own
    pair.correct(pair.branch, "Dear Sir")
    assert pair.counting(pair.branch) != pair.counting(pair.project)
    assert examine(pair.engine, pair.path)["findings"] == []
    card = json.loads((pair.path / "library.json").read_text())["branch"]
    assert card["project_uuid"] == pair.project.uuid
    with pair.project.db.read() as conn:
        (row,) = list_branches(conn, pair.engine, pair.project)["items"]
        base = (
            raw_of(conn)
            .execute("SELECT id, row_hash FROM audit WHERE seq = ?", (card["base_seq"],))
            .fetchone()
        )
    assert row["library_path"] == str(pair.path)
    assert (card["base_id"], card["base_digest"]) == base
    assert row["base_digest"] == base[1]


def test_a_token_without_folders_reaches_the_branches_of_known_projects_only(
    pair: Pair, client: Any, tmp_path: Path
) -> None:
    answer = client.post("/api/tokens", json={"name": "an agent", "role": "editor"}).json()

    def ask(place: Path) -> int:
        there = {"Authorization": f"Bearer {answer['token']}", "X-Service-Library-Path": quote(str(place))}
        return int(client.get("/api/documents", headers=there).status_code)

    assert ask(pair.path) == 200
    assert ask(tmp_path / "Another.branches" / pair.path.name) == 403


def test_changes_are_grouped_by_page_and_kind_with_old_and_new_words(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    # What a package is called, and when its snapshots are taken, concerns it alone.
    pair.engine.run(
        pair.branch, "library.set", {"name": "Mine", "snapshot_interval_seconds": 60}, LOCAL_OWNER
    )
    changes = pair.changes()
    (group,) = changes["items"]
    assert (group["kind"], group["document_id"], group["status"]) == (
        "readings",
        pair.page.document_id,
        "clean",
    )
    (row,) = group["rows"]
    assert row["segment_id"] == pair.page.segment_ids[0]
    assert row["words"] == [
        {"change": "removed", "text": "Deer"},
        {"change": "added", "text": "Dear"},
        {"change": "same", "text": "Sir"},
    ]
    assert row["theirs_by"][0]["action_name"] == "representation.create"
    assert (changes["pages"], changes["lines"], changes["clean"]) == (1, 1, 1)


def test_what_was_done_and_undone_on_a_branch_is_no_change(pair: Pair) -> None:
    step = pair.run(pair.branch, "document.update", {"document_id": pair.page.document_id, "name": "Other"})
    pair.engine.undo(pair.branch, [step["audit_id"]], LOCAL_OWNER)
    assert pair.changes()["total"] == 0


def test_a_merge_is_one_step_and_its_undo_restores_every_row(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    pair.run(pair.branch, "document.create", {"name": "Found", "doc_type": "page"})
    before = pair.state()
    with pair.project.db.read() as conn:
        (steps,) = raw_of(conn).execute("SELECT max(seq) FROM audit").fetchone()
    merged = pair.merge()
    with pair.project.db.read() as conn:
        assert raw_of(conn).execute("SELECT max(seq) FROM audit").fetchone() == (steps + 1,)
    assert pair.counting(pair.project) == pair.counting(pair.branch)
    assert pair.changes()["total"] == 0
    undone = pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
    assert differences(before, pair.state()) == []
    assert pair.changes()["total"] == 2
    pair.engine.undo(pair.project, undone["audit_ids"], LOCAL_OWNER)
    assert pair.changes()["total"] == 0
    assert examine(pair.engine, pair.project.path)["findings"] == []


def test_a_second_merge_writes_nothing_and_a_branch_goes_on_after_one(pair: Pair) -> None:
    pair.run(pair.branch, "document.update", {"document_id": pair.page.document_id, "name": "One"})
    pair.merge()
    before = pair.state()
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "nothing_to_merge"
    assert differences(before, pair.state()) == []
    pair.run(pair.branch, "document.update", {"document_id": pair.page.document_id, "name": "Two"})
    assert pair.changes()["items"][0]["status"] == "clean"
    pair.merge()
    with pair.project.db.read() as conn:
        assert raw_of(conn).execute(
            "SELECT name FROM document WHERE id = ?", (pair.page.document_id,)
        ).fetchone() == ("Two",)


def test_readings_in_conflict_are_refused_kept_both_or_decided(pair: Pair) -> None:
    theirs = pair.correct(pair.branch, "Dear Sir", who=OTHER)
    ours = pair.correct(pair.project, "Dear Sire")
    (group,) = pair.changes()["items"]
    (row,) = group["rows"]
    assert (group["status"], row["why"]) == ("conflict", "rival")
    assert [its["name"] for its in row["theirs_by"]] == ["colleague"]
    assert [mine["name"] for mine in row["ours_by"]] == ["owner"]
    texts = next(value for value in row["values"] if value["column"] == "content")
    assert (texts["theirs"], texts["ours"]) == ("Dear Sir", "Dear Sire")
    before = pair.state()
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "merge_conflict"
    assert refused.value.fields["groups"] == [group["id"]]
    for decided, there, counts in (
        ("keep_ours", {ours}, "Dear Sire"),
        ("keep_both", {ours, theirs}, None),
        ("take_theirs", {ours, theirs}, "Dear Sir"),
    ):
        merged = pair.merge(on_conflict=decided)
        with pair.project.db.read() as conn:
            rows = {
                one
                for (one,) in raw_of(conn).execute(
                    "SELECT id FROM content_representation WHERE corrects_representation_id = ?",
                    (pair.first,),
                )
            }
        assert rows == there
        if counts is not None:
            assert counts in pair.counting(pair.project).splitlines()
        assert pair.changes()["total"] == 0
        pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
        assert differences(before, pair.state()) == []


def test_the_same_correction_on_both_sides_is_the_same(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    pair.correct(pair.project, "Dear Sir")
    (group,) = pair.changes()["items"]
    assert group["status"] == "same"
    before = pair.state()
    pair.merge()
    assert differences(before, pair.state()) == ["branch_settled"]


def test_columns_are_merged_one_by_one(pair: Pair) -> None:
    page = pair.page.document_id
    pair.run(pair.branch, "document.update", {"document_id": page, "name": "Renamed"})
    pair.run(pair.project, "document.update", {"document_id": page, "page_label": "3r"})
    assert pair.changes()["conflict"] == 0
    pair.merge()
    with pair.project.db.read() as conn:
        row = raw_of(conn).execute("SELECT name, page_label FROM document WHERE id = ?", (page,)).fetchone()
    assert row == ("Renamed", "3r")


def test_a_machine_merges_nothing_also_by_undo_or_redo(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir", who=MACHINE)
    with pytest.raises(Forbidden):
        pair.merge(MACHINE)
    merged = pair.merge()
    with pytest.raises(Forbidden):
        pair.engine.undo(pair.project, [merged["audit_id"]], MACHINE)
    undone = pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
    with pytest.raises(Forbidden):
        pair.engine.undo(pair.project, undone["audit_ids"], MACHINE)


def test_an_accepted_change_of_a_machine_says_who_made_it_and_who_accepted_it(pair: Pair) -> None:
    made = pair.correct(pair.branch, "Dear Sir", who=MACHINE)
    merged = pair.merge()
    with pair.project.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute(
            "SELECT provenance_kind, created_by FROM content_representation WHERE id = ?", (made,)
        ).fetchone() == ("agent", "an agent")
        assert raw.execute("SELECT actor_name FROM audit WHERE id = ?", (merged["audit_id"],)).fetchone() == (
            "owner",
        )


def test_what_was_turned_down_is_offered_again_only_when_the_branch_changes_it(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    (group,) = pair.changes()["items"]
    pair.run(
        pair.project,
        "branches.reject",
        {"branch_id": pair.id, "groups": [group["id"]], "reason": "It says deer"},
    )
    assert pair.changes()["total"] == 0
    with pytest.raises(Invalid):
        pair.merge(groups=[group["id"]])
    with pair.project.db.read() as conn:
        assert [
            entry["reason"] for entry in read_branch(conn, pair.engine, pair.project, pair.id)["rejected"]
        ] == ["It says deer"]
    pair.correct(pair.branch, "Dear Madam")
    (second_item,) = pair.changes()["items"]
    assert second_item["id"] == group["id"]


def test_the_later_work_of_the_project_comes_into_the_branch(pair: Pair) -> None:
    page = pair.page.document_id
    pair.run(pair.branch, "document.update", {"document_id": page, "page_label": "3r"})
    pair.run(pair.project, "document.update", {"document_id": page, "name": "Renamed"})
    assert pair.changes(incoming=True)["total"] == 1
    before = pair.state(pair.branch)
    step = pair.run(pair.branch, "branches.update", {})
    with pair.branch.db.read() as conn:
        row = raw_of(conn).execute("SELECT name, page_label FROM document WHERE id = ?", (page,)).fetchone()
    assert row == ("Renamed", "3r")
    assert pair.changes(incoming=True)["total"] == 0
    (group,) = pair.changes()["items"]
    assert [value["column"] for value in group["rows"][0]["values"]] == ["page_label"]
    pair.engine.undo(pair.branch, [step["audit_id"]], LOCAL_OWNER)
    assert differences(before, pair.state(pair.branch)) == []
    pair.run(pair.branch, "branches.update", {})
    pair.merge()
    assert pair.changes()["total"] == pair.changes(incoming=True)["total"] == 0


def test_what_a_branch_decided_when_it_took_the_project_in_is_offered_to_the_project(pair: Pair) -> None:
    page = pair.page.document_id
    pair.run(pair.branch, "document.update", {"document_id": page, "name": "Theirs"})
    pair.run(pair.project, "document.update", {"document_id": page, "name": "Ours"})
    pair.run(pair.branch, "branches.update", {"on_conflict": "keep_ours"})
    (group,) = pair.changes()["items"]
    assert group["status"] == "clean"
    pair.merge()
    with pair.project.db.read() as conn:
        assert raw_of(conn).execute("SELECT name FROM document WHERE id = ?", (page,)).fetchone() == (
            "Theirs",
        )


def test_files_that_a_branch_added_come_with_the_merge_checked(pair: Pair, tmp_path: Path) -> None:
    from armarium.actions import Example
    from armarium_testing.sample_pages import sample_picture

    page = sample_picture(Example(pair.engine, pair.branch, LOCAL_OWNER, tmp_path), Image.new("L", (8, 8)))
    with pair.branch.db.read() as conn:
        (digest,) = raw_of(conn).execute("SELECT checksum FROM rendition ORDER BY id DESC LIMIT 1").fetchone()
    assert not pair.project.objects.has(digest)
    place = pair.branch.objects.path(digest)
    whole = place.read_bytes()
    place.chmod(0o644)
    place.write_bytes(whole + b"!")
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "branch_damaged"
    place.write_bytes(whole)
    assert pair.merge()["files"] == 1
    assert pair.project.objects.intact(digest)
    assert page


def test_a_tampered_branch_and_one_of_another_project_are_refused(
    pair: Pair, engine: Engine, tmp_path: Path
) -> None:
    pair.correct(pair.branch, "Dear Sir")
    with pair.branch.db.write() as conn:
        raw = raw_of(conn)
        raw.execute("DROP TRIGGER audit__no_update")
        raw.execute("UPDATE audit SET actor_name = 'nobody' WHERE seq = (SELECT max(seq) FROM audit)")
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "branch_damaged"
    engine.run(None, "library.create", {"path": str(tmp_path / "Second.library")}, LOCAL_OWNER)
    second = engine.libraries.get(tmp_path / "Second.library")
    result = engine.run(second, "branches.create", {"name": "Its own"}, LOCAL_OWNER).result or {}
    engine.libraries.release(pair.path)
    shutil.rmtree(pair.path)
    shutil.copytree(result["library_path"], pair.path)
    card = json.loads((pair.path / "library.json").read_text())
    card["branch"]["id"] = pair.id
    (pair.path / "library.json").write_text(json.dumps(card))
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "branch_of_another_project"


@pytest.mark.parametrize("folder", ["", "elsewhere"])
def test_a_branch_whose_project_was_renamed_or_moved_is_found(pair: Pair, folder: str) -> None:
    pair.correct(pair.branch, "Dear Sir")
    engine, place = pair.engine, pair.project.path
    engine.libraries.release(pair.path)
    engine.libraries.release(place)
    moved = place.parent / folder / "Renamed.library"
    moved.parent.mkdir(exist_ok=True)
    place.rename(moved)
    pair.path.parent.rename(moved.with_name("Renamed.branches"))
    pair.project = engine.libraries.get(moved)
    pair.merge()
    assert pair.changes()["total"] == 0


def test_a_branch_whose_project_is_nowhere_says_what_to_do(pair: Pair) -> None:
    engine, place = pair.engine, pair.project.path
    engine.libraries.release(place)
    place.rename(place.with_name("Elsewhere.library"))
    with pytest.raises(Conflict, match=r"is not beside it .* Open the project first") as refused:
        pair.run(pair.branch, "branches.update", {})
    assert (refused.value.status, refused.value.code) == (409, "project_missing")


def test_a_branch_with_work_going_on_is_neither_deleted_nor_replaced(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = {"path": str(tmp_path / "branch.zip")}
    pair.run(pair.project, "branches.pack", {"branch_id": pair.id, **file})
    monkeypatch.setattr(pair.engine.jobs, "holding", lambda library: ["Read two pages (running)"])
    for name, params in (("branches.delete", {"branch_id": pair.id}), ("branches.take", file)):
        with pytest.raises(Conflict, match=r"Corrections has work .* Read two pages \(running\)") as refused:
            pair.run(pair.project, name, params)
        assert (refused.value.status, refused.value.code) == (409, "branch_busy")
    assert pair.path.is_dir()


def test_a_branch_of_a_project_that_was_put_back_to_a_snapshot_is_known(pair: Pair) -> None:
    saved = pair.run(pair.project, "snapshot.take", {})
    pair.run(pair.project, "document.update", {"document_id": pair.page.document_id, "name": "Later"})
    pair.correct(pair.branch, "Dear Sir")
    pair.merge()
    engine, place = pair.engine, pair.project.path
    engine.libraries.release(place)
    for beside in ("library.sqlite-wal", "library.sqlite-shm"):
        (place / beside).unlink(missing_ok=True)
    shutil.copy(Path(saved["path"]) / "library.sqlite", place / "library.sqlite")
    pair.project = engine.libraries.get(place)
    (group,) = pair.changes()["items"]
    assert group["status"] == "clean"
    pair.merge()
    assert pair.counting(pair.project) == pair.counting(pair.branch)


def test_emptying_the_trash_leaves_a_branch_its_files(pair: Pair, tmp_path: Path) -> None:
    from armarium.actions import Example
    from armarium_testing.sample_pages import sample_picture

    document_id = sample_picture(
        Example(pair.engine, pair.project, LOCAL_OWNER, tmp_path), Image.new("L", (8, 8))
    )
    result = pair.run(pair.project, "branches.create", {"name": "Second"})
    branch = pair.engine.libraries.open_only(result["library_path"])
    digests = set(branch.objects.digests())
    assert digests
    pair.run(pair.project, "document.delete", {"ids": [document_id]})
    pair.run(pair.project, "document.empty_trash", {})
    assert set(branch.objects.digests()) == digests
    assert examine(pair.engine, branch.path)["findings"] == []


def test_a_page_that_was_removed_for_good_does_not_come_back_bare(pair: Pair) -> None:
    pair.run(pair.branch, "document.update", {"document_id": pair.page.document_id, "name": "f. 1 recto"})
    pair.run(pair.project, "document.delete", {"ids": [pair.page.document_id]})
    pair.run(pair.project, "document.empty_trash", {})
    before = pair.state()
    with pytest.raises(Conflict) as refused:
        pair.merge(on_conflict="take_theirs")
    assert "removed for good" in refused.value.detail
    assert differences(before, pair.state()) == []
    pair.merge(on_conflict="keep_ours")
    assert pair.changes()["total"] == 0


def test_a_locked_page_is_not_merged_by_an_editor(pair: Pair) -> None:
    editor = dataclasses.replace(LOCAL_OWNER, role="editor", name="editor")
    pair.correct(pair.branch, "Dear Sir")
    pair.run(pair.project, "document.lock", {"document_id": pair.page.document_id, "locked": True})
    before = pair.state()
    with pytest.raises(Forbidden) as refused:
        pair.merge(editor)
    assert refused.value.code == "node_locked"
    assert differences(before, pair.state()) == []


def test_a_deleted_branch_is_gone_and_what_was_merged_stays(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    pair.merge()
    text = pair.counting(pair.project)
    pair.run(pair.project, "branches.delete", {"branch_id": pair.id})
    assert not pair.path.exists()
    assert pair.counting(pair.project) == text
    with pytest.raises(NotFound):
        pair.merge()


def test_an_agent_proposes_from_its_branch_and_reads_there_why_it_was_turned_down(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir", who=MACHINE)
    proposed = pair.run(pair.branch, "branches.propose", {"summary": "One line"}, MACHINE)
    assert (proposed["id"], proposed["summary"]) == (pair.id, "One line")
    assert proposed["proposed_at"] is not None
    (group,) = pair.changes()["items"]
    turned_down = {"branch_id": pair.id, "groups": [group["id"]], "reason": "It says deer"}
    pair.run(pair.project, "branches.reject", turned_down)
    with pair.branch.db.read() as conn:
        branch = read_branch(conn, pair.engine, pair.branch, pair.id)
        assert list_branches(conn, pair.engine, pair.branch)["count"] == 1
    assert [entry["reason"] for entry in branch["rejected"]] == ["It says deer"]
    assert branch["summary"] == "One line"


def test_why_a_withheld_page_was_turned_down_is_told_to_nobody_who_may_not_see_it(pair: Pair) -> None:
    from armarium.principals import asking

    other_document_id = pair.run(pair.project, "document.create", {"name": "Open", "doc_type": "page"})["id"]
    editor = dataclasses.replace(LOCAL_OWNER, role="editor", name="editor", token_id="t1")
    pair.id = pair.run(pair.project, "branches.create", {"name": "Second"}, editor)["id"]
    with pair.project.db.read() as conn:
        branch = pair.engine.libraries.open_only(
            read_branch(conn, pair.engine, pair.project, pair.id)["library_path"]
        )
    pair.correct(branch, "Dear Sir")
    pair.run(branch, "document.update", {"document_id": other_document_id, "name": "Opened"})
    for group in pair.changes()["items"]:
        reason = {"branch_id": pair.id, "groups": [group["id"]], "reason": group["kind"]}
        step = pair.run(pair.project, "branches.reject", reason)
        with pair.project.db.read() as conn:
            rows = raw_of(conn).execute(
                "SELECT t.target_id FROM audit_target t JOIN audit a USING (seq) WHERE a.id = ?",
                (step["audit_id"],),
            )
            assert {row[0] for row in rows} == {pair.id, group["document_id"]}
    withheld = {"target_kind": "document", "target_id": pair.page.document_id, "restricted": True}
    pair.run(pair.project, "rights.set", withheld)
    told = {}
    for who in (LOCAL_OWNER, editor):
        with asking(who), pair.project.db.read() as conn:
            found = read_branch(conn, pair.engine, pair.project, pair.id)["rejected"]
            told[who.name] = [(item["document_id"], item["reason"]) for item in found]
    assert told["editor"] == [(other_document_id, "tree")]
    assert sorted(told["owner"]) == sorted([(other_document_id, "tree"), (pair.page.document_id, "readings")])


def test_words_are_compared_in_runs() -> None:
    assert compare_words("a b c", "a x c d") == [
        {"change": "same", "text": "a"},
        {"change": "removed", "text": "b"},
        {"change": "added", "text": "x"},
        {"change": "same", "text": "c"},
        {"change": "added", "text": "d"},
    ]


def test_two_merges_at_once_write_once(pair: Pair) -> None:
    pair.correct(pair.branch, "Dear Sir")
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(pair.merge) for _ in range(4)]
    refused = [future.exception() for future in futures if future.exception() is not None]
    assert len(refused) == 3
    assert {refusal.code for refusal in refused if isinstance(refusal, Conflict)} == {"nothing_to_merge"}
    with pair.project.db.read() as conn:
        row = (
            raw_of(conn)
            .execute(
                "SELECT count(*) FROM content_representation WHERE corrects_representation_id = ?",
                (pair.first,),
            )
            .fetchone()
        )
    assert row == (1,)


def test_part_of_a_branch_is_merged_and_what_it_rests_on_is_named(pair: Pair) -> None:
    page = pair.run(pair.branch, "document.create", {"name": "New", "doc_type": "page"})["id"]
    result = pair.run(pair.branch, "segment.pass_create", {"document_id": page, "name": "Hand"})
    groups = {group["kind"]: group["id"] for group in pair.changes()["items"]}
    assert result
    with pytest.raises(Conflict) as refused:
        pair.merge(groups=[groups["shapes"]])
    assert refused.value.code == "needs_groups"
    assert refused.value.fields["groups"] == [groups["tree"]]
    pair.merge(groups=[groups["tree"]])
    pair.merge(groups=[groups["shapes"]])
    assert pair.changes()["total"] == 0


def test_a_branch_of_a_branch_is_refused_and_who_sees_only_a_part_merges_nothing(pair: Pair) -> None:
    with pytest.raises(Conflict) as refused:
        pair.run(pair.branch, "branches.create", {"name": "Nested"})
    assert refused.value.code == "is_a_branch"
    with pytest.raises(Conflict) as no_branch:
        pair.run(pair.project, "branches.update", {})
    assert no_branch.value.code == "not_a_branch"
    pair.run(
        pair.project,
        "rights.set",
        {"target_kind": "document", "target_id": pair.page.document_id, "restricted": True},
    )
    editor = dataclasses.replace(LOCAL_OWNER, role="editor", name="editor", token_id="t1")
    for name, params in (("branches.merge", {"branch_id": pair.id}),):
        with pytest.raises(Forbidden) as withheld:
            pair.run(pair.project, name, params, editor)
        assert withheld.value.code == "rights_restricted"


def test_a_token_bound_to_a_project_reaches_its_branches_and_no_others(pair: Pair) -> None:
    bound = dataclasses.replace(MACHINE, libraries=frozenset({str(pair.project.path)}))
    assert bound.reaches(str(pair.path))
    assert not bound.reaches(str(pair.path).replace(".branches", "s.branches"))


def test_what_is_withheld_is_not_in_the_branch_of_whoever_may_not_see_it(pair: Pair, tmp_path: Path) -> None:
    """Not hidden in it: no row, no image of a row, no file and no word of the log tells of it."""
    from armarium.actions import Example
    from armarium_testing.sample_pages import sample_picture

    secret = sample_picture(
        Example(pair.engine, pair.project, LOCAL_OWNER, tmp_path), Image.new("L", (7, 7)), "Unsayable.png"
    )
    picture = sample_picture(
        Example(pair.engine, pair.project, LOCAL_OWNER, tmp_path), Image.new("L", (5, 5)), "Open.png"
    )
    with pair.project.db.read() as conn:
        digests = dict(raw_of(conn).execute("SELECT document_id, checksum FROM rendition").fetchall())
    withheld = {"target_kind": "document", "target_id": secret, "restricted": True}
    pair.run(pair.project, "rights.set", withheld)
    editor = dataclasses.replace(LOCAL_OWNER, role="editor", name="editor", token_id="t1")
    result = pair.run(pair.project, "branches.create", {"name": "In part"}, editor)
    place = Path(result["library_path"])
    stored = b"".join(path.read_bytes() for path in place.glob("library.sqlite*"))
    assert b"Unsayable" not in stored
    assert secret.encode() not in stored
    assert picture.encode() in stored
    branch = pair.engine.libraries.open_only(place)
    assert branch.objects.has(digests[picture])
    assert not branch.objects.has(digests[secret])
    assert examine(pair.engine, place)["findings"] == []
    pair.correct(branch, "Dear Sir", who=editor)
    pair.id = result["id"]
    (group,) = pair.changes()["items"]
    assert group["status"] == "clean"
    pair.merge()
    assert "Dear Sir" in pair.counting(pair.project)
    with pytest.raises(Conflict) as refused:
        pair.run(branch, "branches.update", {})
    assert refused.value.code == "partial_branch"


def test_a_project_and_its_branch_keep_their_own_names_and_plans_of_snapshots(pair: Pair) -> None:
    pair.run(pair.branch, "library.set", {"name": "Ana's"})
    pair.run(pair.project, "library.set", {"name": "Letters of 1832", "snapshot_interval_seconds": 3600})
    assert pair.changes()["total"] == pair.changes(incoming=True)["total"] == 0
    pair.run(pair.branch, "library.set", {"trainer": "kraken"})
    pair.merge()
    told = [one.settings() for one in (pair.project, pair.branch)]
    assert [item["name"] for item in told] == ["Letters of 1832", "Ana's"]
    assert [item["trainer"] for item in told] == ["kraken"] * 2
