"""An imported folder stays a folder: two with files of the same names are not mixed, and nothing is imported twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from documents_fixtures import OWNER, Run, count, imported_of, names_under, picture, rows, sources_of

from armarium.api import Engine, Invalid, Library


@pytest.fixture
def import_and_wait(engine: Engine, library: Library, do: Run) -> Callable[..., dict[str, Any]]:
    """Imports and waits; returns the job's id and result."""

    def run(**params: Any) -> dict[str, Any]:
        job_id = do("document.import", params)["job_id"]
        engine.jobs.run_until_idle(library)
        ((state, result),) = rows(library, "SELECT state, result FROM job WHERE id = ?", job_id)
        assert state == "done"
        return {"id": job_id, **orjson.loads(result)}

    return run


def box(place: Path, grey: int, *names: str) -> Path:
    for number, name in enumerate(names):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(picture(grey=grey + number))
    return place


def test_two_folders_of_the_same_file_names_stay_apart(
    import_and_wait: Callable[..., dict[str, Any]], library: Library, tmp_path: Path
) -> None:
    import_and_wait(folder=str(box(tmp_path / "Box 3", 10, "0001.jpg", "verso/0001.jpg")))
    import_and_wait(folder=str(box(tmp_path / "Box 4", 60, "0001.jpg")))
    assert names_under(library, sources_of(library)) == ["Box 3", "Box 4"]
    assert names_under(library, imported_of(library, "Box 3")) == ["0001.jpg", "verso"]
    assert names_under(library, imported_of(library, "Box 4")) == ["0001.jpg"]


def test_the_same_folder_comes_in_once(
    import_and_wait: Callable[..., dict[str, Any]], library: Library, engine: Engine, tmp_path: Path
) -> None:
    place = box(tmp_path / "Box 3", 10, "0001.jpg", "verso/0001.jpg")
    before = count(library, "document")
    first = import_and_wait(folder=str(place))
    assert count(library, "document") == before + 4
    again = import_and_wait(folder=str(place))
    assert (again["files"], again["already"], again["documents"]) == (0, 2, 0)
    assert count(library, "document") == before + 4
    steps = [
        row[0] for row in rows(library, "SELECT id FROM audit WHERE set_id = ? ORDER BY seq", first["id"])
    ]
    engine.undo(library, steps, OWNER)
    assert (count(library, "document"), count(library, "rendition")) == (before, 0)


def test_a_folder_of_that_name_that_is_there_is_used_and_one_in_the_trash_is_not(
    import_and_wait: Callable[..., dict[str, Any]],
    library: Library,
    tmp_path: Path,
    folder: Callable[..., str],
    do: Run,
) -> None:
    archive = folder("Archive")
    mine = folder("Box 3", archive)
    import_and_wait(folder=str(box(tmp_path / "Box 3", 10, "0001.jpg")), parent_id=archive)
    assert names_under(library, archive) == ["Box 3"]
    assert names_under(library, mine) == ["0001.jpg"]
    do("document.delete", {"ids": [mine]})
    import_and_wait(folder=str(tmp_path / "Box 3"), parent_id=archive)
    ((made,),) = rows(library, "SELECT id FROM document WHERE parent_id = ? AND deleted_at IS NULL", archive)
    assert made != mine
    assert names_under(library, made) == ["0001.jpg"]


def test_nothing_to_import_leaves_no_empty_folder(
    import_and_wait: Callable[..., dict[str, Any]], library: Library, tmp_path: Path
) -> None:
    (tmp_path / "Box 3" / "page").mkdir(parents=True)
    (tmp_path / "Box 3" / "page" / "0001.xml").write_bytes(b"<PcGts/>")
    import_and_wait(folder=str(tmp_path / "Box 3"))
    assert names_under(library, sources_of(library)) == []


def test_a_folder_whose_name_no_document_can_have_is_refused_in_words(do: Run, tmp_path: Path) -> None:
    place = box(tmp_path / "Box\x07", 10, "0001.jpg")
    with pytest.raises(Invalid, match=r"control character U\+0007; rename it"):
        do("document.import", {"folder": str(place)})
