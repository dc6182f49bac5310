"""What paleography brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Campaigns, editorial facts, hands, signs, letterforms and fonts."""
    return Plugin(
        name="paleography", summary="Campaigns, editorial facts, hands, signs, letterforms and fonts"
    )
