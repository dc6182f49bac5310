"""The plugin of background work passes the conformance kit like any plugin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from chores import chores_plugin

from armarium.actions import ActionContext, Example, Params, action
from armarium.plugin import Plugin
from armarium_testing.conformance import exercise_plugin


def test_the_actions_on_background_work_conform(chores: Any, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    assert [str(fault) for fault in exercise_plugin(chores.engine, "jobs", folder)] == []


def test_work_that_an_example_started_is_stopped_while_the_kit_checks(
    make_engine: Callable[..., Any], tmp_path: Path
) -> None:
    engines: list[Any] = []
    started: list[bool] = []

    def example(ex: Example) -> dict[str, Any]:
        ex.run("chore.begin", {"jobs": 2, "items": 2})
        assert ex.engine.jobs.run_until_idle(ex.library)
        started.append(ex.engine.jobs.is_started)
        return {}

    @action("sleeper.put", params=Params, summary="Put a chore in the queue", example=example)
    def put(ctx: ActionContext, p: Params) -> dict[str, Any]:
        started.append(engines[0].jobs.is_started)
        return {"job_id": ctx.enqueue("chore-items", {"items": 3}, title="A chore")}

    sleeper = Plugin(name="sleeper", summary="Whose example runs jobs", prefixes=("sleeper",), actions=(put,))
    engines.append(make_engine(plugins=[chores_plugin(), sleeper]))
    folder = tmp_path / "kit"
    folder.mkdir()
    assert [str(fault) for fault in exercise_plugin(engines[0], "sleeper", folder)] == []
    # Once for what the action does, once for its rights.
    assert started == [True, False] * 2
