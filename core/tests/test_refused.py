"""Refusals of the core for which the machine must be in a bad state: each is produced here, with its sentence and code."""

from __future__ import annotations

import io
import os
import shutil
import socket
import sqlite3
import struct
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from armarium.actions.rights import clash
from armarium.api import (
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Unavailable,
    open_image,
    open_plain,
    parse_xml,
    read_member,
)
from armarium.auth import secret_files
from armarium.engine import Engine
from armarium.errors import Unauthorized
from armarium.guard import check_archive
from armarium.network.egress import Egress
from armarium.network.transport import _Backend, seconds_left
from armarium.principals import LOCAL_OWNER
from armarium.projects import libraries, packages
from armarium.projects.libraries import Library
from armarium.store import database as databases
from armarium.store.database import Database
from armarium.store.database_errors import as_refusal
from armarium.web import serving
from armarium.web.http import principal_of

# ------------------------------------------------------------------------------------------- actions and access


def test_an_action_of_a_project_is_not_run_without_one(shelf_engine: Engine) -> None:
    with pytest.raises(BadRequest) as refused:
        shelf_engine.run(None, "shelf.add", {"shelf_id": "s", "title": "x"}, LOCAL_OWNER)
    assert refused.value.code == "library_required"


def test_a_violated_constraint_is_refused_with_a_sentence() -> None:
    for text, code in (
        ("FOREIGN KEY constraint failed", "still_referenced"),
        ("UNIQUE failed: a.b", "already_exists"),
    ):
        found = clash(IntegrityError("", {}, sqlite3.IntegrityError(text)))
        assert isinstance(found, Conflict)
        assert found.code == code


def test_a_session_is_made_from_something(shelf_engine: Engine) -> None:
    nobody = replace(LOCAL_OWNER, token_kind="none")
    with pytest.raises(Forbidden, match="token or a pairing code"):
        shelf_engine.run(None, "token.session", {"name": "x"}, nobody)


def test_a_route_without_a_token_says_what_to_send() -> None:
    with pytest.raises(Unauthorized) as refused:
        principal_of(SimpleNamespace(scope={}))  # type: ignore[arg-type]
    assert refused.value.code == "missing_token"


def test_a_secret_that_is_no_text_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(Unavailable, match=r"'secret'.*cannot be read"):
        secret_files.read_private(tmp_path / "secret")


# ------------------------------------------------------------------------------------------------------ databases


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("database or disk is full", "disk_full"),
        ("attempt to write a readonly database", "read_only"),
        ("disk I/O error", "disk_error"),
        ("unable to open database file", "disk_error"),
        ("database disk image is malformed", "library_damaged"),
    ],
)
def test_errors_of_sqlite_become_refusals_with_a_sentence(tmp_path: Path, text: str, code: str) -> None:
    said = sqlite3.OperationalError(text)
    if code == "library_damaged":
        said.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    found = as_refusal(said, tmp_path / "Letters.library" / "library.sqlite")
    assert isinstance(found, Unavailable | Conflict)
    assert found.code == code
    assert "Letters.library" in found.detail
    bug = ValueError("something else")
    assert as_refusal(bug, tmp_path) is bug


def test_a_write_that_waits_too_long_and_one_to_a_closed_project_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path / "one.sqlite", create=True)
    monkeypatch.setattr(databases, "WRITER_WAIT", 0.01)
    waited: list[Unavailable] = []

    def other() -> None:
        with pytest.raises(Unavailable) as refused, database.write():
            pass
        waited.append(refused.value)

    import threading

    with database.write():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert [one.code for one in waited] == ["busy"]
    database.close()
    with pytest.raises(Unavailable) as refused, database.write():
        pass
    assert refused.value.code == "closed"


# ------------------------------------------------------------------------------------------------------- packages


@pytest.fixture
def package(shelf_engine: Engine, shelf_library: Library) -> Path:
    """A package that is not open."""
    place = shelf_library.path
    shelf_engine.libraries.release(place)
    return place


def open_project(engine: Engine, place: Path) -> Library:
    return engine.libraries.get(place)


def test_a_package_whose_card_is_lost_is_refused(shelf_engine: Engine, package: Path) -> None:
    (package / "library.json").write_text("{")
    with pytest.raises(Conflict, match="incomplete") as refused:
        open_project(shelf_engine, package)
    assert refused.value.code == "library_damaged"


def test_a_package_whose_part_is_a_link_is_refused(
    shelf_engine: Engine, package: Path, tmp_path: Path
) -> None:
    shutil.rmtree(package / "objects")
    (package / "objects").symlink_to(tmp_path)
    with pytest.raises(Conflict, match="objects is a link"):
        open_project(shelf_engine, package)


def _changed_from_outside(place: Path, *statements: str) -> None:
    raw = sqlite3.connect(place / "library.sqlite", isolation_level=None)
    raw.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        raw.execute(statement)
    raw.close()


