"""Language, script, direction and encoding: four rungs, what is derived, and each refusal."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON

from armarium.api import Invalid, NotFound, ServiceError
from armarium_source_model.queries.settings import resolve_settings
from armarium_source_model.scripts import ISO_15924, direction_of_script, is_language, is_script, script_of


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    return caught.value


def facts(desk: Any, **selection: str) -> dict[str, dict[str, Any]]:
    with desk.library.db.read() as conn:
        settings = resolve_settings(desk.library, conn, **selection)
    return {setting["key"]: setting for setting in settings["settings"]}


def state(desk: Any, key: str, value: str, target: str | None = None) -> None:
    desk.run(
        "source_setting.set", level="node" if target else "project", key=key, value=value, target_id=target
    )


def test_the_nearest_rung_answers(desk: Any) -> None:
    folder = desk.run("document.create", name="Letters")["id"]
    page = desk.run("document.create", name="p", doc_type="page", parent_id=folder)["id"]
    segment_id = desk.lines(page, desk.new_pass(page), 1)[0]

    def language() -> tuple[Any, ...]:
        found_language = facts(desk, segment_id=segment_id)["language"]
        return (
            found_language["value"],
            found_language["status"],
            found_language["rung"],
            found_language["source"],
        )

    assert language() == (None, "never-determined", "default", "derived")
    state(desk.as_(AGENT), "language", "la")
    assert language() == ("la", "known", "project", "run")
    state(desk, "language", "fr")
    assert language() == ("fr", "known", "project", "person")
    state(desk, "language", "it", folder)
    assert language() == ("it", "known", "document", "person")
    assert "Letters" in facts(desk, document_id=page)["language"]["basis"]
    state(desk.as_(AGENT), "language", "es", page)
    assert language() == ("es", "known", "document", "run")
    desk.run("segment.update", segment_id=segment_id, expected_version=1, language="de")
    assert language() == ("de", "known", "segment", "person")
    desk.run("segment.update", segment_id=segment_id, expected_version=2, language=None)
    desk.run("source_setting.clear", level="node", key="language", target_id=page)
    assert language() == ("it", "known", "document", "person")
    desk.run("source_setting.clear", level="node", key="language", target_id=folder)
    desk.run("source_setting.clear", level="project", key="language")
    desk.run("source_setting.clear", level="project", key="language")
    assert language() == (None, "never-determined", "default", "derived")


def test_unknown_is_a_finding_and_ends_the_walk(desk: Any) -> None:
    page = desk.page()
    state(desk, "language", "fr")
    state(desk, "language", "und", page)
    state(desk, "script", "Zzzz", page)
    found_facts = facts(desk, document_id=page)
    assert [
        (found_facts[key]["value"], found_facts[key]["status"], found_facts[key]["rung"])
        for key in ("language", "script")
    ] == [
        (None, "unknown", "document"),
        (None, "unknown", "document"),
    ]


def test_facts_from_a_machine_have_the_source_run(desk: Any) -> None:
    page = desk.page()
    outcome = desk.as_(AGENT).run(
        "segment.take_lines",
        document_id=page,
        name="x",
        provider="reader",
        lines=[{"key": "1", "rect": [0.1, 0.1, 0.5, 0.1], "direction": "rtl"}],
    )
    assert facts(desk, segment_id=outcome["segment_ids"][0])["direction"]["source"] == "run"


def test_directions_and_scripts_are_read_off_shapes_and_letters(desk: Any) -> None:
    page = desk.page()
    assert facts(desk, document_id=page)["direction"] == {
        "key": "direction",
        "value": "ltr",
        "status": "known",
        "rung": "default",
        "basis": "the default",
        "source": "derived",
    }
    reading = desk.machine_lines(page, ["שלום", "pax"])
    found_facts = facts(desk, document_id=page)
    assert (found_facts["script"]["value"], found_facts["direction"]["value"]) == ("Hebr", "rtl")
    second = facts(desk, segment_id=reading["segment_ids"][1])
    assert (second["script"]["value"], second["direction"]["value"]) == ("Latn", "ltr")
    vertical = desk.page()
    tall = [{"key": str(n), "rect": [0.1 * n, 0.1, 0.05, 0.8], "text": "漢字"} for n in range(3)]
    desk.run("segment.take_lines", document_id=vertical, name="x", provider="reader", lines=tall)
    found_facts = facts(desk, document_id=vertical)
    assert (found_facts["script"]["value"], found_facts["direction"]["value"]) == ("Hani", "ttb")
    numbers = desk.page()
    desk.machine_lines(numbers, ["123"])
    state(desk, "script", "Arab", numbers)
    assert facts(desk, document_id=numbers)["direction"]["basis"] == "the script Arab"


def test_the_encoding_is_stored_in_the_projects_row_of_the_script(desk: Any) -> None:
    page = desk.page()
    state(desk, "script", "Latn", page)
    assert facts(desk, document_id=page)["encoding"]["status"] == "never-determined"
    rows = [
        {"code": "Latn", "name": "Latin", "encoding": "full"},
        {"code": "Qaaa", "name": "Signs", "declared": True},
    ]
    desk.run("library.set", scripts=rows)
    assert facts(desk, document_id=page)["encoding"]["value"] == "full"
    state(desk, "script", "Qaaa", page)
    refusal = expect_refusal(
        Invalid, desk, "source_setting.set", level="node", target_id=page, key="script", value="Qaab"
    )
    assert "declared" in refusal.detail


def test_a_fact_that_cannot_be_stated_is_refused_and_the_sentence_names_why(desk: Any) -> None:
    page = desk.page()
    put = "source_setting.set"
    base = {"level": "node", "key": "script", "value": "Latn", "target_id": page}
    for change, code in (
        ({"level": "segment"}, "level_of_other_route"),
        ({"level": "galaxy"}, "unknown_level"),
        ({"key": "colour"}, "unknown_key"),
        ({"key": "encoding"}, "unknown_key"),
        ({"value": "Latin"}, "bad_script"),
        ({"value": "Xxxx"}, "bad_script"),
        ({"key": "direction", "value": "sideways"}, "bad_direction"),
        ({"key": "language", "value": "french!"}, "bad_language"),
        ({"key": "language", "value": "fr-Xxxx"}, "bad_language"),
        ({"target_id": None}, "target_required"),
        ({"level": "project"}, "target_refused"),
        ({"value": ""}, "empty_value"),
        ({"target_id": "legacy:a"}, "provisional_id"),
    ):
        assert expect_refusal(Invalid, desk, put, **{**base, **change}).code == code
    expect_refusal(NotFound, desk, put, **{**base, "target_id": "nowhere"})
    clear = {"level": "node", "key": "script"}
    assert expect_refusal(Invalid, desk, "source_setting.clear", **clear).code == "target_required"
    expect_refusal(NotFound, desk, "source_setting.clear", **clear, target_id="nowhere")


def test_settings_over_http(client: Any, desk: Any) -> None:
    page = desk.page()
    answer = client.put(
        "/api/source-settings", json={"level": "node", "key": "language", "value": "fr", "target_id": page}
    )
    assert answer.status_code == 200
    assert answer.json()["settings"][0]["value"] == "fr"
    read = client.get("/api/source-settings/resolve", params={"document_id": page})
    assert read.json()["settings"][0]["rung"] == "document"
    cleared = client.put(
        "/api/source-settings", json={"level": "node", "key": "language", "value": "", "target_id": page}
    )
    assert cleared.json()["settings"][0]["status"] == "never-determined"
    resolve = "/api/source-settings/resolve"
    assert client.get(resolve).status_code == 422
    assert client.get(resolve, params={"document_id": page, "segment_id": "x"}).status_code == 422
    assert client.get(resolve, params={"document_id": "nowhere"}).status_code == 404
    assert client.get(resolve, params={"segment_id": "nowhere"}).status_code == 404
    assert client.get(resolve, params={"segment_id": "legacy:a:0"}).status_code == 422


@pytest.mark.parametrize(
    "tag", ["fr", "la-Latn", "zh-Hant-TW", "de-1996", "qaa", "qtz", "x-lingua", "en-x-old", "und"]
)
def test_well_formed_languages(tag: str) -> None:
    assert is_language(tag)


@pytest.mark.parametrize(
    "tag", ["", "f", "french!", "fr_FR", "fr-", "fr-Xxxx", "x", "123", "french", "latin", "root"]
)
def test_ill_formed_languages(tag: str) -> None:
    assert not is_language(tag)


def test_a_language_name_instead_of_a_tag_is_refused_with_an_explanation(client: Any, desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    new = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": {"rect": [0.1, 0.1, 0.5, 0.1]}}
    for tag in ("french", ""):
        answer = client.post("/api/segments", json={**new, "language": tag})
        assert (answer.status_code, answer.json()["code"]) == (422, "bad_language")
        assert "write one such as fr" in answer.json()["detail"]
    assert client.post("/api/segments", json={**new, "language": "fr"}).status_code == 200


def test_scripts() -> None:
    assert {"Latn", "Arab", "Hani", "Zyyy"} <= ISO_15924
    assert is_script("Qaaa", {"Qaaa"})
    assert not is_script("Qaaa")
    assert not is_script("Qacz", {"Qacz"})
    assert [script_of(text) for text in ("Dear Sir", "Ἀχιλλεύς", "日本の本", "漢字", "12")] == [
        "Latn",
        "Grek",
        "Jpan",
        "Hani",
        None,
    ]
    assert [direction_of_script(code) for code in ("Latn", "Hebr", "Mong")] == ["ltr", "rtl", "ttb"]
    assert PERSON.kind == "person"


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ({"script": "Xxxx"}, "bad_script"),
        ({"script": "Qaaa"}, "bad_script"),
        ({"language": "fr-fr-fr-fr"}, "bad_language"),
    ],
)
def test_what_a_segment_or_a_reading_states_is_checked_as_a_setting_is(
    client: Any, desk: Any, stated: dict[str, str], code: str
) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    (line,) = desk.lines(page, pass_id, 1)
    new = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": {"rect": [0.1, 0.1, 0.1, 0.1]}}
    answers = [
        client.post("/api/segments", json={**new, **stated}),
        client.post("/api/segments/bulk", json={"segments": [new, {**new, **stated}]}),
        client.put(f"/api/segments/{line}", json={"segment_id": line, "expected_version": 1, **stated}),
        client.post(f"/api/segments/{line}/correct", json={"text": "x", **stated}),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(422, code)] * 4
    assert answers[1].json()["index"] == 1
