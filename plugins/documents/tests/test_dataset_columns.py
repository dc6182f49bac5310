"""A project's columns are right after any change to documents, and whatever their file contains."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dataset_rules import check_answer
from dataset_walk import Walk, a_query
from documents_fixtures import OWNER, Run

from armarium.api import Engine, Library, new_id, raw_of
from armarium_documents.queries.dataset import columns, keeper, store
from armarium_documents.queries.dataset.answer import dataset, keeper_of
from armarium_documents.schemas.dataset import DatasetQuery
from armarium_testing.samples import sample

Make = Callable[..., str]


def check(library: Library, query: DatasetQuery) -> None:
    check_answer(dataset(library, query), library, query)


def everything(**more: Any) -> DatasetQuery:
    return DatasetQuery.model_validate({"recursive": True, "facets": ["place", "document.name"], **more})


def list_files(library: Library) -> list[Path]:
    return sorted((library.path / "derived" / "dataset").glob("*"))


def reopen(engine: Engine, library: Library) -> Library:
    engine.libraries.release(library.path)
    return engine.libraries.get(library.path)


@pytest.fixture
def always_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects of two documents or more get a file."""
    monkeypatch.setattr(keeper, "SAVED_ROWS", 2)


@pytest.fixture
def not_read_anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Once this is called, reading the whole project fails the test."""
    read = columns.read_documents

    def watch_read(raw: Any, ids: Any = None) -> Any:
        assert ids is not None, "the whole project was read"
        return read(raw, ids)

    return lambda: monkeypatch.setattr(keeper, "read_documents", watch_read)


@pytest.mark.parametrize("seed", sample(range(4), 2))
@pytest.mark.parametrize("saved_rows", [2_000, 5])
def test_answers_are_right_whatever_happens(
    engine: Engine, library: Library, monkeypatch: pytest.MonkeyPatch, seed: int, saved_rows: int
) -> None:
    monkeypatch.setattr(keeper, "SAVED_ROWS", saved_rows)
    monkeypatch.setattr(keeper, "MOST_PARTS", 3)
    walk = Walk(engine, library, seed)
    for _ in range(60):
        for _ in range(walk.chance.choice([1, 1, 4])):
            walk.step()
        for _ in range(3):
            check(walk.library, a_query(walk.chance, walk.there()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 112))
def test_answers_are_right_over_longer_lives(
    engine: Engine, library: Library, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(keeper, "SAVED_ROWS", 10)
    walk = Walk(engine, library, seed)
    for _ in range(120):
        walk.step()
        check(walk.library, a_query(walk.chance, walk.there()))


def test_changes_undo_and_redo_are_followed_without_reading_the_whole_project(
    engine: Engine, library: Library, folder: Make, do: Run, not_read_anew: Callable[[], None]
) -> None:
    box = folder("Box", attributes={"place": "Toledo"})
    check(library, everything())
    not_read_anew()
    inner = folder("Inner", box, attributes={"place": "Cuenca"})
    check(library, everything())
    changed = engine.run(
        library, "document.update", {"document_id": box, "attributes": {"place": ["Lima", "Cuenca"]}}, OWNER
    )
    do("document.delete", {"ids": [inner]})
    check(library, everything())
    undone = engine.undo(library, [str(changed.audit_id)], OWNER)
    check(library, everything())
    engine.undo(library, undone["audit_ids"], OWNER)
    check(library, everything())
    assert dataset(library, everything())["total"] == 2


@pytest.mark.usefixtures("always_written")
def test_a_reopened_project_is_updated_from_its_file(
    engine: Engine, library: Library, folder: Make, do: Run, not_read_anew: Callable[[], None]
) -> None:
    for number in range(8):
        folder(f"f{number}", attributes={"place": f"p{number % 3}", "n": number, "odd": [number, None, "x"]})
    check(library, everything())
    (file,) = list_files(library)
    not_read_anew()
    # No query sees this before the project is reopened: only the history contains it.
    late = folder("late", attributes={"place": "p1", "new": 1.5})
    library = reopen(engine, library)
    check(library, everything(facets=["place", "odd", "new"], sort={"attr": "n", "type": "number"}))
    engine.run(library, "document.delete", {"ids": [late]}, OWNER)
    check(library, everything())
    assert list_files(library) == [file], "a small change is not worth a new file"


@pytest.mark.usefixtures("always_written")
def test_many_changes_are_put_together_and_written_again(
    engine: Engine, library: Library, folder: Make, do: Run, not_read_anew: Callable[[], None]
) -> None:
    boxes = [folder(f"f{number}", attributes={"place": f"gone {number}"}) for number in range(6)]
    check(library, everything())
    before = list_files(library)
    not_read_anew()
    for box in boxes:
        do("document.update", {"document_id": box, "attributes": {"place": "here"}})
        check(library, everything())
    after = list_files(library)
    assert len(after) == 1
    assert after != before
    values = b"".join(path.read_bytes() for path in after[0].iterdir())
    assert b"gone 0" not in values, "values that no document has any longer do not pile up"


@pytest.mark.usefixtures("always_written")
@pytest.mark.parametrize("name", ["rows.arrow", "cells.arrow", "values.arrow", "card.json"])
@pytest.mark.parametrize("how", ["removed", "cut", "flipped", "empty", "other"])
def test_a_damaged_file_is_rebuilt(
    engine: Engine, library: Library, folder: Make, name: str, how: str
) -> None:
    for number in range(5):
        folder(f"f{number}", attributes={"place": f"a place of some length {number}"})
    check(library, everything())
    path = list_files(library)[0] / name
    engine.libraries.release(library.path)
    data = bytearray(path.read_bytes())
    if how == "removed":
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "flipped":
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    else:
        path.write_bytes(b"" if how == "empty" else b"no Arrow file at all")
    library = engine.libraries.get(library.path)
    check(library, everything())
    assert store.load(library) is not None
    assert len(list_files(library)) == 1


@pytest.mark.usefixtures("always_written")
def test_a_file_with_other_content_is_rebuilt(engine: Engine, library: Library, folder: Make) -> None:
    for number in range(5):
        folder(f"f{number}", attributes={"place": f"a place of some length {number}"})
    check(library, everything())
    path = list_files(library)[0] / "values.arrow"
    engine.libraries.release(library.path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"some length 3", b"some length 8"))
    assert path.read_bytes() != data
    check(engine.libraries.get(library.path), everything())


@pytest.mark.usefixtures("always_written")
def test_a_file_in_another_format_is_rebuilt(
    engine: Engine, library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        folder(f"f{number}")
    check(library, everything())
    before = list_files(library)
    monkeypatch.setattr(store, "FORM", store.FORM + 1)
    library = reopen(engine, library)
    check(library, everything())
    assert not set(before) & set(list_files(library))


@pytest.mark.usefixtures("always_written")
def test_a_file_from_before_a_migration_is_rebuilt(
    engine: Engine, library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A migration changes rows without a step, so the history does not contain it."""
    for number in range(5):
        folder(f"f{number}", attributes={"place": "Lima"})
    check(library, everything())
    before = list_files(library)
    migrated = [replace(family, version=family.version + 1) for family in library.schema.families]
    monkeypatch.setattr(library.schema, "families", migrated)
    library.held.clear()
    check(library, everything())
    assert not set(before) & set(list_files(library))


