"""The cues in force: the engine's own, and those of plugins."""

from __future__ import annotations

from armarium.api import Engine
from armarium_finding.cues import BUILTIN, CueTable, join_tables
from armarium_finding.hookspecs import armarium_finding_cues


def table_of(engine: Engine) -> CueTable:
    """Return the engine's own rows, followed by those of every loaded plugin."""
    return join_tables([BUILTIN, *engine.points.ask(armarium_finding_cues)])
