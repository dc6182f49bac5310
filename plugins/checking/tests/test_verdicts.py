"""Verdicts and runs over HTTP: the trust given to each caller, refusals, and how a run is cancelled and
resumed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checking_project import BUILTIN, MACHINE, CheckingProject

from armarium.api import Engine, Invalid, NotFound
from armarium_checking import jobs
from armarium_source_model.api import armarium_source_model_rests_on_text
from armarium_testing.conformance import exercise_plugin
from armarium_testing.recipe_jobs import exercise_recipe_job

NOWHERE = "f" * 32


def read_line(project: CheckingProject) -> tuple[str, str, str]:
    """Create a page with one line that is read; return (page, line, reading)."""
    page, pass_id, lines = project.page([0.6])
    project.read(page, pass_id, lines, ["Dear Sir and friend"], "one")
    ((reading_id,),) = project.rows("SELECT id FROM content_representation")
    return page, lines[0], reading_id


def agent(project: CheckingProject) -> dict[str, str]:
    """Return the headers of an agent."""
    answer = project.client.post("/api/tokens", json={"name": "an agent", "role": "editor"}).json()
    secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
    return {"Authorization": f"Bearer {secret}"}


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "checking", tmp_path / "kit") == []


def test_the_server_says_who_is_trusted_as_what(project: CheckingProject) -> None:
    _, line, target = read_line(project)
    body = {
        "layer": "readings",
        "target_id": target,
        "verdict": "confirm",
        "reasons": "Seen",
        "segment_id": line,
    }
    machine = agent(project)
    for path, headers, trust in (
        ("/api/check/verdicts", {}, "person"),
        ("/api/check/verdicts", machine, "model"),
        ("/api/mcp/tools/check/verdicts", {}, "model"),
        ("/api/mcp/tools/check/verdicts", machine, "model"),
    ):
        answer = project.client.post(path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["trust"]) == (200, trust), answer.text
        assert answer.json()["audit_id"]
    assert [verdict["trust"] for verdict in project.verdicts(target_id=target)] == [
        "person",
        "model",
        "model",
        "model",
    ]


def find_doubtful(project: CheckingProject, page: str) -> list[tuple[str, str, str | None, str]]:
    """Return (kind, id, words, what to do) for everything of this family on a page that rests on an outdated
    text.
    """
    (family,) = [
        one
        for one in project.engine.points.collect(armarium_source_model_rests_on_text)
        if "verdict" in one.kinds
    ]
    with project.library.db.read() as conn:
        rows = family.stale(conn, project.library, [page])
    return [(row.kind, row.id, row.text, row.todo) for row in rows]


def test_a_verdict_is_in_doubt_while_another_reading_counts(
    project: CheckingProject,
) -> None:
    page, line, target = read_line(project)

    def judge(reading_id: str, **more: Any) -> str:
        body = {"layer": "readings", "target_id": reading_id, "segment_id": line, "reasons": "Seen", **more}
        answer = project.client.post("/api/check/verdicts", json=body)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    first = judge(target, verdict="confirm")
    assert find_doubtful(project, page) == []
    correction = {"segment_id": line, "text": "Dear Sir and friends"}
    project.do("representation.create", correction)
    assert find_doubtful(project, page) == [("verdict", first, "Dear Sir and friend", "redo")]
    second = judge(target, verdict="correct", correction="Dear Sirs")
    assert find_doubtful(project, page) == [("verdict", second, "Dear Sir and friend", "redo")]
    project.do("representation.create", {**correction, "text": "Dear Sirs"})
    assert find_doubtful(project, page) == []


@pytest.mark.parametrize("path", ["/api/check/verdicts", "/api/mcp/tools/check/verdicts"])
def test_server_fields_and_invalid_verdicts_are_refused(project: CheckingProject, path: str) -> None:
    _, _, target = read_line(project)
    page, pass_id, lines = project.page([0.6])
    project.read(page, pass_id, lines, ["Of another line"], "one")
    ((elsewhere,),) = project.rows("SELECT id FROM content_representation WHERE id <> ?", target)
    body = {"layer": "readings", "target_id": target, "verdict": "confirm", "reasons": "Seen"}
    refused: list[tuple[dict[str, Any], int, str]] = [
        *(({name: "person"}, 422, "invalid_request") for name in ("trust", "run_id", "checker", "audit_id")),
        ({"verdict": "maybe"}, 422, "invalid_request"),
        ({"layer": "claims"}, 422, "unknown_layer"),
        ({"target_id": NOWHERE}, 404, "unknown_target"),
        ({"segment_id": NOWHERE}, 422, "other_segment"),
        ({"correction": "Dear Madam"}, 422, "no_correction"),
        ({"replacement_id": target}, 422, "no_correction"),
        ({"verdict": "correct", "replacement_id": NOWHERE}, 404, "unknown_target"),
        ({"verdict": "correct", "replacement_id": elsewhere}, 422, "other_segment"),
        ({"episode_id": f"ep_{NOWHERE}"}, 404, "unknown_episode"),
    ]
    for more, status, code in refused:
        answer = project.client.post(path, json={**body, **more})
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert project.verdicts() == []


def test_an_impossible_run_is_refused_before_it_is_queued(project: CheckingProject) -> None:
    page, _, _ = read_line(project)
    folder = project.do("document.create", {"name": "Empty"})["id"]
    body = {"layer": "readings", "scope_ids": [page], "checker": BUILTIN}
    for more, status, code in (
        ({"layer": "entities"}, 422, "unknown_layer"),
        ({"checker": {"provider": "cloud", "model": "best"}}, 422, "unknown_checker"),
        ({"prompt_file": "../../etc/passwd"}, 422, "no_prompt"),
        ({"scope_ids": [folder]}, 422, "no_pages"),
        ({"scope_ids": [NOWHERE]}, 404, None),
        ({"scope_ids": []}, 422, "invalid_request"),
    ):
        answer = project.client.post("/api/check/runs", json={**body, **more})
        assert answer.status_code == status, answer.text
        assert code is None or answer.json()["code"] == code
    assert project.rows("SELECT count(*) FROM job WHERE kind = 'check'") == [(0,)]


def test_unknown_runs_are_named(project: CheckingProject) -> None:
    assert project.client.get(f"/api/check/runs/{NOWHERE}").json()["code"] == "unknown_run"
    assert project.client.post(f"/api/check/runs/{NOWHERE}/cancel").json()["code"] == "unknown_run"


def test_a_run_that_waits_is_cancelled(project: CheckingProject) -> None:
    page, _, _ = read_line(project)
    body = {"layer": "readings", "scope_ids": [page], "checker": BUILTIN}
    job_id = project.client.post("/api/check/runs", json=body).json()["job_id"]
    answer = project.client.post(f"/api/check/runs/{job_id}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    project.engine.jobs.run_until_idle(project.library)
    assert project.client.get(f"/api/check/runs/{job_id}").json()["state"] == "cancelled"


def test_a_run_that_goes_on_stops_before_the_next_page(
    project: CheckingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for _ in range(3):
        page, pass_id, lines = project.page([0.6])
        pages.append(page)
        for reader in ("one", "two"):
            project.read(page, pass_id, lines, ["Dear Sir and friend"], reader)
    body = {"layer": "readings", "scope_ids": pages, "checker": BUILTIN}
    job_id = project.client.post("/api/check/runs", json=body).json()["job_id"]
    act = jobs.JobContext.act

    def cancelling(self: Any, *given: Any, **more: Any) -> Any:
        done = act(self, *given, **more)
        project.do("check.cancel", {"job_id": job_id})
        return done

    monkeypatch.setattr(jobs.JobContext, "act", cancelling)
    project.engine.jobs.run_until_idle(project.library)
    run = project.client.get(f"/api/check/runs/{job_id}").json()
    assert (run["state"], run["counts"]["confirm"]) == ("cancelled", 1)


def test_a_killed_run_repeats_no_verdict(project: CheckingProject, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        page, pass_id, lines = project.page([0.6])
        for reader in ("one", "two"):
            project.read(page, pass_id, lines, ["Dear Sir and friend"], reader)
    scope = [row[0] for row in project.rows("SELECT id FROM document WHERE doc_type = 'file'")]
    body = {"layer": "readings", "scope_ids": scope, "checker": BUILTIN}
    job_id = project.client.post("/api/check/runs", json=body).json()["job_id"]
    act, calls = jobs.JobContext.act, []

    def dying(self: Any, *given: Any, **more: Any) -> Any:
        calls.append(1)
        done = act(self, *given, **more)
        if len(calls) == 1:
            raise RuntimeError("the power went")
        return done

    monkeypatch.setattr(jobs.JobContext, "act", dying)
    project.engine.jobs.run_until_idle(project.library)
    project.client.post(f"/api/activity/jobs/{job_id}/retry")
    project.engine.jobs.run_until_idle(project.library)
    run = project.client.get(f"/api/check/runs/{job_id}").json()
    assert (run["state"], run["counts"]["confirm"], len(project.verdicts())) == ("done", 2, 2)


def test_a_person_does_not_write_a_runs_corrections(project: CheckingProject) -> None:
    _, _, target = read_line(project)
    one = {"target_id": target, "verdict": "correct", "reasons": "agreement: so", "correction": "Dear Sirs"}
    sent = {"layer": "readings", "kind": "transcription", "checker": BUILTIN, "verdicts": [one]}
    refused = project.client.post("/api/actions/invoke", json={"name": "check.take", "params": sent})
    assert (refused.status_code, refused.json()["code"]) == (403, "run_only")
    sent["verdicts"] = [{**one, "verdict": "reject"}]
    refused = project.client.post("/api/actions/invoke", json={"name": "check.take", "params": sent})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_correction")
    sent["verdicts"] = [{**one, "episode_id": f"ep_{NOWHERE}"}]
    refused = project.client.post("/api/actions/invoke", json={"name": "check.take", "params": sent})
    assert (refused.status_code, refused.json()["code"]) == (404, "unknown_episode")
    sent["verdicts"] = [one]
    project.do("check.take", sent, MACHINE)
    assert project.verdicts()[0]["trust"] == "model"


def test_outside_a_run_the_caller_is_the_checker(project: CheckingProject) -> None:
    """Nobody can pose as a checker: neither a person, nor an agent that names a provider's model."""
    _, _, target = read_line(project)
    sent = {
        "layer": "readings",
        "kind": "transcription",
        "checker": {"provider": "OpenAI", "model": "the best"},
        "verdicts": [{"target_id": target, "verdict": "confirm", "reasons": "As written"}],
    }
    for headers in ({}, agent(project)):
        answer = project.client.post(
            "/api/actions/invoke", json={"name": "check.take", "params": sent}, headers=headers
        )
        assert answer.status_code == 200, answer.text
    assert [(verdict["checker"]["provider"], verdict["trust"]) for verdict in project.verdicts()] == [
        ("user", "model"),
        ("agent", "model"),
    ]