@pytest.mark.usefixtures("always_written")
def test_a_file_removed_while_the_project_is_open_is_rebuilt(library: Library, folder: Make) -> None:
    for number in range(5):
        folder(f"f{number}", attributes={"place": "Lima"})
    check(library, everything(facets=[]))
    shutil.rmtree(library.path / "derived")
    check(library, everything())
    check(library, everything(facets=["document.status"]))


@pytest.mark.usefixtures("always_written")
def test_after_restoring_a_snapshot_its_content_is_answered(
    engine: Engine, library: Library, folder: Make, do: Run
) -> None:
    boxes = [folder(f"f{number}", attributes={"place": "before"}) for number in range(4)]
    check(library, everything())
    copy = Path(str(library.snapshot("by hand")["path"])) / "library.sqlite"
    do("document.update", {"document_id": boxes[0], "attributes": {"place": "lost"}})
    # Enough changes to be written, so that the file is newer than the restored database.
    for box in boxes:
        do("document.update", {"document_id": box, "is_starred": True})
        check(library, everything())
    engine.libraries.release(library.path)
    for name in ("library.sqlite-wal", "library.sqlite-shm"):
        (library.path / name).unlink(missing_ok=True)
    shutil.copyfile(copy, library.path / "library.sqlite")
    library = engine.libraries.get(library.path)
    # As many other steps as were lost: their numbers, and those of their changes, are the same as before.
    for number in range(5):
        engine.run(library, "document.update", {"document_id": boxes[1], "name": f"again {number}"}, OWNER)
    check(library, everything())
    library = reopen(engine, library)
    check(library, everything())


