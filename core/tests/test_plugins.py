"""Plugin loading: faulty third-party plugins are refused whole, with a sentence, and the engine runs on."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest
from fastapi import APIRouter
from faulty_plugins import faulty_plugins
from sqlalchemy import Column, ForeignKey, MetaData, Table, Text

from armarium.api import actions_in, queries_in
from armarium.engine import Engine
from armarium.errors import NotFound
from armarium.plugin import Plugin, hookimpl
from armarium.plugins.drivers import Drivers
from armarium.plugins.offers import PLUGINS, Offer
from armarium.plugins.registry import PluginRegistry
from armarium.principals import LOCAL_OWNER
from armarium.projects.plugin import armarium_plugin as core_library_plugin
from armarium.store.tables import tracked
from armarium.web.plugin import armarium_plugin as core_engine_plugin
from armarium_testing.shelf import shelf_plugin, shelves


@pytest.mark.parametrize("name", sorted(faulty_plugins()))
def test_a_faulty_plugin_is_refused_whole_with_its_reason(name: str) -> None:
    module, words = faulty_plugins()[name]
    registry = PluginRegistry()
    registry.add(core_library_plugin())
    registry.add_module(name, module)
    registry.settle()
    assert [plugin.name for plugin in registry.loaded] == ["library"]
    assert len(registry.refused) == 1
    assert words in registry.refused[0].why


def test_an_entry_point_that_does_not_import_is_refused(monkeypatch) -> None:
    from armarium.plugins import registry

    broken = EntryPoint("broken", "armarium_no_such_module", PLUGINS)
    monkeypatch.setattr(registry, "find_offers", lambda path: [Offer("some-broken", (broken,))])
    registry = PluginRegistry()
    registry.find()
    assert "does not import: ModuleNotFoundError" in registry.refused[0].why


def test_a_hook_that_fails_after_a_commit_changes_nothing_for_others(make_engine, tmp_path) -> None:
    heard: list[str] = []

    class FailingHook:
        @hookimpl
        def armarium_step_committed(self, step) -> None:
            raise RuntimeError("no")

    class RecordingHook:
        @hookimpl
        def armarium_step_committed(self, step) -> None:
            heard.append(step.name)

    engine: Engine = make_engine(
        plugins=[
            Plugin(name="failing", summary="Fails", hooks=FailingHook()),
            Plugin(name="recording", summary="Hears", hooks=RecordingHook()),
        ]
    )
    path = tmp_path / "A.library"
    engine.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    assert heard == ["library.create"]
    assert [fault.name for fault in engine.plugins.faults] == ["failing"]


def test_a_plugin_comes_after_those_its_tables_point_at() -> None:
    metadata = MetaData()
    Table(
        "annex_room",
        metadata,
        Column("id", Text, primary_key=True),
        Column("shelf_id", Text, ForeignKey(shelves.c.id, deferrable=True, initially="DEFERRED"), index=True),
        info=tracked(label="room"),
    )
    registry = PluginRegistry()
    registry.add(Plugin(name="annex", summary="Points at shelves", metadata=metadata))
    registry.add(shelf_plugin())
    registry.settle()
    assert [plugin.name for plugin in registry.loaded] == ["shelf", "annex"]


def test_an_unknown_driver_is_refused_with_the_known_ones() -> None:
    drivers = Drivers()
    drivers.give("armarium.readers", "mine", int)
    assert drivers.load("armarium.readers", "mine") is int
    with pytest.raises(NotFound, match=r"no reader called nobody\. Installed: .*mine"):
        drivers.load("armarium.readers", "nobody")


def _bringing(name: str, path: str, **more: Any) -> Plugin:
    router = APIRouter()

    @router.get(path)
    def answer() -> None:
        """Answer."""

    return Plugin(name=name, summary=name, routers=(router,), **more)


def test_a_plugin_with_a_route_of_the_core_is_refused_whole() -> None:
    registry = PluginRegistry()
    own = _bringing("thief", "/api/actions/audit/{any}")
    for plugin in (own, core_engine_plugin(), _bringing("honest", "/api/honest")):
        registry.add(plugin)
    registry.settle()
    assert {plugin.name for plugin in registry.loaded} == {"engine", "honest"}
    assert registry.refused[0].why == "Its route GET /api/actions/audit/{} belongs to the engine itself."


def test_of_two_plugins_with_one_route_the_one_that_others_need_stays() -> None:
    registry = PluginRegistry()
    shelf = replace(shelf_plugin(), routers=_bringing("x", "/api/shelves/{shelf_id}").routers)
    metadata = MetaData()
    Table(
        "annex_note",
        metadata,
        Column("id", Text, ForeignKey(shelves.c.id), primary_key=True),
        info=tracked(label="n"),
    )
    annex = Plugin(name="annex", summary="stands on the shelf", metadata=metadata)
    for plugin in (
        _bringing("a_thief", "/api/shelves/{id}"),
        shelf,
        annex,
        _bringing("z", "/api/shelves/{one}"),
    ):
        registry.add(plugin)
    registry.settle()
    assert [plugin.name for plugin in registry.loaded] == ["shelf", "annex"]
    assert {one.name: one.why for one in registry.refused} == dict.fromkeys(
        ("a_thief", "z"), "Its route GET /api/shelves/{} belongs to the plugin shelf."
    )


@pytest.mark.parametrize("kind", [ImportError, AssertionError, RuntimeError, SystemExit])
def test_a_driver_that_does_not_load_is_reported(monkeypatch, kind: type[BaseException]) -> None:
    def fail(self: EntryPoint) -> None:
        raise kind("no such library")

    entry = EntryPoint("broken", "their_module:Driver", "armarium.formats")
    plugins = PluginRegistry()
    plugins.offers = [Offer("theirs", (entry,))]
    drivers = Drivers(plugins)
    monkeypatch.setattr(EntryPoint, "load", fail)
    with pytest.raises(NotFound, match="does not load"):
        drivers.load("armarium.formats", "broken")
    why = f"It does not import: {kind.__name__}: no such library"
    assert drivers.list_refused("armarium.formats") == {"broken": why}


def test_stevedore_loads_a_driver_that_our_own_discovery_chose(monkeypatch, tmp_path) -> None:
    """stevedore's own discovery knows no owners of names, and caches in a folder of the user."""
    from stevedore import _cache
    from stevedore.driver import DriverManager

    def fail_to_find(*asked: object) -> None:
        raise AssertionError("stevedore looked for itself")

    made: list[str] = []
    init = DriverManager.__init__

    def note_use(self, namespace: str, name: str, **more: object) -> None:
        made.append(f"{namespace} {name}")
        init(self, namespace, name, **more)

    monkeypatch.setattr(_cache, "get_group_all", fail_to_find)
    monkeypatch.setattr(DriverManager, "__init__", note_use)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    entries = tuple(
        EntryPoint(name, value, "armarium.formats")
        for name, value in (("mine", "json:JSONDecoder"), ("other", "no_such_module:Driver"))
    )
    plugins = PluginRegistry()
    plugins.offers = [Offer("theirs", entries)]
    drivers = Drivers(plugins)
    assert drivers.names("armarium.formats") == ["mine", "other"]
    assert made == []
    assert drivers.load("armarium.formats", "mine") is json.JSONDecoder
    assert drivers.load("armarium.formats", "mine") is json.JSONDecoder
    assert made == ["armarium.formats mine"]
    assert drivers.list_refused("armarium.formats") == {}
    assert list(tmp_path.iterdir()) == []


