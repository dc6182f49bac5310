"""What is withheld is in no file of a branch for whoever may not see it, also once it was trashed, removed or restricted later."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from branch_pair import Pair
from PIL import Image

from armarium.actions import Example
from armarium.api import Conflict, Engine, Forbidden, Library, raw_of
from armarium.principals import LOCAL_OWNER, asking
from armarium_agents.plugin import armarium_plugin as agents
from armarium_documents.plugin import armarium_plugin as documents
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.sample_pages import sample_page, sample_picture, sample_reading

NORA = dataclasses.replace(LOCAL_OWNER, name="Nora Unseen")
EDITOR = dataclasses.replace(LOCAL_OWNER, role="editor", name="editor", token_id="t1")
TOLD = (b"Unsayable", b"Unseen")


@pytest.fixture
def unseen(pair: Pair, tmp_path: Path) -> str:
    """A withheld page with a picture and a reading, worked on by somebody who worked on nothing else."""
    example = Example(pair.engine, pair.project, NORA, tmp_path)
    page = sample_page(example)
    sample_reading(example, page, "Unsayable words")
    picture = sample_picture(example, Image.new("L", (7, 7)), "Unsayable.png")
    for document_id in (page.document_id, picture):
        withhold(pair, document_id)
    pair.run(pair.project, "document.move", {"ids": [picture], "parent_id": page.document_id})
    return page.document_id


def withhold(pair: Pair, document_id: str) -> None:
    given = {"target_kind": "document", "target_id": document_id, "restricted": True}
    pair.run(pair.project, "rights.set", given)


def bytes_of_branch(pair: Pair) -> bytes:
    """Return the bytes of all that lies in a new branch for the editor, names of files among them."""
    place = Path(pair.run(pair.project, "branches.create", {"name": "In part"}, EDITOR)["library_path"])
    pair.engine.libraries.release(place)
    files = [path for path in place.rglob("*") if path.is_file()]
    return b"".join(path.name.encode() + path.read_bytes() for path in files)


def visible(library: Library) -> set[str]:
    with asking(EDITOR), library.db.read() as conn:
        return {row[0] for row in raw_of(conn).execute("SELECT id FROM document")}


@pytest.mark.parametrize("later", [(), ("document.delete",), ("document.delete", "document.empty_trash")])
def test_neither_page_nor_words_nor_who_made_them_are_in_the_files(
    pair: Pair, unseen: str, later: tuple[str, ...]
) -> None:
    with pair.project.db.read() as conn:
        digests = [row[0] for row in raw_of(conn).execute("SELECT checksum FROM rendition")]
        lines = [
            row[0] for row in raw_of(conn).execute("SELECT id FROM segment WHERE document_id = ?", (unseen,))
        ]
    for name in later:
        pair.run(pair.project, name, {"ids": [unseen]} if name == "document.delete" else {})
    stored = bytes_of_branch(pair)
    assert pair.page.document_id.encode() in stored
    told = [
        *TOLD,
        unseen.encode(),
        *(line.encode() for line in lines),
        *(digest.encode() for digest in digests),
    ]
    assert [word for word in told if word in stored] == []
    assert lines
    assert digests


def test_what_is_restricted_later_is_withheld_in_the_branch_at_once_and_shown_again_once_it_no_longer_is(
    pair: Pair,
) -> None:
    page = pair.page.document_id
    assert page in visible(pair.branch)
    withhold(pair, page)
    assert page not in visible(pair.branch)
    with pair.project.db.read() as conn:
        (record,) = raw_of(conn).execute("SELECT id FROM rights_record").fetchone()
    pair.run(pair.project, "rights.withdraw", {"record_id": record})
    assert page in visible(pair.branch)


def test_a_branch_is_not_shown_to_others_where_its_project_is_known_and_does_not_open(pair: Pair) -> None:
    branch, project = pair.branch, pair.project
    pair.engine.libraries.release(project.path)
    (project.path / "library.sqlite").rename(project.path / "away")
    with pytest.raises(Conflict, match="incomplete"):
        visible(branch)
    with asking(LOCAL_OWNER), branch.db.read() as conn:
        assert raw_of(conn).execute("SELECT count(*) FROM document").fetchone()[0]


def test_what_was_brought_in_is_withheld_in_the_branch_where_its_project_is_unknown_too(
    pair: Pair, make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    withhold(pair, pair.page.document_id)

    def seen_elsewhere(name: str) -> bool:
        place = tmp_path / "elsewhere" / f"{name}.library"
        pair.engine.libraries.release(pair.path)
        shutil.copytree(pair.path, place)
        families = [documents(), source_model(), rights(), agents()]
        other = make_engine(plugins=families, state=f"state of {name}")
        return pair.page.document_id in visible(other.libraries.open_only(place))

    assert seen_elsewhere("before")
    with pytest.raises(Forbidden):
        pair.run(pair.branch, "branches.update", {}, EDITOR)
    pair.run(pair.branch, "branches.update", {})
    assert not seen_elsewhere("after")
    for library, given in ((pair.branch, {}), (pair.project, {"branch_id": pair.id})):
        with pytest.raises(Forbidden):
            pair.run(library, "branches.pack", {**given, "path": str(tmp_path / "out.zip")}, EDITOR)
