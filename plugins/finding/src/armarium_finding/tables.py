"""The cues in force: the engine's own, and those of plugins."""

from __future__ import annotations

from armarium.api import Engine
from armarium_finding.cues import BUILTIN, EXTRAS, CueTable, join_tables


def table_of(engine: Engine) -> CueTable:
    """Return the engine's own rows, followed by those of every loaded plugin."""
    added = [plugin.extras.get(EXTRAS) for plugin in engine.plugins.loaded]
    return join_tables([BUILTIN, *(one for one in added if isinstance(one, CueTable))])
