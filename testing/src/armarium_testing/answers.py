"""Answers to extension points, for tests that need another family and have none."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from armarium.api import Engine, Plugin, hookimpl


def answering(**answers: Callable[..., Any]) -> ModuleType:
    """Return a module that answers points, each by its name: for `Plugin(…, hooks=answering(…))`."""
    module = ModuleType("answers")
    for name, answer in answers.items():
        setattr(module, name, hookimpl(optionalhook=True)(answer))
    return module


def add_answers(engine: Engine, **answers: Callable[..., Any]) -> None:
    """Let a made-up plugin answer points of an engine that runs."""
    plugin = Plugin(name="answers", summary="Answers what a test asks", hooks=answering(**answers))
    engine.points.join(plugin)
    engine.points.settle([*engine.plugins.loaded, plugin])
