"""The plugin of the workbench: its built files, and nothing that only it may ask for."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Plugin, Site, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """The web application at `/`."""
    return Plugin(
        name="workbench",
        summary="The workbench: see pages, correct lines and watch the work in a browser",
        site=Site(
            Path(__file__).parent / "app",
            "The workbench is not built here. Run `make base` in the checkout, which builds it.",
        ),
    )
