"""What changes the plan: models to download, candidates, layers and languages, folders with a card of their own,
consent.
"""

from __future__ import annotations

from typing import Any

import pytest
from start_fixtures import URL, Desk, step

from armarium.api import Engine, Library, Principal
from armarium_recipes.actions.setup import example_answers
from armarium_recipes.cards.sources import cards_here

NAMES = step("find-names-tag-words", "entities", "names")
ORDER = step("put-in-order", "lines", "order")
MACHINE = Principal("machine", "a script", "editor")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


@pytest.fixture
def remote_card(client: Any) -> str:
    """The id of a card of a remote provider whose model reads text."""
    new_answer = client.post("/api/providers", json={"name": "Far", "provider_type": "mistral"}).json()
    client.put(f"/api/providers/{new_answer['id']}/key", json={"key": "k"})
    prices = {"input_cost": 1.0, "output_cost": 2.0}
    model = {"name": "Writer", "model_id": "w-1", "capabilities": ["text"], "is_default": True, **prices}
    answer = client.put(f"/api/providers/{new_answer['id']}/models", json={"models": [model]})
    assert answer.status_code == 200, answer.text
    return "cloud:Far/w-1@served"


def _to_fetch(desk: Desk) -> Any:
    found = [card for card in cards_here(desk.engine, desk.library) if "read-a-line" in card.jobs]
    return next(item for item in found if item.availability == "download" and "en" in item.languages)


def test_a_model_that_is_not_here_refuses_start_until_another_is_used_instead(
    desk: Desk, client: Any
) -> None:
    """The choice is an override of the project, and is undone like a save."""
    desk.lines(desk.pages(1)[0])
    card = _to_fetch(desk)
    read = {"id": "read", "job": "read-a-line", "layer": "reading"}
    desk.recipe({**read, "card": {"id": card.id, "source": card.source}})
    plan = desk.plan()
    (entry,) = plan["downloads"]
    assert entry["route"] == f"/api/local-models/download/{card.download.runtime}/{card.download.id}"
    assert (entry["downloading"], entry["size_bytes"] > 0) == (False, True)
    assert [refusal["kind"] for refusal in plan["refusals"]] == ["model-not-here"]
    assert entry["instead"]
    url = f"{URL}/start/use-instead"
    refused = client.post(url, json={"model": "nothing", "card": entry["instead"][0]})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_offered")
    refused = client.post(url, json={"model": entry["model"], "card": card.id})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_offered")
    answer = client.post(url, json={"model": entry["model"], "card": entry["instead"][0]}).json()
    assert [
        (override["scope"], override["step"], override["card"]["id"]) for override in answer["overrides"]
    ] == [("project", "read", entry["instead"][0])]
    assert desk.plan()["downloads"] == []
    client.post("/api/actions/audit/undo", json={"audit_ids": [answer["audit_id"]]})
    assert len(desk.plan()["downloads"]) == 1


