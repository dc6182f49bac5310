"""After Start every import runs the recipe over its pages, whichever way they were imported; cutting a picture is no
import.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import FAMILIES
from start_fixtures import Desk, picture, step

from armarium.api import Engine, Example, Library
from armarium.principals import LOCAL_OWNER
from armarium_testing.examples import example_of

ORDER = step("put-in-order", "lines", "order")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with layout files and IIIF as well."""
    names = (*FAMILIES, "formats", "iiif")
    return make_engine(plugins=[import_module(f"armarium_{name}.plugin").armarium_plugin() for name in names])


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """A project whose recipe was started."""
    new_desk = Desk(engine, library, client)
    new_desk.lines(new_desk.pages(1)[0])
    new_desk.recipe(ORDER)
    new_desk.run_whole()
    return new_desk


def _files(tmp_path: Path) -> list[Path]:
    files = [tmp_path / f"{number}.png" for number in range(2)]
    for number, file in enumerate(files):
        file.write_bytes(picture(rows=2) + bytes([number]))
    return files


def _by_folder(desk: Desk, files: list[Path]) -> None:
    answer = desk.client.post("/api/documents/import", json={"folder": str(files[0].parent)})
    assert answer.status_code == 200, answer.text


def _by_path(desk: Desk, files: list[Path]) -> None:
    answer = desk.client.post("/api/ingest/files", json={"paths": [str(file) for file in files]})
    assert answer.status_code == 200, answer.text


def _by_upload(desk: Desk, files: list[Path]) -> None:
    sent = [("files", (file.name, file.read_bytes(), "image/png")) for file in files]
    answer = desk.client.post("/api/documents/import-batch", files=sent)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("bring", [_by_folder, _by_path, _by_upload])
def test_an_import_is_run_over_once(desk: Desk, tmp_path: Path, bring: Callable[..., None]) -> None:
    bring(desk, _files(tmp_path))
    desk.work()
    runs = desk.get("/runs")["items"]
    assert [(run["started_by"], run["state"], len(run["page_ids"])) for run in runs] == [
        ("import", "done", 2),
        ("person", "done", 1),
    ]
    assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(3, 3)]


def test_pages_of_iiif_are_run_over_when_their_pictures_come(desk: Desk, tmp_path: Path) -> None:
    """A manifest imports no pictures, so its pages cannot be processed; each page is processed once its picture is
    fetched.
    """
    example = example_of(desk.engine, desk.engine.actions.get("iiif.attach_image"))
    assert example is not None
    params = dict(example(Example(desk.engine, desk.library, LOCAL_OWNER, tmp_path)))
    desk.work()
    assert [item["started_by"] for item in desk.get("/runs")["items"]] == ["person"]
    desk.do("iiif.attach_image", params)
    desk.work()
    run = desk.get("/runs")["items"][0]
    assert (run["started_by"], run["state"], run["page_ids"]) == ("import", "done", [params["document_id"]])


def test_cutting_a_picture_is_no_import(desk: Desk) -> None:
    (page,) = desk.pages(1)
    desk.work()
    before = desk.get("/runs")["count"]
    body = {"left": 10, "top": 10, "width": 40, "height": 40}
    answer = desk.client.post(f"/api/images/{page}/crop", json=body)
    assert answer.status_code == 200, answer.text
    desk.work()
    assert desk.get("/runs")["count"] == before
