"""The example reader passes the suite in a worker, is found by the engine, and is used by a job like any
other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image, ImageDraw

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents_plugin
from armarium_reading.api import exercise_reader
from armarium_reading.plugin import armarium_plugin as reading_plugin
from armarium_source_model.plugin import armarium_plugin as source_model_plugin

LINES = 7


@pytest.fixture
def ink_rows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example's module, which need not be installed."""
    monkeypatch.setattr(sys, "path", [str(Path(__file__).resolve().parents[1] / "src"), *sys.path])
    import armarium_reader_ink_rows

    return armarium_reader_ink_rows


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The file of a straight page with some printed lines."""
    (tmp_path / "pages").mkdir()
    picture = Image.new("RGB", (900, 700), "#e8dfc8")
    for number in range(LINES):
        ImageDraw.Draw(picture).text(
            (80, 60 + 80 * number), "En la villa de Puerto Claro", fill="#2a2019", font_size=40
        )
    picture.save(tmp_path / "pages" / "page.png")
    return tmp_path / "pages" / "page.png"


def test_it_is_a_reader(ink_rows: ModuleType, page: Path, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    proof = exercise_reader(ink_rows.InkRows, tmp_path / "kit", page=page, least_lines=LINES)
    assert "find_lines: a page" in proof.checked


def test_a_job_finds_lines_with_it(
    ink_rows: ModuleType,
    page: Path,
    tmp_path: Path,
    make_engine: Callable[..., Engine],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = make_engine(plugins=[documents_plugin(), source_model_plugin(), reading_plugin()])
    monkeypatch.setattr(engine.drivers, "load", lambda group, name: {"ink-rows": ink_rows.InkRows}[name])
    engine.run(None, "library.create", {"path": str(tmp_path / "T.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "T.library")
    engine.run(library, "document.import", {"folder": str(page.parent)}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        (document,) = conn.exec_driver_sql("SELECT id FROM document WHERE name = 'page.png'").one()
    engine.run(library, "reading.find_lines", {"scope_ids": [document], "reader": "ink-rows"}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        (lines,) = conn.exec_driver_sql("SELECT count(*) FROM segment WHERE kind = 'line'").one()
    assert lines == LINES