def test_a_model_on_its_way_makes_its_step_wait(
    desk: Desk, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is not refused because of it."""
    desk.lines(desk.pages(1)[0])
    card = _to_fetch(desk)
    read = {"id": "read", "job": "read-a-line", "layer": "reading"}
    desk.recipe({**read, "card": {"id": card.id, "source": card.source}})
    with engine.state.write() as conn:
        job_id = engine.jobs.enqueue(
            conn,
            "download-model",
            {"runtime": card.download.runtime, "model": card.download.id},
            title="Download",
            model=card.download.id,
        )
    plan = desk.plan()
    assert plan["refusals"] == []
    assert plan["waiting"] == [{"step": "read", "model": card.download.id}]
    assert (plan["downloads"][0]["downloading"], plan["downloads"][0]["job_id"]) == (True, job_id)


def test_a_candidate_is_used_for_a_step_that_it_can_do(desk: Desk, client: Any) -> None:
    """Refused are a step the recipe lacks, an unknown card, and a card for another job."""
    desk.recipe({"id": "read", "job": "read-a-line", "layer": "reading"}, NAMES)
    url = f"{URL}/steps/use-candidate"

    def use(step: str, card: str) -> tuple[int, Any]:
        answer = client.post(url, json={"step": step, "card": card})
        return answer.status_code, answer.json().get("code")

    card = next(card for card in cards_here(desk.engine, desk.library) if card.id.startswith("rapidocr:"))
    assert use("correct", card.id) == (422, "unknown_step")
    assert use("read", "rapidocr:nothing@1") == (422, "unknown_card")
    assert use("names", card.id) == (422, "card_of_another_job")
    assert use("read", card.id)[0] == 200
    kept = desk.get("")
    assert kept["recipe"]["steps"][0]["card"]["id"] == card.id
    assert kept["recipe"]["steps"][0]["model"] == card.pin
    assert kept["overrides"][0]["card"]["id"] == card.id


def test_a_candidate_that_is_still_to_be_fetched_becomes_a_download_of_the_plan(
    desk: Desk, client: Any
) -> None:
    """It is stored as an override by `project.save_setup`, and undone with it."""
    desk.lines(desk.pages(1)[0])
    own = next(
        card
        for card in cards_here(desk.engine, desk.library)
        if card.id.startswith("rapidocr:PP-OCRv6-small")
    )
    read = {"id": "read", "job": "read-a-line", "layer": "reading"}
    desk.recipe({**read, "card": {"id": own.id, "source": own.source}})
    assert desk.plan()["downloads"] == []
    card = _to_fetch(desk)
    answer = client.post(f"{URL}/steps/use-candidate", json={"step": "read", "card": card.id}).json()
    (entry,) = desk.plan()["downloads"]
    assert (entry["card"], entry["downloading"], own.id in entry["instead"]) == (card.id, False, True)
    assert [refusal["fix"] for refusal in desk.plan()["refusals"]] == ["download"]
    client.post("/api/actions/audit/undo", json={"audit_ids": [answer["audit_id"]]})
    assert (desk.plan()["downloads"], desk.get("")["overrides"]) == ([], [])


def test_layers_are_added_proposed_and_taken_out(desk: Desk, client: Any) -> None:
    """Refused where there is nothing to add or to remove."""

    def change(**body: Any) -> Any:
        return client.post(f"{URL}/layers", json=body)

    assert change(layers=["entities"]).json()["code"] == "not_set_up"
    body = client.post("/api/recipes/assemble", json=example_answers()).json()["recipe"]
    client.put(URL, json={"answers": example_answers(), "recipe": body})
    before = [one["id"] for one in desk.get("")["recipe"]["steps"]]
    added = change(layers=["entities"]).json()
    assert desk.get("")["answers"]["layers"] == ["entities"]
    new = [one["id"] for one in added["recipe"]["steps"] if one["id"] not in before]
    assert new
    assert (added["proposed"]["layers"], added["proposed"]["steps"]) == (["entities"], new)
    assert (desk.library.recipe / "proposed.yaml").exists()
    assert desk.plan()["proposed"] == added["proposed"]
    twice = change(layers=["entities"])
    assert (twice.status_code, twice.json()["code"]) == (422, "already_there")
    unknown = change(layers=["poetry"]).json()
    assert unknown["code"] == "unknown_layer"
    assert "graph" in unknown["can"]
    assert change(layers=["graph"], remove=True).json()["code"] == "not_there"
    answer = change(layers=["entities"], remove=True).json()
    assert [one["id"] for one in answer["recipe"]["steps"]] == before
    assert answer["proposed"] is None
    assert not (desk.library.recipe / "proposed.yaml").exists()
    assert change(languages=["xx-nothing"]).json()["code"] == "unknown_language"
    assert change(languages=["en"]).json()["code"] == "already_there"
    assert change(languages=["de"]).json()["proposed"]["languages"] == ["de"]
    assert change(languages=["en"], remove=True).status_code == 200
    assert change(languages=["de"], remove=True).json()["code"] == "last_language"
    assert change().status_code == 422


def test_pages_are_sent_only_with_permission_and_a_persons_consent(
    desk: Desk, client: Any, remote_card: str
) -> None:
    """A machine cannot give either; a new step that sends pages requires new consent."""
    desk.lines(desk.pages(1)[0], ["Dear Sir"])
    card = {"id": remote_card, "source": "cloud"}
    claims = {"id": "claims", "job": "find-statements", "layer": "graph", "card": card, "uses_cloud": True}
    claims |= {"runs_on": "cloud:Far"}
    desk.recipe(ORDER, claims)
    plan = desk.plan()
    assert (
        "cloud-not-allowed" in [refusal["kind"] for refusal in plan["refusals"]]
        or plan["skipped"][0]["fix"] == "allow-cloud"
    )
    desk.recipe(ORDER, claims, answers={"cloud_allowed": True})
    plan = desk.plan()
    assert (plan["refusals"], plan["first_yes"]) == ([], None)
    assert plan["runs"][1]["runs_on"] == "cloud:Far"
    assert plan["estimate"]["total_cost_usd"] > 0
    from armarium.api import Forbidden

    with pytest.raises(Forbidden) as refused:
        desk.engine.run(desk.library, "project.start", {}, MACHINE)
    assert refused.value.code == "person_only"
    first = desk.start()["started"]
    client.post(f"/api/activity/jobs/{first['job_id']}/cancel")
    assert desk.plan()["first_yes"]["recipe_version"] == first["recipe_version"]
    desk.engine.run(desk.library, "project.start", {}, MACHINE)
    client.post(f"/api/activity/jobs/{desk.plan()['started']['job_id']}/cancel")
    other = {**claims, "id": "record", "job": "describe-for-the-catalogue", "layer": "catalogue"}
    desk.recipe(ORDER, claims, other, answers={"cloud_allowed": True})
    assert desk.plan()["first_yes"] is None


def test_a_folder_with_a_card_of_its_own_is_a_card_of_the_run(desk: Desk, client: Any) -> None:
    """Its pages are processed by its card, all others by the project's, each page once."""
    box = desk.folder("Box")
    pages, other_pages = desk.pages(2, box), desk.pages(3)
    for page in [*pages, *other_pages]:
        desk.lines(page)
    found = {card.id: card for card in cards_here(desk.engine, desk.library) if "read-a-line" in card.jobs}
    own, special = [one for one in found.values() if one.installed and one.reader][:2]
    read = {"id": "read", "job": "read-a-line", "layer": "reading"}
    desk.recipe({**read, "card": {"id": own.id, "source": own.source}})
    override = {"scope": "folder", "folder_id": box, "step": "read"}
    override["card"] = {"id": special.id, "source": special.source}
    assert client.put(URL, json={"overrides": [override]}).status_code == 200
    runs = desk.plan()["runs"]
    assert [(run["id"], run["of"], run["provider_override"]) for run in runs] == [
        ("read", 3, own.reader),
        ("read-2", 2, special.reader),
    ]


def test_what_runs_automatically_is_listed_with_the_reason(desk: Desk) -> None:
    """Nothing runs by itself before Start, and never in a project for tools."""
    page = desk.pages(1)[0]
    desk.lines(page, ["Dear Sir"])
    desk.recipe(
        ORDER, {"id": "nothing", "job": "transcribe-speech", "layer": "reading", "gap": "No model hears."}
    )
    answer = desk.get("/automatic")
    assert [(one["job"], one["runs"]) for one in answer["on_add"]] == [("put-in-order", False), (None, False)]
    assert "started" in answer["on_add"][0]["why"]
    assert "Stale marks" in [one["name"] for one in answer["on_correction"]]
    desk.recipe(ORDER)
    desk.run_whole()
    assert [one["runs"] for one in desk.get("/automatic")["on_add"]] == [True]
    desk.recipe(ORDER, answers={"purposes": ["edit-corpus"]})
    assert "tools" in desk.get("/automatic")["on_add"][0]["why"]


def test_a_step_waits_for_as_many_corrected_lines_as_it_asks_for(desk: Desk) -> None:
    """This is checked when the step's turn comes; a run in which there were too few says how many there are."""
    page, other = desk.pages(2)
    desk.lines(page, ["Dear Sir", "I am"])
    asking = step("find-names-tag-words", "entities", "names", when={"corrected_lines_at_least": 3})
    desk.recipe(asking)
    (card,) = desk.run_whole()["cards"]
    assert (card["state"], card["account"]["pages"]) == ("not run", 0)
    assert card["why"] == "Once 3 lines are corrected. So far there are 2."
    desk.lines(other, ["Yours"])
    (card,) = desk.run_whole()["cards"]
    assert (card["state"], card["account"]["pages"]) == ("done", 2)


def test_a_step_for_doubtful_readings_passes_over_the_others(desk: Desk) -> None:
    """By the mean confidence of a page's readings; the card says so where no page is below the limit."""
    sure, doubtful = desk.pages(2)
    for page, confidence in ((sure, 0.95), (doubtful, 0.6)):
        read = [
            {"segment_id": line, "text": "Dear Sir", "confidence": confidence} for line in desk.lines(page)
        ]
        with desk.library.db.read() as conn:
            asked = "SELECT pass_id FROM segment WHERE id = ?"
            (pass_id,) = conn.exec_driver_sql(asked, (read[0]["segment_id"],)).one()
        taken = {"document_id": page, "pass_id": pass_id, "provider": "a-reader", "readings": read}
        desk.do("reading.take", taken)
    asking = step("find-names-tag-words", "entities", "names", when={"confidence_below": 0.9})
    desk.recipe(asking)
    (card,) = desk.run_whole()["cards"]
    assert (card["state"], card["account"]["pages"]) == ("done", 1), card
    desk.recipe({**asking, "when": {"confidence_below": 0.5}})
    (card,) = desk.run_whole(redo=["names"])["cards"]
    assert card["why"] == "Once lines were read with a confidence below 0.5. No page meets this condition."
