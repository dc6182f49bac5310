"""What recipes know by themselves: jobs, topics, purposes, languages, scripts, this machine."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armarium.api import LAYERS, Engine, Settings
from armarium_recipes.knowledge.derived_answers import targets
from armarium_recipes.knowledge.jobs import JOBS
from armarium_recipes.knowledge.languages import find_language, search_languages
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.knowledge.scripts import find_script, search_scripts
from armarium_recipes.knowledge.topics import topics
from armarium_testing.fixtures import OWNER_TOKEN, http_client

CHECKOUT = Path(__file__).resolve().parents[3]

# The agreed table of jobs, written by hand: layer, what each takes, what each makes.
AGREED = """
prepare-the-image prepare page_image > page_image,rendition
split-pages prepare page_image > page_image
find-documents-in-a-folder prepare page_reading > document_groups
find-regions lines page_image > regions
find-lines lines page_image > lines
put-in-order lines lines > reading_order
refine-shapes lines lines > lines
find-signs lines page_image > signs
find-a-tables-cells lines regions > table_cells
read-a-line reading lines > line_readings
read-a-page reading page_image > page_reading
tie-text-to-lines reading page_reading,lines > line_readings
correct reading line_readings > line_readings
trace-a-drawing reading regions > drawings
identify-signs reading signs > sign_identifications
transcribe-speech reading recording > line_readings
translate-transliterate-normalise reading line_readings > line_readings
split-into-entries structure page_reading > entries
extract-to-a-table structure page_reading,table_cells > table_rows
find-names-tag-words entities page_reading > mentions
find-statements graph page_reading,mentions > claims
work-out-dates graph mentions > dates
link-to-authorities graph mentions > authority_links
place-in-a-gazetteer places mentions > places
make-a-vector vectors page_reading > vectors
describe-for-the-catalogue catalogue page_reading > catalogue_record
pull-out-passages knowledge page_reading > passages
train-a-model train line_readings > model
check check line_readings,claims,mentions > verdicts
export output page_reading > files
publish output files > published
"""
NOTIONS = """languages scripts fonts glyphs-and-unicode faithful-writing finding-sources models-and-memory linereader layout
forms-and-tables passes-and-readings checking training workflows-and-recipes entities statements maps undo-and-trash"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The owner's HTTP client of one engine for all these tests; no project is open."""
    folder = tmp_path_factory.mktemp("knowledge")
    engine = Engine(Settings(state_dir=folder / "state", owner_token=OWNER_TOKEN, library_roots=[folder]))
    engine.start(jobs=False)
    yield from http_client(engine)
    engine.close()


def test_every_job_of_the_agreed_table_is_listed_in_its_order(client: Any) -> None:
    rows = [re.fullmatch(r"(\S+) (\S+) (\S+) > (\S+)", line).groups() for line in AGREED.strip().split("\n")]
    answer = client.get("/api/recipes/jobs").json()
    listed = [
        (item["id"], item["layer"], ",".join(item["takes"]), ",".join(item["gives"]))
        for item in answer["items"]
    ]
    assert listed[: len(rows)] == rows
    assert answer["count"] == len(listed)
    assert [job.layer for job in JOBS.values()] == sorted((row[1] for row in rows), key=LAYERS.index)


def test_a_job_is_described_by_the_family_that_does_it(client: Any) -> None:
    items = {item["id"]: item for item in client.get("/api/recipes/jobs").json()["items"]}
    assert {setting["key"] for setting in items["read-a-line"]["settings"]} >= {"language", "reader", "model"}
    assert items["read-a-line"]["compare"]
    assert "transcriber" in {setting["key"] for setting in items["transcribe-speech"]["settings"]}
    assert all(item["name"] and item["description"] and item["since"] for item in items.values())


def test_work_of_other_plugins_is_listed_after_the_agreed_jobs_and_explained(client: Any) -> None:
    items = client.get("/api/recipes/jobs").json()["items"]
    assert "ask-a-model" in [one["id"] for one in items[len(JOBS) :]]
    for item in items:
        topic = client.get(f"/api/topics/{item['topic']}").json()
        assert (topic["id"], topic["kind"]) == (item["topic"], "job")


def test_every_job_and_every_notion_is_explained_once(client: Any) -> None:
    answer = client.get("/api/topics").json()
    ids = [item["id"] for item in answer["items"]]
    assert len(ids) == len(set(ids)) == answer["count"]
    assert [item["id"] for item in answer["items"] if item["kind"] == "topic"] == NOTIONS.split()
    assert set(JOBS) <= {item["id"] for item in answer["items"] if item["kind"] == "job"}


