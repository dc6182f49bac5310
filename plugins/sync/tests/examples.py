"""Examples of the actions and recipe jobs of sync: parameters with which each succeeds in a new project."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from sample_folders import imported_folder, imported_twice
from sqlalchemy import select

from armarium.api import Example
from armarium_sync.arranging import plan_of
from armarium_sync.queries import row_of_file
from armarium_sync.records import folders
from armarium_sync.rows import disk_of, documents_in, put_file


def sync_tie(ex: Example) -> dict[str, Any]:
    return {"path": str(ex.file("out/about.txt", b"Files of the project.").parent), "formats": ["pagexml"]}


def sync_untie(ex: Example) -> dict[str, Any]:
    """Create a tied folder for the examples."""
    return {"folder_id": ex.run("sync.tie", sync_tie(ex))["id"]}


def sync_intake(ex: Example) -> dict[str, Any]:
    return {**sync_untie(ex), "on": True}


def kept_folder(ex: Example) -> dict[str, Any]:
    """Create a tied folder from which pictures of the project came."""
    return {"folder_id": ex.run("sync.tie", {"path": imported_folder(ex), "formats": ["pagexml"]})["id"]}


def sync_mode(ex: Example) -> dict[str, Any]:
    return {**kept_folder(ex), "mode": "keep-arranged"}


def sync_remove_duplicates(ex: Example) -> dict[str, Any]:
    return {"document_ids": [imported_twice(ex)]}


def sync_take_in(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    folder_id = kept_folder(ex)["folder_id"]
    with ex.library.db.write() as conn:
        (folder,) = conn.execute(select(folders).where(folders.c.id == folder_id)).all()
        (document,) = documents_in(conn, folder.path)
        place = ex.folder / "scans" / "0001.xml"
        data = place.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        about = {"role": "layout", "document_id": document.document_id, "format": "pagexml"}
        put_file(conn, folder_id, "0001.xml", **about, digest=digest, seen=digest)
        file_id = row_of_file(conn, folder_id, "0001.xml").id  # type: ignore[union-attr]
    place.write_bytes(data.replace(b"Dear Sir", b"Dear Madam"))
    return {"file_id": file_id}


def sync_follow(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    folder_id = kept_folder(ex)["folder_id"]
    ex.run("sync.mode", {"folder_id": folder_id, "mode": "keep-arranged"})
    scans = ex.folder / "scans"
    (scans / "letters").mkdir()
    digest = hashlib.sha256((scans / "0001.png").read_bytes()).hexdigest()
    (scans / "0001.png").rename(scans / "letters" / "first.png")
    with ex.library.db.write() as conn:
        about = {"role": "other", "format": "picture", "seen": digest}
        put_file(conn, folder_id, "letters/first.png", **about)
        return {"file_id": row_of_file(conn, folder_id, "letters/first.png").id}


def sync_arrange(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    folder_id = kept_folder(ex)["folder_id"]
    ex.run("sync.mode", {"folder_id": folder_id, "mode": "keep-arranged"})
    with ex.library.db.read() as conn:
        (folder,) = conn.execute(select(folders).where(folders.c.id == folder_id)).all()
        (document,) = documents_in(conn, folder.path)
    ex.run("document.update", {"document_id": document.document_id, "name": "Letter.png"})
    with ex.library.db.read() as conn:
        plan = plan_of(conn, folder, disk_of(ex.library, folder))
    return {
        "folder_id": folder_id,
        "moves": [
            {"document_id": move.document_id, "from_path": move.from_path, "to_path": move.to_path}
            for move in plan.moves
        ],
    }


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "sync.tie": sync_tie,
    "sync.untie": sync_untie,
    "sync.intake": sync_intake,
    "sync.mode": sync_mode,
    "sync.remove_duplicates": sync_remove_duplicates,
    "sync.take_in": sync_take_in,
    "sync.follow": sync_follow,
    "sync.arrange": sync_arrange,
}
