"""The registry of projects: what it shows of each, and how a registration is undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from armarium.engine import Engine
from armarium.errors import BadRequest, Conflict, Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.projects.registry import SHOWN
from armarium.store.database import raw_of


def test_opening_answers_what_the_project_is_set_to_now(shelf_engine: Engine, shelf_library: Library) -> None:
    path = str(shelf_library.path)
    set_to = {"name": "Ours", "snapshot_interval_seconds": 60, "snapshot_retention_count": 3}
    shelf_engine.run(shelf_library, "library.set", set_to, LOCAL_OWNER)
    opened = shelf_engine.run(None, "library.open", {"path": path}, LOCAL_OWNER).result
    assert opened is not None
    assert {key: opened[key] for key in set_to} == set_to
    assert opened == shelf_engine.libraries.resolve("Ours")


def test_a_project_was_used_when_it_was_made_or_opened(shelf_engine: Engine, tmp_path: Path) -> None:
    path = str(tmp_path / "New.library")
    shelf_engine.run(None, "library.create", {"path": path}, LOCAL_OWNER)
    (made,) = shelf_engine.libraries.list_registered()
    assert made["last_accessed"] >= made["added_at"]
    opened = shelf_engine.run(None, "library.open", {"path": path}, LOCAL_OWNER).result
    assert opened is not None
    assert opened["last_accessed"] >= made["last_accessed"]


def test_a_project_is_called_by_what_people_can_see(shelf_engine: Engine, tmp_path: Path) -> None:
    path = str(tmp_path / "New.library")
    for name, why in (("  ", "not a blank"), ("a\nb", "U+000A"), ("a\u2028b", "U+2028")):
        with pytest.raises(Invalid, match=why.replace("+", r"\+")):
            shelf_engine.run(None, "library.create", {"path": path, "name": name}, LOCAL_OWNER)
    assert not Path(path).exists()
    shelf_engine.run(None, "library.create", {"path": path, "name": " N\u0303andu "}, LOCAL_OWNER)
    assert shelf_engine.libraries.resolve("\u00f1ANDU")["name"] == "\u00d1andu"
    with pytest.raises(Invalid, match="not a blank"):
        shelf_engine.run(shelf_engine.libraries.get(path), "library.set", {"name": " "}, LOCAL_OWNER)


def test_a_path_longer_than_a_disk_takes_is_refused_with_a_sentence(
    shelf_engine: Engine, tmp_path: Path
) -> None:
    longest = tmp_path / f"{'n' * 247}.library"
    shelf_engine.run(None, "library.create", {"path": str(longest)}, LOCAL_OWNER)
    for place in (tmp_path / f"{'n' * 248}.library", tmp_path.joinpath(*["n" * 200] * 30, "N.library")):
        for refused in (
            lambda place=place: shelf_engine.libraries.get(place),
            lambda place=place: shelf_engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER),
        ):
            with pytest.raises(BadRequest, match="longer than a disk takes"):
                refused()
    far = str(tmp_path / ("n" * 300))
    with pytest.raises(Invalid, match="longer than a disk takes"):
        shelf_engine.run(
            shelf_engine.libraries.get(longest), "library.set", {"snapshot_offsite_path": far}, LOCAL_OWNER
        )
    with pytest.raises(BadRequest, match="There is no folder"):
        shelf_engine.run(None, "sandbox.grant", {"path": far, "bookmark": "Ym9v"}, LOCAL_OWNER)


@pytest.mark.parametrize("name", ["library.create", "library.open"])
def test_registering_a_project_is_undone_and_redone(shelf_engine: Engine, tmp_path: Path, name: str) -> None:
    path = str(tmp_path / "New.library")
    put = shelf_engine.run(None, "library.create", {"path": path}, LOCAL_OWNER)
    if name == "library.open":
        shelf_engine.run(None, "library.unregister", {"path": path}, LOCAL_OWNER)
        put = shelf_engine.run(None, "library.open", {"path": path}, LOCAL_OWNER)
    undo = shelf_engine.undo(None, [put.audit_id], LOCAL_OWNER)
    assert shelf_engine.libraries.list_registered() == []
    assert shelf_engine.libraries.open_at(path) is None
    assert (Path(path) / "library.sqlite").is_file()
    shelf_engine.undo(None, undo["audit_ids"], LOCAL_OWNER)
    assert [(entry["path"], entry["is_open"]) for entry in shelf_engine.libraries.list_registered()] == [
        (path, False)
    ]


def test_undoing_the_opening_of_an_open_project_does_not_close_it(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    path = str(shelf_library.path)
    second_outcome = shelf_engine.run(None, "library.open", {"path": path}, LOCAL_OWNER)
    shelf_engine.undo(None, [second_outcome.audit_id], LOCAL_OWNER)
    assert shelf_engine.libraries.open_at(path) is shelf_library


def test_the_creation_of_a_project_that_cannot_be_released_cannot_be_undone(
    shelf_engine: Engine,
) -> None:
    path = shelf_engine.settings.state_dir / "Global.library"
    shelf_engine.libraries.create(path, None, LOCAL_OWNER)
    result = shelf_engine.run(None, "library.open", {"path": str(path)}, LOCAL_OWNER)
    with pytest.raises(Conflict, match="global library") as refused:
        shelf_engine.undo(None, [result.audit_id], LOCAL_OWNER)
    assert (refused.value.fields["reason"], refused.value.fields["audit_id"]) == ("changed", result.audit_id)
    assert shelf_engine.libraries.open_at(str(path)) is not None
    assert shelf_engine.libraries.list_registered()[0]["is_open"]


def test_what_the_registry_repeats_is_json_of_those_settings_alone(
    shelf_engine: Engine, shelf_library: Library
) -> None:
    shelf_engine.run(shelf_library, "library.set", {"name": "X", "reading_rule": "relaxed"}, LOCAL_OWNER)
    with shelf_engine.state.read() as conn:
        raw = raw_of(conn)
        (shown,) = raw.execute("SELECT settings FROM library_shown").fetchone()
    assert json.loads(shown) == {"name": "X"}


def test_what_was_never_set_is_shown_as_it_is_then_and_the_name_as_it_was_registered(
    shelf_engine: Engine, tmp_path: Path
) -> None:
    path = str(tmp_path / "New.library")
    shelf_engine.run(None, "library.create", {"path": path, "name": "As registered"}, LOCAL_OWNER)

    def read_card(kept: dict[str, object] | None) -> dict[str, object]:
        with shelf_engine.state.write() as conn:
            raw = conn.connection.cursor()
            raw.execute("DELETE FROM library_shown")
            if kept is not None:
                row = (path, json.dumps(kept))
                raw.execute("INSERT INTO library_shown (path, settings) VALUES (?, ?)", row)
        (entry,) = shelf_engine.libraries.list_registered()
        return {key: entry[key] for key in SHOWN}

    assert read_card(None) == {**SHOWN, "name": "As registered"}
    assert read_card({}) == SHOWN
    assert read_card({"name": "Ours", "snapshot_retention_count": 3}) == {
        **SHOWN,
        "name": "Ours",
        "snapshot_retention_count": 3,
    }