@pytest.mark.parametrize("topic", topics().values(), ids=lambda topic: topic.id)
def test_a_topic_is_a_title_a_sentence_a_paragraph_an_example_and_a_page_that_exists(topic: Any) -> None:
    assert topic.title
    assert topic.title[0].isupper()
    assert topic.short.endswith(".")
    assert len(topic.short) < 140
    assert 25 <= len(topic.long.split()) <= 110
    assert topic.example
    assert len(topic.example.split()) >= 8
    assert (CHECKOUT / topic.manual).is_file()


def test_an_unknown_topic_is_refused(client: Any) -> None:
    answer = client.get("/api/topics/alchemy")
    assert (answer.status_code, answer.json()["code"]) == (404, "topic_not_found")


def test_purposes_are_in_order_and_only_tools_do_not_run_automatically(client: Any) -> None:
    items = client.get("/api/recipes/purposes").json()["items"]
    ids = [item["id"] for item in items]
    assert ids == [
        "transcribe",
        "entities",
        "search",
        "statements",
        "knowledge-graph",
        "map-places",
        "translate-normalise",
        "quotations",
        "catalogue",
        "tables",
        "edit-corpus",
        "decipher",
        "not-sure",
    ]
    assert [item["id"] for item in items if not item["runs_by_itself"]] == ids[-3:]
    graph = next(item for item in items if item["id"] == "knowledge-graph")
    assert graph["jobs"] == [
        *("find-lines", "read-a-line", "correct", "find-names-tag-words", "work-out-dates"),
        *("find-statements", "link-to-authorities", "make-a-vector"),
    ]
    assert all(set(purpose.jobs) <= set(JOBS) for purpose in PURPOSES.values())


@pytest.mark.parametrize(
    ("tag", "code", "name"),
    [
        ("de", "de", "German"),
        ("deu", "de", "German"),
        ("ger", "de", "German"),
        ("de-AT-1901", "de", "German"),
        ("DE", "de", "German"),
        ("iw", "he", "Hebrew"),
        ("mo", "ro", "Romanian"),
        ("grc", "grc", "Ancient Greek (to 1453)"),
        ("lat", "la", "Latin"),
        ("zh-Hant", "zh", "Chinese"),
    ],
)
def test_a_tag_finds_its_language(tag: str, code: str, name: str) -> None:
    language = find_language(tag)
    assert language is not None
    assert (language.code, language.name, language.level) == (code, name, "language")


@pytest.mark.parametrize(
    "tag", ["", "zzz", "x-private", "german", "de_AT", "d", "de--AT", "de\n", "qaa", "../de"]
)
def test_what_is_no_tag_of_a_language_finds_none(tag: str) -> None:
    assert find_language(tag) is None


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("Judeo-Spanish", "lad"),
        ("judeoespañol", "lad"),
        ("Ge'ez", "gez"),
        ("Plattdeutsch", "nds"),
        ("Farsi", "fa"),
    ],
)
def test_a_language_is_found_by_the_name_that_catalogues_use(asked: str, code: str) -> None:
    assert search_languages(asked, 5)[0].code == code


def test_a_language_is_found_by_tag_code_catalogue_code_and_by_its_names(client: Any) -> None:
    def first(q: str) -> dict[str, Any]:
        return client.get("/api/recipes/languages", params={"q": q, "limit": 5}).json()["items"][0]

    german = {"code": "de", "name": "German", "glottocode": "stan1295", "level": "language"}
    for q in ("de", "deu", "German", "GERMAN", "Deutsch", "allemand", "stan1295", "немецкий"):
        assert {key: first(q)[key] for key in german} == german, q
    assert first("Castilian")["code"] == "es"
    assert first("turkce")["code"] == "tr", "marks on letters do not matter"
    assert first("bavarian")["code"] == "bar"


def test_a_dialect_carries_its_language_s_tag() -> None:
    language = next(
        search_language
        for search_language in search_languages("Berlin German", 5)
        if search_language.level == "dialect"
    )
    assert (language.code, language.language, language.language_name) == ("de", "de", "German")
    assert language.glottocode == "berl1235"


def test_search_has_limits(client: Any) -> None:
    assert client.get("/api/recipes/languages", params={"q": "a"}).json()["count"] == 20
    assert client.get("/api/recipes/languages", params={"q": "a", "limit": 100}).json()["count"] == 100
    assert client.get("/api/recipes/languages", params={"limit": 101}).status_code == 422
    assert client.get("/api/recipes/languages", params={"q": "x" * 201}).status_code == 422
    for nothing in ("qqqqqq", "\x01", "%", "level\tdialect"):
        assert client.get("/api/recipes/languages", params={"q": nothing}).status_code == 200
    assert search_languages("qqqqqq", 20) == []
    assert search_languages("|", 3) == search_languages("", 3)


