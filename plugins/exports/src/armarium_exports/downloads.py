"""Exports that a browser or another device saves: written, packed into one file, kept for an hour and then removed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from armarium.api import Engine, Library, Message, Principal, ServiceError, new_id, plain_name
from armarium_exports.download_writers import WRITERS, DownloadParams, Watch, check_asked
from armarium_exports.errors import download_gone, download_withheld
from armarium_exports.records import LeftOut, Lost, WithheldSource
from armarium_exports.selection import select_documents, title_of
from armarium_formats.api import PastMoment
from armarium_source_model.api import MadeLines

KEPT_FOR = 3600.0
"""Seconds for which a prepared file can be saved."""
_ABOUT = "about.json"
_SHOWN = ("filename", "media_type", "size_bytes")
_NOTHING: dict[str, Any] = {
    "records": None,
    "as_of": None,
    "made": [],
    "losses": [],
    "left_out": [],
    "problems": [],
}
"""What not every export has to say."""


class LostInFiles(Lost):
    pages: Annotated[int, Field(description="In how many files; of a volume: on how many pages")]


class PreparedExport(Message):
    """A file that `GET /api/export/downloads/{id}` answers for an hour, and what it could not carry."""

    id: str
    filename: str
    media_type: str
    size_bytes: int
    job_id: Annotated[str | None, Field(description="The job that made it, if one did")]
    pages: int
    records: int | None
    as_of: Annotated[
        PastMoment | None, Field(description="files: the step at which they say what the project said")
    ]
    made: list[MadeLines]
    losses: list[LostInFiles]
    left_out: list[LeftOut]
    withheld: list[WithheldSource]
    problems: list[str]


class DownloadBegun(Message):
    job_id: str


class PreparedExports(Message):
    exports: list[PreparedExport]
    count: int


def prepare(
    engine: Engine,
    library: Library,
    principal: Principal,
    p: DownloadParams,
    job_id: str | None = None,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Write what is asked for as one file within the project's own folder; return what it is and what was lost.

    A job that is stopped leaves the files that it has written, and goes on with the others when it runs again.
    """
    check_asked(engine, p)
    folder = _folder(library)
    _remove_old(folder)
    with _workplace(folder, job_id) as workplace:
        place = workplace / "export"

        def count(done: int, total: int) -> None:
            if watch is not None:
                os.utime(workplace)
                watch(done, total)

        download = WRITERS[p.what](engine, library, principal, p, place, count)
        identity = new_id()
        unfinished = folder / f".{identity}"
        unfinished.mkdir(parents=True)
        try:
            file = _pack(place, unfinished, _title(library, p.scope_ids))
            about = {
                "filename": file.name,
                "media_type": _MEDIA.get(file.suffix, "application/octet-stream"),
                "size_bytes": file.stat().st_size,
                "token_id": principal.token_id,
                "until": time.time() + KEPT_FOR,
                "scope_ids": p.scope_ids,
                "withheld": sorted(document["document_id"] for document in download["withheld"]),
                "told": {"job_id": job_id, **_NOTHING, **download},
            }
            (unfinished / _ABOUT).write_text(json.dumps(about))
            os.rename(unfinished, folder / identity)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return _answer_of(identity, about)


def _answer_of(identity: str, about: dict[str, Any]) -> dict[str, Any]:
    return {"id": identity, **{key: about[key] for key in _SHOWN}, **about["told"]}


@contextmanager
def _workplace(folder: Path, job_id: str | None) -> Iterator[Path]:
    """Lend a folder to write in; that of a job that is stopped is kept."""
    if job_id is None:
        with tempfile.TemporaryDirectory(prefix="armarium-export-") as place:
            yield Path(place)
        return
    workplace = folder / f".job-{job_id}"
    workplace.mkdir(parents=True, exist_ok=True)
    try:
        yield workplace
    except Exception:
        shutil.rmtree(workplace, ignore_errors=True)
        raise
    shutil.rmtree(workplace, ignore_errors=True)


def prepared_for(library: Library, principal: Principal) -> list[dict[str, Any]]:
    """Return what was prepared for a caller and can still be saved, the newest first."""
    folder = _folder(library)
    exports = []
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            about = _read_about(folder, principal, path.name)
            _check_rights(library, principal, about)
        except ServiceError:
            continue
        exports.append((about["until"], _answer_of(path.name, about)))
    return [answer for _, answer in sorted(exports, key=lambda pair: pair[0], reverse=True)]


def find_prepared(library: Library, principal: Principal, download_id: str) -> tuple[Path, str, str]:
    """Return the file of a download, its media type and its name; refused to others than whoever had it made, and
    where something in it has been withheld since.
    """
    folder = _folder(library)
    about = _read_about(folder, principal, download_id)
    _check_rights(library, principal, about)
    return folder / download_id / about["filename"], about["media_type"], about["filename"]


def _read_about(folder: Path, principal: Principal, download_id: str) -> dict[str, Any]:
    try:
        if not download_id.isalnum():
            raise download_gone()
        about: dict[str, Any] = json.loads((folder / download_id / _ABOUT).read_text())
    except (OSError, ValueError):
        raise download_gone() from None
    if about["until"] < time.time() or about["token_id"] != principal.token_id:
        raise download_gone()
    return about


def _check_rights(library: Library, principal: Principal, about: dict[str, Any]) -> None:
    with library.db.read() as conn:
        scopes: list[str | None] = [*about["scope_ids"]] or [None]
        withheld = set[str]().union(
            *(select_documents(library, conn, principal, scope).withheld for scope in scopes)
        )
    if withheld - set(about["withheld"]):
        raise download_withheld()


_MEDIA = {
    ".zip": "application/zip", ".jsonl": "application/x-ndjson", ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".xml": "application/xml",
}  # fmt: skip


def _title(library: Library, scope_ids: Sequence[str]) -> str:
    with library.db.read() as conn:
        title = title_of(conn, library, scope_ids)
    return plain_name(title if len(scope_ids) != 1 else Path(title).stem)


def _pack(place: Path, folder: Path, title: str) -> Path:
    """Move the single file that was written to *folder*, or all of them as a ZIP file called *title*."""
    files = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    if len(files) == 1:
        name = f"{title}.jsonl" if files[0] == place else files[0].name
        return Path(shutil.move(files[0], folder / name))
    packed = folder / f"{title}.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for file in files:
            archive.write(file, file.relative_to(place))
    return packed


def _folder(library: Library) -> Path:
    return library.derived_folder / "downloads"


def _remove_old(folder: Path) -> None:
    """Remove the files whose time is over, and what killed exports left."""
    oldest = time.time() - KEPT_FOR
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.stat().st_mtime < oldest:
            shutil.rmtree(path, ignore_errors=True)
