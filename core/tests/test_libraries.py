"""Packages on disk: created whole or not at all, held by one engine, refused with a sentence when something is wrong."""

from __future__ import annotations

import errno
import json
import os
import resource
import sqlite3
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, NotFound, ServiceError, Unavailable, refused_by_disk
from armarium.principals import LOCAL_OWNER
from armarium.projects import doctor, libraries, snapshots
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE
from armarium_testing.digest import table_digests
from armarium_testing.shelf import shelf_plugin


def test_a_new_package_has_its_folders_and_nothing_is_left_beside_it(
    shelf_library: Library, tmp_path: Path
) -> None:
    names = {path.name for path in shelf_library.path.iterdir()}
    assert {"library.json", DATABASE, "objects", "models", "recipe", "derived", "snapshots"} <= names
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".new")]


def test_a_failing_seed_leaves_nothing(make_engine, tmp_path: Path) -> None:
    from dataclasses import replace

    def fail(ctx) -> None:
        raise Unavailable("No.")

    engine = make_engine(plugins=[replace(shelf_plugin(), on_create=(fail,))])
    with pytest.raises(Unavailable):
        engine.run(None, "library.create", {"path": str(tmp_path / "A.library")}, LOCAL_OWNER)
    assert [path.name for path in tmp_path.iterdir()] == ["state-0"]
    assert engine.libraries.list_registered() == []


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("relative.library", Forbidden),
        ("{tmp}/x/../A.library", Forbidden),
        ("{tmp}/A.folder", Forbidden),
        ("/usr/lib/A.library", Forbidden),
        ("{tmp}/missing.library", NotFound),
    ],
)
def test_paths_that_name_no_project_are_refused(
    shelf_engine: Engine, tmp_path: Path, path: str, error: type
) -> None:
    with pytest.raises(error):
        shelf_engine.libraries.get(path.format(tmp=tmp_path))


def test_a_link_out_of_the_allowed_folders_is_refused(make_engine, tmp_path: Path, monkeypatch) -> None:
    import armarium.engine as engine_module

    monkeypatch.setattr(engine_module, "allowed_roots", lambda extra: list(extra))
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "A.library").symlink_to("/usr/lib", target_is_directory=True)
    engine = make_engine(plugins=[], library_roots=[tmp_path / "inside"])
    with pytest.raises(Forbidden, match="outside"):
        engine.libraries.get(tmp_path / "inside" / "A.library")


def test_a_second_engine_is_refused_with_the_name_of_the_holder(shelf_library: Library, make_engine) -> None:
    other_engine = make_engine(plugins=[shelf_plugin()])
    with pytest.raises(Conflict, match=r"held by another engine \(process \d+ on") as refused:
        other_engine.libraries.get(shelf_library.path)
    assert refused.value.code == "library_locked"


def _close_project(engine: Engine, library: Library) -> Path:
    engine.libraries.release(library.path)
    return library.path


def test_a_package_without_database(shelf_engine: Engine, shelf_library: Library) -> None:
    path = _close_project(shelf_engine, shelf_library)
    (path / DATABASE).unlink()
    with pytest.raises(Conflict, match="incomplete") as refused:
        shelf_engine.libraries.get(path)
    assert refused.value.code == "library_damaged"
    assert doctor.examine(shelf_engine, path)["healthy"] is False


@pytest.mark.parametrize("damage", ["text", "head", "middle"])
def test_a_corrupt_database(shelf_engine: Engine, shelf_library: Library, run, damage: str) -> None:
    for number in range(50):
        run("shelf.create", name=f"shelf {number}")
    shelf_library.snapshot("before the damage")
    path = _close_project(shelf_engine, shelf_library)
    data = bytearray((path / DATABASE).read_bytes())
    if damage == "text":
        data = bytearray(b"this is not a database " * 100)
    elif damage == "head":
        data[0:100] = b"\xff" * 100
    else:
        data[4096 * 2 : 4096 * 30] = b"\xa5" * (4096 * 28)
    (path / DATABASE).write_bytes(bytes(data))
    report = doctor.examine(shelf_engine, path)
    assert report["healthy"] is False
    if damage != "middle":
        assert "snapshot" in report["findings"][0]["what"]


