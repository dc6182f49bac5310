"""Cards of the models on this machine: put there by hand, trained there, or served by a provider."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from rules_shelf import bench_engine

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_reading.api import models_folder
from armarium_recipes.cards.installed_models import is_open, place_of
from armarium_recipes.cards.ranking import rank
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.schemas.cards import Card
from armarium_testing.answers import add_answers
from armarium_testing.fixtures import http_client


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One engine for all of these tests."""
    with bench_engine(tmp_path_factory.mktemp("cards")) as made:
        yield made


@pytest.fixture(scope="module")
def library(engine: Engine) -> Library:
    """A project of that engine."""
    place = engine.settings.state_dir.parent / "Models.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return engine.libraries.get(place)


@pytest.fixture(scope="module")
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client."""
    yield from http_client(engine, library)


@pytest.fixture(autouse=True)
def no_models(engine: Engine, library: Library) -> Iterator[None]:
    """Removes the models that a test has added."""
    yield
    for folder in (engine.settings.state_dir / "models", library.models):
        shutil.rmtree(folder, ignore_errors=True)


def cards(engine: Engine, library: Library | None) -> dict[str, Card]:
    """Return the cards by id."""
    return {card.id: card for card in cards_here(engine, library)}


def put(folder: Path, name: str, content: bytes = b"weights", **beside: Any) -> Path:
    """Write a model file, and beside it a JSON file for each suffix in *beside*."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    for end, value in beside.items():
        (path.parent / f"{path.name}.{end}.json").write_text(json.dumps(value), "utf-8")
    return path


def test_the_base_readers_figures_are_those_of_its_own_evaluation(engine: Engine) -> None:
    """No other file states them, so they cannot become outdated."""
    evaluation = json.loads(files("armarium_reader_hand").joinpath("card.json").read_text("utf-8"))[
        "evaluation"
    ]
    card = cards(engine, None)["linereader:hand-base@1"]
    assert card.cer_published == evaluation["cer"]
    assert card.pages_per_hour == pytest.approx(evaluation["lines_per_second"] * 120, abs=1)


def test_every_card_has_its_form(engine: Engine, library: Library) -> None:
    """Its id consists of runtime, source and version; it is pinned, says where its model is, and names a reader or
    provider where one is called.
    """
    found_cards = cards(engine, library)
    assert len(found_cards) > 100
    for card in found_cards.values():
        runtime, _, rest = card.id.partition(":")
        assert runtime.isascii()
        assert "@" in rest
        assert card.jobs
        assert card.pin
        assert card.availability_words.endswith(".")
        assert card.installed == (card.availability in ("ships", "installed"))
        assert (card.download is not None) == (card.availability == "download")


def test_every_card_says_why_it_is_offered(engine: Engine, library: Library) -> None:
    assert all(card.offered_because.endswith(".") for card in cards_here(engine, library))


def test_installed_readers_rank_first_for_their_material(engine: Engine) -> None:
    """For handwriting, for print, and for both together, the first card is the one that a person would name."""
    asked = {
        "scripts": ["Latn"],
        "languages": ["fr"],
        "memory_gb": 16.0,
        "cloud_allowed": False,
        "job": "read-a-line",
    }
    first = {
        "handwriting": "linereader:hand-base@1",
        "print": "rapidocr:PP-OCRv6-small@6",
        "typescript": "rapidocr:PP-OCRv6-small@6",
    }
    here = cards_here(engine, None)
    for material, expected in first.items():
        assert rank(here, materials=[material], **asked)[0].id == expected  # type: ignore[arg-type]
    assert rank(here, materials=list(first), **asked)[0].id == "builtin:fitting-reader@1"  # type: ignore[arg-type]


def test_language_data_that_was_put_here(engine: Engine) -> None:
    """It counts as installed, reads the script of its language, and is no longer offered for download."""
    assert cards(engine, None)["tesseract:rus@1"].availability in ("download", "installed")
    put(engine.settings.state_dir / "models" / "tesseract", "rus.traineddata")
    card = cards(engine, None)["tesseract:rus@1"]
    assert (card.availability, card.source, card.scripts, card.languages) == (
        "installed",
        "installed",
        ["Cyrl"],
        ["ru"],
    )
    assert (card.reader, card.model) == ("tesseract", "rus")


def test_a_downloaded_model_states_its_origin(engine: Engine) -> None:
    """The note that the download left says so; a damaged note counts as none."""
    folder = engine.settings.state_dir / "models" / "linereader"
    path = put(folder, "zenodo-7.mlmodel")
    note = {"source_id": "10.5281/zenodo.7", "title": "Charters", "licence": "cc-by-4.0"}
    Path(f"{path}.source.json").write_text(json.dumps(note), "utf-8")
    card = cards(engine, None)["linereader:zenodo-7.mlmodel@1"]
    assert (card.name, card.licence, card.pin) == (
        "Charters",
        "cc-by-4.0",
        {"repository": "10.5281/zenodo.7"},
    )
    Path(f"{path}.source.json").write_text("{", "utf-8")
    assert cards(engine, None)["linereader:zenodo-7.mlmodel@1"].licence is None


