"""Plugins of one process are found and examined once: a test pays for its engine, not for reading what is installed.

A test run starts thousands of engines with the same plugins. What is installed, what a module contributes, whether that
has a fault and how the same plugins go together does not change between them: each engine gets a copy of the registry that
the first one made. Engines in processes of their own find their plugins as a user's does.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import armarium.engine
from armarium.plugin import Plugin
from armarium.plugins import faults, offers, points, registry
from armarium.plugins.offers import PLUGINS

if TYPE_CHECKING:
    from armarium.plugins.offers import Offer
    from armarium.plugins.registry import PluginRegistry
    from armarium.plugins.verdicts import Trials

KEPT = 12
"""How many registries are kept, the most recently used."""


@contextmanager
def plugins_examined_once() -> Iterator[None]:
    """For the duration of the block, the engines of this process share what was found out about their plugins."""
    installed: dict[Hashable, list[Offer]] = {}
    contributed: dict[str, tuple[object, Plugin]] = {}
    faultless: set[int] = set()
    given_before: dict[str, Plugin] = {}
    registries: dict[Hashable, PluginRegistry] = {}

    def find_offers(path: Sequence[str] | None = None) -> list[Offer]:
        folders = [Path(folder or ".") for folder in (sys.path if path is None else path)]
        key = tuple((str(folder), folder.stat().st_mtime_ns) for folder in folders if folder.is_dir())
        if key not in installed:
            installed[key] = offers.find_offers(path)
        return [*installed[key]]

    def plugin_of(module: object) -> Plugin:
        if not isinstance(module, ModuleType) or sys.modules.get(module.__name__) is not module:
            return points.plugin_of(module)
        hook = getattr(module, points.FIRST, None)
        known_plugin = contributed.get(module.__name__)
        # A test may have put another function in its place.
        if known_plugin is None or known_plugin[0] is not hook:
            plugin = points.plugin_of(module)
            known_plugin = contributed[module.__name__] = hook, replace(plugin, hooks=plugin.hooks or module)
            if not faults.faults_of(known_plugin[1]):
                faultless.add(id(known_plugin[1]))
        return known_plugin[1]

    def faults_of(plugin: Plugin) -> list[str]:
        return [] if id(plugin) in faultless else faults.faults_of(plugin)

    def find_plugins(
        trials: Trials | None, plugins: Sequence[Plugin | ModuleType] | None = None
    ) -> PluginRegistry:
        if plugins is not None:
            plugins = [_as_given_before(plugin, given_before, faultless) for plugin in plugins]
            key: Hashable = tuple(map(id, plugins))
        else:
            all_offers = find_offers()
            failed = trials.find_failures(all_offers) if trials is not None else {}
            key = frozenset(failed.items()), tuple(map(id, all_offers)), tuple(map(_hook_of, all_offers))
        if key in registries:
            registries[key] = registries.pop(key)
            return _copy(registries[key])
        new_registry = registry.find_plugins(trials, plugins)
        # What was refused is said in the log of each engine.
        if not new_registry.refused and not new_registry.faults:
            registries[key] = _copy(new_registry)
            if len(registries) > KEPT:
                registries.pop(next(iter(registries)))
        return new_registry

    with (
        patch.object(registry, "find_offers", find_offers),
        patch.object(registry, "plugin_of", plugin_of),
        patch.object(registry, "faults_of", faults_of),
        patch.object(armarium.engine, "find_plugins", find_plugins),
    ):
        yield


def _hook_of(offer: Offer) -> tuple[int, ...]:
    """Return which functions contribute plugins of *offer* now: a test may have put another in its place."""
    modules = [sys.modules.get(entry.module) for entry in offer.entries_of(PLUGINS)]
    return tuple(id(getattr(module, points.FIRST, None)) for module in modules)


def _as_given_before(plugin: Any, known: dict[str, Plugin], faultless: set[int]) -> Any:
    """Return the plugin of this name that was given last, when *plugin* differs from it in nothing, else *plugin*."""
    if not isinstance(plugin, Plugin):
        return plugin
    before = known.get(plugin.name)
    if before is None or not _is_alike(before, plugin):
        faultless.discard(id(before))
        known[plugin.name] = before = plugin
    elif id(before) not in faultless and not faults.faults_of(before):
        faultless.add(id(before))
    return before


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether two values that make up plugins are interchangeable: the same, or made from the same by code of ours
    that keeps nothing of its own.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, str | int | float | bytes | Path):
        return bool(one == other)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_alike, one, other))
    if is_dataclass(one):
        return all(_is_alike(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, partial):
        return _is_alike((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_alike(value, other[key]) for key, value in one.items())
    owner = one if isinstance(one, FunctionType | type) else type(one)
    package = owner.__module__.partition(".")[0]
    if not package.startswith("armarium") or package == "armarium_testing":
        return False
    if isinstance(one, FunctionType):
        return one.__code__ is other.__code__ and _is_alike(_enclosed_by(one), _enclosed_by(other))
    if isinstance(one, type):
        # the parameters of a start action are a class made for each call
        return (one.__module__, one.__qualname__, one.__bases__) == (
            other.__module__,
            other.__qualname__,
            other.__bases__,
        )
    return _is_alike(vars(one), vars(other))


def _enclosed_by(function: FunctionType) -> tuple[object, ...]:
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return cells, function.__defaults__, function.__kwdefaults__


def _copy(original: PluginRegistry) -> PluginRegistry:
    """Return a registry of the same plugins for another engine, which may change it."""
    copied: PluginRegistry = _copied_with(original, list, set, dict)
    copied.points = _copied_with(original.points, dict)
    copied.points._note_fault = copied.note_fault
    copied.points._loaded = copied.loaded
    manager: Any = copy.copy(original.points.manager)
    copied.points.manager = manager
    manager._name2plugin = {**manager._name2plugin}
    manager.hook = copy.copy(manager.hook)
    for name, caller in vars(manager.hook).items():
        setattr(manager.hook, name, copy.copy(caller))
        getattr(manager.hook, name)._hookimpls = [*caller._hookimpls]
    return copied


def _copied_with(original: Any, *kinds: type) -> Any:
    """Return a copy of an object with copies of its attributes of these *kinds*."""
    copied = copy.copy(original)
    for name, value in vars(original).items():
        if type(value) in kinds:
            setattr(copied, name, copy.copy(value))
    return copied
