"""What the command line shows of work that goes on: pages, the part of the page in hand, the time left."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from armarium_cli.output import Pace, progress, wants_json
from armarium_cli.program import build


def node(done: int, total: int = 5, **more: Any) -> dict[str, Any]:
    return {"state": "running", "done": done, "total": total, **more}


def test_lines_of_the_page_in_hand_are_counted_also_those_of_a_job_beneath(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SETTLED", "SAY_EVERY"):
        monkeypatch.setattr(f"armarium_cli.output.{name}", 0.0)
    lines = {"done": 12, "total": 40, "unit": "lines"}
    with progress("Read") as show:
        show(node(0, item=lines))
        show(node(1, children=[node(1, item=None), node(0, item={**lines, "total": None})], reason="x"))
        show({**node(5), "state": "done"})
    shown_lines = capsys.readouterr().err.splitlines()
    assert shown_lines[0].startswith("Read: 0/5, 12 of 40 lines")
    assert shown_lines[-2].startswith("Read: 1/5, 12 lines")
    assert shown_lines[-1].startswith("Read: 5/5, ")


def test_the_options_of_a_command_end_with_it() -> None:
    assert CliRunner().invoke(build(), ["--json", "version"]).output.startswith("{")
    assert not wants_json()


def test_the_time_left_follows_from_the_pace_so_far_with_the_part_of_a_page() -> None:
    pace = Pace()
    assert pace.time_left(node(0), at=0.0) is None
    # A quarter of the first of five pages in 10 seconds: 190 more.
    quarter = {"done": 10, "total": 40, "unit": "lines"}
    assert pace.time_left(node(0, item=quarter), at=10.0) == "about 3 min left"
    assert pace.time_left(node(4), at=40.0) == "about 10 s left"
    # Of a run of a recipe not all parts are known yet; its own estimate is shown by `armarium runs`.
    assert pace.time_left(node(4, stages=[{}]), at=40.0) is None
    assert pace.time_left({**node(4), "state": "waiting"}, at=40.0) is None
