"""The commands for documents, through a serving engine: the tree, the table, the Trash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium_testing.command_line import Machine, Pictures, ids


def run(machine: Machine, action: str, params: str) -> dict[str, Any]:
    """Return the result of an action."""
    answer: dict[str, Any] = machine.succeed("action", "run", action, "-p", params, "--json").json["result"]
    return answer


def describe(machine: Machine, document: str, **attributes: object) -> None:
    import json

    run(machine, "document.update", json.dumps({"document_id": document, "attributes": attributes}))


def test_ls_goes_into_folders_or_not(wills: Machine) -> None:
    answer = wills.succeed("ls").out
    assert "│     1.png" in answer
    assert "│ image  │" in answer
    flat = wills.succeed("ls", "--flat", "--json").json
    assert [node["name"] for node in flat["items"]] == ["Sources"]
    assert wills.succeed("ls", ids(wills)["pages"], "--flat", "--json").json["count"] == 3
    assert wills.expect_refusal("ls", "f" * 32).startswith("There is no document")


def test_show_describes_a_document(wills: Machine) -> None:
    page = ids(wills)["1.png"]
    describe(wills, page, place="Toledo", tags=["a", "b"], nothing=None)
    run(wills, "document.update", f'{{"document_id": "{page}", "date_iso": "1750", "is_starred": true}}')
    answer = wills.succeed("show", page).out
    assert answer.splitlines()[0] == "Sources/pages/1.png"
    assert f"  {page}  image" in answer
    for words in (
        "date: 1750",
        "starred",
        "place: Toledo",
        "tags: a, b",
        "100 × 80 pixels, image/png, primary",
    ):
        assert f"  {words}" in answer or words in answer, words
    assert "nothing" not in answer
    shown_answer = wills.succeed("show", page, "--json").json
    assert shown_answer["described"]["values"]["place"] == "Toledo"
    assert "  inside: 3" in wills.succeed("show", ids(wills)["pages"]).out
    assert wills.expect_refusal("show", "f" * 32).startswith("There is no document")


def test_a_document_is_named_by_its_name_where_only_one_has_it(wills: Machine) -> None:
    known_ids = ids(wills)
    assert known_ids["2.png"] in wills.succeed("show", "2.png").out
    assert wills.succeed("ls", "pages", "--flat", "--json").json["count"] == 3
    wills.succeed("move", "3.png", "--to", "pages", "--after", "1.png")
    assert list(ids(wills)) == ["Sources", "pages", "1.png", "3.png", "2.png"]
    wills.succeed("crop", "1.png", "--box", "0,0,10,10")
    wills.succeed("uncrop", "1.png")
    wills.succeed("canvas", "pages", "--out", str(wills.home / "canvas.png"))
    assert wills.succeed("dataset", "pages", "--json").json["total"] == 3
    # An alias with the same name is no obstacle; another document is.
    run(wills, "bookmark.create", f'{{"target_id": "{known_ids["1.png"]}"}}')
    assert known_ids["1.png"] in wills.succeed("show", "1.png").out
    second_document_id = run(wills, "document.create", '{"name": "2.png"}')["id"]
    refusal = wills.expect_refusal("trash", "2.png")
    assert refusal.startswith("2 documents are called '2.png': ")
    assert f"/2.png ({second_document_id})" in refusal
    assert f"/Sources/pages/2.png ({known_ids['2.png']})" in refusal
    assert known_ids["2.png"] in wills.succeed("show", "pages/2.png").out
    assert second_document_id in wills.succeed("show", "/2.png").out
    assert wills.expect_refusal("show", "a b") == (
        "No document here has the id, name or path 'a b'; armarium ls lists the documents."
    )


def test_show_reports_a_kind_that_cannot_be_resolved(wills: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No action and no undo leaves a page like this, but a project from elsewhere may contain one."""
    from armarium_cli.refusals import Refused
    from armarium_cli.session import Session

    get = Session.get

    def without_the_kind(self: Session, path: str, **query: Any) -> Any:
        if path.endswith("/effective-attributes"):
            raise Refused("There is no kind lost.")
        return get(self, path, **query)

    page = ids(wills)["1.png"]
    monkeypatch.setattr(Session, "get", without_the_kind)
    assert "its kind cannot be resolved: There is no kind lost." in wills.succeed("show", page).out


