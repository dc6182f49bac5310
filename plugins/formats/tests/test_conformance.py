"""Every action of this family passes the conformance kit for actions, and PAGE XML the suite for format
drivers.
"""

from __future__ import annotations

from pathlib import Path

from armarium.engine import Engine
from armarium_formats.pagexml.driver import PageXml
from armarium_testing.conformance import exercise_plugin
from armarium_testing.formats import Sample, exercise_format
from armarium_testing.sample_files import SAMPLE_PAGE


def test_the_plugin_conforms(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "kit"
    folder.mkdir()
    assert exercise_plugin(engine, "formats", folder) == []


def test_page_xml_obeys_the_contract() -> None:
    exercise_format(PageXml, [Sample("letter.xml", SAMPLE_PAGE.encode(), lines=1, words=0, text="Dear Sir")])
