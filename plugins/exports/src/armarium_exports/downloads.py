"""Exports that a browser or another device saves: written, packed into one file, kept for an hour and then removed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, PrivateAttr
from sqlalchemy import select

from armarium.api import (
    Engine,
    Library,
    MaterialPath,
    Message,
    Params,
    Principal,
    ServiceError,
    find_withheld,
    moment_read,
    new_id,
    plain_name,
    reading_past,
)
from armarium_documents.api import documents
from armarium_exports.bundles import write_jsonl, write_parquet
from armarium_exports.errors import (
    download_gone,
    download_withheld,
    nothing_to_export,
    one_scope,
    only_files_of_the_past,
    receiver_needed,
)
from armarium_exports.pages import units_of
from armarium_exports.receivers.writing import write_for
from armarium_exports.records import (
    MANY,
    Id,
    KeptFormat,
    LeftOut,
    Lost,
    ParquetParams,
    Per,
    ReceiverParams,
    RecordsParams,
    SiteParams,
    WithheldSource,
)
from armarium_exports.rendering.units import RenderedUnit, check_format, ending_of, render
from armarium_exports.selection import select_documents
from armarium_exports.site.writing import write_site
from armarium_formats.api import PastMoment, cite_page
from armarium_source_model.api import MadeLines, join_made

KEPT_FOR = 3600.0
"""Seconds for which a prepared file can be saved."""
_ABOUT = "about.json"
_NOTHING: dict[str, Any] = {
    "records": None,
    "as_of": None,
    "made": [],
    "losses": [],
    "left_out": [],
    "problems": [],
}
"""What not every export has to say."""


class DownloadParams(Params):
    """An export as one file to be saved over HTTP; `files` are one in `format` for each page or document."""

    what: Literal["files", "jsonl", "parquet", "site", "receiver"]
    scope_ids: Annotated[list[Id], Field(max_length=MANY, description="Left out: the whole project")] = Field(
        default_factory=list
    )
    format: KeptFormat = "word"
    per: Per = "page"
    receiver: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    line_pictures: Annotated[bool, Field(description="parquet: also the picture of each line")] = False
    site_title: Annotated[str | None, Field(min_length=1, max_length=500)] = None
    include_unreviewed: Annotated[bool, Field(description="site: also what nobody has reviewed")] = False
    as_of: Annotated[
        str | None,
        Field(
            min_length=1, max_length=40, description="files: as they were after a step (its id), or at a time"
        ),
    ] = None
    _written: dict[str, Any] | None = PrivateAttr(default=None)


class LostInFiles(Lost):
    pages: Annotated[int, Field(description="In how many files")]


class PreparedExport(Message):
    """A file that `GET /api/export/downloads/{id}` answers for an hour, and what it could not carry."""

    id: str
    filename: str
    media_type: str
    size_bytes: int
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


def prepare(engine: Engine, library: Library, principal: Principal, p: DownloadParams) -> dict[str, Any]:
    """Write what is asked for as one file within the project's own folder; return what it is and what was lost."""
    if p.as_of is not None and p.what != "files":
        raise only_files_of_the_past(p.what)
    folder = _folder(library)
    _remove_old(folder)
    with tempfile.TemporaryDirectory(prefix="armarium-export-") as workplace:
        place = Path(workplace) / "export"
        written = _WRITERS[p.what](engine, library, principal, p, place)
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
                "withheld": sorted(one["document_id"] for one in written["withheld"]),
            }
            (unfinished / _ABOUT).write_text(json.dumps(about))
            os.rename(unfinished, folder / identity)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    shown = {key: about[key] for key in ("filename", "media_type", "size_bytes")}
    return {"id": identity, **shown, **_NOTHING, **written}


def find_prepared(library: Library, principal: Principal, download_id: str) -> tuple[Path, str, str]:
    """Return the file of a download, its media type and its name; refused to others than whoever had it made, and
    where something in it has been withheld since.
    """
    folder = _folder(library)
    try:
        if not download_id.isalnum():
            raise download_gone()
        about = json.loads((folder / download_id / _ABOUT).read_text())
    except (OSError, ValueError):
        raise download_gone() from None
    if about["until"] < time.time() or about["token_id"] != principal.token_id:
        raise download_gone()
    with library.db.read() as conn:
        scopes: list[str | None] = [*about["scope_ids"]] or [None]
        withheld = set[str]().union(
            *(select_documents(library, conn, principal, scope).withheld for scope in scopes)
        )
    if withheld - set(about["withheld"]):
        raise download_withheld()
    return folder / download_id / about["filename"], about["media_type"], about["filename"]


P = TypeVar("P", bound=Params)


def _check_place(engine: Engine, principal: Principal, params: P) -> P:
    """Return the parameters of an export to a place that the engine chose: what the caller's token may reach is not in
    question.
    """
    engine.paths.check(params, replace(principal, libraries=None, folders=None))
    return params


def _files(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path
) -> dict[str, Any]:
    check_format(engine, p.format, p.per)
    with nullcontext() if p.as_of is None else reading_past(library, p.as_of, None):
        return _write_files(engine, library, principal, p, place)


