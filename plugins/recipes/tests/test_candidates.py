"""Candidates for a step: what is on this machine, what the remote listings offer, and what a hostile listing cannot do."""

from __future__ import annotations

import gzip
import json
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any

import model_listings
import pytest
from model_listings import Listings, model, old_card, readme, record
from rules_shelf import bench_engine

from armarium.api import Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_recipes.cards import discovery, hub, repository
from armarium_recipes.cards.sources import cards_here
from armarium_testing.fixtures import http_client

URL = "/api/recipes/candidates"
LATIN = {"scripts": "Latn", "languages": "la", "material": "handwriting"}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One engine for all of these tests, each of which reverts what it changes."""
    with bench_engine(tmp_path_factory.mktemp("candidates")) as made:
        yield made


@pytest.fixture(scope="module")
def library(engine: Engine) -> Library:
    """A project of that engine."""
    place = engine.settings.state_dir.parent / "Hands.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return engine.libraries.get(place)


@pytest.fixture(scope="module")
def client(engine: Engine, library: Library) -> Iterator[Any]:
    """The owner's client, naming that project."""
    yield from http_client(engine, library)


@pytest.fixture(autouse=True)
def no_cached_listings(engine: Engine) -> None:
    """Removes the listings that earlier tests fetched."""
    shutil.rmtree(discovery.folder_of(engine), ignore_errors=True)


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listings]:
    """Both listings, served on this machine."""
    with model_listings.listings() as server:
        monkeypatch.setattr(repository, "ZENODO", server.address)
        monkeypatch.setattr(hub, "HUB", server.address)
        monkeypatch.setattr(discovery, "REACH", "machine")
        yield server


@pytest.fixture
def with_kraken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which kraken's runtime is installed."""
    from pathlib import Path

    monkeypatch.setattr(repository, "runtime_folder", lambda engine, reader: Path("/runtimes/kraken"))


def fill(net: Listings) -> None:
    """Fill the listing with records as they exist: two versions of one, an old card, a line finder, and one of other
    software.
    """
    net.records = [
        record(120, 100, "HTR of Latin charters", {"README.md": 1, "charters.safetensors": 16_000_000}),
        record(110, 100, "HTR of Latin charters", {"README.md": 1, "charters.mlmodel": 15_000_000}),
        record(200, 201, "Printed Arabic", {"metadata.json": 1, "arabic.mlmodel": 9_000_000}),
        record(300, 301, "Line segmentation of manuscripts", {"README.md": 1, "seg.mlmodel": 5_000_000}),
        record(400, 401, "Handwritten party", {"README.md": 1, "party.safetensors": 300_000_000}),
        record(500, 501, "A dataset", {"data.zip": 1}),
    ]
    net.files = {
        "/records/120/files/README.md": readme(120),
        "/records/110/files/README.md": readme(110, cer=0.001),
        "/records/200/files/metadata.json": old_card(),
        "/records/300/files/README.md": readme(300, kind="segmentation"),
        "/records/400/files/README.md": readme(400, software="party", cer=3.5),
    }
    net.models = [
        model("scribe/trocr-latin-handwritten", "la", "license:mit", "trocr"),
        model(
            "scribe/trocr-latin-mlx", "la", library_name="mlx", tags=["mlx", "la", "base_model:scribe/trocr"]
        ),
        model("scribe/trocr-GGUF", "la", "gguf"),
        model("scribe/quiet", "la", siblings=[{"rfilename": "model-q4.gguf"}]),
        model("scribe/pickled", "la", tags=["pytorch", "la"], siblings=[{"rfilename": "pytorch_model.bin"}]),
        model("scribe/letters", "la", pipeline_tag="text-generation"),
    ]


