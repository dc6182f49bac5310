"""An action's slow part runs before the writer is taken; the object store uses links instead of copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import PrivateAttr

from armarium.actions import ActionContext, Params, action
from armarium.engine import Engine
from armarium.errors import Conflict, Invalid, NotFound
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium.store.database import Database
from armarium.store.objects import ObjectStore


class ReadParams(Params):
    word: str
    _found: str | None = PrivateAttr(default=None)


seen: list[str] = []


def read_ahead(engine: Engine, library: Library | None, p: ReadParams) -> None:
    if p.word == "refused":
        raise Invalid("This word is refused before anything is locked.")
    assert library is not None
    # The writer is free, so another step may be made meanwhile.
    with library.db.write():
        p._found = p.word.upper()


@action("ahead.read", params=ReadParams, summary="Read ahead.", prepare=read_ahead)
def read(ctx: ActionContext, p: ReadParams) -> dict[str, Any]:
    return {"found": p._found}


@action("ahead.inside", params=ReadParams, summary="Read ahead inside another step.")
def inside(ctx: ActionContext, p: ReadParams) -> dict[str, Any]:
    result: dict[str, Any] = ctx.run("ahead.read", {"word": p.word})
    return result


@pytest.fixture
def ahead(make_engine: Callable[..., Engine], tmp_path: Path) -> tuple[Engine, Library]:
    engine = make_engine(plugins=[Plugin(name="ahead", summary="Reads ahead", actions=(read, inside))])
    engine.run(None, "library.create", {"path": str(tmp_path / "Ahead.library")}, LOCAL_OWNER)
    return engine, engine.libraries.get(tmp_path / "Ahead.library")


def test_what_was_prepared_is_there_when_it_is_performed(ahead: tuple[Engine, Library]) -> None:
    engine, library = ahead
    assert engine.run(library, "ahead.read", {"word": "page"}, LOCAL_OWNER).result == {"found": "PAGE"}


def test_inside_another_action_nothing_is_prepared(ahead: tuple[Engine, Library]) -> None:
    engine, library = ahead
    assert engine.run(library, "ahead.inside", {"word": "page"}, LOCAL_OWNER).result == {"found": None}


def test_preparing_may_refuse_and_no_step_is_made(
    ahead: tuple[Engine, Library], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, library = ahead
    monkeypatch.setattr(Database, "write", lambda self: pytest.fail("the writer was taken"))
    with pytest.raises(Invalid, match="before anything is locked"):
        engine.run(library, "ahead.read", {"word": "refused"}, LOCAL_OWNER)


def test_a_linked_file_is_read_through_its_link_and_stays_its_owners(tmp_path: Path) -> None:
    original = tmp_path / "scan.png"
    original.write_bytes(b"pixels")
    store = ObjectStore(tmp_path / "objects")
    digest = store.link_file(original)
    assert store.path(digest).is_symlink()
    assert store.has(digest)
    assert not store.holds(digest)
    assert store.open(digest).read() == b"pixels"
    assert store.intact(digest)
    original.write_bytes(b"other pixels")
    assert not store.intact(digest)
    assert store.remove(digest) == 0
    assert original.read_bytes() == b"other pixels"


def test_a_path_that_is_handed_out_leads_to_the_stored_bytes(tmp_path: Path) -> None:
    """Whoever opens the path later gets the stored bytes, whatever became of the linked file."""
    store = ObjectStore(tmp_path / "objects")
    own = store.put_bytes(b"kept here")
    with store.hold_file(own) as path:
        assert path == store.path(own)
    original = tmp_path / "scan.png"
    original.write_bytes(b"pixels")
    digest = store.link_file(original)
    with store.hold_file(digest) as path:
        original.unlink()
        (tmp_path / "secret").write_bytes(b"secret")
        original.symlink_to(tmp_path / "secret")
        assert path.read_bytes() == b"pixels"
    assert not path.exists()
    with pytest.raises(Conflict, match="changed where it lies"), store.hold_file(digest):
        pass
    original.unlink()
    with pytest.raises(NotFound), store.hold_file(digest):
        pass
    assert not list((store.root / "tmp").iterdir())


def test_bytes_that_are_put_take_the_place_of_a_link_and_never_the_other_way(tmp_path: Path) -> None:
    original = tmp_path / "scan.png"
    original.write_bytes(b"pixels")
    store = ObjectStore(tmp_path / "objects")
    digest = store.link_file(original)
    assert store.put_bytes(b"pixels") == digest
    assert store.holds(digest)
    assert store.link_file(original) == digest
    assert store.holds(digest)
    store.remove(digest)
    store.link_file(original)
    assert store.put_file(original) == digest
    assert store.holds(digest)


def test_the_doctor_bears_a_link_to_a_file_that_is_gone(
    ahead: tuple[Engine, Library], tmp_path: Path
) -> None:
    engine, library = ahead
    original = tmp_path / "scan.png"
    original.write_bytes(b"pixels")
    library.objects.link_file(original)
    original.unlink()
    assert examine(engine, library.path)["healthy"]
