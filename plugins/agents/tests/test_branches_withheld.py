"""What is withheld is in no file of a branch for whoever may not see it, also once it was trashed, removed or restricted later."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from branch_pair import Pair
from PIL import Image

from armarium.actions import Example
from armarium.api import Forbidden, Library, raw_of
from armarium.principals import LOCAL_OWNER, asking
from armarium_documents.samples import sample_picture
from armarium_source_model.samples import sample_page, sample_reading

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


def test_what_is_restricted_later_is_withheld_in_the_branch_once_that_is_brought_in(
    pair: Pair, tmp_path: Path
) -> None:
    withhold(pair, pair.page.document_id)
    assert pair.page.document_id in visible(pair.branch)
    with pytest.raises(Forbidden):
        pair.run(pair.branch, "branches.update", {}, EDITOR)
    pair.run(pair.branch, "branches.update", {})
    assert pair.page.document_id not in visible(pair.branch)
    for library, given in ((pair.branch, {}), (pair.project, {"branch_id": pair.id})):
        with pytest.raises(Forbidden):
            pair.run(library, "branches.pack", {**given, "path": str(tmp_path / "out.zip")}, EDITOR)