def test_show_writes_the_picture_to_a_file(wills: Machine) -> None:
    from PIL import Image

    page = ids(wills)["2.png"]
    assert wills.succeed("show", page, "--picture", "out/two.png").out.endswith("Wrote out/two.png.\n")
    with Image.open("out/two.png") as picture:
        assert picture.size == (100, 80)
    assert "pass --overwrite" in wills.expect_refusal("show", page, "--picture", "out/two.png")
    assert wills.succeed("show", page, "--picture", "out/two.png", "--overwrite", "--json").json["picture"]
    assert wills.expect_refusal("show", page, "--picture", "two.jpg").endswith("ends in .png.")
    Path("folder.png").mkdir()
    assert "is a folder" in wills.expect_refusal("show", page, "--picture", "folder.png")
    assert "has no picture" in wills.expect_refusal("show", ids(wills)["Sources"], "--picture", "s.png")


def test_move_places_documents(wills: Machine) -> None:
    known_ids = ids(wills)
    box = run(wills, "document.create", '{"name": "Box"}')["id"]
    answer = wills.succeed("move", known_ids["1.png"], known_ids["2.png"], "--to", box).out
    assert answer.startswith("Moved 2 documents to Box. Take it back with: armarium undo ")
    wills.succeed("move", known_ids["2.png"], "--to", box, "--first")
    assert [item["name"] for item in wills.succeed("ls", box, "--json").json["items"]] == ["2.png", "1.png"]
    wills.succeed("move", known_ids["2.png"], "--to", box, "--after", known_ids["1.png"])
    assert [item["name"] for item in wills.succeed("ls", box, "--json").json["items"]] == ["1.png", "2.png"]
    assert wills.succeed("move", known_ids["1.png"], "--top", "--json").json["parent_id"] is None
    assert "to the top." in wills.succeed("move", known_ids["2.png"], "--top").out


def test_moves_that_cannot_be_are_refused(wills: Machine) -> None:
    known_ids = ids(wills)
    box = run(wills, "document.create", '{"name": "Box"}')["id"]
    inner = run(wills, "document.create", f'{{"name": "Inner", "parent_id": "{box}"}}')["id"]
    assert wills.expect_refusal("move", known_ids["1.png"]).startswith("Give --to FOLDER")
    assert wills.expect_refusal("move", known_ids["1.png"], "--top", "--to", box).startswith(
        "Give --to FOLDER"
    )
    assert "either --after or --first" in wills.expect_refusal(
        "move", known_ids["1.png"], "--to", box, "--first", "--after", inner
    )
    assert wills.expect_refusal("move", box, "--to", box).endswith(".")
    assert wills.expect_refusal("move", box, "--to", inner).endswith(".")
    assert wills.expect_refusal("move", known_ids["1.png"], "--to", "f" * 32).startswith(
        "There is no document"
    )


def test_the_trash_and_back(wills: Machine) -> None:
    known_ids = ids(wills)
    assert wills.succeed("trash").out == "The Trash is empty.\n"
    answer = wills.succeed("trash", known_ids["1.png"], known_ids["2.png"]).out
    assert answer.startswith("2 documents went to the Trash. Take it back with: armarium undo ")
    listed = wills.succeed("trash").out
    assert known_ids["1.png"] in listed
    assert "Sources" in listed
    assert wills.succeed("trash", "--json").json["total"] == 2
    assert "in the Trash since" in wills.succeed("show", known_ids["1.png"]).out
    assert "1.png" in wills.succeed("restore", "1.png").out
    assert wills.expect_refusal("restore", "1.png").startswith(
        "Nothing in the Trash has the id or the name '1.png'"
    )
    assert wills.succeed("restore", known_ids["2.png"], "--json").json["count"] == 1
    assert wills.expect_refusal("restore", known_ids["1.png"]).endswith(".")
    wills.succeed("trash", known_ids["3.png"])
    half = wills.expect_refusal("restore", known_ids["3.png"], known_ids["1.png"])
    assert half.endswith("1 document named before it came back.")


def test_empty_trash_asks_first(wills: Machine) -> None:
    known_ids = ids(wills)
    assert wills.succeed("empty-trash").out == "The Trash is empty.\n"
    wills.succeed("trash", known_ids["1.png"])
    assert "cannot be undone; pass --yes" in wills.expect_refusal("empty-trash")
    assert "pass --yes" in wills.expect_refusal("empty-trash", "--json")
    assert wills.succeed("empty-trash", "--dry-run", "--json").json["documents"] == 1
    assert "?" in wills.succeed("empty-trash", "--dry-run").out
    answer = wills.succeed("empty-trash", "--yes").out
    assert answer.startswith("Removed 1 document and 1 file, ")
    assert "Snapshot before it: " in answer
    assert wills.expect_refusal("show", known_ids["1.png"]).startswith("There is no document")


@pytest.fixture
def described(wills: Machine) -> Machine:
    """Three pages, two of them described."""
    known_ids = ids(wills)
    describe(
        wills,
        known_ids["1.png"],
        place="Toledo",
        pages=12,
        date="1750-03-01",
        sealed=True,
        tags=["letter", "wax"],
    )
    describe(
        wills,
        known_ids["2.png"],
        place="Cuenca",
        pages=3,
        date="1750-09",
        sealed=False,
        long="x" * 200,
        tags=["letters"],
    )
    return wills


