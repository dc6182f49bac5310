"""A project is set up, looked at, started and followed at the command line."""

from __future__ import annotations

import pytest

from armarium_recipes.cli import questions
from armarium_testing.command_line import Machine, Pictures


@pytest.fixture
def letters(desk: Machine, pictures: Pictures) -> Machine:
    """A project of two pages of typed letters."""
    pictures(["1.png", "2.png"])
    desk.done("create", "Letters")
    desk.done("import", "pages")
    return desk


def test_options_answer_every_question_of_setup(letters: Machine) -> None:
    done = letters.done(
        *(
            "setup",
            "--purpose",
            "search",
            "--purpose",
            "entities",
            "--material",
            "typescript",
            "--language",
            "Latin",
        ),
        *(
            "--language",
            "de-AT",
            "--script",
            "fraktur",
            "--script",
            "Latn",
            "--direction",
            "latn=rtl",
            "--no-cloud",
        ),
        *("--pages", "900", "--memory", "8", "--layer", "places", "--json"),
    ).json
    assert done["answers"] == {
        "purposes": ["search", "entities"],
        "materials": ["typescript"],
        "languages": ["la", "de-AT"],
        "scripts": ["Latf", "Latn"],
        "cloud_allowed": False,
        "directions": {"Latn": "rtl"},
        "layers": ["places"],
        "jobs": [],
        "pages": 900,
        "memory_gb": 8.0,
    }
    assert done["audit_id"]
    jobs = [step["job"] for step in done["recipe"]["steps"]]
    assert jobs.index("find-lines") < jobs.index("read-a-line") < jobs.index("find-names-tag-words")


def test_what_is_left_out_takes_what_was_said_before_or_the_default(letters: Machine) -> None:
    first = letters.done("setup", "--language", "he", "--json").json["answers"]
    assert (first["purposes"], first["materials"], first["scripts"]) == (
        ["transcribe"],
        ["handwriting"],
        ["Hebr"],
    )
    assert first["pages"] == 2
    second = letters.done("setup", "--purpose", "tables", "--json").json["answers"]
    assert (second["purposes"], second["languages"], second["scripts"]) == (["tables"], ["he"], ["Hebr"])
    third = letters.done("setup", "--language", "sr-Latn", "--dry-run", "--json").json
    assert third["answers"]["scripts"] == ["Latn"]
    assert third["audit_id"] is None


def test_setup_says_the_steps_with_their_reasons(letters: Machine) -> None:
    said = letters.done("setup", "--language", "es", "--material", "print").out
    assert ". find-lines" in said
    assert "read-a-line with " in said
    assert said.strip().endswith("armarium plan")


def test_setup_says_what_it_does_not_understand(letters: Machine) -> None:
    for words, sentence in (
        (("--purpose", "fame", "--language", "la"), "'fame' is no purpose; there are: transcribe"),
        (("--material", "stone", "--language", "la"), "'stone' is no material; there are: handwriting"),
        (("--language", "Quenyarin"), "No language is called 'Quenyarin'"),
        (("--language", "la", "--script", "Tengwarin"), "No script is called 'Tengwarin'"),
        (("--language", "la", "--script", "han"), "Several scripts fit 'han'"),
        (("--language", "la", "--direction", "Latn"), "'Latn' is no direction"),
        (("--language", "la", "--direction", "Latn=up"), "'Latn=up' is no direction"),
        (("--language", "Mayan"), "Several languages fit 'Mayan'"),
        ((), "Which language?"),
    ):
        assert sentence in letters.refused("setup", *words)


def test_at_a_terminal_it_asks_five_questions_until_it_understands(
    letters: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "at_a_terminal", lambda: True)
    typed = iter(["fame", "3, entities", "", "", "Elvish?", "Ladino, lad", "", "n"])
    monkeypatch.setattr(questions.typer, "prompt", lambda *_, **__: next(typed))
    monkeypatch.setattr(questions.typer, "confirm", lambda *_, **__: next(typed) == "y")
    said = letters.done("setup").out
    assert "'fame' is no purpose" in said
    assert "No language is called 'Elvish?'" in said
    assert list(typed) == []
    answers = letters.done("setup", "--yes", "--dry-run", "--json").json["answers"]
    assert answers["purposes"] == ["search", "entities"]
    assert (answers["languages"], answers["scripts"]) == (["lad"], ["Hebr"])
