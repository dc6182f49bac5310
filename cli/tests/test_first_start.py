"""A start that takes long says so and is waited for; one that stands still is given up; a command of a refused plugin names
it.
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from armarium.plugins.verdicts import Trials
from armarium_cli import output, shared_engine
from armarium_cli.refusals import Refused
from armarium_cli.shared_engine import Place
from armarium_testing.command_line import Machine

WHY = "It ended the process when it was tried (SIGSEGV)."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_command_of_a_refused_family_names_it_and_the_reason(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.succeed("create", "Letters")
    monkeypatch.setattr(
        Trials,
        "find_failures",
        lambda self, offers: {("armarium-workflows", "armarium.plugins:workflows"): WHY},
    )
    assert machine.expect_refusal("plan") == (
        "The plugin recipes was refused: It depends on the plugin workflows, which was refused. See armarium plugins."
    )
    assert "Sources" in machine.succeed("ls").out
    refused = {entry["name"]: entry["why"] for entry in machine.succeed("plugins", "--json").json["refused"]}
    assert refused["workflows"] == WHY


def test_whatever_is_missing_of_a_refused_family_is_said_to_any_client(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_cli.program import engine_session

    monkeypatch.setattr(
        Trials,
        "find_failures",
        lambda self, offers: {("armarium-canvas", "armarium.plugins:canvas"): WHY},
    )
    with (
        engine_session() as session,
        pytest.raises(Refused, match=r"There is no such route.*missing \(canvas"),
    ):
        session.get("/api/canvas")


def test_a_wait_is_announced_on_the_terminal_only_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "wants_json", lambda: False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with output.tell_if_slow("Wait."):
        pass
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    monkeypatch.setattr(output, "SETTLED", 0.01)
    with output.tell_if_slow("Wait."):
        while not sys.stderr.getvalue():  # type: ignore[attr-defined]
            time.sleep(0.01)
    assert sys.stderr.getvalue() == "Wait.\n"  # type: ignore[attr-defined]


def test_an_engine_that_stands_still_while_it_starts_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import sys, time; print('waiting for the moon', file=sys.stderr, flush=True); time.sleep(3600)"
    monkeypatch.setattr(shared_engine, "START", [sys.executable, "-c", program])
    monkeypatch.setattr(shared_engine, "STALLED", 2.0)
    with pytest.raises(Refused, match=r"has done nothing\. Its last word: waiting for the moon"):
        shared_engine.start(Place(tmp_path, {}))


def test_an_engine_that_ends_while_it_starts_is_reported_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_engine, "START", [sys.executable, "-c", "raise OSError('the disk is full')"])
    with pytest.raises(Refused, match="The engine did not start: OSError: the disk is full"):
        shared_engine.start(Place(tmp_path, {}))
