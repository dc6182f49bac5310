"""Plugins of one process are found and examined once: a test pays for its engine, not for reading what is installed.

A test run starts hundreds of engines with the same plugins. What is installed, what a module contributes and whether
that has a fault does not change between them; what depends on the other plugins of an engine (whose names clash, which
answers are joined) is worked out for each. Engines in processes of their own find their plugins as a user's does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from unittest.mock import patch

from armarium.plugins import faults, offers, points, registry

if TYPE_CHECKING:
    from armarium.plugin import Plugin
    from armarium.plugins.offers import Offer


@contextmanager
def plugins_examined_once() -> Iterator[None]:
    """For the duration of the block, the engines of this process share what was found out about installed plugins."""
    installed: dict[tuple[tuple[str, int], ...], list[Offer]] = {}
    contributed: dict[str, tuple[object, Plugin]] = {}
    faultless: set[int] = set()

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
        known = contributed.get(module.__name__)
        # A test may have put another function in its place.
        if known is None or known[0] is not hook:
            plugin = points.plugin_of(module)
            known = contributed[module.__name__] = hook, replace(plugin, hooks=plugin.hooks or module)
            if not faults.faults_of(known[1]):
                faultless.add(id(known[1]))
        return known[1]

    def faults_of(plugin: Plugin) -> list[str]:
        return [] if id(plugin) in faultless else faults.faults_of(plugin)

    with (
        patch.object(registry, "find_offers", find_offers),
        patch.object(registry, "plugin_of", plugin_of),
        patch.object(registry, "faults_of", faults_of),
    ):
        yield