def test_damage_found_at_opening_is_attributed_to_the_project_not_to_the_engines_database(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    # The registry does not know the new path, so the project is registered again, with its settings.
    path = _close_project(shelf_engine, shelf_library).rename(shelf_library.path.with_name("Copied.library"))
    with sqlite3.connect(path / DATABASE) as raw:
        pages = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'library_setting' AND rootpage > 0"
        roots = [page for (page,) in raw.execute(pages)]
        (size,) = raw.execute("PRAGMA page_size").fetchone()
    raw.close()
    with (path / DATABASE).open("r+b") as file:
        for page in roots:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)
    with pytest.raises(Conflict, match=f"The database of {path.name} is damaged") as refused:
        shelf_engine.libraries.get(path)
    assert refused.value.code == "library_damaged"
    assert doctor.examine(shelf_engine, path)["healthy"] is False


@pytest.fixture
def files_left():
    """Sets how many more files this process may open; restores the limit afterwards."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    def leave(number: int | None) -> None:
        allowed = before[0]
        if number is not None:
            taken = set(map(int, os.listdir("/dev/fd")))
            # A new file gets the lowest free number, and no number may reach the limit.
            allowed = next(islice((n for n in count() if n not in taken), number, None))
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, before[1]))

    yield leave
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_project_that_would_be_one_file_too_many_is_not_called_damaged_nor_left_locked(
    shelf_engine: Engine, shelf_library: Library, files_left
) -> None:
    path = str(shelf_library.path)
    refused: list[Exception] = []
    for number in range(12):
        shelf_engine.run(None, "library.release", {"path": path}, LOCAL_OWNER)
        files_left(number)
        try:
            shelf_engine.libraries.get(path)
        except (ServiceError, OSError) as error:
            refused.append(error)
        finally:
            files_left(None)
    codes = {(refused_by_disk(error) or error).code for error in refused}
    assert len(refused) > 3
    assert codes == {"too_many_files"}
    assert shelf_engine.libraries.get(path).settings() is not None


def test_a_project_whose_holder_cannot_be_noted_is_not_left_locked(
    shelf_engine: Engine, shelf_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(shelf_library.path)
    shelf_engine.run(None, "library.release", {"path": path}, LOCAL_OWNER)

    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(libraries, "note_holder", full)
        with pytest.raises(Unavailable, match="disk is full"):
            shelf_engine.libraries.get(path)
    assert shelf_engine.libraries.get(path).path == shelf_library.path


def test_what_prevents_an_examination_is_not_a_finding(
    shelf_engine: Engine, shelf_library: Library, make_engine
) -> None:
    shelf_library.snapshot("by hand")
    with pytest.raises(Conflict, match="held by another engine"):
        doctor.examine(make_engine(plugins=[shelf_plugin()]), shelf_library.path)
    with pytest.raises(NotFound):
        doctor.examine(shelf_engine, shelf_library.path.with_name("None.library"))


def test_a_package_of_a_newer_engine_is_left_alone(shelf_engine: Engine, shelf_library: Library) -> None:
    path = _close_project(shelf_engine, shelf_library)
    card = json.loads((path / "library.json").read_text())
    (path / "library.json").write_text(json.dumps({**card, "format": 99}))
    before = (path / DATABASE).read_bytes()
    with pytest.raises(Conflict, match="newer engine") as refused:
        shelf_engine.libraries.get(path)
    assert refused.value.code == "library_too_new"
    assert (path / DATABASE).read_bytes() == before


def test_tables_of_a_newer_family_are_left_alone(shelf_engine: Engine, shelf_library: Library) -> None:
    path = _close_project(shelf_engine, shelf_library)
    other = sqlite3.connect(path / DATABASE)
    other.execute("UPDATE schema_version SET version = 7 WHERE family = 'shelf'")
    other.commit()
    other.close()
    with pytest.raises(Conflict, match="newer version of shelf"):
        shelf_engine.libraries.get(path)


def test_a_missing_plugin_leaves_its_tables_untouched(
    run, shelf_engine: Engine, shelf_library, make_engine
) -> None:
    run("shelf.create", name="A")
    before = table_digests(shelf_library.db, shelf_engine.library_schema)
    path = _close_project(shelf_engine, shelf_library)
    bare = make_engine(plugins=[])
    bare.run(bare.libraries.get(path), "library.set", {"name": "Bare"}, LOCAL_OWNER)
    bare.libraries.release(path)
    library = shelf_engine.libraries.get(path)
    after = table_digests(library.db, shelf_engine.library_schema)
    assert {k: v for k, v in after.items() if k.startswith("shelf")} == {
        k: v for k, v in before.items() if k.startswith("shelf")
    }


def test_a_migration_takes_a_snapshot_first_and_changes_the_history_too(
    run, shelf_engine: Engine, shelf_library, make_engine, tmp_path: Path
) -> None:
    from dataclasses import replace

    from sqlalchemy import Column, MetaData, Text

    from armarium.history.schema import alter_tracked
    from armarium.plugin import Migration
    from armarium_testing import shelf

    result = run("shelf.create", name="A")
    path = _close_project(shelf_engine, shelf_library)
    newer = MetaData()
    for table in shelf.metadata.sorted_tables:
        copy = table.to_metadata(newer)
        copy.info.update(table.info)
    newer.tables["shelf"].append_column(Column("colour", Text))

    def upgrade(op) -> None:
        alter_tracked(op, "shelf", lambda name: op.add_column(name, Column("colour", Text)))

    plugin = replace(
        shelf_plugin(), metadata=newer, version=2, migrations=(Migration(2, "shelves have colours", upgrade),)
    )
    engine = make_engine(plugins=[plugin])
    library = engine.libraries.get(path)
    assert [entry["reason"] for entry in snapshots.list_snapshots(path)] == ["before a migration"]
    assert library.db.refusal is None
    engine.undo(library, [result.audit_id], LOCAL_OWNER)


def test_a_snapshot_that_cannot_be_made_is_refused_and_leaves_nothing(
    shelf_library: Library, monkeypatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(snapshots.os, "rename", full)
    with pytest.raises(Unavailable, match="No space left"):
        shelf_library.snapshot("now")
    assert list(shelf_library.snapshots.iterdir()) == []


def test_snapshots_are_thinned_to_the_number_kept(run, shelf_library: Library) -> None:
    run("library.set", snapshot_retention_count=2)
    for _ in range(4):
        run("snapshot.take")
    assert len(snapshots.list_snapshots(shelf_library.path)) == 2


def test_resolve_by_path_then_by_name(shelf_engine: Engine, shelf_library: Library, tmp_path: Path) -> None:
    libraries = shelf_engine.libraries
    assert libraries.resolve(str(shelf_library.path))["path"] == str(shelf_library.path)
    assert libraries.resolve("SHELVES")["path"] == str(shelf_library.path)
    with pytest.raises(NotFound) as missing:
        libraries.resolve("nothing")
    assert missing.value.fields["known"] == [{"name": "Shelves", "path": str(shelf_library.path)}]
    (tmp_path / "b").mkdir()
    shelf_engine.run(None, "library.create", {"path": str(tmp_path / "b" / "Shelves.library")}, LOCAL_OWNER)
    with pytest.raises(Conflict) as two:
        libraries.resolve("shelves")
    assert len(two.value.fields["paths"]) == 2


def test_release_lets_another_engine_have_it_and_a_request_reopens_it(
    shelf_engine: Engine, shelf_library: Library, make_engine
) -> None:
    path = shelf_library.path
    answer = shelf_engine.run(None, "library.release", {"path": str(path)}, LOCAL_OWNER).result
    assert (answer["status"], answer["registered"]) == ("released", True)
    second_result = shelf_engine.run(None, "library.release", {"path": str(path)}, LOCAL_OWNER).result
    assert second_result["status"] == "not_open"
    other_engine = make_engine(plugins=[shelf_plugin()])
    other_engine.libraries.get(path)
    other_engine.libraries.release(path)
    assert shelf_engine.libraries.get(path).path == path


def test_the_global_library_is_never_released(shelf_engine: Engine) -> None:
    path = shelf_engine.settings.state_dir / "Global.library"
    shelf_engine.libraries.create(path, None, LOCAL_OWNER)
    with pytest.raises(Conflict, match="global library"):
        shelf_engine.run(None, "library.release", {"path": str(path)}, LOCAL_OWNER)


def test_unregister_and_undo(shelf_engine: Engine, shelf_library: Library) -> None:
    path = str(shelf_library.path)
    outcome = shelf_engine.run(None, "library.unregister", {"path": path}, LOCAL_OWNER)
    assert shelf_engine.libraries.list_registered() == []
    shelf_engine.undo(None, [outcome.audit_id], LOCAL_OWNER)
    assert [entry["path"] for entry in shelf_engine.libraries.list_registered()] == [path]
    with pytest.raises(ServiceError, match="registered"):
        shelf_engine.run(None, "library.unregister", {"path": path.replace("Shelves", "Other")}, LOCAL_OWNER)


def test_the_doctor_finds_every_flipped_byte_of_a_kept_file(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    digest = shelf_library.objects.put_bytes(b"a page photograph")
    assert doctor.examine(shelf_engine, shelf_library.path)["healthy"]
    path = shelf_library.objects.path(digest)
    for position in range(len(b"a page photograph")):
        data = bytearray(b"a page photograph")
        data[position] ^= 1
        path.chmod(0o644)
        path.write_bytes(bytes(data))
        assert not doctor.examine(shelf_engine, shelf_library.path)["healthy"]


def test_no_project_is_made_inside_another(
    shelf_engine: Engine, shelf_library: Library, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(shelf_library.path)
    for inside in (shelf_library.path, shelf_library.models, linked):
        with pytest.raises(Forbidden, match="inside a project, which keeps its own files"):
            shelf_engine.run(None, "library.create", {"path": str(inside / "In.library")}, LOCAL_OWNER)
        assert not (inside / "In.library").exists()


def test_an_editor_takes_a_project_out_of_the_registry(shelf_engine: Engine, shelf_library: Library) -> None:
    """The package stays on disk; the action is not reserved to the owner."""
    editor, viewer = (replace(LOCAL_OWNER, role=role) for role in ("editor", "viewer"))
    path = str(shelf_library.path)
    with pytest.raises(Forbidden):
        shelf_engine.run(None, "library.unregister", {"path": path}, viewer)
    outcome = shelf_engine.run(None, "library.unregister", {"path": path}, editor)
    opened = shelf_engine.run(None, "library.open", {"path": path}, viewer)
    with pytest.raises(Forbidden):
        shelf_engine.undo(None, [opened.audit_id], viewer)
    shelf_engine.undo(None, [opened.audit_id], editor)
    assert shelf_engine.libraries.list_registered() == []
    shelf_engine.undo(None, [outcome.audit_id], editor)
    bound = replace(editor, libraries=frozenset({"/another.library"}))
    with pytest.raises(Forbidden):
        shelf_engine.run(None, "library.unregister", {"path": path}, bound)


def _sentences(engine: Engine, library: Library) -> str:
    return " ".join(finding["what"] for finding in doctor.examine(engine, library.path)["findings"])


def test_no_change_is_made_in_the_name_of_another_step(shelf_engine: Engine, shelf_library: Library) -> None:
    shelf_engine.run(shelf_library, "shelf.create", {"name": "A"}, LOCAL_OWNER)
    shell = sqlite3.connect(shelf_library.db.path, isolation_level=None)
    try:
        for statement in (
            "UPDATE audit_current SET audit_seq = (SELECT max(seq) FROM audit)",
            "UPDATE OR IGNORE audit_current SET audit_seq = 1",
            "INSERT OR REPLACE INTO audit_current (one, audit_seq) VALUES (1, 1)",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="step"):
                shell.execute(statement)
        # This may name the next step, but must not end it without its row in the log.
        shell.execute("UPDATE audit_current SET audit_seq = (SELECT max(seq) + 1 FROM audit)")
        shell.execute("UPDATE shelf SET name = 'B'")
        with pytest.raises(sqlite3.IntegrityError, match="audit log"):
            shell.execute("UPDATE audit_current SET audit_seq = NULL")
    finally:
        shell.close()
    assert not doctor.examine(shelf_engine, shelf_library.path)["healthy"]


def test_the_doctor_sees_what_was_written_in_the_name_of_an_earlier_step(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    for name in "ABC":
        shelf_engine.run(shelf_library, "shelf.create", {"name": name}, LOCAL_OWNER)
    assert doctor.examine(shelf_engine, shelf_library.path)["healthy"]
    shell = sqlite3.connect(shelf_library.db.path, isolation_level=None)
    triggers = shell.execute(
        "SELECT name, sql FROM sqlite_master WHERE name LIKE 'audit_current%' AND type = 'trigger'"
    )
    rows = triggers.fetchall()
    for name, _ in rows:
        shell.execute(f"DROP TRIGGER {name}")
    shell.execute("UPDATE audit_current SET audit_seq = 2")
    shell.execute("UPDATE shelf SET name = 'Z' WHERE name = 'A'")
    shell.execute("UPDATE audit_current SET audit_seq = NULL")
    for _, statement in rows:
        shell.execute(statement)
    shell.close()
    assert "in the name of step 2 that came after those of step 4" in _sentences(shelf_engine, shelf_library)


def _without_guards(library: Library, *statements: str) -> None:
    """Run *statements* in the sqlite3 shell as somebody would who removes the triggers and restores them."""
    shell = sqlite3.connect(library.db.path, isolation_level=None)
    rows = shell.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND (name LIKE 'audit%' OR name LIKE '%\\_no\\_%'"
        " ESCAPE '\\')"
    ).fetchall()
    for name, _ in rows:
        shell.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        shell.execute(statement)
    for _, statement in rows:
        shell.execute(statement)
    shell.close()


IN_THE_NAME_OF = "UPDATE audit_current SET audit_seq = {}"


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        # In the name of the newest step, which the order of the images does not reveal.
        (
            (
                IN_THE_NAME_OF.format("(SELECT max(seq) FROM audit)"),
                "UPDATE shelf SET name = 'Z' WHERE name = 'A'",
                IN_THE_NAME_OF.format("NULL"),
            ),
            "shelf__history holds 2 images of step 4, which left 1",
        ),
        (
            ("DELETE FROM shelf__history WHERE audit_seq = 3",),
            "shelf__history holds 0 images of step 3, which left 1",
        ),
        (
            ("UPDATE shelf__history SET audit_seq = 3 WHERE audit_seq = 4",),
            "shelf__history holds 2 images of step 3, which left 1",
        ),
        (("UPDATE audit SET images = '{}' WHERE seq = 3",), "Row 3 of the audit log"),
    ],
)
def test_the_doctor_counts_the_images_of_each_step(
    shelf_engine: Engine, shelf_library: Library, statements: tuple[str, ...], told: str
) -> None:
    for name in "ABC":
        shelf_engine.run(shelf_library, "shelf.create", {"name": name}, LOCAL_OWNER)
    assert doctor.examine(shelf_engine, shelf_library.path)["healthy"]
    _without_guards(shelf_library, *statements)
    assert told in _sentences(shelf_engine, shelf_library)


def test_a_step_that_another_program_left_open_is_not_taken_for_ones_own(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    shelf_engine.run(shelf_library, "shelf.create", {"name": "A"}, LOCAL_OWNER)
    shell = sqlite3.connect(shelf_library.db.path, isolation_level=None)
    shell.execute(IN_THE_NAME_OF.format("(SELECT max(seq) + 1 FROM audit)"))
    shell.execute("UPDATE shelf SET name = 'Z'")
    shell.close()
    with pytest.raises(Conflict, match="another program left one open"):
        shelf_engine.run(shelf_library, "shelf.create", {"name": "B"}, LOCAL_OWNER)


def test_the_doctor_does_not_send_to_the_doctor(shelf_engine: Engine, shelf_library: Library) -> None:
    with shelf_library.db.write() as conn:
        conn.exec_driver_sql("DROP TRIGGER shelf__history_insert")
    path = shelf_library.path
    shelf_engine.libraries.release(path)
    library = shelf_engine.libraries.get(path)
    sentences = _sentences(shelf_engine, library)
    assert "shelf__history_insert" in sentences
    assert "armarium doctor" not in sentences
