"""A package that is moved, renamed, removed or replaced while the engine holds it is never written to in two places."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict, NotFound
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.shelf import shelf_plugin


def test_a_package_renamed_while_it_is_open_is_released_and_opened_at_its_new_place(
    run, shelf_engine: Engine, shelf_library: Library, tmp_path: Path
) -> None:
    run("library.set", name="Kept")
    old, fresh = shelf_library.path, tmp_path / "Renamed.library"
    old.rename(fresh)
    assert shelf_engine.libraries.open_at(str(old)) is None
    with pytest.raises(NotFound):
        shelf_engine.libraries.get(old)
    assert not old.exists()
    there = shelf_engine.libraries.get(fresh)
    assert there.name == "Kept"
    assert there.objects.has(there.objects.put_bytes(b"a page"))
    assert not old.exists()


def test_its_new_name_opens_first_too(shelf_engine: Engine, shelf_library: Library, tmp_path: Path) -> None:
    fresh = tmp_path / "Renamed.library"
    shelf_library.path.rename(fresh)
    assert shelf_engine.libraries.get(fresh).uuid == shelf_library.uuid
    assert [one.path for one in shelf_engine.libraries.open_now()] == [fresh]


def test_a_link_to_an_open_or_registered_package_is_no_second_project(
    shelf_engine: Engine, shelf_library: Library, tmp_path: Path
) -> None:
    link, libraries = tmp_path / "Link.library", shelf_engine.libraries
    link.symlink_to(shelf_library.path)
    (tmp_path / "way").symlink_to(tmp_path)
    for spelled in (link, tmp_path / "way" / shelf_library.path.name):
        assert libraries.get(spelled) is shelf_library
        shelf_engine.run(None, "library.open", {"path": str(spelled)}, LOCAL_OWNER)
        released = shelf_engine.run(None, "library.release", {"path": str(spelled)}, LOCAL_OWNER)
        assert released.result["status"] == "released"
        shelf_library = libraries.get(spelled)
    assert [entry["path"] for entry in libraries.list_registered()] == [str(shelf_library.path)]
    with pytest.raises(Conflict, match="already exists"):
        shelf_engine.run(None, "library.create", {"path": str(link), "name": "Second"}, LOCAL_OWNER)


def test_a_project_known_by_a_link_is_the_one_that_it_leads_to(
    shelf_engine: Engine, shelf_library: Library, tmp_path: Path
) -> None:
    place, link = shelf_library.path, tmp_path / "Link.library"
    shelf_engine.run(None, "library.release", {"path": str(place)}, LOCAL_OWNER)
    shelf_engine.run(None, "library.unregister", {"path": str(place)}, LOCAL_OWNER)
    link.symlink_to(place)
    assert shelf_engine.libraries.get(link).path == link
    assert shelf_engine.libraries.get(place).path == link
    assert [entry["path"] for entry in shelf_engine.libraries.list_registered()] == [str(link)]


def test_work_in_progress_makes_no_second_package(shelf_library: Library, tmp_path: Path) -> None:
    old = shelf_library.path
    old.rename(tmp_path / "Renamed.library")
    for write in (
        lambda: shelf_library.objects.put_bytes(b"a page"),
        lambda: shelf_library.objects.put_file(Path(__file__)),
        lambda: shelf_library.derived_folder,
        lambda: shelf_library.models,
    ):
        with pytest.raises(Conflict, match="not where it was opened any more") as refused:
            write()
        assert refused.value.code == "library_moved"
    assert not old.exists()


def test_a_package_removed_while_it_is_open_is_not_there(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    shutil.rmtree(shelf_library.path)
    with pytest.raises(NotFound):
        shelf_engine.libraries.get(shelf_library.path)
    assert shelf_engine.libraries.open_now() == []
    assert not shelf_library.path.exists()


def test_a_package_put_in_the_place_of_an_open_one_is_the_one_that_is_opened(
    shelf_engine: Engine, shelf_library: Library, make_engine, tmp_path: Path
) -> None:
    other_engine = make_engine(plugins=[shelf_plugin()])
    spare = tmp_path / "Spare.library"
    other_engine.run(None, "library.create", {"path": str(spare)}, LOCAL_OWNER)
    uuid = other_engine.libraries.get(spare).uuid
    other_engine.libraries.release(spare)
    shelf_library.path.rename(tmp_path / "Aside.library")
    spare.rename(shelf_library.path)
    assert shelf_engine.libraries.get(shelf_library.path).uuid == uuid
    assert shelf_engine.libraries.get(tmp_path / "Aside.library").uuid == shelf_library.uuid


def test_jobs_of_a_renamed_package_wait_for_its_new_name(make_engine, tmp_path: Path) -> None:
    engine = make_engine(plugins=[shelf_plugin()], jobs=True)
    old, fresh = tmp_path / "A.library", tmp_path / "B.library"
    engine.run(None, "library.create", {"path": str(old)}, LOCAL_OWNER)
    assert engine.jobs.store_of(engine.libraries.get(old)) is not None
    old.rename(fresh)
    there = engine.libraries.get(fresh)
    assert [store.path for store in engine.jobs.stores() if store.library is not None] == [str(there.path)]
