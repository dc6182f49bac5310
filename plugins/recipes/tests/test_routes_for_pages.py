"""The three routes that say what can be done with a number of pages; each figure states what it is based on."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert

from armarium.api import Engine, Library
from armarium_reading.api import episodes
from armarium_recipes.knowledge.estimates import Figure, sum_of
from armarium_recipes.project.plan import make_plan

PRICES = {"input_cost": 2.0, "output_cost": 6.0}


@pytest.fixture
def cloud(client: Any) -> str:
    """The name of a provider with a key and a model that sees."""
    new_answer = client.post("/api/providers", json={"name": "Far", "provider_type": "mistral"}).json()
    client.put(f"/api/providers/{new_answer['id']}/key", json={"key": "k"})
    model = {
        "name": "Seer",
        "model_id": "seer-1",
        "capabilities": ["text", "vision"],
        "is_default": True,
        **PRICES,
    }
    answer = client.put(f"/api/providers/{new_answer['id']}/models", json={"models": [model]})
    assert answer.status_code == 200, answer.text
    return "Far"


def _routes(client: Any, **asked: Any) -> dict[str, Any]:
    answer = client.get("/api/recipes/routes", params=asked)
    assert answer.status_code == 200, answer.text
    return {route["id"]: route for route in answer.json()["routes"]}


def _note_calls(library: Library, provider: str, model: str, *calls: tuple[str, float, float | None]) -> None:
    rows = [
        {
            **dict.fromkeys(column.name for column in episodes.columns if column.name != "seq"),
            "id": f"ep_{provider}_{number}",
            "at": "2026-01-01T00:00:00Z",
            "kind": "model_call",
            "use_case": "read-a-line",
            "attempt": 1,
            "subject_kind": "page",
            "document_id": page,
            "provider": provider,
            "model": model,
            "exchange": {},
            "started_at": "2026-01-01T00:00:00Z",
            "seconds": seconds,
            "cost": {"usd": usd},
            "stale_artifact_ids": [],
            "actor": "test",
        }
        for number, (page, seconds, usd) in enumerate(calls)
    ]
    with library.db.write() as conn:
        conn.execute(insert(episodes), rows)


def test_without_a_provider_only_this_machine_s_route_has_a_cost(client: Any) -> None:
    routes = _routes(client, pages=120)
    assert list(routes) == ["cloud", "this-machine", "distil"]
    assert routes["cloud"]["cost_usd"]["basis"] == "unknown"
    assert "no model of a provider" in routes["cloud"]["cost_usd"]["from"]
    here = routes["this-machine"]
    assert (here["cost_usd"]["value"], here["leaves_this_machine"]) == (0.0, False)
    assert here["accuracy_cer"]["basis"] in ("estimate", "unknown")
    assert routes["distil"]["cost_usd"]["basis"] == "unknown"


def test_a_price_makes_an_estimate_and_the_ledger_a_measured_figure(
    client: Any, library: Library, cloud: str
) -> None:
    before = _routes(client, pages=1000, teacher=cloud)["cloud"]
    assert before["cost_usd"]["basis"] == "estimate"
    # 1,500 tokens in at 2 dollars a million and 800 out at 6: 0.0078 a page
    assert before["cost_usd"]["value"] == pytest.approx(7.8)
    assert before["time_seconds"]["basis"] == "unknown"
    _note_calls(library, "Far", "seer-1", ("a", 3.0, 0.01), ("a", 1.0, 0.01), ("b", 2.0, 0.04))
    after = _routes(client, pages=1000, teacher="seer-1", sample_pages=100)
    assert after["cloud"]["cost_usd"] == {
        "value": 30.0,
        "basis": "measured",
        "from": "2 pages that it read in this project",
    }
    assert after["cloud"]["time_seconds"]["value"] == pytest.approx(3000)
    assert after["distil"]["cost_usd"]["value"] == pytest.approx(3.0)
    assert after["distil"]["time_seconds"]["basis"] == "unknown", "no training was timed"
    assert "Train " in after["distil"]["steps"][2]
    assert "rarely worth" in after["distil"]["steps"][2]


def test_a_call_without_a_known_price_leaves_the_estimate(client: Any, library: Library, cloud: str) -> None:
    _note_calls(library, "Far", "seer-1", ("a", 3.0, None))
    route = _routes(client, pages=10, teacher=cloud)["cloud"]
    assert route["cost_usd"]["basis"] == "estimate"
    assert route["time_seconds"] == {
        "value": 30.0,
        "basis": "measured",
        "from": "1 page that it read in this project",
    }


def test_a_sample_is_never_larger_than_what_there_is(client: Any, cloud: str) -> None:
    steps = _routes(client, pages=12, teacher=cloud)["distil"]["steps"]
    assert steps[0].startswith("Send 12 pages")


def test_of_a_model_that_is_not_here_nothing_is_known(client: Any) -> None:
    routes = _routes(client, pages=5, teacher="oracle-9", local_reader="oracle-8")
    assert {figure["basis"] for figure in (routes["cloud"]["cost_usd"], routes["cloud"]["time_seconds"])} == {
        "unknown"
    }
    assert "oracle-8" in routes["this-machine"]["time_seconds"]["from"]


def test_a_local_reader_is_named_by_reader_or_card(client: Any) -> None:
    titled = _routes(client, pages=5, local_reader="rapidocr")["this-machine"]["title"]
    assert "apid" in titled
    assert _routes(client, pages=0)["cloud"]["pages"] == 0
    assert client.get("/api/recipes/routes", params={"pages": -1}).status_code == 422


def test_a_sum_is_known_as_well_as_its_least_known_part() -> None:
    measured, guessed = Figure(2.0, "measured", "a"), Figure(3.0, "estimate", "b")
    assert sum_of([measured, measured]) == Figure(4.0, "measured", "a")
    assert sum_of([measured, guessed]) == Figure(5.0, "estimate", "a; b")
    assert sum_of([measured, Figure(None, "unknown", "c"), guessed]) == Figure(None, "unknown", "c")


def test_a_reader_has_one_speed_wherever_it_is_told(client: Any, engine: Engine, library: Library) -> None:
    """In the routes, among the candidates, and in the plan: the one at which it read pages here, once it read any."""
    before = next(
        item for item in client.get("/api/recipes/candidates").json()["items"] if item["reader"] == "hand"
    )
    assert not before["speed_measured"]
    _note_calls(library, "hand", before["model"] or "hand", ("a", 12.0, 0.0), ("b", 8.0, 0.0))
    item = next(
        item for item in client.get("/api/recipes/candidates").json()["items"] if item["id"] == before["id"]
    )
    assert (item["pages_per_hour"], item["speed_measured"]) == (360.0, True)
    route = _routes(client, pages=7, local_reader=before["id"])["this-machine"]
    assert (route["time_seconds"]["value"], route["time_seconds"]["basis"]) == (70.0, "measured")
    answers = {
        "purposes": ["transcribe"],
        "languages": ["es"],
        "scripts": ["Latn"],
        "materials": ["handwriting"],
    }
    assembled = client.post("/api/recipes/assemble", json=answers).json()["recipe"]
    saved = client.put("/api/recipes/project", json={"answers": answers, "recipe": assembled})
    assert saved.status_code == 200, saved.text
    with library.db.read() as conn:
        plan = make_plan(engine, library, conn)
    assert {card.pages_per_hour for card in plan.known.values() if card.id == before["id"]} == {360.0}