def _write_files(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path
) -> dict[str, Any]:
    ending = ending_of(engine, p.format)
    with library.db.read() as conn:
        units = units_of(conn, p.per, p.scope_ids or None)
        moment = moment_read(library.db, conn)
    barred = find_withheld(
        library, principal, {one for unit in units for one in (unit.id, *unit.page_ids)}, "export"
    )
    left_out: list[dict[str, str]] = []
    parts: list[RenderedUnit] = []
    taken: set[str] = set()
    cited: list[tuple[str, str]] = []
    place.mkdir()
    for unit in units:
        pages = tuple(page_id for page_id in unit.page_ids if page_id not in barred)
        if unit.id in barred or not pages:
            continue
        name = _free_name(plain_name(Path(unit.title).stem or unit.title), ending, taken)
        try:
            with (place / name).open("wb") as file:
                part = render(engine, library, replace(unit, page_ids=pages), p.format, file)
        except ServiceError as refusal:
            (place / name).unlink()
            taken.discard(name.removesuffix(ending).casefold())
            left_out.append({"document_id": unit.id, "why": refusal.detail})
            continue
        parts.append(part)
        if p.per == "page":
            cited.append((name, cite_page(library, unit.id, moment, p.format)))
    if not parts:
        raise nothing_to_export()
    if len(cited) > 1 and p.format == "plain-text":
        # A text has no place for it: the files beside it say of what they are copies.
        (place / "as-of.txt").write_text("".join(f"{name}\t{line}\n" for name, line in cited))
    return {
        "pages": len(parts),
        "as_of": moment.answer(),
        "made": join_made(part.made for part in parts),
        "losses": _sum_losses(part.losses for part in parts),
        "left_out": left_out,
        "withheld": [{"document_id": one, "why": why} for one, why in sorted(barred.items())],
    }


def _receiver(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path
) -> dict[str, Any]:
    if p.receiver is None:
        raise receiver_needed()
    asked = ReceiverParams(
        receiver=p.receiver, scope_ids=p.scope_ids or _tops(library), output_path=MaterialPath(place)
    )
    found = write_for(engine, library, principal, _check_place(engine, principal, asked))
    return {
        **{key: found[key] for key in ("pages", "made", "left_out", "withheld", "problems")},
        "losses": _sum_losses(loss["losses"] for loss in found["losses"]),
    }


def _records(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path
) -> dict[str, Any]:
    output, target = MaterialPath(place), _one_scope(p)
    if p.what == "parquet":
        asked = ParquetParams(output_path=output, target_id=target, line_pictures=p.line_pictures)
        found = write_parquet(engine, library, principal, _check_place(engine, principal, asked))
    else:
        lines = RecordsParams(output_path=output, target_id=target)
        found = write_jsonl(engine, library, principal, _check_place(engine, principal, lines))
    return {
        "pages": found["document_count"],
        "records": sum(found["record_counts"].values()),
        "withheld": found["withheld"],
    }


def _site(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path
) -> dict[str, Any]:
    asked = SiteParams(
        output_path=MaterialPath(place),
        target_id=_one_scope(p),
        site_title=p.site_title,
        include_unreviewed=p.include_unreviewed,
    )
    found = write_site(engine, library, principal, _check_place(engine, principal, asked))
    return {"pages": found["document_count"], "made": found["made"], "withheld": found["withheld"]}


_WRITERS = {"files": _files, "jsonl": _records, "parquet": _records, "receiver": _receiver, "site": _site}
_MEDIA = {
    ".zip": "application/zip",
    ".jsonl": "application/x-ndjson",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
}


def _one_scope(p: DownloadParams) -> str | None:
    if len(p.scope_ids) > 1:
        raise one_scope(p.what)
    return p.scope_ids[0] if p.scope_ids else None


def _tops(library: Library) -> list[str]:
    d = documents.c
    with library.db.read() as conn:
        return list(conn.execute(select(d.id).where(d.parent_id.is_(None), d.deleted_at.is_(None))).scalars())


def _title(library: Library, scope_ids: Sequence[str]) -> str:
    if len(scope_ids) != 1:
        return plain_name(library.name)
    with library.db.read() as conn:
        name = conn.execute(select(documents.c.name).where(documents.c.id == scope_ids[0])).scalar()
    return plain_name(Path(name or library.name).stem)


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


def _free_name(stem: str, ending: str, taken: set[str]) -> str:
    number, free = 1, stem
    while free.casefold() in taken:
        number += 1
        free = f"{stem} ({number})"
    taken.add(free.casefold())
    return f"{free}{ending}"


def _sum_losses(losses: Any) -> list[dict[str, Any]]:
    """Return the losses of many files by what is lost and why, each with the number of files it is in."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for of_file in losses:
        for here in {(one["what"], one["why"]) for one in of_file}:
            found.setdefault(here, {"what": here[0], "why": here[1], "count": 0, "pages": 0})["pages"] += 1
        for one in of_file:
            found[one["what"], one["why"]]["count"] += one["count"]
    return sorted(found.values(), key=lambda one: (-one["pages"], one["what"]))


def _folder(library: Library) -> Path:
    return library.derived_folder / "downloads"


def _remove_old(folder: Path) -> None:
    """Remove the files whose time is over, and what killed exports left."""
    oldest = time.time() - KEPT_FOR
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.stat().st_mtime < oldest:
            shutil.rmtree(path, ignore_errors=True)