def ask(client: Any, **more: Any) -> dict[str, Any]:
    """Return the candidates for a Latin manuscript."""
    answer = client.get(URL, params={**LATIN, **more})
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def states(found: dict[str, Any]) -> dict[str, str]:
    """Return the state of each source, and check that each explains itself in a sentence."""
    assert all(source["detail"].endswith(".") for source in found["sources"])
    return {source["source"]: source["state"] for source in found["sources"]}


def by_id(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the cards by id."""
    return {item["id"]: item for item in found["items"]}


def test_without_being_asked_to_nothing_is_fetched(client: Any, net: Listings) -> None:
    """Only what is on this machine is listed, ranked or refused with a reason."""
    answer = ask(client)
    assert states(answer) == {
        "shipped": "read",
        "installed": "read",
        "linereader-repository": "not-searched",
        "model-hub": "not-searched",
    }
    assert net.asked == []
    assert answer["count"] == len(answer["items"])
    first = answer["items"][0]
    assert (first["id"], first["rule_rank"], first["reader"]) == ("linereader:hand-base@1", 1, "hand")
    assert all((item["rule_rank"] is None) != (item["refused"] is None) for item in answer["items"])
    standing = by_id(answer)
    assert standing["platform:text-recognition@1"]["availability"] == "not_here"
    assert "not installed" in standing["vision:local@1"]["refused"]["reason"]


@pytest.mark.usefixtures("with_kraken")
def test_the_repository_is_listed_and_ranked(
    client: Any, net: Listings, engine: Engine, library: Library
) -> None:
    """The newest version of each recognition model is listed from its own card; later recipes can use it too."""
    fill(net)
    answer = ask(client, online=True)
    assert states(answer)["linereader-repository"] == "searched"
    cards = by_id(answer)
    charters = cards["linereader:10.5281/zenodo.120@1.2"]
    assert charters["rule_rank"] == 1
    assert charters["cer_published"] == 0.041
    assert (charters["scripts"], charters["languages"], charters["material"]) == (
        ["Latn"],
        ["la"],
        ["handwriting"],
    )
    assert charters["download"] == {"runtime": "linereader", "id": "10.5281/zenodo.120"}
    assert (charters["availability"], charters["size_gb"], charters["open_licence"]) == (
        "download",
        0.016,
        True,
    )
    assert charters["pin"] == {"repository": "10.5281/zenodo.120"}
    arabic = cards["linereader:10.5281/zenodo.200@1.2"]
    assert (arabic["cer_published"], arabic["refused"]["kind"]) == (
        pytest.approx(0.015),
        "no-model-for-script",
    )
    party = cards["linereader:10.5281/zenodo.400@1.2"]
    assert (party["availability"], party["cer_published"]) == ("not_here", pytest.approx(0.035))
    assert not any("zenodo.110" in card or "zenodo.300" in card or "zenodo.500" in card for card in cards)
    assert "linereader:10.5281/zenodo.120@1.2" in {card.id for card in cards_here(engine, library)}
    body = {"purposes": ["transcribe"], "languages": ["la"], "scripts": ["Latn"]}
    recipe = client.post("/api/recipes/assemble", json=body).json()["recipe"]
    read = next(step for step in recipe["steps"] if step["id"] == "read")
    assert read["card"] == {"id": "linereader:10.5281/zenodo.120@1.2", "source": "linereader-repository"}


def test_without_the_runtime_the_repository_is_refused_in_words(client: Any, net: Listings) -> None:
    """It is still listed."""
    fill(net)
    charters = by_id(ask(client, online=True))["linereader:10.5281/zenodo.120@1.2"]
    assert (charters["availability"], charters["download"]) == ("not_here", None)
    assert charters["refused"]["kind"] == "not-here"
    assert "runtime install kraken" in charters["refused"]["reason"]


def test_the_hub_is_shown_and_never_chosen(client: Any, net: Listings) -> None:
    """GGUF models and models that read no pictures are left out; each listed model says why it is not here."""
    fill(net)
    answer = ask(client, online=True)
    items_by_name = {item["name"]: item for item in answer["items"] if item["source"] == "model-hub"}
    assert set(items_by_name) == {
        "scribe/trocr-latin-handwritten",
        "scribe/trocr-latin-mlx",
        "scribe/pickled",
    }
    assert all(not item["in_recipe_rules"] and item["rule_rank"] is None for item in items_by_name.values())
    assert "MLX" in items_by_name["scribe/trocr-latin-mlx"]["availability_words"]
    assert "scribe/trocr" in items_by_name["scribe/trocr-latin-mlx"]["note"]
    assert "safetensors" in items_by_name["scribe/pickled"]["availability_words"]
    assert items_by_name["scribe/trocr-latin-handwritten"]["licence"] == "mit"
    assert items_by_name["scribe/trocr-latin-handwritten"]["languages"] == ["la"]
    asked = [request for request in net.asked if request.startswith("/api/models")]
    assert any("filter=la" in item and "pipeline_tag=image-text-to-text" in item for item in asked)
    assert any("search=handwritten+latin" in item for item in asked)


def test_a_listing_is_fetched_at_most_daily(
    client: Any, net: Listings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second request of a day fetches nothing; on the next day the listing is fetched, but not the cards already
    known.
    """
    fill(net)
    ask(client, online=True)
    asked = len(net.asked)
    second_answer = ask(client, online=True)
    assert states(second_answer)["linereader-repository"] == states(second_answer)["model-hub"] == "cached"
    assert states(ask(client))["model-hub"] == "cached"
    assert len(net.asked) == asked
    tomorrow = time.time() + discovery.DAY + 60
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    before = len(net.asked)
    assert states(ask(client, online=True))["linereader-repository"] == "searched"
    assert not any("/files/" in one for one in net.asked[before:])


def test_cards_that_a_guest_may_not_fetch_in_a_minute_come_later(
    client: Any, net: Listings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guests may fetch only so many cards a minute. The listing itself is not fetched again for the rest."""
    monkeypatch.setattr(repository, "CARDS_AT_A_TIME", 30)
    net.records = [
        record(number, number, f"Hands {number}", {"README.md": 1, "m.mlmodel": 1}) for number in range(1, 37)
    ]
    net.files = {f"/records/{number}/files/README.md": readme(number) for number in range(1, 37)}
    first = ask(client, online=True)
    assert "6 more" in next(
        source["detail"] for source in first["sources"] if source["source"] == "linereader-repository"
    )
    second = ask(client, online=True)
    assert sum(item["source"] == "linereader-repository" for item in second["items"]) == 36
    assert sum(request.startswith("/api/records") for request in net.asked) == 2


def test_offline_is_a_state_and_no_error(
    client: Any, engine: Engine, net: Listings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is requested, and local models are still listed."""
    monkeypatch.setattr(engine, "settings", engine.settings.model_copy(update={"local_only": True}))
    answer = ask(client, online=True)
    assert states(answer)["linereader-repository"] == states(answer)["model-hub"] == "offline"
    assert answer["items"]
    monkeypatch.setattr(engine, "settings", engine.settings.model_copy(update={"local_only": False}))
    assert client.patch("/api/library/settings", json={"local_only_ai": True}).status_code == 200
    answer = ask(client, online=True)
    client.patch("/api/library/settings", json={"local_only_ai": None})
    assert states(answer)["linereader-repository"] == states(answer)["model-hub"] == "offline"
    assert all(
        "local_only_ai" in source["detail"] for source in answer["sources"] if source["state"] == "offline"
    )
    assert net.asked == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"status": 500}, "500"),
        ({"status": 429}, "429"),
        ({"whole": b"<html>"}, "not JSON"),
        ({"whole": b"[" * 100_000}, "not JSON"),
        ({"redirect": "http://10.0.0.1/inside"}, "not on the network"),
        ({"redirect": "http://169.254.169.254/latest/meta-data"}, "not on the network"),
        ({"redirect": "file:///etc/passwd"}, "http"),
        ({"redirect": "/round"}, "302"),
        ({"redirect": "http://[::1"}, ""),
        ({"whole": b"x" * (9 << 20)}, ""),
    ],
)
def test_a_listing_that_fails_is_a_state_too(
    client: Any, net: Listings, changed: dict[str, Any], words: str
) -> None:
    """The reason is given, and local models are still listed."""
    for name, value in changed.items():
        setattr(net, name, value)
    answer = ask(client, online=True)
    assert states(answer)["linereader-repository"] == states(answer)["model-hub"] == "failed"
    assert all(words in source["detail"] for source in answer["sources"][2:])
    assert answer["sources"][3]["detail"].endswith(" Nothing was found earlier.")
    assert "most are downloaded when used" in answer["sources"][0]["detail"]
    assert answer["items"][0]["rule_rank"] == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"whole": b"[]", "said": {"Content-Length": str(9 << 30)}},
        {"whole": b"[]", "said": {"Content-Length": "1" * 40}},
        {"whole": b"[]", "said": {"Content-Length": "-1"}},
        {"whole": b"[" + b" " * (1 << 20), "said": {"Content-Length": "2"}},
        {"whole": b"[", "said": {}, "endless": True},
        {"whole": gzip.compress(b" " * (200 << 20)), "said": {"Content-Encoding": "gzip"}},
        {"whole": b"[]", "said": {"Content-Encoding": "gzip"}},
        {"whole": b"[]", "said": {"Transfer-Encoding": "chunked"}},
    ],
    ids=[
        "too much",
        "no number",
        "less than nothing",
        "too little",
        "endless",
        "unpacked",
        "not packed",
        "no chunks",
    ],
)
def test_a_service_that_lies_about_size(client: Any, net: Listings, changed: dict[str, Any]) -> None:
    """Neither the stated size is believed nor everything read; an answer takes no more memory than a listing may have."""
    for name, value in changed.items():
        setattr(net, name, value)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = ask(client, online=True)
    assert states(answer)["linereader-repository"] == states(answer)["model-hub"] == "failed"
    assert answer["items"][0]["rule_rank"] == 1
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << (
        10 if sys.platform == "linux" else 0
    )
    assert grown < 150 << 20