def test_published_models_are_offered_for_download_and_a_figure_of_their_makers_orders_only_them(
    engine: Engine,
) -> None:
    """They read scripts that nothing else here reads by hand; where a reader was measured, they do not come before it."""
    offered = cards(engine, None)["atr:kraken-ppocrv6-small@1"]
    assert offered.availability == "download"
    assert not offered.installed
    assert offered.download is not None
    assert (offered.download.runtime, offered.download.id) == ("atr", "kraken-ppocrv6-small")
    assert (offered.licence, offered.open_licence, offered.cer_published) == ("Apache-2.0", True, None)
    assert set(offered.material) == {"handwriting", "print", "typescript"}
    assert "5.4%" in str(offered.note)
    # The same for kraken itself, whose runtime is not on this machine.
    other = cards(engine, None)["linereader:kraken-ppocrv6-small-safetensors@1"]
    assert (other.availability, "runtime install kraken" in other.availability_words) == ("not_here", True)

    def first(script: str, language: str) -> str:
        ranked = rank(
            cards(engine, None).values(),
            job="read-a-line",
            scripts=[script],
            languages=[language],
            materials=["handwriting"],
            memory_gb=16,
            cloud_allowed=False,
        )
        return ranked[0].id

    # Of the three, the one that its authors measured to be best, not the smallest.
    assert first("Grek", "grc") == "atr:kraken-ppocrv6-medium@1"
    assert first("Latn", "fr") == "linereader:hand-base@1"
    note = {
        "cer": 0.087,
        "title": "Here",
        "licence": "Apache-2.0",
        "languages": ["grc"],
        "scripts": ["Grek"],
        "writing": ["hand"],
    }
    put(models_folder(engine, "atr"), "kraken-ppocrv6-small.onnx")
    (models_folder(engine, "atr") / "kraken-ppocrv6-small.onnx.source.json").write_text(json.dumps(note))
    found_cards = cards(engine, None)
    assert "atr:kraken-ppocrv6-small@1" not in found_cards
    here = found_cards["atr:kraken-ppocrv6-small.onnx@1"]
    assert (here.availability, here.languages, here.scripts) == ("installed", ["grc"], ["Grek"])
    assert here.material == ["handwriting"]
    assert (here.cer_of_authors, here.cer_published) == (0.087, None)


def _make_trained(model_id: str, **more: Any) -> dict[str, Any]:
    return {
        "id": model_id,
        "store": "hand",
        "display_name": "Our scribe",
        "summary": "Trained on 400 lines of 12 pages.",
        "kind": "linereader-reader",
        "base": "hand-base",
        "validation_cer": 0.06,
        "evaluations": [],
        **more,
    }


def _score(cer: float, day: int = 1) -> dict[str, Any]:
    return {
        "measured_at": f"2026-11-{day:02}T00:00:00Z",
        "job_id": f"job-{day}",
        "reader": "linereader",
        "pages": 3,
        "checked": None,
        "cer": {"diplomatic": cer, "lenient": cer / 2},
        "wer": 0.2,
    }


def test_models_that_were_trained_here(engine: Engine, library: Library) -> None:
    """The project's models come before the machine's, ranked by the newest score on their cards; one without weights is
    not listed.
    """
    name = "linereader-trained-7"
    for folder in (library.models / "hand", engine.settings.state_dir / "models" / "hand"):
        put(folder, f"{name}.onnx")
        (folder / f"{name}.card.json").write_text(json.dumps(_make_trained(name)), "utf-8")
    (library.models / "hand" / "linereader-trained-8.card.json").write_text(
        json.dumps(_make_trained("linereader-trained-8")), "utf-8"
    )
    found_cards = cards(engine, library)
    card = found_cards[f"linereader:{name}@1"]
    assert (card.name, card.reader, card.model, card.trainable) == (
        "Our scribe",
        "hand",
        f"{name}.onnx",
        True,
    )
    assert "in this project" in card.availability_words
    assert "on this machine" in cards(engine, None)[f"linereader:{name}@1"].availability_words
    assert "linereader:linereader-trained-8@1" not in found_cards
    asked = {"scripts": ["Latn"], "languages": ["nci"], "materials": ["handwriting"], "memory_gb": 16.0}
    ranked = rank(found_cards.values(), job="read-a-line", cloud_allowed=False, **asked)
    # What it made of the lines that chose its best epoch is no error rate: it is unmeasured, and ranked last.
    ours = next(one for one in ranked if one.id == card.id)
    assert (ours.cer_published, ours.cer_measured_here) == (None, None)
    assert "unmeasured" in (ours.note or "")
    assert all(
        one.rule_rank is None or one.rule_rank <= ours.rule_rank for one in ranked if one.cer_published
    )
    scored = _make_trained(name, evaluations=[_score(0.03, 2), _score(0.5, 1)])
    (library.models / "hand" / f"{name}.card.json").write_text(json.dumps(scored), "utf-8")
    card = cards(engine, library)[f"linereader:{name}@1"]
    assert card.cer_measured_here == 0.03
    assert "unmeasured" not in (card.note or "")
    again = rank(cards(engine, library).values(), job="read-a-line", cloud_allowed=False, **asked)
    assert again[0].id == card.id
    assert card.measured is not None
    assert card.measured["job_id"] == "job-2"


