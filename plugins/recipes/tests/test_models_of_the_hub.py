"""A model from the model hub is used for a step: always a person's choice, never the rules'."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import model_listings
import pytest
from model_listings import Listings, model
from start_fixtures import URL, Desk, step

from armarium.api import Engine, Library
from armarium_reading.api import models_folder
from armarium_recipes.cards import discovery, hub, repository

NAME = "scribe/trocr-latin-handwritten"


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listings]:
    """Both listings on this machine, and a runtime for vision models."""
    with model_listings.listings() as server:
        monkeypatch.setattr(repository, "ZENODO", server.address)
        monkeypatch.setattr(hub, "HUB", server.address)
        monkeypatch.setattr(discovery, "REACH", "machine")
        monkeypatch.setattr(hub, "runtime_folder", lambda engine, reader: Path("/runtimes/vision"))
        server.models = [
            model(NAME, "la", "license:mit", "trocr"),
            model("scribe/pickled", "la", tags=["pytorch", "la"], siblings=[{"rfilename": "model.bin"}]),
        ]
        yield server


def set_up(desk: Desk) -> None:
    """Save a recipe that reads Latin lines."""
    suits = {"scripts": ["Latn"], "languages": ["la"], "material": ["handwriting"]}
    answers = {"languages": ["la"], "materials": ["handwriting"]}
    desk.recipe(step("read-a-line", "reading", "read"), suits=suits, answers=answers)


def find_candidates(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return the hub's models for the step by name; the hub is asked once a day."""
    query = {"step": "read", "languages": "la", "online": "true"}
    answer = desk.client.get("/api/recipes/candidates", params=query)
    assert answer.status_code == 200, answer.text
    return {item["name"]: item for item in answer.json()["items"] if item["source"] == "model-hub"}


def use(desk: Desk, card: str) -> Any:
    """Choose a candidate for the step."""
    return desk.client.post(f"{URL}/steps/use-candidate", json={"step": "read", "card": card})


def test_a_model_of_the_hub_is_usable_once_its_folder_exists(
    desk: Desk, net: Listings, engine: Engine
) -> None:
    """Until then Start is refused and says where to put the folder; the network is only used for the listing."""
    pages = desk.pages(1)
    desk.lines(pages[0])
    set_up(desk)
    card = find_candidates(desk)[NAME]
    assert (card["availability"], card["in_recipe_rules"]) == ("elsewhere", False)
    asked = len(net.asked)
    answer = use(desk, card["id"])
    assert answer.status_code == 200, answer.text
    (override,) = answer.json()["overrides"]
    assert override["card"] == {"id": card["id"], "source": "model-hub"}
    plan = desk.plan()
    assert len(plan["refusals"]) == 1, plan["refusals"]
    (refusal,) = plan["refusals"]
    assert (refusal["kind"], refusal["fix"]) == ("model-not-here", "choose-model")
    assert "among the engine's models, in vision, as trocr-latin-handwritten" in refusal["sentence"]
    assert find_candidates(desk)[NAME]["chosen"]
    # The choice remains when the recipe is proposed again, although the rules would never make it.
    answers = desk.client.get(URL).json()["answers"]
    proposed = desk.client.post("/api/recipes/assemble", json=answers).json()
    (read,) = [one for one in proposed["recipe"]["steps"] if one["job"] == "read-a-line"]
    assert read["card"]["id"] == card["id"]
    assert "was chosen by a person" in " ".join(read["reasons"])

    folder = models_folder(engine, "vision") / "trocr-latin-handwritten"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    card = find_candidates(desk)[NAME]
    assert (card["availability"], card["installed"]) == ("installed", True)
    assert (card["reader"], card["model"]) == ("vision", "trocr-latin-handwritten")
    # The runtime for it is faked here, and the step says so; no refusal is about the model any more.
    plan = desk.plan()
    assert [refusal["kind"] for refusal in plan["refusals"]] == ["nothing-left"]
    assert "vision" in plan["skipped"][0]["why"]
    assert len(net.asked) == asked


def test_a_model_that_cannot_run_here_is_refused_in_words(desk: Desk, net: Listings) -> None:
    set_up(desk)
    refused = use(desk, find_candidates(desk)["scribe/pickled"]["id"])
    assert (refused.status_code, refused.json()["code"]) == (422, "model_not_here")
    assert "no weights in the format safetensors" in refused.json()["detail"]
    assert use(desk, "vision:../../etc@main").json()["code"] == "unknown_card"


def test_a_choice_from_a_listing_that_is_gone_is_named(desk: Desk, net: Listings, engine: Engine) -> None:
    """After somebody emptied the cache of listings the choice remains, and Start says that the model is not here."""
    desk.pages(1)
    set_up(desk)
    card = find_candidates(desk)[NAME]["id"]
    assert use(desk, card).status_code == 200
    for path in discovery.folder_of(engine).glob("*.json"):
        path.unlink()
    (refusal, *_) = desk.plan()["refusals"]
    assert card in refusal["sentence"]