@pytest.mark.usefixtures("always_written")
def test_what_empty_trash_removed_is_not_on_the_disk(library: Library, folder: Make, do: Run) -> None:
    kept_folder = folder("Kept")
    removed_folder = folder("Gone", kept_folder, attributes={"place": "a secret place"})
    folder("Other", kept_folder)
    check(library, everything())
    assert b"a secret place" in b"".join(path.read_bytes() for path in list_files(library)[0].iterdir())
    do("document.delete", {"ids": [removed_folder]})
    check(library, everything())
    do("document.empty_trash", {})
    assert list_files(library) == []
    # After the purge the numbers of the history continue where the removed ones began.
    folder("New", kept_folder)
    check(library, everything())
    names = [row["name"] for row in dataset(library, everything())["rows"]]
    assert sorted(names) == ["Kept", "New", "Other", "Sources"]
    assert b"a secret place" not in b"".join(path.read_bytes() for path in list_files(library)[0].iterdir())


def test_what_empty_trash_removed_is_gone_for_a_concurrent_request(
    library: Library, folder: Make, do: Run
) -> None:
    """A concurrent request may hold the old columns while their files are removed."""
    kept_folder = folder("Kept")
    removed_folder = folder("Gone", kept_folder)
    do("document.delete", {"ids": [removed_folder]})
    folder("Later", kept_folder)
    check(library, everything())
    before = dict(library.held)
    do("document.empty_trash", {})
    library.held.update(before)
    folder("New", kept_folder)
    check(library, everything())
    with library.db.read() as conn:
        assert removed_folder not in keeper_of(library).table(raw_of(conn)).ids, (
            "nothing of it stays in memory"
        )


def test_many_changes_at_once_make_the_project_be_read_again(
    engine: Engine, library: Library, folder: Make, do: Run
) -> None:
    box = folder("Box")
    query = DatasetQuery.model_validate({"parent_id": box, "sort": {"attr": "document.name"}})
    check(library, query)
    nodes = [{"id": new_id(), "parent_id": box, "doc_type": "file", "name": f"n{n}"} for n in range(2_100)]
    for start in range(0, len(nodes), 500):
        do("document.add_files", {"nodes": nodes[start : start + 500]})
    check(library, query)
    assert len(list_files(library)) == 1


@pytest.mark.usefixtures("always_written")
def test_a_disk_that_takes_no_file_gets_none_and_the_answer_is_right(
    engine: Engine, library: Library, folder: Make
) -> None:
    # A folder cannot be created where there is a file, not even by root.
    (library.path / "derived" / "dataset").write_bytes(b"")
    for number in range(5):
        folder(f"f{number}", attributes={"place": number})
        check(library, everything())
    library = reopen(engine, library)
    check(library, everything())
    assert (library.path / "derived" / "dataset").read_bytes() == b""


@pytest.mark.usefixtures("always_written")
@pytest.mark.parametrize("link", ["derived", "derived/dataset"])
def test_a_link_out_of_the_package_is_not_followed(
    library: Library, folder: Make, do: Run, tmp_path: Path, link: str
) -> None:
    """A package may come from anywhere: where the link leads, nothing is written or removed."""
    outside = tmp_path / "outside"
    mine = outside / ("dataset/" if link == "derived" else "") / "000000000001-12345678"
    mine.mkdir(parents=True)
    (library.path / "derived" / "dataset").mkdir(exist_ok=True)
    shutil.rmtree(library.path / link)
    (library.path / link).symlink_to(outside)
    before = sorted(outside.rglob("*"))
    for number in range(5):
        removed_folder = folder(f"f{number}", attributes={"place": number})
        check(library, everything())
    do("document.delete", {"ids": [removed_folder]})
    do("document.empty_trash", {})
    check(library, everything())
    assert sorted(outside.rglob("*")) == before


