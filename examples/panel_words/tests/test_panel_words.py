"""The example declares one panel and one route."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from armarium.plugins.faults import faults_of


def test_the_example_is_a_plugin_without_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does in a frame is tested with the workbench."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).resolve().parents[1] / "src"), *sys.path])
    import armarium_panel_words

    plugin = armarium_panel_words.armarium_plugin()
    assert faults_of(plugin) == []
    (panel,) = plugin.panels
    assert (panel.place, panel.routes) == ("page", ("GET /api/segments/document/{document_id}/text",))
