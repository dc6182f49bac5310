"""Reads: pages of a folder, views, pages beneath, with a number of statements that does not depend on the size."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import OWNER, Run, rows, sources_of

from armarium.api import Engine, Library, NotFound, json_text, new_id, raw_of
from armarium_documents.api import documents_named, folders_above, pages_among, pages_under, walk_pages
from armarium_documents.queries import documents as queries

Make = Callable[..., str]


def page(library: Library, parent_id: str | None, **how: Any) -> tuple[list[str], int]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        items, total = queries.children_page(raw, parent_id, **{"limit": 100, "offset": 0, **how})
    return [item["name"] for item in items], total


def test_a_page_of_a_folder_in_order(library: Library, folder: Make) -> None:
    box = folder("Box")
    for name in ("b", "c", "a"):
        folder(name, box, prototype_key="letter" if name == "c" else None)
    assert page(library, box) == (["a", "b", "c"], 3)
    assert page(library, box, limit=1, offset=1) == (["b"], 3)
    assert page(library, box, offset=9) == ([], 3)
    assert page(library, box, sort_by="name", sort_direction="desc")[0] == ["c", "b", "a"]
    assert page(library, box, prototype_key="letter") == (["c"], 1)
    assert page(library, box, doc_type="group") == ([], 0)
    assert "Box" in page(library, None)[0]


def test_documents_by_date_stand_as_their_dates_follow_and_undated_ones_last(
    library: Library, folder: Make
) -> None:
    box = folder("Box")
    dates = [
        "-0500",
        "-0044-03-15",
        "0900",
        "/1700",
        "17XX",
        "1750-03",
        "1750-03-02?",
        "1801",
        "Y12000",
        "XXXX-03-12",
    ]
    folder("yet undated", box)
    for date in sorted(dates):
        folder(date, box, date_iso=date)
    assert page(library, box, sort_by="document_date")[0] == [*dates, "yet undated"]
    backwards = [*dates[-2::-1], "XXXX-03-12", "yet undated"]
    assert page(library, box, sort_by="document_date", sort_direction="desc")[0] == backwards


def fill(engine: Engine, library: Library, parent_id: str, number: int) -> None:
    for start in range(0, number, 500):
        nodes = [
            {"id": new_id(), "parent_id": parent_id, "doc_type": "file", "name": f"n{start + n:06}"}
            for n in range(min(500, number - start))
        ]
        engine.run(library, "document.add_files", {"nodes": nodes}, OWNER)


def statements(library: Library, read: Callable[[Any], Any]) -> int:
    asked: list[str] = []
    with library.db.read() as conn:
        raw = raw_of(conn)
        raw.set_trace_callback(asked.append)
        try:
            read(conn)
        finally:
            raw.set_trace_callback(None)
    return len(asked)


@pytest.mark.parametrize("level", ["stored", "content"])
def test_a_view_asks_as_often_whatever_the_size(
    engine: Engine, library: Library, folder: Make, level: str
) -> None:
    def look(box: str) -> Callable[[Any], Any]:
        return lambda conn: queries.view(conn, engine, box, level=level)  # type: ignore[arg-type]

    small, large = folder("Small"), folder("Large", folder("In", folder("Deep")))
    fill(engine, library, large, 700)
    assert statements(library, look(small)) == statements(library, look(large)) < 12


def test_a_view_looks_through_containers_when_asked(
    library: Library, folder: Make, note: Make, client: Any
) -> None:
    box = folder("Box")
    note("direct", box)
    group = folder("Group", folder("Inner", box), doc_type="group")
    note("inside", group)
    stored = client.get(f"/api/documents/{box}/view").json()
    content = client.get(f"/api/documents/{box}/view", params={"level": "content"}).json()
    assert [child["name"] for child in stored["children"]] == ["direct", "Inner"]
    assert [child["name"] for child in content["children"]] == ["direct", "inside"]
    assert content["children_total"] == 2


def test_a_view_says_where_a_document_is(folder: Make, note: Make, client: Any) -> None:
    box = folder("Box")
    text = note("Note", folder("Inner", box))
    answer = client.get(f"/api/documents/{text}/view").json()
    assert [above["name"] for above in answer["ancestors"]] == ["Box", "Inner"]
    assert answer["document"]["id"] == text
    assert answer["attachments"] == {
        "renditions": [],
        "artifacts": [],
        "annotation_count": 0,
        "entity_count": 0,
    }
    half = client.get(f"/api/documents/{text}/view", params={"children": False, "attachments": False}).json()
    assert (half["children"], half["children_total"], half["attachments"]) == (None, None, None)


def test_pages_of_one_name_are_told_apart_by_their_folders(
    library: Library, folder: Make, note: Make, client: Any
) -> None:
    box = folder("Box")
    pages = [note("0001.jpg", folder(f"Bundle {number}", box)) for number in range(3)] + [note("loose")]
    body = {"document_ids": [pages[2], "unknown", pages[0], pages[3]]}
    items = client.post("/api/documents/folders-above", json=body).json()["items"]
    assert [(item["document_id"], item["name"], item["folders"]) for item in items] == [
        (pages[2], "0001.jpg", ["Box", "Bundle 2"]),
        (pages[0], "0001.jpg", ["Box", "Bundle 0"]),
        (pages[3], "loose", []),
    ]
    assert statements(library, lambda conn: folders_above(conn, pages)) == 1


def test_pages_under_walks_depth_first_in_order(
    engine: Engine, library: Library, do: Run, folder: Make
) -> None:
    from documents_fixtures import add_picture, picture

    box = folder("Box")
    data = picture()
    first = add_picture(engine, library, box, data, "1")
    inner = folder("Inner", box)
    do("document.move", {"ids": [inner], "parent_id": box})
    in_a = add_picture(engine, library, inner, data, "a")
    in_b = add_picture(engine, library, inner, data, "b")
    last = add_picture(engine, library, box, data, "2")
    roll = add_picture(engine, library, box, data, "roll.tif")
    pages = [
        add_picture(engine, library, roll, data, f"Page {n}", doc_type="page", sequence=n) for n in (1, 2)
    ]
    folder("A group", box, doc_type="group")
    with library.db.read() as conn:
        assert pages_under(conn, [box]) == [first, in_a, in_b, last, *pages]
        assert pages_under(conn, [last, box]) == [last, first, in_a, in_b, *pages]
    do("document.update", {"document_id": inner, "exclude_from_processing": True})
    do("document.delete", {"ids": [last]})
    with library.db.read() as conn:
        assert pages_under(conn, [box]) == [first, in_a, in_b, *pages]
        assert pages_under(conn, [box], for_processing=True) == [first, *pages]
        with pytest.raises(NotFound):
            pages_under(conn, ["f" * 32])


def test_documents_by_id_keep_the_order_asked(library: Library, folder: Make) -> None:
    ids = [folder(name) for name in "cab"]
    with library.db.read() as conn:
        assert [document["name"] for document in documents_named(conn, [*ids, "f" * 32])] == ["c", "a", "b"]


def test_a_folder_of_many_children_answers_a_page(
    engine: Engine, library: Library, folder: Make, client: Any
) -> None:
    box = folder("Box")
    fill(engine, library, box, 3000)
    answer = client.get("/api/documents", params={"parent_id": box, "limit": 200, "offset": 2800}).json()
    assert (answer["count"], answer["total"], answer["limit"], answer["offset"]) == (200, 3000, 200, 2800)
    assert answer["items"][-1]["name"] == "n002999"
    assert client.get(f"/api/documents/{box}").json()["child_count"] == 3000


@pytest.mark.parametrize(
    ("sort_by", "index"), [("sort_order", "ix_document_children"), ("name", "ix_document_by_name")]
)
def test_a_page_of_children_is_read_from_the_index(library: Library, sort_by: Any, index: str) -> None:
    with library.db.read() as conn:
        raw, statements = raw_of(conn), []
        raw.set_trace_callback(statements.append)
        queries.children_page(raw, sources_of(library), sort_by=sort_by, limit=200, offset=5000)
        raw.set_trace_callback(None)
        (page,) = [statement for statement in statements if " OFFSET " in statement]
        plan = raw.execute(f"EXPLAIN QUERY PLAN {page}").fetchall()
    words = " ".join(row[3] for row in plan)
    assert index in words
    assert "TEMP B-TREE" not in words


def test_json_in_the_database_goes_out_as_it_is(do: Run, client: Any, library: Library) -> None:
    value = {"ünïcode": ["é", 1.5, None, {"deep": True}], "n": 12345678901234567}
    result = do("document.create", {"name": "A", "attributes": value})
    assert client.get(f"/api/documents/{result['id']}").json()["attributes"] == value
    assert rows(library, "SELECT attributes FROM document WHERE id = ?", result["id"]) == [
        (json_text(value),)
    ]


def test_a_document_says_what_comes_before_and_after_it_in_its_folder(
    folder: Make, note: Make, client: Any
) -> None:
    box = folder("Box")
    first, second = note("first", box), note("second", box)
    folder("Between", box)
    third = note("third", box)
    order = [item["id"] for item in client.get(f"/api/documents?parent_id={box}").json()["items"]]
    around: dict[str, Any] = {
        one: client.get(f"/api/documents/{one}/neighbours").json() for one in (first, second, third)
    }
    pages = [one for one in order if one in around]
    assert [around[one]["before_id"] for one in pages] == [None, *pages[:-1]]
    assert [around[one]["after_id"] for one in pages] == [*pages[1:], None]
    alone = note("elsewhere", folder("Other"))
    assert client.get(f"/api/documents/{alone}/neighbours").json() == {
        "document_id": alone,
        "before_id": None,
        "after_id": None,
    }
    assert client.get("/api/documents/nowhere/neighbours").status_code == 404


def test_pages_are_the_same_walked_to_one_by_one_and_found_from_below(library: Library, do: Run) -> None:
    chance = random.Random(7)
    made = [str(do("document.create", {"name": "Box", "doc_type": "folder"})["id"])]
    inner = list(made)
    for _ in range(60):
        kind = chance.choice(("folder", "page", "page", "page"))
        node = {"name": chance.choice("abá"), "doc_type": kind, "parent_id": chance.choice(inner)}
        made.append(str(do("document.create", node)["id"]))
        inner += [made[-1]] if kind != "page" else []
    do("document.delete", {"ids": [made[5], made[20]]})
    with library.db.read() as conn:
        assert len(pages_under(conn, made[:1])) > 20
        for one in made:
            pages = pages_under(conn, [one])
            assert list(walk_pages(conn, one)) == pages
            assert pages_among(conn, one, [*made, "nowhere"]) == pages
