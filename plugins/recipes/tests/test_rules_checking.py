"""Why a recipe cannot run: a failing recipe for each kind of problem, the order of problems, and forbidden keys."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from rules_shelf import SHELF, bench_engine

from armarium.api import Engine, Library
from armarium_recipes.rules import checking
from armarium_recipes.rules.checking import gap_of, is_only_offered, problems_of
from armarium_recipes.schemas.recipe import PROBLEM_ORDER, Answers, Step


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine with every family that has recipe jobs."""
    with bench_engine(tmp_path_factory.mktemp("rules")) as engine:
        yield engine


@pytest.fixture(autouse=True)
def shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the cards of `rules_shelf`."""
    monkeypatch.setattr(checking, "cards_for", lambda engine, library, ids: list(SHELF))


def recipe(*steps: dict[str, Any], **suits: Any) -> dict[str, Any]:
    """Return a recipe for a French hand, with *steps*."""
    return {
        "service_recipe": 1,
        "id": "mine",
        "title": "Mine",
        "suits": {"scripts": ["Latn"], "languages": ["fr"], "material": ["handwriting"], **suits},
        "steps": list(steps),
    }


def step(card: str | None = "linereader:hand@1", **more: Any) -> dict[str, Any]:
    """Return a step that reads lines."""
    made = {"id": "read", "job": "read-a-line", "layer": "reading", **more}
    return made if card is None else {**made, "card": {"id": card, "source": "shipped"}}


ANSWERS = {"purposes": ["transcribe"], "languages": ["fr"], "scripts": ["Latn"], "memory_gb": 16.0}


def problems(
    engine: Engine, asked: object, library: Library | None = None, **answers: Any
) -> list[tuple[str, str | None]]:
    """Return the kinds of the problems, each with its first way out."""
    found_problems = problems_of(engine, library, asked, Answers(**{**ANSWERS, **answers}))
    assert all(item.sentence.endswith((".", "…")) for item in found_problems)
    return [(item.kind, item.fix) for item in found_problems]


FAILING = [
    (recipe(step("linereader:gone@1")), "no-model-for-job", "choose-model"),
    (recipe(step("builtin:find-lines@1")), "no-model-for-job", "choose-model"),
    (recipe({**step(None), "job": "make-a-vector"}), "no-model-for-job", "choose-model"),
    (recipe(step(), scripts=["Grek"]), "no-model-for-script", "choose-model"),
    (recipe(step(), languages=["nci"]), "no-model-for-language", "choose-model"),
    (recipe(step(), material=["print"]), "no-reader-for-material", "choose-model"),
    (recipe(step("linereader:10.5281/zenodo.103@1"), scripts=["Hebr"], languages=["he"]), "licence-not-accepted", "accept-licence"),
    (recipe(step("cloud:Reader/eyes@served")), "cloud-not-allowed", "allow-cloud"),
    (recipe(step(uses_cloud=True)), "cloud-not-allowed", "allow-cloud"),
    (recipe(step(runs_on="cloud:Reader")), "cloud-not-allowed", "allow-cloud"),
    (recipe(step("linereader:10.5281/zenodo.104@1"), scripts=["Grek"], languages=["grc"]), "not-enough-memory", "choose-model"),
    (recipe(step("linereader:10.5281/zenodo.105@1"), languages=["de"]), "no-model-for-job", "choose-model"),
    (recipe(step(None)), "no-model-for-job", "choose-model"),
    (recipe(step(None), scripts=["Cyrl"], languages=["ru"]), "cloud-not-allowed", "allow-cloud"),
    (recipe(step(job="make-coffee")), "malformed", None),
    (recipe(step(model={"linereader": "x", "tesseract": "y"})), "malformed", None),
    (recipe(step(settings={"langauge": "fr"})), "malformed", None),
    (recipe(step(prompt="../../.ssh/id")), "malformed", None),
    (recipe(step(), step()), "malformed", None),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "kind", "fix"), FAILING)
def test_a_recipe_that_fails_for_one_reason(
    bench: Engine, asked: dict[str, Any], kind: str, fix: str | None
) -> None:
    assert problems(bench, asked) == [(kind, fix)]


UNKNOWN = {
    "purposes": {"purposes": ["fame"]},
    "suits.scripts": {"suits": {"scripts": ["Zzzx"]}},
    "suits.languages": {"suits": {"languages": ["xqx"]}},
    "steps.0.layer": {"steps": [{**step(), "layer": "icing"}]},
    "steps.0.applies_to.lines_in": {"steps": [{**step(), "applies_to": {"lines_in": ["Latn", "xqx"]}}]},
}


@pytest.mark.parametrize("place", UNKNOWN)
def test_names_of_nothing_are_malformed_wherever_they_stand(bench: Engine, place: str) -> None:
    """The place is reported, so that the line of a file can be found."""
    told = problems_of(bench, None, {"id": "x", "title": "y", **UNKNOWN[place]}, Answers(**ANSWERS))
    assert [item.kind for item in told if item.sentence.startswith(f"{place}: ")] == ["malformed"]


def test_every_kind_of_problem_has_a_recipe_that_fails_for_it() -> None:
    assert {kind for _, kind, _ in FAILING} == set(PROBLEM_ORDER)


def test_a_recipe_that_can_run(bench: Engine) -> None:
    """No problem is found, whether it runs here or sends pages that may leave."""
    assert problems(bench, recipe(step())) == []
    assert (
        problems(
            bench,
            recipe(step("cloud:Reader/eyes@served", uses_cloud=True, runs_on="cloud:Reader")),
            cloud_allowed=True,
        )
        == []
    )


def test_all_reasons_are_listed_in_the_stated_order(bench: Engine) -> None:
    """By kind within a step, and step by step."""
    many = step("linereader:10.5281/zenodo.104@1", settings={"nothing": 1})
    wrong = recipe(
        {**many, "id": "first"}, step(id="second"), scripts=["Arab"], languages=["ar"], material=["print"]
    )
    found_problems = problems_of(bench, None, wrong, Answers(**ANSWERS))
    assert [(item.step, item.kind) for item in found_problems] == [
        *(
            ("first", kind)
            for kind in ("no-model-for-script", "no-model-for-language", "no-reader-for-material")
        ),
        *(("first", kind) for kind in ("not-enough-memory", "malformed")),
        *(
            ("second", kind)
            for kind in ("no-model-for-script", "no-model-for-language", "no-reader-for-material")
        ),
    ]


def test_a_model_of_the_repository_that_is_gone_is_fetched(bench: Engine) -> None:
    """The first way out is to download it."""
    gone = {**step(None), "card": {"id": "linereader:10.5281/zenodo.1@1", "source": "linereader-repository"}}
    (problem,) = problems_of(bench, None, recipe(gone), Answers(**ANSWERS))
    assert (problem.fix, problem.fixes) == ("download", ["download", "choose-model", "choose-cloud"])
    assert problem.detail == {"job": "read-a-line", "card": "linereader:10.5281/zenodo.1@1"}


def test_lines_of_one_script_need_a_reader_of_that_script(bench: Engine) -> None:
    """A reader of another script of the recipe does not suffice."""
    latin = step(applies_to={"lines_in": ["Latn"]})
    assert problems(bench, recipe(latin, scripts=["Arab", "Latn"], languages=["ar", "fr"])) == []
    arabic = step(applies_to={"lines_in": ["Arab"]})
    assert problems(bench, recipe(arabic, scripts=["Arab", "Latn"])) == [
        ("no-model-for-script", "choose-model")
    ]
    greek = step(applies_to={"lines_in": ["grc"]})
    assert problems(bench, recipe(greek)) == [("no-model-for-language", "choose-model")]


def test_an_accepted_licence(bench: Engine) -> None:
    """The person who chose the model accepted it."""
    own = step("linereader:10.5281/zenodo.103@1", licence_accepted=True)
    assert problems(bench, recipe(own, scripts=["Hebr"], languages=["he"])) == []


def test_a_step_that_is_only_offered_stops_nothing(bench: Engine) -> None:
    """A step with a gap and one with a condition; the missing setting closes the gap."""
    assert problems(bench, recipe(step(None, gap="Nobody reads it."))) == []
    assert problems(bench, recipe(step(None, offered_when={"corrected_lines_at_least": 100}))) == []
    places = {"id": "places", "job": "place-in-a-gazetteer", "layer": "places", "gap": "Name the file."}
    assert is_only_offered(Step(**places))
    filled = Step(**places, settings={"file": "/data/places.csv"})
    assert gap_of(filled) is None
    assert not is_only_offered(filled)


def test_without_answers_pages_stay_here(bench: Engine) -> None:
    """Without answers nobody has allowed them to leave."""
    (problem,) = problems_of(bench, None, recipe(step("cloud:Reader/eyes@served")))
    assert problem.kind == "cloud-not-allowed"


SECRET_KEYS = [
    *(
        "api_key",
        "apiKey",
        "API-KEY",
        "token",
        "access_tokens",
        "password",
        "passWord",
        "client-secret",
        "Authorization",
    ),
    *(
        "cookie",
        "credentials",
        "code",
        "python",
        "source_code",
        "javascript",
        "shell",
        "cmd",
        "commands",
        "exec",
        "postExec",
    ),
    *("tool", "agentTools", "mcp", "url", "webhook_url", "endpoint", "base_url", "callback", "proxy", "host"),
    "\uff41\uff50\uff49_\uff4b\uff45\uff59",
]


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_keys_that_name_code_secrets_tools_or_addresses(bench: Engine, key: str) -> None:
    """At any depth, also within a list; the value is not repeated."""
    deep: Any = {key: "hunter2"}
    for level in range(7):
        deep = {f"level_{level}": [deep]} if level % 2 else {f"level_{level}": deep}
    found_problems = problems_of(bench, None, recipe(step(model={"builtin": deep})), Answers(**ANSWERS))
    assert [(item.kind, item.step) for item in found_problems] == [("malformed", "read")]
    assert key in found_problems[0].sentence
    assert "hunter2" not in found_problems[0].sentence


@pytest.mark.parametrize(
    "key", ["keywords", "monkey", "encode_as", "description", "tokenless", "runs", "hosting"]
)
def test_keys_that_only_resemble_forbidden_ones(bench: Engine, key: str) -> None:
    """Keys that contain such a word with another meaning are allowed."""
    assert problems(bench, recipe(step(model={"builtin": {key: 1}}))) == []


def test_scripts_are_allowed_in_suits_only(bench: Engine) -> None:
    """Elsewhere `scripts` could be taken for something to run."""
    (problem,) = problems_of(
        bench, None, recipe(step(model={"builtin": {"scripts": ["Latn"]}})), Answers(**ANSWERS)
    )
    assert "may be named in suits only" in problem.sentence
    (top, extra) = problems_of(bench, None, {**recipe(), "scripts": ["Latn"]}, Answers(**ANSWERS))
    assert (top.kind, extra.kind) == ("malformed", "malformed")


@pytest.mark.parametrize(
    "asked", [None, 5, "recipe", [], [1], {}, {"steps": 3}, {"service_recipe": 2, "id": "x", "title": "y"}]
)
def test_an_invalid_recipe_is_reported(bench: Engine, asked: object) -> None:
    """Anything but a recipe is refused with a sentence."""
    assert {kind for kind, _ in problems(bench, asked)} == {"malformed"}


def test_an_endless_recipe_is_reported(bench: Engine) -> None:
    """Levels and entries are counted; a recipe that contains itself is cut off."""
    deep: dict[str, Any] = {}
    at = deep
    for _ in range(5_000):
        at["level"] = {}
        at = at["level"]
    assert ("malformed", None) in problems(bench, recipe(step(model={"builtin": deep})))
    wide = recipe(step(model={"builtin": {f"n{number}": 1 for number in range(60_000)}}))
    assert ("malformed", None) in problems(bench, wide)
    own: dict[str, Any] = recipe(step())
    own["steps"][0]["settings"] = own
    assert ("malformed", None) in problems(bench, own)


@pytest.mark.parametrize(
    "prompt", ["/etc/passwd", "../setup.yaml", "a/../../b.md", "..\\x.md", "~/x.md", "C:/x.md", "a\x00b", "."]
)
def test_prompts_must_be_inside_the_recipe_folder(bench: Engine, prompt: str) -> None:
    """However the path leaves the folder, with or without a project."""
    assert problems(bench, recipe(step(prompt=prompt))) == [("malformed", None)]


def test_a_prompt_must_exist(engine: Engine, library: Library) -> None:
    """It must be a readable file; a link out of the folder is refused."""
    folder = library.path / "recipe"
    folder.mkdir(exist_ok=True)
    (folder / "ask.md").write_text("Read what is written.", "utf-8")
    (folder / "out.md").symlink_to("/etc/hosts")
    assert problems(engine, recipe(step(prompt="ask.md")), library) == []
    assert problems(engine, recipe(step(prompt="none.md")), library) == [("malformed", None)]
    assert problems(engine, recipe(step(prompt="out.md")), library) == [("malformed", None)]


def test_what_is_checked_stays_as_it_is(bench: Engine) -> None:
    """The caller's object is not modified."""
    asked = recipe(step())
    before = copy.deepcopy(asked)
    problems(bench, asked)
    assert asked == before