@pytest.mark.parametrize(
    ("code", "number", "direction", "vertical", "font"),
    [
        ("Latn", "215", "ltr", False, "Cardo"),
        ("Arab", "160", "rtl", False, "Amiri"),
        ("Hebr", "125", "rtl", False, "Cardo"),
        ("Syrc", "135", "rtl", False, None),
        ("Mong", "145", "ttb-lr", True, None),
        ("Hani", "500", "ltr", True, "Noto Sans CJK JP"),
        ("Latf", "217", "ltr", False, "Cardo"),
        ("Taml", "346", "ltr", False, "Noto Sans Tamil"),
        ("Thai", "352", "ltr", False, "Noto Sans Thai"),
        ("Cyrl", "220", "ltr", False, "Noto Serif"),
        ("Inds", "610", None, False, None),
        ("Zzzz", "999", None, False, None),
    ],
)
def test_a_script_states_its_direction_columns_and_font(
    code: str, number: str, direction: str | None, vertical: bool, font: str | None
) -> None:
    script = find_script(code.lower())
    assert script is not None
    assert (script.number, script.direction, script.may_be_vertical, script.font) == (
        number,
        direction,
        vertical,
        font,
    )


def test_scripts_are_searched_by_code_number_and_name(client: Any) -> None:
    for q, code in (
        ("latn", "Latn"),
        ("215", "Latn"),
        ("hebrew", "Hebr"),
        ("nastaliq", "Aran"),
        ("fraktur", "Latf"),
    ):
        items = client.get("/api/recipes/scripts", params={"q": q}).json()["items"]
        assert items[0]["code"] == code
        assert set(items[0]) == {"code", "name", "number", "direction", "may_be_vertical"}
    assert search_scripts("quenya", 20) == []
    assert client.get("/api/recipes/scripts", params={"limit": 3}).json()["count"] == 3


def test_facts_are_derived_and_say_where_they_are_from(client: Any) -> None:
    answer = client.get("/api/recipes/derived", params={"scripts": ["Arab,Mong", "Latn", "Arab"]}).json()
    assert [script["script"] for script in answer["scripts"]] == ["Arab", "Mong", "Latn"]
    assert [script["direction"] for script in answer["scripts"]] == ["rtl", "ttb-lr", "ltr"]
    assert all(script["direction_from"] and script["font_from"] for script in answer["scripts"])
    assert answer["machine"]["chip"]
    with open("/proc/meminfo", encoding="ascii") as file:
        total = int(re.search(r"MemTotal:\s+(\d+) kB", file.read()).group(1)) * 1024 / 1e9
    assert 0 < answer["machine"]["memory_gb"] <= total + 0.1
    assert answer["targets"][0]["id"] == "this-machine"
    assert answer["keys"] == []


def test_a_place_of_compute_is_named_only_where_all_it_needs_is_installed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither dask without its package, nor a hub's machines, which are those of a provider with a key."""
    import importlib.util

    original_find_spec = importlib.util.find_spec
    for there in (False, True):
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, *more, there=there: (
                there or None if name == "distributed" else original_find_spec(name, *more)
            ),
        )
        sources = [target.source for target in targets(engine) if target.id == "cluster"]
        assert sources == (["the installed driver dask"] if there else [])


def test_an_unknown_script_is_refused(client: Any) -> None:
    answer = client.get("/api/recipes/derived", params={"scripts": "Latn,Quny"})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_script")
    assert "Quny" in answer.json()["detail"]


def test_a_provider_with_a_key_is_named_and_is_a_place_to_run(client: Any) -> None:
    new_answer = client.post("/api/providers", json={"name": "Far", "provider_type": "mistral"}).json()
    assert client.get("/api/recipes/derived").json()["keys"] == []
    client.put(f"/api/providers/{new_answer['id']}/key", json={"key": "secret-of-mine"})
    answer = client.get("/api/recipes/derived")
    assert answer.json()["keys"] == ["Far"]
    assert "cloud:Far" in [target["id"] for target in answer.json()["targets"]]
    assert "secret-of-mine" not in answer.text
    client.patch(f"/api/providers/{new_answer['id']}", json={"enabled": False})
    assert client.get("/api/recipes/derived").json()["keys"] == []


def test_searches_answer_at_once() -> None:
    search_languages("a", 20)
    search_scripts("a", 20)
    worst = 0.0
    for q in ("a", "e", "ger", "language", "latin", "x", "日本", "-", "vien", "stan1295", "of the"):
        began = time.perf_counter()
        search_languages(q, 100)
        search_scripts(q, 100)
        worst = max(worst, time.perf_counter() - began)
    # a busy machine may take ten times the 30 ms of a quiet one
    assert worst < 0.3