CONDITIONS = [
    (["place=Toledo"], ["1.png"]),
    (["place != Toledo", "place"], ["2.png"]),
    (["place~TOL"], ["1.png"]),
    (["!place"], ["3.png"]),
    (["pages:number>=4"], ["1.png"]),
    (["pages:number<=4"], ["2.png"]),
    (["pages:number=3..11.5"], ["2.png"]),
    (["date:date=1750"], ["1.png", "2.png"]),
    (["date:date=1750-04..1751"], ["2.png"]),
    (["sealed:checkbox=yes"], ["1.png"]),
    (["document.name~.png", "place"], ["1.png", "2.png"]),
    (["tags~=letter"], ["1.png"]),
    (["tags~letter"], ["1.png", "2.png"]),
    (["sealed:checkbox~=no"], ["2.png"]),
    (["no such thing=x"], []),
]


def test_dataset_keeps_what_meets_every_condition(described: Machine) -> None:
    sources = ids(described)["pages"]
    for conditions, names in CONDITIONS:
        options = [word for condition in conditions for word in ("-w", condition)]
        answer = described.succeed("dataset", sources, *options, "--json").json
        assert [row["name"] for row in answer["rows"]] == names, conditions


def test_dataset_shows_a_table_and_what_was_counted(described: Machine) -> None:
    answer = described.succeed(
        "dataset", "--described", "--sort", "pages:number", "--desc", "-f", "place", "--bins", "date:month"
    ).out
    assert answer.index("1.png") < answer.index("2.png")
    assert "2 documents." in answer
    assert "┃ pages ┃" in answer
    assert "1750-03" in answer
    assert "│ Cuenca │ 1" in answer
    assert "…" in answer
    assert "x" * 41 not in answer.replace("\n", "")
    assert (
        "these are 2 to 2" in described.succeed("dataset", "--described", "--limit", "1", "--offset", "1").out
    )
    assert described.succeed("dataset", "-w", "place=Lima").out == "0 documents.\n"
    chosen = described.succeed("dataset", "--described", "-c", "sealed", "-c", "document.node_kind").out
    assert "┃ sealed ┃ node_kind ┃" in chosen
    assert "│ yes    │ document  │" in chosen
    assert "Cuenca" not in chosen
    assert described.succeed("dataset", "--bins", "date", "--json").json["bins"] == [
        {"bin": "1750", "count": 2}
    ]


def test_dataset_goes_into_folders_when_asked(described: Machine) -> None:
    box = run(described, "document.create", '{"name": "Box"}')["id"]
    described.succeed("move", ids(described)["1.png"], "--to", box)
    deep = run(described, "document.create", f'{{"name": "Deep", "parent_id": "{box}"}}')["id"]
    described.succeed("move", ids(described)["2.png"], "--to", deep)
    assert described.succeed("dataset", box, "--json").json["total"] == 2
    assert described.succeed("dataset", box, "-r", "--json").json["total"] == 3
    assert described.succeed("dataset", "--kind", "letter", "--json").json["total"] == 0


IMPOSSIBLE = [
    (("-w", "pages:number=many"), "'many' is not a number"),
    (("-w", "sealed:checkbox=maybe"), "'maybe' is neither true nor false"),
    (("-w", ""), "An empty name names no attribute"),
    (("--sort", " "), "An empty name names no attribute"),
    (("--desc",), "give --sort NAME with it"),
    (("-w", 'a"b=c'), "an attribute's name must not contain"),
    (("-w", "document.parent_id=x"), "there is no field document.parent_id"),
    (("-w", "sealed:checkbox>=yes"), "compared with eq or ne"),
    (("-c", "document.language"), "cannot be shown here"),
    (("f" * 32,), "There is no document"),
]


def test_a_dataset_that_cannot_be_is_refused(wills: Machine) -> None:
    for words, said in IMPOSSIBLE:
        assert said in wills.expect_refusal("dataset", *words), words


def test_a_folder_imported_again_adds_only_what_is_new(wills: Machine, pictures: Pictures) -> None:
    assert wills.succeed("import", "pages").out.startswith("Imported 0 files; 3 were there already.")
    pictures(["4.png"])
    second_answer = wills.succeed("import", "pages", "--json").json
    assert (second_answer["files"], second_answer["already"]) == (1, 3)
    all_answer = wills.succeed("import", "pages", "--again", "--json").json
    assert (all_answer["files"], all_answer["already"]) == (4, 0)
    assert wills.succeed("ls", "--json").json["count"] == 11
