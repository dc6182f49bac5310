"""Import of a folder: pictures first, then layout files are paired with them, all in one undo set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from batch_files import page, picture, rows, write_files

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.jobs import layouts
from armarium_testing.digest import differences, table_digests
from armarium_testing.kills import Killed, KilledContext
from armarium_testing.samples import sample


def import_and_wait(engine: Engine, library: Library, **params: Any) -> tuple[str, dict[str, Any]]:
    """Import and wait; return the import's job and the result of its layout job."""
    outcome = engine.run(library, "document.import", params, LOCAL_OWNER)
    assert outcome.result is not None
    job_id = str(outcome.result["job_id"])
    engine.jobs.run_until_idle(library)
    found_rows = rows(
        library, "SELECT state, result FROM job WHERE parent_id = ? AND kind = 'ingest-layouts'", job_id
    )
    assert rows(library, "SELECT state FROM job WHERE id = ?", job_id) == [("done",)]
    if not found_rows:
        return job_id, {}
    ((state, result),) = found_rows
    assert state == "done"
    answer: dict[str, Any] = orjson.loads(result)
    return job_id, answer


FILES = {
    "1.png": picture(grey=1),
    "page/1.xml": page("1.png", text="one"),
    "2.png": picture(grey=2),
    "alto/2.xml": page("", text="two"),
    "inner/1.png": picture(grey=3),
    "inner/1.xml": page("1.png", text="three"),
    "odd.png": picture(77, 55),
    "far/x.xml": page("lost.tif", 77, 55, text="four"),
    "far/y.xml": page("lost.tif", 10, 10),
    "broken.xml": b"<PcGts",
    "readme.txt": b"\0\1\2",
}


def texts(library: Library) -> list[tuple[str, str]]:
    return [
        (row[0], row[1])
        for row in rows(
            library,
            "SELECT d.name, r.content FROM content_representation r JOIN document d ON d.id = r.document_id"
            " ORDER BY r.content",
        )
    ]


