"""How far many pages are, from one request: the same as each page says by itself."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event

from armarium.api import Engine, Library


def test_coverage_says_of_each_page_what_is_read_and_by_whom(client: Any, desk: Any) -> None:
    folder = str(desk.run("document.create", name="Letters", doc_type="folder")["id"])
    bare, read, truth = (
        str(desk.run("document.create", name=name, doc_type="page", parent_id=folder)["id"]) for name in "abc"
    )
    outside = desk.page("Outside")
    reading = desk.machine_lines(read, ["one", None, "three"])
    desk.correct(reading["segment_ids"][2], "3")
    of_truth = desk.machine_lines(truth, ["one", "two"])
    desk.run("segment.pass_ground_truth", pass_id=of_truth["pass_id"], ground_truth=True)
    answer = client.get("/api/segments/coverage", params={"parent_id": folder})
    assert answer.status_code == 200, answer.text
    items_by_document_id = {item["document_id"]: item for item in answer.json()["items"]}
    assert list(items_by_document_id) == [bare, read, truth]
    assert (answer.json()["count"], answer.json()["total"]) == (3, 3)
    assert items_by_document_id[bare] | {"made": None} == {
        "document_id": bare, "name": "a", "has_thumbnail": False, "pass_id": None, "lines": 0, "unread": 0, "ground_truth": False, "made": None,
    }  # fmt: skip
    assert (
        items_by_document_id[read]["lines"],
        items_by_document_id[read]["unread"],
        items_by_document_id[read]["ground_truth"],
    ) == (3, 1, False)
    assert [(one["by"], one["lines"]) for one in items_by_document_id[read]["made"]] == [
        ("person", 1),
        ("machine", 1),
    ]
    assert [(one["by"], one["lines"]) for one in items_by_document_id[truth]["made"]] == [("checked", 2)]
    assert items_by_document_id[truth]["ground_truth"]
    everything = client.get("/api/segments/coverage").json()
    assert {item["document_id"] for item in everything["items"]} == {bare, read, truth, outside}
    named_answer = client.get("/api/segments/coverage", params={"ids": [truth, "nothing", bare]}).json()
    assert [item["document_id"] for item in named_answer["items"]] == [truth, bare]
    part = client.get("/api/segments/coverage", params={"parent_id": folder, "limit": 1, "offset": 1}).json()
    assert [item["document_id"] for item in part["items"]] == [read]
    assert part["total"] == 3


def test_coverage_is_of_the_pass_each_page_is_read_by(client: Any, desk: Any) -> None:
    page = desk.page()
    earlier = desk.machine_lines(page, ["one", "two"])
    later = desk.machine_lines(page, [None])

    def cover_page() -> tuple[str, int, int]:
        (item,) = client.get("/api/segments/coverage", params={"ids": [page]}).json()["items"]
        return item["pass_id"], item["lines"], item["unread"]

    assert cover_page() == (later["pass_id"], 1, 1)
    desk.run("segment.pass_choose", pass_id=earlier["pass_id"])
    assert cover_page() == (earlier["pass_id"], 2, 0)
    desk.undo()
    assert cover_page() == (later["pass_id"], 1, 1)
    desk.correct(earlier["segment_ids"][0], "1")
    assert cover_page()[0] == earlier["pass_id"]


def test_coverage_asks_as_often_for_many_pages_as_for_one(
    client: Any, desk: Any, engine: Engine, library: Library
) -> None:
    pages = [desk.page(str(number)) for number in range(12)]
    for page in pages:
        desk.machine_lines(page, ["one", "two"])
    asked: list[str] = []

    def count(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    with library.db.read() as conn:
        event.listen(conn.engine, "before_cursor_execute", count)
        listened = conn.engine
    numbers = []
    for ids in (pages[:1], pages):
        asked.clear()
        assert client.get("/api/segments/coverage", params={"ids": ids}).json()["count"] == len(ids)
        numbers.append(len(asked))
    event.remove(listened, "before_cursor_execute", count)
    assert numbers[0] == numbers[1]


def test_coverage_of_ids_and_of_a_folder_at_once_is_refused(client: Any, desk: Any) -> None:
    page = desk.page()
    refused = client.get("/api/segments/coverage", params={"ids": [page], "parent_id": page})
    assert refused.status_code == 422
    assert refused.json()["code"] == "ids_or_folder"
    assert client.get("/api/segments/coverage", params={"parent_id": "nothing"}).status_code == 404