SIZES: list[Any] = [-1, 1e999, 10**400, "9 GB", True, None, [1], float("nan")]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("with_kraken")
def test_a_record_that_lies_about_the_size_of_its_weights(client: Any, net: Listings, size: Any) -> None:
    """The model is listed without a size, so that ranking and plan only calculate with numbers."""
    fill(net)
    net.records = [record(120, 100, "HTR of Latin charters", {"README.md": 1, "charters.safetensors": 1})]
    net.records[0]["files"][1]["size"] = size
    found = by_id(ask(client, online=True))["linereader:10.5281/zenodo.120@1.2"]
    assert found["size_gb"] == 0


def test_cached_entries_are_listed_when_a_listing_fails(
    client: Any, net: Listings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next day's fetch fails; yesterday's entries are still listed."""
    fill(net)
    ask(client, online=True)
    tomorrow = time.time() + discovery.DAY + 60
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    net.status = 503
    answer = ask(client, online=True)
    assert states(answer)["model-hub"] == "failed"
    assert any(item["source"] == "model-hub" for item in answer["items"])
    assert "linereader:10.5281/zenodo.120@1.2" in by_id(answer)


NONSENSE: list[Any] = [
    None, 5, "x", [], {"hits": 5}, {"hits": {"hits": 5}}, {"hits": {"hits": [5, None, [], {"metadata": 5}], "total": "many"}},
    {"hits": {"hits": [record(1, 1, "x", {"m.mlmodel": 1}) | {"id": "../../etc"}], "total": 1}},
    {"hits": {"hits": [record(1, 1, "x", {"m.mlmodel": 1}) | {"files": [5, {"key": 5}, {"key": "a.mlmodel", "size": "huge"}]}],
              "total": 1}},
    *({"hits": {"hits": [record(1, 1, "x", {"m.mlmodel": 1}) | said], "total": 1}}
      for said in ({"files": 5}, {"files": {"key": "m.mlmodel"}}, {"id": 10**30}, {"id": None}, {"conceptrecid": [5]})),
    {"hits": {"hits": [record(1, 1, "x", {"m.mlmodel": 1}) | {"id": one} for one in ("\u00b2", "\u0663", 1)], "total": 3}},
    {"hits": {"hits": [record(1, 1, "x", {"m.mlmodel": 1}, license=[5], keywords={"a": 1}, version={})], "total": 1}},
    [{"id": ["a/b"]}, {"id": "a/b", "pipeline_tag": ["image-to-text"], "tags": {}, "siblings": 5}, {"id": "a/b", "tags": 5}],
    [model("a/b") | {"cardData": {"language": {"a": 1}}, "sha": 5, "library_name": [], "siblings": [5, {"rfilename": 5}]}],
]  # fmt: skip


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_answers_do_no_harm(client: Any, net: Listings, answer: Any) -> None:
    """Whatever the services send, the list is answered."""
    net.whole = json.dumps(answer).encode()
    found_answer = ask(client, online=True)
    assert found_answer["items"]
    assert not any(".." in item["id"] for item in found_answer["items"])


@pytest.mark.slow
def test_a_hub_that_answers_a_hundred_thousand_models(
    client: Any, net: Listings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only as many as were requested are looked at, and names with a path out of a folder are left out."""
    monkeypatch.setattr(hub, "WORDS", ())
    many = [{"id": f"a/m{number}", "tags": [], "pipeline_tag": "image-to-text"} for number in range(100_000)]
    wild = [
        model("../../etc/passwd", "la"),
        model("a/..", "la"),
        model("x" * 300, "la"),
        model("a/b/c", "la"),
    ]
    net.whole = json.dumps([*wild, *many]).encode()
    answer = ask(client, online=True)
    items = [item for item in answer["items"] if item["source"] == "model-hub"]
    assert len(items) == hub.OF_A_QUESTION - len(wild)
    assert all(item["name"].startswith("a/m") for item in items)


@pytest.mark.parametrize(
    "card",
    [
        "no card at all",
        "---\nsummary: [\n---\n",
        "---\na: &a [x, x]\nb: *a\nmodel_type: [recognition]\n---\n",
        "---\nsummary: !!python/object/apply:os.system ['true']\nmodel_type: [recognition]\n---\n",
        "---\n- 5\n---\n",
        "---\n" + "a: b\n" * 40_000 + "---\n",
    ],
)
def test_unusable_cards_are_not_listed(client: Any, net: Listings, card: str) -> None:
    """A record with an unusable card is not listed, and its card is not fetched again."""
    net.records = [record(1, 1, "Handwritten", {"README.md": 1, "m.mlmodel": 1})]
    net.files = {"/records/1/files/README.md": card}
    assert not any(item["source"] == "linereader-repository" for item in ask(client, online=True)["items"])
    asked = len(net.asked)
    ask(client, online=True)
    assert not any("/files/" in one for one in net.asked[asked:])


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"entries": 5, "fetched_at": 1}', '{"entries": [5, {"record": "../x"}]}', "\x00"]
)
def test_a_damaged_cached_listing_counts_as_none(client: Any, engine: Engine, text: str) -> None:
    """A damaged cache file counts as none."""
    folder = discovery.folder_of(engine)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{repository.NAME}.json").write_text(text, "utf-8")
    assert ask(client)["items"]


