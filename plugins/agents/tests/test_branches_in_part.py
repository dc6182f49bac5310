"""A branch holds a part of the project, and what it is called is told to a part of those who ask."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from branch_pair import Pair
from PIL import Image

from armarium.actions import Example
from armarium.api import Library, NotFound, raw_of
from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium_agents.branches.queries import list_branches, list_changes, read_branch
from armarium_testing.digest import differences
from armarium_testing.sample_pages import sample_picture


def test_a_branch_of_a_folder_holds_that_folder_alone_and_brings_only_that_back(
    pair: Pair, tmp_path: Path
) -> None:
    def make(name: str, parent: str | None = None) -> str:
        given = {"name": name, "doc_type": "folder", "parent_id": parent}
        return str(pair.run(pair.project, "document.create", given)["id"])

    box = make("Box")
    inside, beside = make("Inside", box), make("Beside", box)
    example = Example(pair.engine, pair.project, LOCAL_OWNER, tmp_path)
    taken, left = (sample_picture(example, Image.new("L", (size, size)), f"{size}.png") for size in (5, 7))
    for page, place in ((taken, inside), (left, beside)):
        pair.run(pair.project, "document.move", {"ids": [page], "parent_id": place})
    with pytest.raises(NotFound):
        pair.run(pair.project, "branches.create", {"name": "None", "scope": ["nowhere"]})
    result = pair.run(pair.project, "branches.create", {"name": "Part", "scope": [inside]})
    pair.id, pair.path = result["id"], Path(result["library_path"])
    assert result["scope"] == [inside]
    stored = b"".join(path.read_bytes() for path in pair.path.glob("library.sqlite*"))
    assert taken.encode() in stored
    assert left.encode() not in stored
    assert pair.page.segment_ids[0].encode() not in stored
    with pair.branch.db.read() as conn:
        names = {row[0] for row in raw_of(conn).execute("SELECT name FROM document")}
    assert {"Box", "Inside", "5.png"} <= names
    assert not names & {"Beside", "7.png"}
    with pair.project.db.read() as conn:
        digests = dict(raw_of(conn).execute("SELECT document_id, checksum FROM rendition").fetchall())
    assert (pair.branch.objects.has(digests[taken]), pair.branch.objects.has(digests[left])) == (True, False)
    assert examine(pair.engine, pair.path)["findings"] == []
    before = pair.state()
    pair.run(pair.branch, "document.update", {"document_id": taken, "name": "Leaf"})
    (group,) = pair.changes()["items"]
    assert group["document_id"] == taken
    merged = pair.merge()
    assert set(differences(before, pair.state())) == {"branch_settled", "document"}
    pair.engine.undo(pair.project, [merged["audit_id"]], LOCAL_OWNER)
    assert differences(before, pair.state()) == []
    assert examine(pair.engine, pair.project.path)["findings"] == []


def test_pages_have_their_thumbnails_in_a_branch_of_a_folder_and_where_they_are_merged(
    pair: Pair, tmp_path: Path
) -> None:
    def add_picture(library: Library, name: str, size: int) -> str:
        page = sample_picture(
            Example(pair.engine, library, LOCAL_OWNER, tmp_path), Image.new("L", (size, size)), name
        )
        with library.db.write() as conn:
            enqueue(conn, NewJob("thumbnails", {"document_ids": [page]}, "Thumbnails", lane="images"))
        pair.engine.jobs.run_until_idle(library)
        return page

    def with_thumbnails(library: Library) -> set[str]:
        with library.db.read() as conn:
            return {row[0] for row in raw_of(conn).execute("SELECT document_id FROM thumbnail")}

    folder = pair.run(pair.project, "document.create", {"name": "Box", "doc_type": "folder"})["id"]
    inside, outside = add_picture(pair.project, "in.png", 5), add_picture(pair.project, "out.png", 7)
    pair.run(pair.project, "document.move", {"ids": [inside], "parent_id": folder})
    created = pair.run(pair.project, "branches.create", {"name": "Part", "scope": [folder]})
    pair.id, pair.path = created["id"], Path(created["library_path"])
    assert with_thumbnails(pair.branch) == {inside}
    added = add_picture(pair.branch, "new.png", 9)
    pair.merge()
    assert with_thumbnails(pair.project) == {inside, outside, added}


def test_what_a_branch_is_called_and_brings_is_told_to_whom_it_concerns(pair: Pair) -> None:
    from armarium.principals import Principal, asking

    def who(role: Any, kind: Any, token: str) -> Principal:
        return dataclasses.replace(LOCAL_OWNER, role=role, kind=kind, token_id=token, token_kind="agent")

    mine, other = who("editor", "machine", "t1"), who("editor", "machine", "t2")
    person, viewer = (
        dataclasses.replace(mine, kind="person", token_kind="device", token_id="t3"),
        who("viewer", "person", "t4"),
    )
    result = pair.run(pair.project, "branches.create", {"name": "Unsayable"}, mine)
    pair.run(pair.project, "branches.propose", {"branch_id": result["id"], "summary": "Unsaid"}, mine)

    def tell(asks: Principal) -> dict[str, tuple[str, str | None]]:
        with asking(asks), pair.project.db.read() as conn:
            items = list_branches(conn, pair.engine, pair.project)["items"]
            for item in items:
                details = read_branch(conn, pair.engine, pair.project, item["id"])
                assert {**item, "rejected": []} == details
        return {item["id"]: (item["name"], item["summary"]) for item in items}

    whole = ("Unsayable", "Unsaid")
    unnamed = (f"Branch {result['id'][-8:]}", None)
    shown = [tell(one).get(result["id"]) for one in (LOCAL_OWNER, person, mine, other, viewer)]
    assert shown == [whole, whole, whole, unnamed, None]
    assert tell(viewer) == {}
    for one, may_look in ((person, True), (mine, True), (other, False), (viewer, False)):
        with (
            asking(one),
            pair.project.db.read() as conn,
            nullcontext() if may_look else pytest.raises(NotFound),
        ):
            page = {"limit": 50, "offset": 0}
            list_changes(conn, pair.engine, pair.project, one, result["id"], **page)
    withheld = {"target_kind": "document", "target_id": pair.page.document_id, "restricted": True}
    pair.run(pair.project, "rights.set", withheld)
    assert [set(tell(one)) for one in (person, mine, other)] == [set(), {result["id"]}, set()]
    with asking(other), pair.project.db.read() as conn, pytest.raises(NotFound):
        read_branch(conn, pair.engine, pair.project, result["id"])
    with pair.project.db.read() as conn:
        logged = raw_of(conn).execute("SELECT group_concat(params) FROM audit").fetchone()[0]
    assert "Unsa" not in logged
