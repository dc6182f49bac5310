"""Finds the examples of actions and of recipe jobs: declared with them, or in `tests/examples.py` beside the source of a plugin."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from armarium.actions import Action, Example
from armarium.engine import Engine
from armarium.jobs.recipe_jobs import RecipeJob

Make = Callable[[Example], Mapping[str, Any]]
"""Sets up a new project as far as an action or a job needs it; returns what it then succeeds with."""


def example_of(engine: Engine, subject: Action[Any] | RecipeJob) -> Make | None:
    """Return the example of an action or of a recipe job of *engine*, None if there is none.

    An action that only starts a recipe job has the example of that job.
    """
    name = subject.id if isinstance(subject, RecipeJob) else subject.name
    if subject.example is not None:
        return subject.example
    for plugin in engine.plugins.loaded:
        if (make := _examples_beside(plugin.name).get(name)) is not None:
            return make
    started = None if isinstance(subject, RecipeJob) else engine.recipe_jobs.get(_job_of(name))
    return None if started is None else _as_start(example_of(engine, started))


def _job_of(action_name: str) -> str:
    return action_name.rpartition(".")[2].replace("_", "-")


def _as_start(make: Make | None) -> Make | None:
    def start(ex: Example) -> Mapping[str, Any]:
        assert make is not None
        ground = make(ex)
        return {**ground.get("settings", {}), "scope_ids": [ground["page_id"]]}

    return None if make is None else start


@cache
def _examples_beside(plugin: str) -> Mapping[str, Make]:
    """Return the `EXAMPLES` of the plugin called so, or of the core, where its source is a checkout."""
    spec = importlib.util.find_spec(f"armarium_{plugin}") or importlib.util.find_spec("armarium")
    if spec is None or spec.origin is None:
        return {}
    file = Path(spec.origin).parents[2] / "tests" / "examples.py"
    if not file.is_file():
        return {}
    sys.path.append(str(file.parent))  # it may use what stands beside it
    file_spec = importlib.util.spec_from_file_location(f"examples_of_{plugin}", file)
    assert file_spec is not None
    assert file_spec.loader is not None
    module = sys.modules[file_spec.name] = importlib.util.module_from_spec(file_spec)
    file_spec.loader.exec_module(module)
    examples: Mapping[str, Make] = module.EXAMPLES
    return examples