def test_a_database_whose_tables_cannot_be_opened_is_refused(shelf_engine: Engine, package: Path) -> None:
    _changed_from_outside(
        package,
        "UPDATE sqlite_master SET sql = replace(sql, '\"lightest\"', '0') WHERE name = 'shelf_weight'",
    )
    with pytest.raises(Conflict, match=r"tables of .* cannot be opened .* restore a snapshot") as refused:
        open_project(shelf_engine, package)
    assert refused.value.code == "library_damaged"


def test_a_table_that_lacks_a_column_is_read_and_not_written(shelf_engine: Engine, package: Path) -> None:
    _changed_from_outside(
        package, "UPDATE sqlite_master SET sql = replace(sql, 'kept', 'kopt') WHERE name = 'shelf__history'"
    )
    library = open_project(shelf_engine, package)
    with pytest.raises(Conflict, match="table shelf__history lacks the column kept"):
        shelf_engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER)


def test_a_step_is_undone_where_a_letter_of_a_history_is_of_another_case(
    shelf_engine: Engine, package: Path
) -> None:
    _changed_from_outside(
        package,
        *(
            f"UPDATE sqlite_master SET {column} = replace({column}, 'shelf__history', 'shelf__histoRy')"
            " WHERE name LIKE 'shelf\\_\\_history' ESCAPE '\\'"
            for column in ("sql", "tbl_name", "name")
        ),
    )
    library = open_project(shelf_engine, package)
    result = shelf_engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER)
    shelf_engine.undo(library, [result.audit_id], LOCAL_OWNER)
    with library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM shelf").scalar_one() == 0


def test_a_queue_that_lacks_a_column_is_refused_by_its_name(shelf_engine: Engine, package: Path) -> None:
    _changed_from_outside(
        package,
        "UPDATE sqlite_master SET sql = replace(sql, 'lease_holder', 'lease_holdes') WHERE name = 'job'",
    )
    with pytest.raises(Conflict, match="table job lacks the column lease_holder") as refused:
        shelf_engine.jobs.attach(open_project(shelf_engine, package))
    assert refused.value.code == "library_damaged"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM audit_current", "which step is being made is gone"),
        ("UPDATE audit SET row_hash = x'00'", "last row of its audit log has no hash"),
    ],
)
def test_a_missing_table_of_the_engine_is_refused_with_a_sentence(
    shelf_engine: Engine, package: Path, statement: str, words: str
) -> None:
    guard = "audit__no_update"
    raw = sqlite3.connect(package / "library.sqlite", isolation_level=None)
    (trigger,) = raw.execute("SELECT sql FROM sqlite_master WHERE name = ?", (guard,)).fetchone()
    raw.execute(f"DROP TRIGGER {guard}")
    raw.execute(statement)
    raw.execute(trigger)
    raw.close()
    library = open_project(shelf_engine, package)
    with pytest.raises(Conflict, match=words) as refused:
        shelf_engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER)
    assert refused.value.code == "library_damaged"


def test_a_database_of_a_newer_engine_is_refused(shelf_engine: Engine, package: Path) -> None:
    raw = sqlite3.connect(package / "library.sqlite")
    raw.execute("PRAGMA user_version = 999")
    raw.close()
    with pytest.raises(Conflict, match="newer engine") as refused:
        open_project(shelf_engine, package)
    assert refused.value.code == "library_too_new"