def test_scores_of_what_was_not_trained_here(engine: Engine, library: Library) -> None:
    """A bake-off's score of the base reader is on its card in this project, and in no other."""
    folder = library.models / "evaluated"
    folder.mkdir(parents=True)
    score = {"id": "hand", "kind": "reader", "evaluations": [_score(0.11)]}
    (folder / "linereader--hand.card.json").write_text(json.dumps(score), "utf-8")
    assert cards(engine, library)["linereader:hand-base@1"].cer_measured_here == 0.11
    assert cards(engine, None)["linereader:hand-base@1"].cer_measured_here is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"id": 5}', '{"id": "x", "validation_cer": "low", "evaluations": 7}']
)
def test_damaged_cards_of_models_do_no_harm(engine: Engine, library: Library, text: str) -> None:
    """The cards are listed all the same."""
    put(library.models / "hand", "own.onnx")
    (library.models / "hand" / "own.card.json").write_text(text, "utf-8")
    assert "linereader:hand-base@1" in cards(engine, library)


def test_models_that_providers_serve(client: Any, engine: Engine) -> None:
    """A server on this machine is local and free; a remote service states its price per page; one without its key is
    not listed.
    """

    def add(name: str, kind: str, **more: Any) -> str:
        answer = client.post("/api/providers", json={"name": name, "provider_type": kind, **more})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def serve(provider: str, model: str, can: list[str], **prices: float) -> None:
        entry = {"name": model, "model_id": model, "capabilities": can, "is_default": True, **prices}
        answer = client.put(f"/api/providers/{provider}/models", json={"models": [entry]})
        assert answer.status_code == 200, answer.text

    home = add("Home", "local-server", api_base="http://127.0.0.1:9/v1")
    serve(home, "llama3:8b", ["text"])
    far = add("Far/away", "openai-compatible", api_base="https://models.example.org/v1")
    serve(far, "eyes", ["text", "vision"], input_cost=2.0, output_cost=10.0)
    serve(add("Locked", "openai"), "gpt", ["text"])
    found_cards = cards(engine, None)
    here = found_cards["local-server:Home/llama3:8b@served"]
    assert (here.runs_where, here.cost_per_page, here.provider, here.model) == (
        "this_mac",
        0.0,
        "Home",
        "llama3:8b",
    )
    assert "read-a-line" not in here.jobs
    assert {"correct", "find-statements", "find-names-tag-words"} <= set(here.jobs)
    eyes = found_cards["cloud:Far%2Faway/eyes@served"]
    assert (eyes.runs_where, eyes.source, eyes.availability) == ("provider", "cloud", "elsewhere")
    assert eyes.cost_per_page == pytest.approx(0.011)
    assert {"read-a-line", "identify-signs"} <= set(eyes.jobs)
    assert not any("Locked" in item for item in found_cards)
    client.patch(f"/api/providers/{far}", json={"enabled": False})
    assert eyes.id not in cards(engine, None)


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("http://127.0.0.1:11434/v1", "this_mac"),
        ("http://localhost/v1", "this_mac"),
        ("http://[::1]:80/", "this_mac"),
        ("http://192.168.1.7:8000", "own_machine"),
        ("https://api.example.org/v1", "provider"),
        ("https://localhost.example.org/", "provider"),
        (None, "provider"),
    ],
)
def test_where_a_server_runs_is_derived_from_its_address_alone(address: str | None, where: str) -> None:
    """No name is looked up."""
    assert place_of(address) == where


@pytest.mark.parametrize(
    ("licence", "free"),
    [
        ("Apache-2.0", True), ("cc-by-4.0", True), ("CC BY-SA 4.0", True), ("MIT", True), ("cc0-1.0", True),
        ("cc-by-nc-4.0", False), ("CC BY-ND 4.0", False), ("other", False), ("", False), (None, False),
    ],
)  # fmt: skip
def test_open_licences(licence: str | None, free: bool) -> None:
    """Those that let anybody use and redistribute a model."""
    assert is_open(licence) is free


def test_cards_from_another_family_never_replace_one_with_the_same_id(engine: Engine) -> None:
    own = cards(engine, None)["linereader:hand-base@1"]
    theirs = [own.model_copy(update={"name": "Another"}), own.model_copy(update={"id": "own:reader@1"})]
    add_answers(engine, armarium_recipes_cards=lambda: theirs)
    found_cards = cards(engine, None)
    assert found_cards["linereader:hand-base@1"].name == own.name
    assert found_cards["own:reader@1"].jobs == ["read-a-line"]
