"""Export and publish as recipe jobs: they keep to the kit, and refuse in words what they cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from exports_desk import Desk

from armarium.api import Engine, ServiceError
from armarium_exports.jobs import EXPORT, PUBLISH
from armarium_testing.recipe_jobs import exercise_recipe_job


@pytest.mark.parametrize("job_id", ["export", "publish"])
def test_a_recipe_job_keeps_to_the_kit(engine: Engine, tmp_path: Path, job_id: str) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, job_id, tmp_path / "kit") == []


def test_the_folder_is_asked_for(desk: Desk) -> None:
    for job in (EXPORT, PUBLISH):
        with pytest.raises(ServiceError, match="folder"):
            job.find_placement(desk.engine, desk.library, job.parse({}))


def test_published_pages_are_listed_and_published_again_over_the_old(desk: Desk) -> None:
    box = desk.box()
    first, second = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "2.png", ["Farewell"])
    place = desk.folder / "site"
    desk.do("export.publish", {"folder": str(place), "page_ids": [first, second], "site_title": "Letters"})
    step = desk.step("export.publish", {"folder": str(place), "page_ids": [first]})
    assert {entry.name for entry in (place / "static" / "iiif").iterdir()} == {first}
    listed = desk.client.get("/api/export/sites").json()
    assert [item["document_count"] for item in listed["items"]] == [1, 2]
    assert listed["items"][1]["site_title"] == "Letters"
    desk.undo(step)
    assert desk.client.get("/api/export/sites").json()["total"] == 1
    assert place.is_dir()


def test_published_pages_bring_only_what_is_said_of_them(desk: Desk, known: Any) -> None:
    box = desk.box()
    page, other_page = desk.page(box, "1.png", ["Ann"]), desk.page(box, "2.png", ["Bert"])
    for number, (name, source) in enumerate((("Ann", page), ("Bert", other_page))):
        about = {"canonical_name": name, "entity_type": "person", "curation_state": "verified"}
        known["entity"].append({"id": f"e{number}", **about, "source_document_ids": [source]})
        about = {"text": f"{name} wrote", "curation_state": "curated", "source_document_id": source}
        known["claim"].append({"id": f"c{number}", **about})
    place = desk.folder / "site"
    desk.do("export.publish", {"folder": str(place), "page_ids": [page]})
    text = (place / "content" / "_data" / "entities.json").read_text()
    text += (place / "content" / "_data" / "statements.json").read_text()
    assert "Ann wrote" in text
    assert "Bert" not in text