def test_published_rates_are_read_as_fractions_or_points() -> None:
    """Records state the rate either as a fraction or in points of a hundred."""
    points: list[tuple[Any, float | None]] = [
        (0.05, 0.05),
        (1, 1.0),
        (3.5, 0.035),
        (0, 0.0),
        (101, None),
        (-1, None),
    ]
    nothing: list[tuple[Any, float | None]] = [(True, None), ("5", None), (None, None)]
    for said, expected in [*points, *nothing]:
        assert repository._share(said) == expected


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"scripts": "Zzzx"}, "no script"),
        ({"languages": "xqx"}, "no language"),
        ({"material": "stone"}, "no material"),
        ({"job": "make-coffee"}, "no job"),
        ({"step": "read"}, "no recipe yet"),
    ],
)
def test_what_is_not_known_is_refused(client: Any, asked: dict[str, str], words: str) -> None:
    answer = client.get(URL, params={**LATIN, **asked})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]


def test_other_work_has_other_candidates(client: Any) -> None:
    """For handwriting, the first candidate is the stand-in, and its note says so."""
    answer = ask(client, job="find-lines")
    assert answer["items"][0]["id"] == "rapidocr:PP-OCRv6-det@6"
    assert "stands in" in answer["items"][0]["note"]
    assert by_id(answer)["linereader:blla@5"]["refused"]["kind"] == "not-here"


