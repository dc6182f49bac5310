"""Signs found and identified by recipe jobs become instances of declared signs, or new signs by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from paleography_project import PaleographyProject

from armarium.api import Engine, Example, Library
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents
from armarium_layout.plugin import armarium_plugin as layout
from armarium_model_jobs.plugin import armarium_plugin as model_jobs
from armarium_paleography.plugin import armarium_plugin as paleography
from armarium_reading.plugin import armarium_plugin as reading
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing import sample_layouts as samples
from armarium_testing.model_provider import Answer, LoopbackProvider
from armarium_testing.sample_model_pages import signed_page


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with paleography and the families that look for signs."""
    return make_engine(
        plugins=[documents(), source_model(), reading(), layout(), model_jobs(), paleography()]
    )


def finish_search(project: PaleographyProject, name: str, page: str, **settings: object) -> tuple[str, str]:
    queued = project.do(name, {"scope_ids": [page], **settings})
    project.engine.jobs.run_until_idle(project.library, 60)
    ((state, reason),) = project.rows("SELECT state, reason FROM job WHERE id = ?", queued["job_id"])
    return state, reason


def test_a_found_shape_like_a_declared_sign_is_an_instance_of_it(
    project: PaleographyProject, library: Library, tmp_path: Path
) -> None:
    sample = samples.sign_page(Example(project.engine, library, LOCAL_OWNER, tmp_path))
    page, (example,) = sample["page_id"], sample["settings"]["examples"]
    sign = project.post("/signs", {"name": "A notary's mark", "picture_segment_id": example})["id"]
    assert finish_search(project, "layout.find_signs", page)[0] == "done"
    (step,) = project.rows("SELECT id FROM audit WHERE action_name = 'layout.take_shapes'")
    answer = project.get(f"/signs/{sign}/instances")["items"]
    words = {one for (one,) in project.rows("SELECT id FROM segment WHERE kind_raw = 'sign'")}
    assert {item["segment_id"] for item in answer} == words
    assert len(answer) == 2
    assert all(item["provenance_kind"] != "human" and 0.68 <= item["certainty"] <= 1 for item in answer)
    assert finish_search(project, "layout.find_signs", page)[0] == "done", "a second look says nothing twice"
    assert project.get(f"/signs/{sign}/instances")["count"] == 2
    project.undo(step[0])
    assert project.get(f"/signs/{sign}/instances")["count"] == 0
    project.post(f"/signs/{sign}/withdraw")
    finish_search(project, "layout.find_signs", page, examples=[example])
    assert project.rows("SELECT count(*) FROM sign_instance WHERE withdrawn_at IS NULL") == [(0,)]
    assert project.rows("SELECT count(*) FROM segment WHERE kind_raw = 'sign' AND deleted_at IS NULL") == [
        (2,)
    ]


def test_what_a_model_identifies_is_an_instance_of_the_sign_of_that_name(
    project: PaleographyProject, library: Library, tmp_path: Path
) -> None:
    page = str(signed_page(Example(project.engine, library, LOCAL_OWNER, tmp_path))["page_id"])
    first, second = (
        one for (one,) in project.rows("SELECT id FROM segment WHERE kind_raw = 'sign' ORDER BY id")
    )
    known = project.post("/signs", {"name": "A Cross", "picture_segment_id": project.page(lines=1).lines[0]})[
        "id"
    ]
    with LoopbackProvider() as provider:
        provider.add_to(project.engine, "Loopback")
        seen = [{"id": first, "is_a": "a cross"}, {"id": second, "is_a": "A circle"}]
        provider.answers = [Answer(json.dumps({"signs": seen}))]
        assert finish_search(project, "model_jobs.identify_signs", page, provider="Loopback")[0] == "done"
        assert "A Cross" in json.dumps(provider.asked[0]["body"]["messages"])
    listed = {item["name"]: item for item in project.get("/signs")["items"]}
    assert set(listed) == {"A Cross", "A circle"}
    made = listed["A circle"]
    assert (made["picture_segment_id"], made["provenance_kind"] != "human") == (second, True)
    for sign, segment in ((known, first), (made["id"], second)):
        (item,) = project.get(f"/signs/{sign}/instances")["items"]
        assert item["segment_id"] == segment
    (step,) = project.rows("SELECT id FROM audit WHERE action_name = 'model_jobs.take_signs'")
    project.undo(step[0])
    assert [item["name"] for item in project.get("/signs")["items"]] == ["A Cross"]


def test_signs_are_taken_once_and_only_by_one_name_for_each(project: PaleographyProject) -> None:
    line, other = project.page().lines
    first = project.do(
        "sign.take", {"signs": [{"segment_id": line, "name": "Rum"}, {"segment_id": other, "name": "rum"}]}
    )
    assert (len(first["declared"]), len(first["instance_ids"])) == (1, 2)
    second_outcome = project.do(
        "sign.take", {"signs": [{"segment_id": line, "sign_id": first["declared"][0]}]}
    )
    assert second_outcome == {"declared": [], "instance_ids": []}
    for wrong in ({}, {"name": "Rum", "sign_id": first["declared"][0]}):
        body = {"name": "sign.take", "params": {"signs": [{"segment_id": line, **wrong}]}}
        assert "either sign_id or name" in project.post("/actions/invoke", body, 422)["detail"]