def test_a_verdict_names_what_replaces_the_reading(project: CheckingProject) -> None:
    _, line, target = read_line(project)
    own = project.do("representation.create", {"segment_id": line, "text": "Dear Sirs"})["id"]
    body = {
        "layer": "readings",
        "target_id": target,
        "verdict": "correct",
        "reasons": "Seen",
        "replacement_id": own,
    }
    answer = project.client.post("/api/check/verdicts", json=body)
    assert (answer.status_code, answer.json()["replacement_id"]) == (200, own), answer.text


def test_it_is_a_recipe_job_that_conforms(project: CheckingProject, tmp_path: Path) -> None:
    (tmp_path / "recipe").mkdir()
    assert exercise_recipe_job(project.engine, "check", tmp_path / "recipe") == []
    job = project.engine.recipe_jobs["check"]
    with pytest.raises((NotFound, Invalid), match="nobody"):
        job.find_placement(
            project.engine, project.library, job.parse({"provider": "nobody", "model": "none"})
        )


def test_no_run_says_anything_about_or_displaces_a_reading_that_a_person_confirmed(
    project: CheckingProject,
) -> None:
    page, line, target = read_line(project)
    body = {
        "layer": "readings",
        "target_id": target,
        "verdict": "confirm",
        "reasons": "Seen",
        "segment_id": line,
    }
    assert project.client.post("/api/check/verdicts", json=body).status_code == 200
    ((pass_id,),) = project.rows("SELECT pass_id FROM segment WHERE id = ?", line)
    project.read(page, pass_id, [line], ["Another reading"], "a newer reader")
    readings = project.client.get(f"/api/segments/{line}/readings").json()
    assert readings["counting"]["transcription"]["representation_id"] == target
    project.check(page)
    assert [verdict["trust"] for verdict in project.verdicts(target_id=target)] == ["person"]