def test_layout_files_of_a_folder_become_passes_of_its_pictures(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    write_files(tmp_path / "box", FILES)
    _, found = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert texts(library) == [("odd.png", "four"), ("1.png", "one"), ("1.png", "three"), ("2.png", "two")]
    assert (found["passes"], found["unpaired_count"], found["refused_count"]) == (4, 1, 2)
    assert [one["file"] for one in found["unpaired"]] == ["far/y.xml"]
    assert [entry["file"] for entry in found["refused"]] == ["broken.xml", "readme.txt"]


def test_the_whole_import_is_undone_as_one_set(engine: Engine, library: Library, tmp_path: Path) -> None:
    write_files(tmp_path / "box", FILES)

    def digests() -> dict[str, str]:
        return table_digests(library.db, engine.library_schema)

    before = digests()
    job_id, _ = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    steps = [row[0] for row in rows(library, "SELECT id FROM audit WHERE set_id = ? ORDER BY seq", job_id)]
    assert len(steps) >= 3
    engine.undo(library, steps, LOCAL_OWNER)
    assert [
        difference
        for difference in differences(before, digests())
        if difference in ("document", "segment", "segment_pass")
    ] == []


def test_files_named_one_by_one_are_paired_too(engine: Engine, library: Library, tmp_path: Path) -> None:
    paths = write_files(tmp_path, {"1.png": picture(), "page/1.xml": page("1.png")})
    _, found = import_and_wait(engine, library, paths=[str(path) for path in paths])
    assert found["passes"] == 1


def read_import_answer(library: Library, job_id: str) -> dict[str, Any]:
    """Return the result of an import's own job."""
    found: dict[str, Any] = orjson.loads(rows(library, "SELECT result FROM job WHERE id = ?", job_id)[0][0])
    return found


def test_a_second_import_of_the_folder_brings_only_what_is_new(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    box = tmp_path / "box"
    write_files(
        box,
        {"1.png": picture(), "1.xml": page("1.png"), "odd.png": picture(80, 60), "z.xml": page("", 80, 60)},
    )
    write_files(box / "deep", {"2.png": picture(grey=7), "page/2.xml": page("2.png")})
    first, layouts_first = import_and_wait(engine, library, folder=str(box))
    assert tuple(read_import_answer(library, first)[key] for key in ("files", "already")) == (3, 0)
    assert (layouts_first["passes"], layouts_first["already"]) == (3, 0)
    second, layouts_second = import_and_wait(engine, library, folder=str(box))
    assert tuple(read_import_answer(library, second)[key] for key in ("files", "already", "documents")) == (
        0,
        3,
        0,
    )
    assert (layouts_second["passes"], layouts_second["already"]) == (0, 3)
    assert (layouts_second["refused"], layouts_second["unpaired"]) == ([], [])
    # The folder gets a new picture, its layout file, and another layout file of an existing picture; and it
    # is moved.
    write_files(box, {"3.png": picture(grey=3), "3.xml": page("3.png")})
    write_files(box / "deep", {"alto/2.xml": page("2.png", text="again")})
    (tmp_path / "elsewhere").mkdir()
    box.rename(tmp_path / "elsewhere" / "box")
    third, layouts_third = import_and_wait(engine, library, folder=str(tmp_path / "elsewhere" / "box"))
    assert tuple(read_import_answer(library, third)[key] for key in ("files", "already")) == (1, 3)
    assert (layouts_third["passes"], layouts_third["already"]) == (2, 3)
    assert rows(library, "SELECT count(*) FROM document WHERE doc_type = 'folder' AND name = 'deep'") == [
        (1,)
    ]
    assert rows(library, "SELECT count(*), count(DISTINCT document_id) FROM segment_pass") == [(5, 4)]


def test_a_second_import_with_again_makes_its_own_passes(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    write_files(tmp_path / "box", {"1.png": picture(), "1.xml": page("1.png")})
    import_and_wait(engine, library, folder=str(tmp_path / "box"))
    import_and_wait(engine, library, folder=str(tmp_path / "box"), again=True)
    assert rows(
        library, "SELECT count(*), count(DISTINCT document_id) FROM segment_pass WHERE deleted_at IS NULL"
    ) == [(2, 2)]


def test_a_folder_imported_into_two_places_has_its_layouts_in_both(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    write_files(tmp_path / "box", {"1.png": picture(), "1.xml": page("1.png")})
    folders = [
        (engine.run(library, "document.create", {"name": name}, LOCAL_OWNER).result or {})["id"]
        for name in "ab"
    ]
    for parent in folders:
        import_and_wait(engine, library, folder=str(tmp_path / "box"), parent_id=parent)
    write_files(tmp_path / "box", {"1.alto": page("1.png", text="new")})
    _, layouts_made = import_and_wait(engine, library, folder=str(tmp_path / "box"), parent_id=folders[0])
    assert (layouts_made["passes"], layouts_made["already"]) == (1, 1)
    assert rows(
        library,
        "SELECT f.parent_id, count(*) FROM segment_pass p JOIN document d ON d.id = p.document_id"
        " JOIN document f ON f.id = d.parent_id"
        " GROUP BY 1 ORDER BY 2",
    ) == [(folders[1], 1), (folders[0], 2)]


@pytest.mark.parametrize("calls", sample(range(24), 12))
def test_a_kill_at_any_instant_loses_and_duplicates_nothing(
    engine: Engine, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    write_files(tmp_path / "box", FILES)
    monkeypatch.setattr(type(engine.kinds), "of_stage", lambda self, stage: [])
    _, none = import_and_wait(engine, library, folder=str(tmp_path / "box"))
    assert none == {}
    (parent,) = rows(library, "SELECT id FROM document WHERE name = 'Sources'")
    args = layouts.LayoutJobArgs(
        paths=[], folder=str(tmp_path / "box"), parent_id=parent[0], mirrored="box", set_id="set"
    )
    ground: Any = KilledContext(engine, library, args, calls)
    try:
        layouts.run_layouts(ground)
    except Killed:
        ground = KilledContext(engine, library, args, 10_000, checkpoint=ground.kept)
        found_layouts = layouts.run_layouts(ground)
        assert (found_layouts["passes"], found_layouts["unpaired_count"]) == (4, 1)
        assert [entry["file"] for entry in found_layouts["refused"]] == ["broken.xml", "readme.txt"]
    assert texts(library) == [("odd.png", "four"), ("1.png", "one"), ("1.png", "three"), ("2.png", "two")]