def test_the_chosen_reader_of_a_step_is_listed_first(client: Any) -> None:
    """It is marked as chosen even though the rules rank it lower; an unknown step is refused with the names of the
    known ones.
    """
    body = {"purposes": ["transcribe"], "languages": ["fr"], "scripts": ["Latn"]}
    recipe = client.post("/api/recipes/assemble", json=body).json()["recipe"]
    override = {
        "scope": "project",
        "step": "read",
        "card": {"id": "builtin:fitting-reader@1", "source": "shipped"},
    }
    answer = client.put(
        "/api/recipes/project", json={"answers": body, "recipe": recipe, "overrides": [override]}
    )
    assert answer.status_code == 200, answer.text
    found_answer = client.get(URL, params={"step": "read"}).json()
    assert [(item["id"], item["chosen"]) for item in found_answer["items"][:2]] == [
        ("builtin:fitting-reader@1", True),
        ("linereader:hand-base@1", False),
    ]
    second_recipe = client.post("/api/recipes/assemble", json=body).json()["recipe"]
    assert (
        next(step for step in second_recipe["steps"] if step["id"] == "read")["card"]["id"]
        == "builtin:fitting-reader@1"
    )
    refused = client.get(URL, params={"step": "wash"})
    assert refused.status_code == 422
    assert "find-lines" in refused.json()["detail"]
    client.put("/api/recipes/project", json={"answers": None, "recipe": None, "overrides": []})


