"""Refusals that only occur in races, or when files change while the engine reads them."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from batch_files import page, picture, reasons, rows, take, write_files

from armarium.api import Conflict, Engine, Invalid, Library
from armarium.principals import LOCAL_OWNER
from armarium_formats.actions import importing
from armarium_formats.batches import staging
from armarium_formats.jobs import layouts
from armarium_formats.jobs.layout_progress import Pace
from armarium_testing.kills import KilledContext


def test_a_file_imported_meanwhile_by_another_is_refused(
    engine: Engine, library: Library, page_document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"document_id": page_document, "file": page("1.png"), "filename": "1.xml"}
    engine.run(library, "format.import", params, LOCAL_OWNER)
    # As seen before the writer was taken.
    monkeypatch.setattr(importing, "pass_of_file", lambda *args: None)
    with pytest.raises(Conflict, match="already the pass") as refused:
        engine.run(library, "format.import", params, LOCAL_OWNER)
    assert refused.value.code == "already_a_pass"
    assert rows(library, "SELECT count(*) FROM segment_pass") == [(1,)]


def test_an_impossible_path_is_reported(engine: Engine, library: Library, tmp_path: Path) -> None:
    write_files(tmp_path, {"1.png": picture()})
    long = tmp_path / ("x" * 300)
    answer = take(engine, library, [tmp_path / "1.png", long])
    assert "It cannot be read: File name too long." in reasons(answer, "refused").values()


def test_a_file_replaced_by_something_else_meanwhile_is_reported(library: Library, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(Invalid, match="not an ordinary file"):
        staging._head(staging.ReceivedFile(pipe, (), "pipe"), library)
    with pytest.raises(Invalid, match="cannot be read: No such file"):
        staging._head(staging.ReceivedFile(tmp_path / "gone", (), "gone"), library)


def test_a_layout_file_that_occurs_twice_in_a_folder_is_imported_once(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = page("1.png")
    write_files(tmp_path / "box", {"1.png": picture(), "1.xml": twice, "page/1.xml": twice})
    monkeypatch.setattr(type(engine.kinds), "of_stage", lambda self, stage: [])
    engine.run(library, "document.import", {"folder": str(tmp_path / "box")}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    (parent,) = rows(library, "SELECT id FROM document WHERE name = 'Sources'")
    args = layouts.LayoutJobArgs(
        paths=[], folder=str(tmp_path / "box"), parent_id=parent[0], mirrored="box", set_id="0"
    )
    # A batch of one: the second file is examined when the first is already written.
    monkeypatch.setattr(layouts, "Pace", lambda: Pace(1))
    found_layouts = layouts.run_layouts(KilledContext(engine, library, args, 10_000))  # type: ignore[arg-type]
    assert found_layouts["passes"] == 1
    assert "already the pass" in found_layouts["refused"][0]["why"]


@pytest.mark.parametrize(
    ("size", "points"),
    [
        (10_000_000, [(0, 0), (1, 0), (0, 1)]),
        (1000, [(0.1, 0.1), (0.2, 0.2), (0.30000000000000004, 0.3)]),
    ],
    ids=["a speck of a huge page", "a straight line with the noise of a scale"],
)
def test_an_outline_too_flat_for_fractions_stays_as_pixels(
    engine: Engine, library: Library, page_document: str, size: int, points: list[tuple[float, float]]
) -> None:
    data = page("1.png", size, size).decode()
    first = data.index('points="')
    stated = " ".join(f"{x},{y}" for x, y in points)
    data = f'{data[:first]}points="{stated}{data[data.index(chr(34), first + 8) :]}'
    params = {"document_id": page_document, "file": data, "filename": "1.xml"}
    result = engine.run(library, "format.import", params, LOCAL_OWNER).result or {}
    assert "Region: its outline is too flat to be stored." in result["notes"]
    ((kept,),) = rows(
        library, "SELECT json_extract(metadata, '$.raw_polygon_px') FROM segment WHERE kind = 'region'"
    )
    assert [tuple(point) for point in orjson.loads(kept)] == points
