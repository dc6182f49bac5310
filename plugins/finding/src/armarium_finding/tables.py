"""The cues in force: those that come with the engine, and those of plugins."""

from __future__ import annotations

from armarium.api import Engine
from armarium_finding.cues import BUILTIN, EXTRAS, CueTable, join_tables


def table_of(engine: Engine) -> CueTable:
    """Every row that a loaded plugin brings, after the engine's own."""
    added = [plugin.extras.get(EXTRAS) for plugin in engine.plugins.loaded]
    return join_tables([BUILTIN, *(one for one in added if isinstance(one, CueTable))])