def test_assemble_and_check_as_routes(client: Any) -> None:
    """An assembled recipe passes the check; unknown fields are refused, and a body that is no recipe gets an answer."""
    body = {"purpose": "entities", "material": "print", "languages": ["en"], "scripts": ["Latn"]}
    response = client.post("/api/recipes/assemble", json=body)
    assert response.status_code == 200, response.text
    recipe = response.json()["recipe"]
    assert [step["id"] for step in recipe["steps"]] == ["split", "find-lines", "read", "correct", "names"]
    assert client.post("/api/recipes/check", json={"recipe": recipe}).json() == {"problems": [], "ok": True}
    broken = client.post("/api/recipes/check", json={"recipe": {**recipe, "api_key": "x"}}).json()
    assert not broken["ok"]
    assert (
        client.post("/api/recipes/check", json={"recipe": None}).json()["problems"][0]["kind"] == "malformed"
    )
    assert client.post("/api/recipes/assemble", json={**body, "colour": "red"}).status_code == 422
    assert client.post("/api/recipes/assemble", json={**body, "purpose": "fame"}).status_code == 422
    assert (
        client.post("/api/recipes/assemble", json={"languages": ["en"], "scripts": ["Latn"]}).status_code
        == 422
    )
    assert client.post("/api/recipes/check", json={"recipe": recipe, "more": 1}).status_code == 422