@pytest.mark.usefixtures("always_written")
def test_a_full_disk_leaves_nothing_half_written(
    library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, frame: Any) -> int:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write", full)
    for number in range(5):
        folder(f"f{number}", attributes={"place": number})
    check(library, everything())
    assert list_files(library) == []


@pytest.mark.usefixtures("always_written")
def test_columns_that_do_not_fit_into_memory_are_read_again(
    library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        folder(f"f{number}", attributes={"place": str(number) * 500, "n": number})
    monkeypatch.setattr(store, "MOST_BYTES", 10)
    for _ in range(2):
        check(library, everything(sort={"attr": "n", "type": "number"}))
    part, _ = store.load(library) or pytest.fail("not written")
    for name in ("n", "place", "document.name"):
        assert part.column(name) is not None
        assert list(part._loaded) == [name], "the one longest unasked went"


def test_what_a_caller_sends_is_never_the_name_of_a_column_or_a_pattern(
    library: Library, folder: Make
) -> None:
    """In some places polars takes a text for the name of a column, and ^…$ for a pattern of names."""
    hostile = ["text", "json", "number", "^.*$", "*", "place", "id", "", "nul\u0000l", "(", "$1", "col('x')"]
    for number, value in enumerate(hostile):
        folder(f"f{number}", attributes={"place": value, value or "empty": value})
    for value in hostile:
        for attr in ("place", value or "empty"):
            if min(map(ord, attr)) < 32:
                continue
            for op in ("eq", "ne", "contains", "has", "gte", "lte", "between"):
                one = {"attr": attr, "op": op, "value": value}
                one |= {"value2": value} if op == "between" else {}
                check(library, everything(filters=[one], sort={"attr": attr}, facets=[attr]))
            check(library, everything(prototype_key=value))


@pytest.mark.usefixtures("always_written")
def test_an_answer_is_read_from_one_snapshot(
    library: Library, folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        folder(f"f{number}")
    read, reads = library.db.read, []
    monkeypatch.setattr(library.db, "read", lambda: reads.append("read") or read())
    # The columns come from the rows first, then from their file, then from memory.
    for _ in range(3):
        reads.clear()
        dataset(library, everything())
        assert reads == ["read"]
        library.held.clear()


def test_the_columns_go_with_the_project(engine: Engine, library: Library, folder: Make) -> None:
    folder("Box")
    dataset(library, everything())
    held = weakref.ref(keeper_of(library))
    engine.libraries.release(library.path)
    gc.collect()
    assert held() is None
    opened = engine.libraries.get(library.path)
    assert "documents.dataset" not in opened.held
    assert dataset(opened, everything())["total"] == 2


def test_starting_an_engine_loads_no_polars(tmp_path: Path) -> None:
    asked = (
        "import sys; from armarium_documents.plugin import armarium_plugin; armarium_plugin();"
        " import armarium_documents.queries.dataset.answer; print({'polars', 'numpy'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


@pytest.mark.usefixtures("always_written")
def test_concurrent_queries_during_writes(library: Library, folder: Make) -> None:
    box = folder("Box")
    query = DatasetQuery.model_validate(
        {"recursive": True, "facets": ["n"], "sort": {"attr": "n", "type": "number"}}
    )
    failures: list[BaseException] = []
    stop = threading.Event()

    def ask() -> None:
        try:
            while not stop.is_set():
                found = dataset(library, query)
                # Counts and rows come from one snapshot.
                counted = sum(entry["count"] for entry in found["facets"]["n"])
                assert counted == found["total"] - 2 == len(found["rows"]) - 2
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(60):
        folder(f"f{number}", box, attributes={"n": number % 7})
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    check(library, query)
