"""An import that is stopped at any moment and run again neither loses nor duplicates anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents_fixtures import count, picture, rows

from armarium.api import Engine, Library
from armarium_documents.jobs import imports
from armarium_testing.kills import Killed, KilledContext


def lay_out(source: Path) -> None:
    from PIL import Image

    for number in range(7):
        (source / f"{number}.png").write_bytes(picture(8, 8, grey=number * 9, form="PNG"))
    (source / "3 bad.jpg").write_text("no picture")
    (source / "4.xml").write_text("<PcGts/>")
    (source / "box" / "inner").mkdir(parents=True)
    (source / "box" / "1.png").write_bytes(picture(8, 8, form="PNG"))
    (source / "box" / "inner" / "2.png").write_bytes(picture(8, 8, form="PNG"))
    (source / "box" / "z.png").write_bytes(picture(8, 8, form="PNG"))
    pages = [Image.new("L", (30, 20), n * 20) for n in range(5)]
    pages[0].save(source / "roll.tif", save_all=True, append_images=pages[1:])


def shape(library: Library) -> list[tuple[Any, ...]]:
    return rows(
        library,
        "WITH RECURSIVE down(id, path) AS (SELECT id, name FROM document WHERE parent_id IS NULL"
        " UNION ALL SELECT c.id, down.path || '/' || c.name FROM down JOIN document c ON c.parent_id = down.id)"
        " SELECT path, (SELECT checksum FROM rendition r WHERE r.document_id = down.id) FROM down ORDER BY path",
    )


@pytest.mark.parametrize("batch", [1, 2, 3, 24])
def test_killed_at_every_call_it_still_comes_in_once(
    engine: Engine, library: Library, source: Path, folder: Any, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(imports, "BATCH_NODES", batch)
    lay_out(source)
    whole = import_all(engine, library, source, folder("whole"), every=None)
    wanted = [(path.partition("/")[2], digest) for path, digest in shape(library) if path.startswith("whole")]
    for every in range(1, 14):
        name = f"killed {every}"
        result = import_all(engine, library, source, folder(name), every=every)
        got = [
            (path.partition("/")[2], digest)
            for path, digest in shape(library)
            if path.partition("/")[0] == name
        ]
        assert got == wanted, every
        assert result == whole, every
    assert count(library, "rendition") == 14 * len([digest for _, digest in wanted if digest])


def import_all(engine: Engine, library: Library, source: Path, parent_id: str, *, every: int | None) -> Any:
    """Run the job to its end; it is killed after *every* calls at first, then after one call more each time."""
    args = imports.ImportJobArgs(paths=[], folder=str(source), parent_id=parent_id)
    checkpoint: dict[str, Any] = {}
    allowed = every if every is not None else 1_000_000
    for _ in range(200):
        ground = KilledContext(engine, library, args, allowed, checkpoint=checkpoint)
        try:
            return imports.run_import(ground)  # type: ignore[arg-type]
        except Killed:
            checkpoint = ground.kept
            allowed += 1
    raise AssertionError("the import never ended")


def test_named_files_carry_on_where_they_were(
    engine: Engine, library: Library, source: Path, folder: Any
) -> None:
    paths = []
    for number in range(9):
        path = source / f"{number}.png"
        path.write_bytes(picture(8, 8, grey=number, form="PNG"))
        paths.append(str(path))
    args = imports.ImportJobArgs(paths=paths, parent_id=folder("Box"))
    checkpoint: dict[str, Any] = {}
    for calls in range(1, 60):
        ground = KilledContext(engine, library, args, calls, checkpoint=checkpoint)
        try:
            imported = imports.run_import(ground)  # type: ignore[arg-type]
            break
        except Killed:
            checkpoint = ground.kept
    assert imported["files"] == 9
    assert count(library, "rendition") == 9
