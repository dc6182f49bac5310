"""A branch goes as one file to another machine and comes back, and nothing that is no such file is taken."""

from __future__ import annotations

import errno
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from branch_pair import OTHER, Pair

from armarium.api import Conflict, Engine, Invalid, Unavailable, raw_of
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.doctor import examine


def _pack_to(pair: Pair, folder: Path, pictures: str = "no") -> Path:
    to = folder / "sent.zip"
    pair.run(pair.project, "branches.pack", {"branch_id": pair.id, "path": str(to), "pictures": pictures})
    return to


def test_a_branch_goes_as_a_file_to_another_machine_and_comes_back(
    pair: Pair, make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """The colleague unpacks it, works with an engine of her own, and packs it again: made by her, accepted by the owner."""
    result = pair.run(pair.project, "branches.create", {"name": "Sent", "made_for": "Ana"})
    pair.id, pair.path = result["id"], Path(result["library_path"])
    sent = _pack_to(pair, tmp_path)
    away = tmp_path / "away"
    with zipfile.ZipFile(sent) as archive:
        archive.extractall(away)
    (place,) = away.glob("*.library")
    from armarium_agents.plugin import armarium_plugin as agents
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_rights.plugin import armarium_plugin as rights
    from armarium_source_model.plugin import armarium_plugin as source_model

    other_engine = make_engine(plugins=[documents(), source_model(), rights(), agents()], state="other")
    copy = other_engine.libraries.get(place)
    text = {"segment_id": pair.page.segment_ids[0], "text": "Dear Sir"}
    in_browser = Principal("person", "Workbench", "owner", token_kind="session")
    reading = (other_engine.run(copy, "representation.create", text, in_browser).result or {})["id"]
    other_engine.run(copy, "branches.pack", {"path": str(tmp_path / "back.zip")}, OTHER)
    outcome = pair.run(pair.project, "branches.take", {"path": str(tmp_path / "back.zip")})
    assert outcome["proposed_at"] is not None
    (group,) = pair.changes()["items"]
    assert group["rows"][0]["theirs_by"][0]["name"] == "Ana"
    merged = pair.merge()
    assert "Dear Sir" in pair.counting(pair.project)
    with pair.project.db.read() as conn:
        who = "SELECT created_by FROM content_representation WHERE id = ?"
        assert raw_of(conn).execute(who, (reading,)).fetchone() == ("Ana",)
        accepted = "SELECT actor_name FROM audit WHERE id = ?"
        assert raw_of(conn).execute(accepted, (merged["audit_id"],)).fetchone() == ("owner",)
    # What the owner does in it here is the owner's.
    pair.correct(pair.branch, "Dear Sirs")
    assert pair.changes()["items"][0]["rows"][0]["theirs_by"][0]["name"] == "owner"


def test_taking_a_file_loses_no_work_of_this_machine(pair: Pair, tmp_path: Path) -> None:
    sent = _pack_to(pair, tmp_path)
    pair.correct(pair.branch, "Dear Sir")
    with pytest.raises(Conflict) as refused:
        pair.run(pair.project, "branches.take", {"path": str(sent)})
    assert refused.value.code == "branch_diverged"
    assert pair.changes()["total"] == 1


def test_a_file_taken_into_a_renamed_project_lies_with_the_branches_of_its_new_name(
    pair: Pair, tmp_path: Path
) -> None:
    """Only the project's folder was renamed: its branches still lie in the folder of the old name."""
    sent = _pack_to(pair, tmp_path)
    engine, place, before = pair.engine, pair.project.path, pair.path
    engine.libraries.release(before)
    engine.libraries.release(place)
    pair.project = engine.libraries.get(place.rename(place.with_name("Renamed.library")))
    pair.path = Path(pair.run(pair.project, "branches.take", {"path": str(sent)})["library_path"])
    assert pair.path.parent.name == "Renamed.branches"
    assert not before.exists()
    pair.correct(engine.libraries.get(pair.path), "Dear Sir")
    pair.merge()
    assert "Dear Sir" in pair.counting(pair.project)


def test_what_is_no_branch_or_was_changed_by_hand_is_not_taken(pair: Pair, tmp_path: Path) -> None:
    plain = tmp_path / "plain.zip"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("notes.txt", "no branch")
    with pytest.raises(Invalid) as refused:
        pair.run(pair.project, "branches.take", {"path": str(plain)})
    assert refused.value.code == "no_branch"
    with pytest.raises(Invalid, match=r"sent\.tar does not end in \.zip") as refused:
        pair.run(pair.project, "branches.pack", {"branch_id": pair.id, "path": str(tmp_path / "sent.tar")})
    assert refused.value.code == "not_a_zip"
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


def test_reduced_pictures_are_looked_at_where_the_originals_are_not_and_replace_none(
    pair: Pair, make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    from PIL import Image

    from armarium.actions import Example
    from armarium.api import image_info
    from armarium_documents.api import page_image
    from armarium_testing.sample_pages import sample_picture

    example = Example(pair.engine, pair.project, LOCAL_OWNER, tmp_path)
    page = sample_picture(example, Image.new("RGB", (2400, 1200), "teal"), "Wide.png")
    result = pair.run(pair.project, "branches.create", {"name": "Small"})
    pair.id, pair.path = result["id"], Path(result["library_path"])
    with pair.project.db.read() as conn:
        original = page_image(pair.project, conn, page)
    with zipfile.ZipFile(_pack_to(pair, tmp_path, "reduced")) as archive:
        archive.extractall(tmp_path / "away")
    (place,) = (tmp_path / "away").glob("*.library")
    other_engine = make_engine(plugins=None, state="other")
    copy = other_engine.libraries.get(place)
    assert not copy.objects.has(original.checksum)
    report = examine(other_engine, copy.path)
    assert [finding["what"] for finding in report["findings"]] == ["Files that only its project has: 1."]
    assert report["healthy"]
    with copy.db.read() as conn:
        shown = page_image(copy, conn, page)
    assert (shown.width, shown.height, shown.mime_type) == (1600, 800, "image/jpeg")
    assert image_info(shown.path).upright_size == (1600, 800)
    other_engine.run(copy, "document.update", {"document_id": page, "name": "Broad"}, OTHER)
    other_engine.run(
        copy, "branches.pack", {"path": str(tmp_path / "back.zip"), "pictures": "reduced"}, OTHER
    )
    pair.run(pair.project, "branches.take", {"path": str(tmp_path / "back.zip")})
    assert pair.branch.objects.intact(original.checksum)
    assert pair.merge()["files"] == 0
    assert pair.project.objects.intact(original.checksum)
    own = sample_picture(
        Example(other_engine, copy, LOCAL_OWNER, tmp_path), Image.new("RGB", (9, 9)), "Own.png"
    )
    with copy.db.read() as conn:
        copy.objects.path(page_image(copy, conn, own).checksum).unlink()
    assert not examine(other_engine, copy.path)["healthy"]


def test_a_disk_that_is_full_while_a_branch_is_checked_is_a_sentence(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = str(tmp_path / "branch.zip")
    pair.run(pair.project, "branches.pack", {"branch_id": pair.id, "path": packed})

    def refuse(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("armarium.projects.branch_files.note_card", refuse)
    with pytest.raises(Unavailable, match="disk is full"):
        pair.run(pair.project, "branches.take", {"path": packed})
    assert [path.name for path in pair.path.parent.iterdir()] == [pair.path.name]
