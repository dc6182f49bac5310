"""Trained detectors find regions if the model is installed, a detector accepts its type, and the page may be
shown to it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Example, Library, ServiceError
from armarium.principals import LOCAL_OWNER
from armarium_layout.detectors import GROUP, STORE, Detector
from armarium_layout.jobs import detected
from armarium_testing.sample_layouts import lined_page


class ToyDetector(Detector):
    """Accepts models of its own type; there is no worker behind it."""

    name = "toy"
    worker = "nowhere:Nothing"
    model_types = frozenset({"toy"})


@pytest.fixture
def page(engine: Engine, library: Library, tmp_path: Path) -> str:
    """The id of a page, in a project with a model that the detector accepts, one of an unknown type and one
    without a type.
    """
    engine.drivers.give(GROUP, ToyDetector.name, ToyDetector)
    for name, told in (("mine", '{"model_type": "toy"}'), ("odd", '{"model_type": "other"}'), ("none", "[]")):
        folder = library.models / STORE / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(told, encoding="utf-8")
    return str(lined_page(Example(engine, library, LOCAL_OWNER, tmp_path))["document_id"])


def find(engine: Engine, library: Library, page: str, model: str) -> dict[str, Any]:
    return (
        engine.run(library, "layout.find_regions", {"scope_ids": [page], "model": model}, LOCAL_OWNER).result
        or {}
    )


@pytest.mark.parametrize(
    ("model", "status", "code", "words"),
    [
        ("nobody", 404, "unknown_detector", "There are: mine, none, odd."),
        ("../mine", 404, "unknown_detector", "There are: mine, none, odd."),
        ("odd", 422, "no_detector", "No installed detector accepts odd (other)."),
        ("none", 422, "no_detector", "its config.json says no model_type"),
    ],
)
def test_a_model_without_a_detector_is_refused_before_a_job_is_queued(
    engine: Engine, library: Library, page: str, model: str, status: int, code: str, words: str
) -> None:
    with pytest.raises(ServiceError) as refused:
        find(engine, library, page, model)
    assert (refused.value.status, refused.value.code) == (status, code)
    assert words in refused.value.detail


def test_a_page_that_no_model_may_see_is_skipped(
    engine: Engine, library: Library, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A detector on this machine is a model too."""

    def withhold(_library: Any, _principal: Any, ids: list[str], use: str) -> dict[str, str]:
        return dict.fromkeys(ids, "No model may have it.") if use == "local-model" else {}

    monkeypatch.setattr(detected, "find_withheld", withhold)
    queued = find(engine, library, page, "mine")
    engine.jobs.run_until_idle(library, 60)
    with library.db.read() as conn:
        state, result = conn.exec_driver_sql(
            "SELECT state, result FROM job WHERE id = ?", (queued["job_id"],)
        ).one()
    assert state == "done"
    assert json.loads(result) == {
        "pages": 0,
        "skipped": 1,
        "failed": [],
        "withheld": "No model may have it.",
    }
