"""Hostile input over HTTP: malicious answers, recipes, files and cards are each refused with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from start_fixtures import ANSWERS, URL, Desk, step

from armarium.api import Engine, Library
from armarium_recipes.actions.setup import example_recipe

ASSEMBLE = "/api/recipes/assemble"
ORDER = step("put-in-order", "lines", "order")


@pytest.fixture
def desk(engine: Engine, library: Library, client: Any) -> Desk:
    """The project of this module's tests."""
    return Desk(engine, library, client)


UNKNOWN = {
    "language": {"languages": ["xqx"]},
    "second language": {"languages": ["en", "../../etc"]},
    "script": {"scripts": ["Zzzx"]},
    "purpose": {"purposes": ["fame"]},
    "layer": {"layers": ["icing"]},
    "job": {"jobs": ["make-coffee"]},
    "direction": {"directions": {"Arab": "rtl"}},
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_answers_that_name_nothing_are_refused_wherever_they_are_given(client: Any, what: str) -> None:
    """Assembling and saving refuse them in the same words, and nothing is stored."""
    answers = {**ANSWERS, **UNKNOWN[what]}
    assembled = client.post(ASSEMBLE, json=answers)
    saved = client.put(URL, json={"answers": answers})
    assert (assembled.status_code, saved.status_code) == (422, 422), saved.text
    assert assembled.json()["code"] == saved.json()["code"]
    assert assembled.json()["detail"] == saved.json()["detail"]
    assert client.get(URL).json()["answers"] is None


@pytest.mark.parametrize("purposes", [[], None, "left out", [""], ["transcribe"] * 60])
def test_without_a_purpose_there_is_no_recipe(client: Any, purposes: Any) -> None:
    """An empty list, null, a missing field, an empty name, and more purposes than exist."""
    answers: dict[str, Any] = {**ANSWERS, "purposes": purposes}
    if purposes == "left out":
        del answers["purposes"]
    for answer in (client.post(ASSEMBLE, json=answers), client.put(URL, json={"answers": answers})):
        assert answer.status_code == 422
        assert "purpose" in answer.text
    assert client.get(URL).json()["answers"] is None


def test_two_scripts_of_opposite_direction_share_none(client: Any) -> None:
    """There is no common direction, and each script has a reader or a named gap; a direction stated for one script
    remains.
    """
    answers = {**ANSWERS, "scripts": ["Latn", "Arab"], "languages": ["en", "ar"]}
    answer = client.post(ASSEMBLE, json=answers).json()
    assert answer["recipe"]["defaults"]["direction"] is None
    assert answer["recipe"]["suits"]["scripts"] == ["Latn", "Arab"]
    readers = [one for one in answer["recipe"]["steps"] if one["job"] == "read-a-line"]
    told = [code for reader in readers for code in reader["applies_to"]["lines_in"]]
    assert sorted(told) == ["Arab", "Latn"]
    assert [gap["step"] for gap in answer["gaps"] if gap["job"] == "read-a-line"] == [readers[1]["id"]]
    assert client.put(URL, json={"answers": answers, "recipe": answer["recipe"]}).status_code == 200
    one_way = client.post(ASSEMBLE, json={**answers, "directions": {"Latn": "rtl"}}).json()
    assert one_way["recipe"]["defaults"]["direction"] == "rtl"


def _file(name: str) -> bytes:
    plain = b"id: letters\ntitle: By hand\n"
    rows = b"".join(b"- &l%d [%s]\n" % (n, b", ".join([b"*l%d" % (n - 1)] * 9)) for n in range(1, 9))
    return {
        "ten megabytes of steps": plain
        + b"steps:\n"
        + b"- {id: a, job: find-lines, layer: lines}\n" * 260_000,
        "ten megabytes of one word": plain.replace(b"By hand", b"x" * (10 << 20)),
        "aliases that explode": plain + b"authors:\n- &l0 [lol, lol]\n" + rows,
        "an alias to itself": plain + b"defaults: &a {fonts: *a}\n",
        "merged keys": b"base: &b {id: letters}\n<<: *b\ntitle: By hand\n",
        "a Python object": plain + b"licence: !!python/object/apply:os.system ['true']\n",
        "a Python name": plain + b"licence: !!python/name:os.system ''\n",
        "a key twice": plain + b"title: Again\n",
        "a key twice, deep": plain
        + b"steps:\n- id: a\n  job: find-lines\n  layer: lines\n  settings: {x: 1, x: 2}\n",
        "a secret nine levels deep": plain
        + b"steps:\n- id: a\n  job: find-lines\n  layer: lines\n  settings: "
        + b"{a: " * 8
        + b"{api_key: sk-1}"
        + b"}" * 8
        + b"\n",
        "a prompt out of the folder": plain
        + b"steps:\n- id: a\n  job: find-lines\n  layer: lines\n  prompt: ../../secrets.txt\n",
        "a job of nobody": plain + b"steps:\n- {id: a, job: make-coffee, layer: lines}\n",
        "a script of nobody": plain + b"suits:\n  scripts:\n  - Zzzx\n",
        "no recipe": b"5\n",
        "nothing": b"",
        "zero bytes": plain + b"authors: [\x00]\n",
    }[name]


FILES = (
    *("ten megabytes of steps", "ten megabytes of one word", "aliases that explode", "an alias to itself", "merged keys"),
    *("a Python object", "a Python name", "a key twice", "a key twice, deep", "a secret nine levels deep"),
    *("a prompt out of the folder", "a job of nobody", "a script of nobody", "no recipe", "nothing", "zero bytes"),
)  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused_with_a_sentence_and_the_project_stays_usable(
    desk: Desk, name: str
) -> None:
    """The project keeps its recipe and can be started; the file is left as it is, and nothing in it is executed."""
    desk.lines(desk.pages(1)[0])
    desk.recipe(ORDER)
    path = desk.library.recipe / "recipe.yaml"
    path.write_bytes(_file(name))
    recipe_yaml = {file["name"]: file for file in desk.get("")["files"]}["recipe.yaml"]
    assert recipe_yaml["state"] == "refused"
    assert recipe_yaml["why"].endswith(".")
    assert "sk-1" not in recipe_yaml["why"]
    assert recipe_yaml["line"] is not None or name.startswith("ten megabytes")
    assert path.read_bytes() == _file(name)
    assert desk.get("")["recipe"]["title"] == "Test"
    assert desk.run_whole()["state"] == "done"


@pytest.mark.parametrize("name", ["setup.yaml", "overrides.yaml"])
def test_other_files_are_checked_too(desk: Desk, name: str) -> None:
    """Answers with an unknown language and an override for a deleted folder are refused as over HTTP."""
    desk.recipe(ORDER)
    folder = desk.folder()
    assert desk.client.delete(f"/api/documents/{folder}").status_code == 200
    text = {
        "setup.yaml": "purposes: [transcribe]\nlanguages: [xqx]\nscripts: [Latn]\n",
        "overrides.yaml": f"overrides:\n- scope: folder\n  folder_id: {folder}\n  step: order\n"
        "  card: {id: 'builtin:put-in-order@1', source: shipped}\n",
    }
    (desk.library.recipe / name).write_text(text[name])
    told = {file["name"]: file for file in desk.get("")["files"]}[name]
    assert (told["state"], told["line"]) == ("refused", 2 if name == "setup.yaml" else 3)
    assert ("xqx" if name == "setup.yaml" else folder) in told["why"]
    assert (desk.get("")["answers"]["languages"], desk.get("")["overrides"]) == (["en"], [])


def test_a_recipe_of_ten_megabytes_is_refused_over_the_route_too(client: Any) -> None:
    """It can be neither saved nor checked; nothing is stored."""
    recipe = {**example_recipe(), "title": "x" * (10 << 20)}
    for answer in (
        client.put(URL, json={"recipe": recipe}),
        client.put(URL, json={"recipe": {**example_recipe(), "steps": example_recipe()["steps"] * 30_000}}),
    ):
        assert answer.status_code in (413, 422)
        assert len(answer.content) < 100_000
    checked = client.post("/api/recipes/check", json={"recipe": recipe})
    assert checked.status_code in (200, 413)
    assert len(checked.content) < 100_000
    wide = {**example_recipe(), "steps": example_recipe()["steps"]}
    wide["steps"][0]["settings"] = {f"n{number}": 1 for number in range(100_000)}
    assert client.put(URL, json={"recipe": wide}).status_code == 422
    assert client.get(URL).json()["recipe"] is None


WILD = (
    "linereader:../../../etc/passwd@1",
    "../../../etc/passwd",
    "cloud:/etc/passwd@../..",
    "vision:..\\..\\x@1",
    "a\x00b",
)


@pytest.mark.parametrize("card", WILD)
def test_a_card_whose_id_contains_a_path_is_unknown(desk: Desk, tmp_path: Path, card: str) -> None:
    """Plan and check report it as missing, no route accepts it, and no file is looked for by its name."""
    desk.lines(desk.pages(1)[0])
    read = {"id": "read", "job": "read-a-line", "layer": "reading"}
    desk.recipe(read)
    used = desk.client.post(f"{URL}/steps/use-candidate", json={"step": "read", "card": card})
    assert used.status_code == 422
    instead = desk.client.post(f"{URL}/start/use-instead", json={"model": card, "card": card})
    assert instead.status_code == 422
    champion = desk.client.put(f"{URL}/champions", json={"hand_id": card, "card": card})
    assert champion.status_code in (404, 422)
    for bakeoff in ("..%2F..%2Frecipe", "%2e%2e", "x" * 65):
        assert desk.client.get(f"{URL}/bakeoffs/{bakeoff}").status_code in (404, 422)
        assert desk.client.post(f"{URL}/bakeoffs/{bakeoff}/use", json={"card": card}).status_code in (
            404,
            405,
            422,
        )
    body = {
        "recipe": {"id": "x", "title": "X", "steps": [{**read, "card": {"id": card, "source": "installed"}}]}
    }
    saved = desk.client.put(URL, json=body)
    assert saved.status_code == 200, saved.text
    assert desk.client.post("/api/recipes/check", json=body).json()["ok"] is False
    assert [refusal["kind"] for refusal in desk.plan()["refusals"]] == ["no-model-for-job"]
    assert desk.start(422)["code"] == "start_refused"


def test_a_layer_is_added_once_however_often_it_is_asked_for_at_once(desk: Desk) -> None:
    """One of six simultaneous requests adds it; the others are told that it already exists."""
    from concurrent.futures import ThreadPoolExecutor

    recipe = desk.client.post(ASSEMBLE, json=ANSWERS).json()["recipe"]
    desk.client.put(URL, json={"answers": ANSWERS, "recipe": recipe})
    with ThreadPoolExecutor(6) as pool:
        answers = list(
            pool.map(lambda _: desk.client.post(f"{URL}/layers", json={"layers": ["entities"]}), range(6))
        )
    assert sorted(answer.status_code for answer in answers) == [200, *[422] * 5]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 422} == {"already_there"}
    kept = desk.get("")
    assert kept["answers"]["layers"] == ["entities"]
    names = [one["id"] for one in kept["recipe"]["steps"]]
    assert len(names) == len(set(names))
