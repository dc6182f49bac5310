"""Commands of recipes: set up a project, show its recipe, start it and follow the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from armarium_cli.api import Refused
from armarium_recipes.cli import questions, starting
from armarium_recipes.cli.bakeoffs import show_table
from armarium_testing.command_line import Machine, Pictures


@pytest.fixture
def letters(desk: Machine, pictures: Pictures) -> Machine:
    """A project of two pages of typed letters."""
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    return desk


def test_options_answer_every_question_of_setup(letters: Machine) -> None:
    answer = letters.succeed(
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
    assert answer["answers"] == {
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
    assert answer["audit_id"]
    jobs = [step["job"] for step in answer["recipe"]["steps"]]
    assert jobs.index("find-lines") < jobs.index("read-a-line") < jobs.index("find-names-tag-words")


def test_options_left_out_keep_earlier_answers_or_the_default(letters: Machine) -> None:
    first = letters.succeed("setup", "--language", "he", "--json").json["answers"]
    assert (first["purposes"], first["materials"], first["scripts"]) == (
        ["transcribe"],
        ["handwriting"],
        ["Hebr"],
    )
    assert first["pages"] == 2
    second = letters.succeed("setup", "--purpose", "tables", "--json").json["answers"]
    assert (second["purposes"], second["languages"], second["scripts"]) == (["tables"], ["he"], ["Hebr"])
    third = letters.succeed("setup", "--language", "sr-Latn", "--dry-run", "--json").json
    assert third["answers"]["scripts"] == ["Latn"]
    assert third["audit_id"] is None


def test_setup_shows_the_steps_with_their_reasons(letters: Machine) -> None:
    answer = letters.succeed("setup", "--language", "es", "--material", "print").out
    assert ". find-lines" in answer
    assert "read-a-line with " in answer
    assert answer.strip().endswith("armarium plan")


def test_setup_names_what_it_does_not_understand(letters: Machine) -> None:
    for words, sentence in (
        (("--purpose", "fame", "--language", "la"), "'fame' is not a purpose; there are: transcribe"),
        (("--material", "stone", "--language", "la"), "'stone' is not a material; there are: handwriting"),
        (("--language", "Quenyarin"), "No language is called 'Quenyarin'"),
        (("--language", "la", "--script", "Tengwarin"), "No script is called 'Tengwarin'"),
        (("--language", "la", "--script", "han"), "Several scripts fit 'han'"),
        (("--language", "la", "--direction", "Latn"), "'Latn' is not a direction"),
        (("--language", "la", "--direction", "Latn=up"), "'Latn=up' is not a direction"),
        (("--language", "Mayan"), "Several languages fit 'Mayan'"),
        ((), "Which language?"),
    ):
        assert sentence in letters.expect_refusal("setup", *words)


def test_at_a_terminal_it_asks_five_questions_until_it_understands(
    letters: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "at_a_terminal", lambda: True)
    typed = iter(["fame", "3, entities", "", "", "Elvish?", "Ladino, lad", "", "n"])
    monkeypatch.setattr(questions.typer, "prompt", lambda *_, **__: next(typed))
    monkeypatch.setattr(questions.typer, "confirm", lambda *_, **__: next(typed) == "y")
    answer = letters.succeed("setup").out
    assert "'fame' is not a purpose" in answer
    assert "No language is called 'Elvish?'" in answer
    assert list(typed) == []
    answers = letters.succeed("setup", "--yes", "--dry-run", "--json").json["answers"]
    assert answers["purposes"] == ["search", "entities"]
    assert (answers["languages"], answers["scripts"]) == (["lad"], ["Hebr"])


def test_a_plan_is_looked_at_started_and_followed(letters: Machine) -> None:
    assert "armarium start" in letters.succeed("runs").out
    assert "has not run yet" in letters.expect_refusal("runs", "last")
    assert letters.expect_refusal("start")
    assert "Start is refused" in letters.succeed("plan").out
    recipe = letters.succeed("setup", "--language", "es", "--json").json["recipe"]
    recipe["steps"] = [step for step in recipe["steps"] if step["job"] in ("split-pages", "correct")]
    letters.succeed("action", "run", "project.save_setup", "-p", json.dumps({"recipe": recipe}))
    plan = letters.succeed("plan").out
    assert "2 of 2" in plan
    assert "Left out: correct" in plan
    started = letters.succeed("start")
    assert "left out: correct" in started.out
    assert "Recipe: " in started.err
    listed = letters.succeed("runs", "--json").json["items"]
    assert [(item["state"], len(item["page_ids"])) for item in listed] == [("done", 2)]
    run_id = listed[0]["job_id"]
    assert run_id in letters.succeed("runs").out
    answer = letters.succeed("runs", run_id[:20]).out
    assert answer.startswith(f"{run_id} is done, over 2 pages.")
    assert "done     Split pages" in answer
    assert letters.succeed("runs", "last", "--watch", "--json").json["summary"]["finished"]
    assert "No run begins with 'feed'" in letters.expect_refusal("runs", "feed")
    second_answer = letters.succeed(
        "start", "--redo", next(step["id"] for step in recipe["steps"]), "--no-wait", "--json"
    ).json
    assert second_answer["pages"] == 2
    letters.succeed("runs", "--watch")


def test_a_bake_off_needs_corrected_lines(letters: Machine) -> None:
    assert "no bake-off yet" in letters.succeed("bakeoff", "--list").out
    assert "no bake-off yet" in letters.expect_refusal("bakeoff", "--use", "1")
    letters.succeed("setup", "--language", "es", "--yes")
    assert "100" in letters.expect_refusal("bakeoff")
    assert "100" in letters.expect_refusal("bakeoff", "1.png", "--lines")


def test_a_chart_is_refused_before_anything_is_measured(letters: Machine, tmp_path: Path) -> None:
    there = tmp_path / "there.png"
    there.write_bytes(b"mine")
    assert ".png or .html" in letters.expect_refusal("bakeoff", "--chart", str(tmp_path / "chart.pdf"))
    assert "--overwrite" in letters.expect_refusal("bakeoff", "--chart", str(there))
    assert "--show last" in letters.expect_refusal("bakeoff", "--list", "--chart", str(tmp_path / "all.png"))
    assert there.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.glob("*.p*")] == ["there.png"]


def test_the_table_of_a_bake_off_is_drawn_into_a_file(letters: Machine, tmp_path: Path) -> None:
    """A bake-off of line finders, measured on two pages with fifty checked lines each."""
    letters.succeed("setup", "--language", "es", "--material", "print", "--yes")
    for name in ("1.png", "2.png"):
        page_id = next(
            item["id"] for item in letters.succeed("ls", "--json").json["items"] if item["name"] == name
        )
        places = [(0.05, (number + 0.2) / 51) for number in range(50)]
        lines = [
            {"key": f"{number}", "rect": [x, y, 0.9, 0.012], "text": f"line {number}"}
            for number, (x, y) in enumerate(places)
        ]
        taken = {
            "document_id": page_id,
            "name": "Checked",
            "provider": "sample",
            "model": "sample",
            "lines": lines,
        }
        ran = letters.succeed("action", "run", "segment.take_lines", "-p", json.dumps(taken), "--json").json
        pass_id = ran.get("result", ran)["pass_id"]
        checked = {"pass_id": pass_id, "ground_truth": True}
        letters.succeed("action", "run", "segment.pass_ground_truth", "-p", json.dumps(checked))
    page, picture = tmp_path / "table.html", tmp_path / "table.PNG"
    answer = letters.succeed("bakeoff", "--lines", "--chart", str(page))
    assert f"Drew it into {page}." in answer.out
    assert "Line finders on 100 corrected lines of 2 pages" in page.read_text()
    second_answer = letters.succeed("bakeoff", "--show", "last", "--chart", str(picture), "--json").json
    assert second_answer["chart"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


CLOUD_PLAN: dict[str, Any] = {
    "runs": [{"runs_on": "this-machine"}, {"runs_on": "cloud:Far"}],
    "first_yes": None,
}


def test_pages_leave_only_when_somebody_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match="sent to Far"):
        starting.agree(CLOUD_PLAN, yes=False)
    starting.agree(CLOUD_PLAN, yes=True)
    starting.agree({**CLOUD_PLAN, "first_yes": {"at": "now"}}, yes=False)
    starting.agree({**CLOUD_PLAN, "runs": CLOUD_PLAN["runs"][:1]}, yes=False)
    monkeypatch.setattr(starting, "wants_json", lambda: False)
    monkeypatch.setattr(starting, "at_a_terminal", lambda: True)
    monkeypatch.setattr(starting.typer, "confirm", lambda *_, **__: False)
    with pytest.raises(Refused, match="Nothing was started"):
        starting.agree(CLOUD_PLAN, yes=False)
    monkeypatch.setattr(starting.typer, "confirm", lambda *_, **__: True)
    starting.agree(CLOUD_PLAN, yes=False)


def _row(name: str, cer: float | None, **more: Any) -> dict[str, Any]:
    return {
        "card": f"reader:{name}@1",
        "name": name,
        "cer": cer and {"diplomatic": cer},
        "wer": cer,
        "pages_per_hour": 120.0,
        "cost_usd": {"value": 0.0},
        "tied": False,
        "not_scored": None,
        "lines_found": None,
        "lines_checked": None,
        "extra_lines": None,
        **more,
    }


def test_a_table_names_the_best_the_tied_and_those_that_were_not_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = {
        "id": "b",
        "state": "done",
        "reason": None,
        "step": "read-a-line",
        "lines": 120,
        "pages": [1, 2],
        "candidates": [
            _row("Hand", 0.051, tied=True),
            _row("Print", 0.058, tied=True, cost_usd={"value": None}),
            _row("Far", None, not_scored="Pages may not leave this machine."),
        ],
        "comparison": {
            "better": "reader:Hand@1",
            "worse": "reader:Print@1",
            "difference": 0.007,
            "interval": [-0.001, 0.016],
            "p": 0.08,
        },
        "hands": [{"label": "Scribe A", "hand_id": "h", "better": "reader:Print@1", "promoted": False}],
    }
    show_table(one)
    output = capsys.readouterr().out
    assert "Measured on 120 lines of 2 pages" in output
    assert "5.1%" in output
    assert output.count("tied with the best") == 1
    assert "not measured: Far: Pages may not leave this machine." in output
    told = "Of 100 characters Hand gets 0.7 fewer wrong than Print (between -0.1 and 1.6; by chance alone: p = 0.080)."
    assert told in output
    assert "Use one: armarium bakeoff --use 1" in output
    assert "hand Scribe A: reader:Print@1 would read it significantly better." in output
    show_table({**one, "step": "find-lines", "hands": [], "comparison": None,
                "candidates": [_row("Finder", None, lines_found=90, lines_checked=100, extra_lines=7)]})  # fmt: skip
    output = capsys.readouterr().out
    assert "90 of 100" in output
    # A line finder is put to use by another command.
    assert "bakeoff --use" not in output
    assert "armarium candidates find-lines --use 1" in output


def test_times_and_prices_are_shown_in_readable_units() -> None:
    assert [starting.duration(one) for one in (None, 5, 600, 36000)] == ["?", "5 s", "10 min", "10.0 h"]
    assert [starting.dollars(one) for one in (None, 0, 1.5)] == ["?", "nothing", "$1.50"]