def test_two_engines_live_in_one_process(make_engine, tmp_path) -> None:
    engine, second_engine = make_engine(plugins=[shelf_plugin()]), make_engine(plugins=[])
    engine.run(None, "library.create", {"path": str(tmp_path / "A.library")}, LOCAL_OWNER)
    assert engine.actions.find("shelf.add") is not None
    assert second_engine.actions.find("shelf.add") is None
    assert second_engine.libraries.list_registered() == []


def test_every_action_of_the_test_family_conforms(make_engine, tmp_path) -> None:
    from armarium_testing.conformance import exercise_plugin

    engine = make_engine(plugins=[shelf_plugin()])
    assert [str(fault) for fault in exercise_plugin(engine, "shelf", tmp_path / "kit")] == []


@pytest.mark.parametrize("name", ["library", "auth", "jobs"])
def test_every_action_of_the_core_conforms(make_engine, tmp_path, name: str) -> None:
    from armarium_testing.conformance import exercise_plugin

    engine = make_engine(plugins=[])
    assert [str(fault) for fault in exercise_plugin(engine, name, tmp_path / "kit")] == []


def test_the_actions_on_runtimes_conform_where_a_driver_asks_for_one(make_engine, tmp_path) -> None:
    from armarium_testing.conformance import exercise_plugin

    engine = make_engine()
    assert [str(fault) for fault in exercise_plugin(engine, "runtimes", tmp_path / "kit")] == []


def test_a_plugin_whose_tables_point_at_a_refused_one_is_refused_too() -> None:
    metadata = MetaData()
    Table(
        "annex_room",
        metadata,
        Column("id", Text, primary_key=True),
        Column("shelf_id", Text, ForeignKey(shelves.c.id, deferrable=True, initially="DEFERRED"), index=True),
        info=tracked(label="room"),
    )
    registry = PluginRegistry()
    registry.add(Plugin(name="annex", summary="Points at shelves", metadata=metadata))
    registry.settle()
    assert registry.loaded == []
    assert "refer to shelf, which no loaded plugin provides" in registry.refused[0].why


def test_a_plugin_whose_distribution_needs_a_refused_one_is_refused_too(monkeypatch) -> None:
    from armarium.plugins import registry

    monkeypatch.setattr(
        registry.distributions,
        "requires",
        lambda name: ["Their_Base>=1; python_version > '3'"] if name == "mine" else [],
    )
    registry = PluginRegistry()
    registry.refuse("base", "It does not import.", "their-base")
    registry.add(Plugin(name="mine", summary="Stands on base"), "mine")
    registry.settle()
    assert [refused.why for refused in registry.refused][1:] == [
        "It depends on the plugin base, which was refused."
    ]


def test_a_module_contributes_what_it_declares_and_not_what_it_imports() -> None:
    from armarium_testing import shelf

    assert set(actions_in(shelf)) == set(shelf_plugin().actions)
    importing = ModuleType("importing")
    vars(importing).update({name: value for name, value in vars(shelf).items() if name != "__name__"})
    assert actions_in(importing) == ()
    assert queries_in(importing) == ()
