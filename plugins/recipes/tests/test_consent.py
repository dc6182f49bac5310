"""Consent: pages leave this machine only if a person has allowed it and agreed to each use of a provider; a machine can
do neither, by any route.
"""

from __future__ import annotations

from typing import Any

import pytest
from start_fixtures import URL, Desk, step

from armarium.api import Engine, Forbidden, Library, Principal
from armarium.principals import LOCAL_OWNER
from armarium_recipes.cards.sources import cards_here
from armarium_testing.truthful_provider import TruthfulProvider

MACHINE = Principal("machine", "a script", "editor")
ORDER = step("put-in-order", "lines", "order")
LEAVE = {"answers": {"cloud_allowed": True}}


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """A project with one page that has a text."""
    new_desk = Desk(engine, library, client)
    new_desk.lines(new_desk.pages(1)[0], ["Dear Sir"])
    return new_desk


def _provider(client: Any, name: str, *models: str) -> None:
    new_answer = client.post("/api/providers", json={"name": name, "provider_type": "mistral"}).json()
    client.put(f"/api/providers/{new_answer['id']}/key", json={"key": "k"})
    listed = [
        {"name": model, "model_id": model, "capabilities": ["text"], "is_default": model == models[0]}
        for model in models
    ]
    answer = client.put(f"/api/providers/{new_answer['id']}/models", json={"models": listed})
    assert answer.status_code == 200, answer.text


def _far_step(job: str, layer: str, card: str, **more: Any) -> dict[str, Any]:
    provider = card.removeprefix("cloud:").partition("/")[0]
    return {
        **step(job, layer),
        "card": {"id": card, "source": "cloud"},
        "uses_cloud": True,
        "runs_on": f"cloud:{provider}",
        **more,
    }


@pytest.fixture
def claims(client: Any) -> dict[str, Any]:
    """A step that sends the text of pages to a provider."""
    _provider(client, "Far", "w-1", "w-2")
    return _far_step("find-statements", "graph", "cloud:Far/w-1@served")


def _start_and_cancel(desk: Desk) -> dict[str, Any]:
    """Start the recipe, which is the consent; cancel its jobs before anything is sent."""
    pressed = desk.start()
    desk.client.post(f"/api/activity/jobs/{pressed['started']['job_id']}/cancel")
    return pressed


def _as_machine(desk: Desk, name: str, params: dict[str, Any]) -> Any:
    return desk.engine.run(desk.library, name, params, MACHINE)


def _redo(desk: Desk, who: Principal) -> None:
    """Redo the latest step, which was an undo, by undoing it."""
    with desk.library.db.read() as conn:
        asked = "SELECT id FROM audit WHERE inverse_of IS NOT NULL ORDER BY seq DESC LIMIT 1"
        latest = conn.exec_driver_sql(asked).scalar_one()
    desk.engine.undo(desk.library, [latest], who)


def _refusal_of(desk: Desk, name: str, params: dict[str, Any]) -> str | None:
    with pytest.raises(Forbidden) as refusal:
        _as_machine(desk, name, params)
    return refusal.value.code


def test_another_model_of_the_same_provider_asks_again(desk: Desk, claims: dict[str, Any]) -> None:
    """Consent is to one card, not to the step and not to all models of the provider."""
    for number, asks in ((1, True), (1, False), (2, True)):
        desk.recipe(_far_step("find-statements", "graph", f"cloud:Far/w-{number}@served"), **LEAVE)
        plan = desk.plan()
        assert plan["refusals"] == [], plan
        assert (plan["first_yes"] is None) == asks
        _start_and_cancel(desk)


def test_a_machine_neither_undoes_nor_redoes_what_a_person_agreed_to(
    desk: Desk, claims: dict[str, Any]
) -> None:
    """A Start that was undone is no consent, and only a person can redo it."""
    desk.recipe(ORDER, claims, **LEAVE)
    pressed = _start_and_cancel(desk)
    with pytest.raises(Forbidden) as refusal:
        desk.engine.undo(desk.library, [pressed["audit_id"]], MACHINE)
    assert refusal.value.code == "person_only"
    assert desk.plan()["first_yes"]["recipe_version"] == 1
    desk.engine.undo(desk.library, [pressed["audit_id"]], LOCAL_OWNER)
    assert desk.plan()["first_yes"] is None
    with pytest.raises(Forbidden):
        _redo(desk, MACHINE)
    assert desk.plan()["first_yes"] is None
    assert _refusal_of(desk, "project.start", {}) == "person_only"
    _redo(desk, LOCAL_OWNER)
    assert desk.plan()["first_yes"]["recipe_version"] == 1


