"""A branch goes as one file to another machine and comes back, and nothing that is no such file is taken."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from branch_pair import OTHER, Pair

from armarium.api import Conflict, Engine, Invalid


def _pack_to(pair: Pair, folder: Path, pictures: str = "no") -> Path:
    to = folder / "sent.zip"
    pair.run(pair.project, "branches.pack", {"branch_id": pair.id, "path": str(to), "pictures": pictures})
    return to


def test_a_branch_goes_as_a_file_to_another_machine_and_comes_back(
    pair: Pair, make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """The colleague unpacks it, works with an engine of his own, and packs it again."""
    sent = _pack_to(pair, tmp_path)
    away = tmp_path / "away"
    with zipfile.ZipFile(sent) as archive:
        archive.extractall(away)
    (place,) = away.glob("*.library")
    from armarium_agents.plugin import armarium_plugin as agents
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_rights.plugin import armarium_plugin as rights
    from armarium_source_model.plugin import armarium_plugin as source_model

    other = make_engine(plugins=[documents(), source_model(), rights(), agents()], state="other")
    copy = other.libraries.get(place)
    text = {"segment_id": pair.page.segment_ids[0], "text": "Dear Sir"}
    other.run(copy, "representation.create", text, OTHER)
    other.run(copy, "branches.pack", {"path": str(tmp_path / "back.zip")}, OTHER)
    pair.run(pair.project, "branches.take", {"path": str(tmp_path / "back.zip")})
    (group,) = pair.changes()["items"]
    assert group["rows"][0]["theirs_by"][0]["name"] == "colleague"
    pair.merge()
    assert "Dear Sir" in pair.counting(pair.project)


def test_taking_a_file_loses_no_work_of_this_machine(pair: Pair, tmp_path: Path) -> None:
    sent = _pack_to(pair, tmp_path)
    pair.correct(pair.branch, "Dear Sir")
    with pytest.raises(Conflict) as refused:
        pair.run(pair.project, "branches.take", {"path": str(sent)})
    assert refused.value.code == "branch_diverged"
    assert pair.changes()["total"] == 1


def test_what_is_no_branch_or_was_changed_by_hand_is_not_taken(pair: Pair, tmp_path: Path) -> None:
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("notes.txt", "no branch")
    with pytest.raises(Invalid) as refused:
        pair.run(pair.project, "branches.take", {"path": str(plain)})
    assert refused.value.code == "no_branch"
    sent = _pack_to(pair, tmp_path)
    with zipfile.ZipFile(sent) as archive:
        archive.extractall(tmp_path / "open")
    (place,) = (tmp_path / "open").glob("*.library")
    raw = sqlite3.connect(place / "library.sqlite")
    raw.execute("DROP TRIGGER audit__no_update")
    raw.execute("UPDATE audit SET actor_name = 'nobody' WHERE seq = 1")
    raw.commit()
    raw.close()
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(changed, "w") as archive:
        for name in ("library.json", "library.sqlite"):
            archive.write(place / name, f"{place.name}/{name}")
    with pytest.raises(Conflict) as damaged:
        pair.run(pair.project, "branches.take", {"path": str(changed)})
    assert damaged.value.code == "branch_damaged"
    assert list(pair.path.parent.glob(".*.new")) == []


def test_a_packed_branch_holds_no_job_and_no_folder_of_this_machine(pair: Pair, tmp_path: Path) -> None:
    with zipfile.ZipFile(_pack_to(pair, tmp_path)) as archive:
        archive.extractall(tmp_path / "open")
    (place,) = (tmp_path / "open").glob("*.library")
    raw = sqlite3.connect(place / "library.sqlite")
    for table in ("job", "job_log", "document_transfer", "branch"):
        assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    raw.close()
