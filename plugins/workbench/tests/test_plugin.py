"""The workbench as a plugin: it brings its built files and nothing that only it could ask for."""

from __future__ import annotations

from armarium_workbench.plugin import armarium_plugin


def test_the_application_has_no_route_action_or_table_of_its_own() -> None:
    plugin = armarium_plugin()
    brought = (plugin.routers, plugin.queries, plugin.actions, plugin.jobs, plugin.recipe_jobs)
    assert not any(brought)
    assert plugin.metadata is None
    assert plugin.site is not None