def test_only_a_person_allows_pages_to_leave(desk: Desk, claims: dict[str, Any]) -> None:
    """A machine cannot by saving, undoing or redoing, nor can anybody by editing a file; each of them may forbid it."""
    saved = desk.recipe(ORDER, claims, **LEAVE)
    _start_and_cancel(desk)
    allowed = saved["answers"]
    forbidden = {**allowed, "cloud_allowed": False}
    withdrawn = _as_machine(desk, "project.save_setup", {"answers": forbidden})
    assert [entry["fix"] for entry in desk.plan()["skipped"]] == ["allow-cloud"]
    assert _refusal_of(desk, "project.save_setup", {"answers": allowed}) == "person_only"
    with pytest.raises(Forbidden):
        desk.engine.undo(desk.library, [withdrawn.audit_id], MACHINE)
    path = desk.library.recipe / "setup.yaml"
    path.write_text(path.read_text().replace("cloud_allowed: false", "cloud_allowed: true"))
    setup_yaml = {file["name"]: file for file in desk.get("")["files"]}["setup.yaml"]
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "cloud_allowed" in text)
    assert (setup_yaml["state"], setup_yaml["line"]) == ("refused", line)
    assert desk.get("")["answers"]["cloud_allowed"] is False
    # A person accepts the edited file.
    desk.do("project.decide_file", {"name": "setup.yaml", "keep": "file"})
    assert desk.get("")["answers"]["cloud_allowed"] is True
    assert desk.plan()["first_yes"] is not None


def test_a_card_does_not_begin_once_leave_is_withdrawn(desk: Desk, claims: dict[str, Any]) -> None:
    """The run was started while it was allowed; the card fails and says what to do, and no page is sent."""
    desk.recipe(ORDER, claims, **LEAVE)
    pressed = desk.start()
    answers = desk.get("")["answers"]
    desk.client.put(URL, json={"answers": {**answers, "cloud_allowed": False}})
    desk.work()
    run = desk.run(pressed["started"]["job_id"])
    assert [card["state"] for card in run["cards"]] == ["done", "failed"]
    assert "Allow it in setup" in run["cards"][1]["why"]
    assert (run["state"], run["cards"][1]["child_id"]) == ("failed", None)
    # A retry without permission fails again, before anything is sent.
    desk.client.post(f"/api/activity/jobs/{run['job_id']}/retry")
    desk.work()
    assert desk.run(run["job_id"])["cards"][1]["child_id"] is None


def test_an_import_sends_nothing_without_consent(desk: Desk, claims: dict[str, Any]) -> None:
    """The step was added after the recipe was started: the import's run fails, and says who must do what."""
    desk.recipe(ORDER, **LEAVE)
    desk.run_whole()
    desk.recipe(ORDER, claims, **LEAVE)
    desk.pages(1)
    desk.work()
    run = desk.get("/runs")["items"][0]
    assert (run["started_by"], run["state"], run["cards"]) == ("import", "failed", [])
    assert [(refusal["kind"], refusal["fix"]) for refusal in run["refusals"]] == [
        ("cloud-not-allowed", "allow-cloud")
    ]
    assert "Press Start once" in run["reason"]


def test_rights_still_decide_page_by_page(desk: Desk, client: Any) -> None:
    """Of a page that no model may see nothing is sent, and the run counts it; once a model may see it, the page is due
    again.
    """
    page = desk.pages(1)[0]
    desk.lines(page, ["Not to be seen"])
    result = desk.do("rights.set", {"target_kind": "document", "target_id": page, "model_use": "none"})
    with TruthfulProvider(["Dear Sir"]) as server:
        base = {"name": "Own", "provider_type": "openai-compatible", "api_base": f"{server.url}/v1"}
        answer = client.post("/api/providers", json=base).json()
        listed = [{"name": "Tiny", "model_id": "tiny", "capabilities": ["text"], "is_default": True}]
        client.put(f"/api/providers/{answer['id']}/models", json={"models": listed})
        card = next(
            card.id
            for card in cards_here(desk.engine, desk.library)
            if card.provider == "Own" and "find-statements" in card.jobs
        )
        desk.recipe({**step("find-statements", "graph"), "card": {"id": card, "source": "cloud"}}, **LEAVE)
        run = desk.run_whole()
        (stage,) = desk.get(f"/runs/{run['job_id']}/summary")["stages"]
        account = run["cards"][0]["account"]
        assert [account[key] for key in ("pages", "done", "failed", "left", "withheld")] == [2, 1, 0, 1, 1]
        assert stage["offer"] == "1 page was skipped, because rights withhold it from the model."
        assert "Dear Sir" in str(server.asked)
        assert "Not to be seen" not in str(server.asked)
        assert [(run["done"], run["of"]) for run in desk.plan()["runs"]] == [(1, 2)]
        desk.do("rights.withdraw", {"record_id": result["id"]})
        again = desk.run_whole()
        assert [again["cards"][0]["account"][key] for key in ("pages", "done")] == [1, 1]
        assert "Not to be seen" in str(server.asked)
