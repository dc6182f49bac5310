"""Photographs of open books, composed of real pages, in a recipe run: later cards process each half once."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from start_fixtures import Desk, step

from armarium.api import Engine, Library

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
WILLS = DATA / "series-wills"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WILLS.is_dir(), reason="the shared sample pages are not beside this checkout"),
]
HEIGHT = 900


@pytest.fixture
def engine(make_engine: Any) -> Engine:
    """An engine with every installed family."""
    new_engine: Engine = make_engine()
    return new_engine


def open_book(*names: str) -> bytes:
    """Return pages of the same height side by side, with the shadow of a fold between them."""
    from PIL import Image

    pages = []
    for name in names:
        with Image.open(WILLS / f"{name}.jpg") as file:
            pages.append(file.convert("L").resize((round(file.width * HEIGHT / file.height), HEIGHT)))
    fold = 8 if len(pages) > 1 else 0
    sheet = Image.new("L", (sum(page.width for page in pages) + fold, HEIGHT), 60)
    at = 0
    for page in pages:
        sheet.paste(page, (at, 0))
        at += page.width + fold
    data = io.BytesIO()
    sheet.save(data, "JPEG", quality=90)
    return data.getvalue()


def test_halves_of_real_spreads_are_worked_on_once_and_come_back_as_spreads(
    engine: Engine, library: Library, client: Any, tmp_path: Path
) -> None:
    """Two spreads and a single page make five pages with lines; counts, redo, summary and undo agree with that."""
    pytest.importorskip("rapidocr")
    desk = Desk(engine, library, client)
    box = tmp_path / "book"
    box.mkdir()
    for name, pages in {"1": ("0002", "0003"), "2": ("0004",), "3": ("0005", "0006")}.items():
        (box / f"{name}.jpg").write_bytes(open_book(*pages))
    desk.do("document.import", {"folder": str(box)})
    desk.work()
    finder = {"id": "rapidocr:PP-OCRv6-det@6", "source": "shipped"}
    find = {"id": "find", "job": "find-lines", "layer": "lines", "card": finder}
    desk.recipe(step("split-pages", "prepare", "split"), find, step("put-in-order", "lines", "order"))
    assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(0, 3)] * 3
    run = desk.run_whole()
    assert run["state"] == "done", run
    assert [card["account"]["pages"] for card in run["cards"]] == [3, 5, 5]
    assert desk.get(f"/runs/{run['job_id']}/summary")["pages"] == 5

    def count_passes() -> list[tuple[str, int]]:
        asked = (
            "SELECT d.name, count(DISTINCT s.pass_id) FROM segment s JOIN document d ON d.id = s.document_id "
            "WHERE s.deleted_at IS NULL GROUP BY d.id ORDER BY d.name"
        )
        with library.db.read() as conn:
            return [(row[0], row[1]) for row in conn.exec_driver_sql(asked)]

    assert [passes for _, passes in count_passes()] == [1] * 5, count_passes()
    plan = desk.plan()
    assert (plan["pages"], [(run["done"], run["of"]) for run in plan["runs"]]) == (5, [(5, 5)] * 3)
    again = desk.run_whole(redo=["order"])
    assert [card["account"]["pages"] for card in again["cards"]] == [0, 0, 5]

    for job_id in (again["job_id"], run["job_id"]):
        steps = client.get("/api/actions/audit", params={"set_id": job_id, "limit": 500}).json()["items"]
        ids = [one["id"] for one in steps if one["undoable"]]
        assert client.post("/api/actions/audit/undo", json={"audit_ids": ids}).status_code == 200
    assert count_passes() == []
    assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(0, 3)] * 3