def test_a_database_that_cannot_be_opened_is_reported(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Database:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(packages, "Database", fail)
    with pytest.raises(Unavailable) as refused:
        packages.open_database(package)
    assert refused.value.code == "read_only"


def test_a_package_that_cannot_be_locked_is_reported(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(packages.FileLock, "acquire", fail)
    with pytest.raises(Unavailable, match="cannot be locked"):
        packages.take_lock(package)


def test_a_project_is_not_made_in_a_folder_that_is_not_there(shelf_engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as refused:
        shelf_engine.run(None, "library.create", {"path": str(tmp_path / "no" / "A.library")}, LOCAL_OWNER)
    assert refused.value.code == "folder_not_found"


def test_a_project_that_cannot_be_made_leaves_nothing(
    shelf_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(libraries, "lay_out", fail)
    with pytest.raises(Unavailable, match="No space left"):
        shelf_engine.run(None, "library.create", {"path": str(tmp_path / "A.library")}, LOCAL_OWNER)
    assert not [name for name in os.listdir(tmp_path) if "A" in name and "library" in name]


def test_a_project_that_is_nowhere_is_not_released(shelf_engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(NotFound) as refused:
        shelf_engine.run(None, "library.release", {"path": str(tmp_path / "No.library")}, LOCAL_OWNER)
    assert refused.value.code == "library_not_found"


# --------------------------------------------------------------------------------------------------- untrusted files


def test_an_archive_with_a_link_in_it_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "a.zip"
    with zipfile.ZipFile(place, "w") as archive:
        link = zipfile.ZipInfo("page.xml")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(Invalid, match="a link or a device"):
        check_archive(place.read_bytes())


def test_a_damaged_member_of_an_archive_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "a.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("page.xml", "words" * 10)
    data = place.read_bytes().replace(b"wordswords", b"wordsWords")
    place.write_bytes(data)
    with zipfile.ZipFile(place) as archive, pytest.raises(Invalid, match="is damaged"):
        read_member(archive, archive.infolist()[0])


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "a.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("page.xml", "words")
    data = bytearray(place.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(Invalid, match="is encrypted"):
        check_archive(bytes(data))


def test_a_member_that_is_longer_than_it_says_is_refused() -> None:
    archive = SimpleNamespace(open=lambda _: io.BytesIO(b"more than said"))
    with pytest.raises(Invalid) as refused:
        read_member(archive, SimpleNamespace(filename="a", file_size=4))  # type: ignore[arg-type]
    assert refused.value.code == "archive_bomb"


@pytest.mark.parametrize("answer", [ValueError("odd"), None])
def test_xml_that_the_parser_gives_up_is_refused(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    from lxml import etree

    def parse(*_: Any) -> None:
        if answer is not None:
            raise answer

    monkeypatch.setattr(etree, "fromstring", parse)
    with pytest.raises(Invalid, match=r"page\.xml"):
        parse_xml(b"<a/>", name="page.xml")


def test_a_tiff_of_endless_pages_is_refused(tmp_path: Path) -> None:
    many = 40_000
    chain = b"".join(struct.pack("<HI", 0, 8 + 6 * (n + 1)) for n in range(many)) + struct.pack("<HI", 0, 0)
    place = tmp_path / "endless.tif"
    place.write_bytes(struct.pack("<2sHI", b"II", 42, 8) + chain)
    from armarium.guard.tiff import MAX_FRAMES, read_directories

    assert many > MAX_FRAMES
    with place.open("rb") as file, pytest.raises(Invalid, match="Split it"):
        read_directories(file, "endless.tif")


def test_a_picture_of_no_size_is_refused() -> None:
    from armarium.guard.images import _check_size

    with pytest.raises(Invalid) as refused:
        _check_size("a.png", 0, 10, 1000, 10)
    assert refused.value.code == "image_empty"


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(Invalid) as refused, open_image(tmp_path / "file" / "page.png"):
        pass
    assert refused.value.code == "file_unreadable"


def test_what_is_no_ordinary_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("s")
        for name, code in (("link", "became_a_link"), ("pipe", "not_a_file"), ("s", "not_a_file")):
            with pytest.raises(Invalid) as refused:
                open_plain(tmp_path / name, None)
            assert refused.value.code == code, name


# ------------------------------------------------------------------------------------- network, workers, listening


def test_a_wait_ends_when_the_requests_time_is_over() -> None:
    with pytest.raises(Unavailable, match="too long"):
        seconds_left(time.monotonic() - 1)


def test_a_runtime_is_not_fetched_offline_nor_removed_at_work(
    make_engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(local_only=True)
    monkeypatch.setattr(engine.runtimes, "is_installed", lambda name: False)
    with pytest.raises(Conflict) as refused:
        engine.run(None, "runtime.install", {"name": "kraken"}, LOCAL_OWNER)
    assert refused.value.code == "offline"
    monkeypatch.setattr(engine.workers, "in_use", lambda **_: True)
    with pytest.raises(Conflict) as refused:
        engine.run(None, "runtime.remove", {"name": "kraken"}, LOCAL_OWNER)
    assert refused.value.code == "in_use"


def test_a_worker_that_does_not_start_is_reported(
    shelf_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import armarium_worker

    def dies(*_: Any, **__: Any) -> None:
        raise armarium_worker.WorkerDied("It ended before it began.")

    class SilentWorker:
        ended = False

        def __init__(self, *_: Any, **__: Any) -> None: ...

        def hello(self) -> None:
            raise armarium_worker.WorkerError("It does not answer.")

        def kill(self) -> None:
            SilentWorker.ended = True

    for worker in (dies, SilentWorker):
        monkeypatch.setattr(armarium_worker, "WorkerProcess", worker)
        with pytest.raises(Unavailable) as refused:
            shelf_engine.workers._start(
                None, "armarium_worker.service:Reader", shelf_engine.workers._compute()
            )
        assert refused.value.code == "worker_died"
    assert SilentWorker.ended


def test_an_unusable_listening_address_is_refused(short_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(serving.socket, "getaddrinfo", fail)
    with pytest.raises(Invalid, match="cannot be found"):
        serving._bind_tcp("nowhere.invalid", 1)
    monkeypatch.setattr(serving.socket.socket, "bind", fail)
    with pytest.raises(Unavailable, match="Operation not permitted"):
        serving._bind_unix(short_home / "run" / "s")


def test_a_guarded_connection_opens_no_unix_socket() -> None:
    with pytest.raises(Forbidden):
        _Backend(Egress(local_only=False), "public").connect_unix_socket("/x")


def test_a_download_that_breaks_off_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import contextmanager

    egress = Egress(local_only=False)

    @contextmanager
    def short(*_: Any, **__: Any) -> Any:
        yield SimpleNamespace(status=200, headers={"content-length": "10"}, chunks=[b"half"])

    monkeypatch.setattr(egress, "open", short)
    with pytest.raises(Unavailable, match="broke off after 4 of 10"):
        egress.download("http://127.0.0.1/model", tmp_path / "model")
    assert os.listdir(tmp_path) == []
