"""The history of runs: which background jobs worked on a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from documents_fixtures import add_picture, picture

from armarium.api import Engine, Library

Make = Callable[..., str]


def test_work_on_a_document_is_listed_newest_first(
    client: Any, engine: Engine, library: Library, folder: Make
) -> None:
    from armarium.jobs.queue import NewJob, enqueue

    box = folder("Box")
    page = add_picture(engine, library, box, picture())
    other_picture = add_picture(engine, library, box, picture(grey=3))
    engine.jobs.run_until_idle(library)
    with library.db.write() as conn:
        args = {"page_ids": [other_picture, page], "reader": "kraken"}
        job = enqueue(conn, NewJob("thumbnails", args, "Again", lane="local-model", model="blla"))
    answer = client.get("/api/documents/run-history", params={"ids": [page, "f" * 32, other_picture]}).json()
    assert (answer["count"], answer["withheld"]) == (2, 0)
    assert [item["document_id"] for item in answer["items"]] == [page, other_picture]
    again, pictures = answer["items"][0]["rows"]
    assert (again["kind"], again["job_id"], again["outcome"]) == ("pictures", job, "waiting")
    assert (again["model"], again["provider"], again["cost_usd"]) == ("blla", "kraken", None)
    assert (pictures["kind"], pictures["outcome"]) == ("pictures", "done")
    assert pictures["at"].endswith("Z")


def test_ids_are_bounded(client: Any) -> None:
    assert client.get("/api/documents/run-history").status_code == 422
    assert client.get("/api/documents/run-history", params={"ids": ["a"] * 501}).status_code == 422
    assert client.get("/api/documents/run-history", params={"ids": ["a"] * 500}).json()["items"] == []


def test_an_id_with_something_behind_it_is_another_id(client: Any, folder: Make) -> None:
    box = folder("Box")
    for behind in ("\0", "\0x", " ", "' OR 1=1 --"):
        assert client.get("/api/documents/run-history", params={"ids": [box + behind]}).json()["items"] == []
