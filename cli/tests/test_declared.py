"""Commands that are declared: what they send, what they print, and how their parameters are typed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import pytest

from armarium.plugins.offers import commands_of
from armarium_cli.declared import BY_ID, SESSIONS, Commands, in_words
from armarium_cli.options import Finder, reset_options
from armarium_cli.refusals import Refused
from armarium_cli.tree import group_of

UPPER = Finder(lambda session, text: text.upper(), lambda context, text: ["a", "b"])
ALL = Finder(lambda session, texts: texts or ["everything"], whole=True)


class Engine:
    """Answers as an engine would, and notes what it was asked."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer, self.asked = answer, list[tuple[str, str, Any]]()

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", path, body=query)

    def ask(self, verb: str, path: str, body: Any = None) -> Any:
        self.asked.append((verb, path, body))
        return self.answer

    def act(self, name: str, params: dict[str, Any]) -> Any:
        self.asked.append(("act", name, params))
        return {"result": self.answer, "audit_id": "7"}


shelf = Commands("Pages")
words = shelf.group("words", "About words.")


@shelf.asks(
    "books a -n 2",
    "GET /api/shelves/{shelf}/books",
    columns=("id", "title=name", "by={first} {last}", ("old", lambda one: one["year"] < 1500)),
    says="{count:book}.",
    nothing="The shelf is empty.",
)
def books(
    shelf: Annotated[str, "The shelf.", UPPER],
    number: Annotated[int, "--number, -n COUNT: How many."] = 10,
    of_pass: Annotated[str | None, "--pass ID: Only of this pass."] = None,
    hidden: Annotated[bool, "Include hidden ones."] = False,
) -> None:
    """List the books."""


@words.asks("count a", "act words.count", fixed={"kind": "all"}, says="{n:word} in {place}. {undo}")
def count(
    place: Annotated[str, "Where.", BY_ID], ids: Annotated[list[str] | None, "IDS: Pages.", ALL] = None
) -> None:
    """Count words."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(answer: dict[str, Any], *typed: str) -> tuple[str, Engine]:
        engine = Engine(answer)

        @contextmanager
        def session() -> Iterator[Engine]:
            yield engine

        monkeypatch.setitem(SESSIONS, "project", session)
        reset_options()
        group_of("shelf", shelf).main(list(typed), prog_name="armarium", standalone_mode=False)
        return capsys.readouterr().out, engine

    return call


BOOKS = {
    "items": [{"id": "1", "name": "Alma", "first": "Ana", "last": "Ruiz", "year": 1499}],
    "count": 1,
}


def test_parameters_fill_the_route_and_the_query_and_absent_ones_are_left_out(run: Any) -> None:
    _, engine = run(BOOKS, "books", "a", "-n", "2")
    assert engine.asked == [("GET", "/api/shelves/A/books", {"number": 2, "hidden": False})]
    assert run(BOOKS, "books", "a", "--pass", "p", "--hidden")[1].asked[0][2] == {
        "number": 10, "of_pass": "p", "hidden": True,
    }  # fmt: skip


def test_rows_are_printed_as_a_table_with_a_sentence_below(run: Any) -> None:
    result = run(BOOKS, "books", "a")[0]
    assert "title" in result
    assert "│ 1  │ Alma  │ Ana Ruiz │ True │" in result
    assert result.endswith("1 book.\n")
    assert run({"items": [], "count": 0}, "books", "a")[0] == "The shelf is empty.\n"


def test_a_program_gets_the_whole_answer(run: Any) -> None:
    assert json.loads(run(BOOKS, "books", "a", "--json")[0]) == BOOKS


def test_an_action_is_asked_by_its_name_and_how_to_take_it_back_is_said(run: Any) -> None:
    said, engine = run({"n": 3}, "words", "count", "b1")
    assert engine.asked == [("act", "words.count", {"place": "b1", "ids": ["everything"], "kind": "all"})]
    assert said == "3 words in b1. Take it back with: armarium undo 7\n"
    assert run({"n": 3}, "words", "count", "b1", "x", "y")[1].asked[0][2]["ids"] == ["x", "y"]
    with pytest.raises(Refused, match="is not an id"):
        run({"n": 3}, "words", "count", "no id!")


def test_the_help_shows_how_each_parameter_is_typed_and_an_example(run: Any) -> None:
    said = " ".join(run(BOOKS, "books", "--help")[0].split())
    for part in ("--number -n COUNT", "--pass ID", "--hidden", "{shelf}", "Example: armarium books a -n 2"):
        assert part in said.replace(",", " ").replace("  ", " "), part
    assert "--no-hidden" not in said


def test_a_plugin_names_its_commands_or_a_function_that_builds_them() -> None:
    assert commands_of(shelf) is shelf
    assert commands_of(lambda: shelf) is shelf


@pytest.mark.parametrize(
    ("sentence", "said"),
    [("{n:page}", "1 page"), ("{many:entry|entries}", "3 entries"), ("{share:.1%} of {many}", "12.5% of 3"),
     ("{pages:page}", "2 pages"), ("{name!r}", "'a'")],
)  # fmt: skip
def test_a_sentence_says_its_fields(sentence: str, said: str) -> None:
    assert in_words(sentence, {"n": 1, "many": 3, "share": 0.125, "pages": [1, 2], "name": "a"}) == said


def test_plugins_written_for_the_former_place_of_these_names_still_load() -> None:
    with pytest.warns(DeprecationWarning, match=r"import Commands from there"):
        from armarium.commandline import Commands as FormerCommands
    assert FormerCommands is Commands
    with pytest.raises(ImportError, match="no_such_name"):
        from armarium.commandline import no_such_name  # noqa: F401
