"""Plugins that only misbehave, each in one way, to test that plugin loading refuses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from sqlalchemy import Column, MetaData, Table, Text

from armarium.plugin import Plugin, hookimpl
from armarium.store.tables import tracked
from armarium_testing import shelf


def _module(**hooks: Callable[..., Any]) -> ModuleType:
    module = ModuleType("faulty")
    for name, hook in hooks.items():
        hook.__name__ = name
        setattr(module, name, hookimpl(hook))
    return module


def _answering(make: Callable[[], object]) -> ModuleType:
    def armarium_plugin() -> object:
        return make()

    return _module(armarium_plugin=armarium_plugin)


def _raises() -> Plugin:
    raise RuntimeError("no")


def _stray_table() -> Plugin:
    metadata = MetaData()
    Table("loose", metadata, Column("id", Text, primary_key=True), info=tracked(label="loose row"))
    return Plugin(name="stray", summary="A table without the prefix", metadata=metadata)


def _takes_a_column_of_the_history() -> Plugin:
    metadata = MetaData()
    Table(
        "greedy",
        metadata,
        Column("id", Text, primary_key=True),
        Column("op", Text),
        info=tracked(label="row"),
    )
    return Plugin(name="greedy", summary="A column the history needs", metadata=metadata)


def _misspelt() -> ModuleType:
    def armarium_plugin() -> Plugin:
        return Plugin(name="misspelt", summary="Implements a hook that does not exist")

    def armarium_lifespam(engine: object) -> None:
        return None

    return _module(armarium_plugin=armarium_plugin, armarium_lifespam=armarium_lifespam)


def _wrong_arguments() -> ModuleType:
    def armarium_plugin() -> Plugin:
        return Plugin(name="arguments", summary="A hook with an argument nobody gives")

    def armarium_step_committed(nothing_like_this: object) -> None:
        return None

    return _module(armarium_plugin=armarium_plugin, armarium_step_committed=armarium_step_committed)


def faulty_plugins() -> dict[str, tuple[ModuleType, str]]:
    """Return each name with a module of hooks and a part of the sentence with which it is refused."""
    good = shelf.shelf_plugin()
    return {
        "empty": (ModuleType("faulty"), "no armarium_plugin"),
        "raising": (_answering(_raises), "RuntimeError: no"),
        "not-a-plugin": (_answering(lambda: "a string"), "did not return a Plugin"),
        "misspelt-hook": (_misspelt(), "armarium_lifespam, which is not a hook"),
        "wrong-arguments": (_wrong_arguments(), "hooks do not fit"),
        "other-contract": (_answering(lambda: replace(good, engine_api=99)), "plugin contract 99"),
        "same-name": (
            _answering(lambda: Plugin(name="library", summary="A name that is taken")),
            "already loaded",
        ),
        "taken-prefix": (
            _answering(lambda: Plugin(name="thief", summary="Takes a prefix", prefixes=("snapshot",))),
            "belongs to the plugin library",
        ),
        "no-prefix": (
            _answering(lambda: Plugin(name="other", summary="Foreign actions", actions=good.actions)),
            "does not begin with one of its prefixes",
        ),
        "stray-table": (_answering(_stray_table), "table loose does not begin"),
        "column-of-the-history": (_answering(_takes_a_column_of_the_history), "has a column op"),
        "same-action-twice": (
            _answering(lambda: replace(good, actions=(good.actions[0], good.actions[0]))),
            "already exists",
        ),
    }
