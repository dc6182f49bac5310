"""Writes what is to be saved over HTTP into a folder: files of pages, records, a site, a package for another program."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, PrivateAttr

from armarium.api import (
    Engine,
    Library,
    MaterialPath,
    Params,
    Principal,
    ServiceError,
    find_withheld,
    moment_read,
    plain_name,
    reading_past,
)
from armarium_documents.api import pages_under
from armarium_exports.bundles import write_jsonl, write_parquet
from armarium_exports.errors import nothing_to_export, one_scope, only_files_of_the_past, receiver_needed
from armarium_exports.pages import split_with_text, units_of
from armarium_exports.places import find_free_stem
from armarium_exports.receivers.writing import write_for
from armarium_exports.records import (
    MANY,
    Id,
    KeptFormat,
    ParquetParams,
    Per,
    ReceiverParams,
    RecordsParams,
    SiteParams,
    Title,
)
from armarium_exports.rendering.units import check_format, ending_of, render, sum_losses
from armarium_exports.rendering.volume.writing import check_volume, write_volume
from armarium_exports.selection import as_answered, list_tops, title_of
from armarium_exports.site.writing import write_site
from armarium_formats.api import cite_page
from armarium_source_model.api import join_made

Watch = Callable[[int, int], None]
"""Told before each file how many of how many are written; it may stop the work by an exception."""


class DownloadParams(Params):
    """An export as one file to be saved over HTTP; `files` are one in `format` for each page or document, a `volume` is one of all
    pages in the order of the tree.
    """

    what: Literal["files", "volume", "jsonl", "parquet", "site", "receiver"]
    scope_ids: Annotated[list[Id], Field(max_length=MANY, description="Left out: the whole project")] = Field(
        default_factory=list
    )
    format: KeptFormat = "word"
    per: Per = "page"
    facsimile: Annotated[
        bool, Field(description="volume: word with the picture beside the text; pdf has it always")
    ] = False
    receiver: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    line_pictures: Annotated[bool, Field(description="parquet: also the picture of each line")] = False
    site_title: Title | None = None
    include_unreviewed: Annotated[bool, Field(description="site: also what nobody has reviewed")] = False
    as_of: Annotated[
        str | None,
        Field(
            min_length=1, max_length=40, description="files: as they were after a step (its id), or at a time"
        ),
    ] = None
    _written: dict[str, Any] | None = PrivateAttr(default=None)


P = TypeVar("P", bound=Params)


def _check_place(engine: Engine, principal: Principal, params: P) -> P:
    """Return the parameters of an export to a place that the engine chose: what the caller's token may reach is not in
    question.
    """
    engine.paths.check(params, replace(principal, libraries=None, folders=None))
    return params


def _files(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path, count: Watch
) -> dict[str, Any]:
    with nullcontext() if p.as_of is None else reading_past(library, p.as_of, None):
        return _write_files(engine, library, principal, p, place, count)


def _write_files(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path, count: Watch
) -> dict[str, Any]:
    ending = ending_of(engine, p.format)
    with library.db.read() as conn:
        units = units_of(conn, p.per, p.scope_ids or None)
        moment = moment_read(library.db, conn)
    barred = find_withheld(
        library, principal, {identity for unit in units for identity in (unit.id, *unit.page_ids)}, "export"
    )
    with library.db.read() as conn:
        left_out = split_with_text(conn, [page_id for unit in units for page_id in unit.page_ids], barred)
    parts: list[dict[str, Any]] = []
    place.mkdir(exist_ok=True)
    log = place.with_name("written.jsonl")
    written_units = {
        part["id"]: part for part in map(json.loads, log.read_text().splitlines() if log.exists() else ())
    }
    names = {part["file"].removesuffix(ending).casefold() for part in written_units.values()}
    for number, unit in enumerate(units):
        count(number, len(units))
        pages = [page_id for page_id in unit.page_ids if page_id not in barred]
        before = written_units.get(unit.id)
        if before is not None and before["pages"] == pages and unit.id not in barred:
            parts.append(before)
            continue
        if before is not None:
            (place / before["file"]).unlink(missing_ok=True)
        if unit.id in barred or not pages:
            continue
        stem = plain_name(Path(unit.title).stem or unit.title)
        name = f"{find_free_stem(stem, names, '{} ({})')}{ending}"
        try:
            with (place / name).open("wb") as unit_file:
                part = render(engine, library, replace(unit, page_ids=tuple(pages)), p.format, unit_file)
        except ServiceError as refusal:
            (place / name).unlink()
            names.discard(name.removesuffix(ending).casefold())
            left_out.append({"document_id": unit.id, "why": refusal.detail})
            continue
        citation = cite_page(library, unit.id, moment, p.format) if p.per == "page" else None
        parts.append(
            {
                "id": unit.id,
                "pages": pages,
                "file": name,
                "losses": part.losses,
                "made": part.made,
                "citation": citation,
            }
        )
        with log.open("a") as file:
            file.write(json.dumps(parts[-1]) + "\n")
    if not parts:
        raise nothing_to_export()
    cited = [f"{part['file']}\t{part['citation']}\n" for part in parts if part["citation"]]
    if len(cited) > 1 and p.format == "plain-text":
        # A text has no place for it: the file beside them says of what they are copies.
        (place / "as-of.txt").write_text("".join(cited))
    return {
        "pages": len(parts),
        "as_of": moment.answer(),
        "made": join_made(part["made"] for part in parts),
        "losses": sum_losses(part["losses"] for part in parts),
        "left_out": left_out,
        "withheld": as_answered(barred),
    }


def _volume(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path, count: Watch
) -> dict[str, Any]:
    with library.db.read() as conn:
        tops = list_tops(conn)
        pages = pages_under(conn, p.scope_ids or tops)
        if len(p.scope_ids) > 1:
            chosen = set(pages)
            pages = [page for page in pages_under(conn, tops) if page in chosen]
        title = title_of(conn, library, p.scope_ids)
    barred = find_withheld(library, principal, pages, "export")
    exported = [page for page in pages if page not in barred]
    if not exported:
        raise nothing_to_export()
    with library.db.read() as conn:
        split = split_with_text(conn, pages, barred)
    place.mkdir(exist_ok=True)
    file = place / f"{plain_name(Path(title).stem)}{ending_of(engine, p.format)}"
    with file.open("wb") as into:
        part, unread = write_volume(
            engine, library, exported, p.format, into, facsimile=p.facsimile, watch=count
        )
    return {
        "pages": len(exported),
        "made": part.made,
        "losses": sorted(part.losses, key=lambda loss: (-loss["pages"], loss["what"])),
        "left_out": [
            {"document_id": page["document_id"], "why": f"{page['name']} has not been read."}
            for page in unread
        ]
        + split,
        "withheld": as_answered(barred),
    }


def _receiver(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path, _count: Watch
) -> dict[str, Any]:
    if p.receiver is None:
        raise receiver_needed()
    with library.db.read() as conn:
        scope_ids = p.scope_ids or list_tops(conn)
    params = ReceiverParams(receiver=p.receiver, scope_ids=scope_ids, output_path=MaterialPath(place))
    answer = write_for(engine, library, principal, _check_place(engine, principal, params))
    return {
        **{key: answer[key] for key in ("pages", "made", "left_out", "withheld", "problems")},
        "losses": sum_losses(loss["losses"] for loss in answer["losses"]),
    }


def _records(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path, _count: Watch
) -> dict[str, Any]:
    output, target = MaterialPath(place), _one_scope(p)
    if p.what == "parquet":
        params = ParquetParams(output_path=output, target_id=target, line_pictures=p.line_pictures)
        answer = write_parquet(engine, library, principal, _check_place(engine, principal, params))
    else:
        lines = RecordsParams(output_path=output, target_id=target)
        answer = write_jsonl(engine, library, principal, _check_place(engine, principal, lines))
    return {
        "pages": answer["document_count"],
        "records": sum(answer["record_counts"].values()),
        "withheld": answer["withheld"],
    }


def _site(
    engine: Engine, library: Library, principal: Principal, p: DownloadParams, place: Path, _count: Watch
) -> dict[str, Any]:
    params = SiteParams(
        output_path=MaterialPath(place),
        target_id=_one_scope(p),
        site_title=p.site_title,
        include_unreviewed=p.include_unreviewed,
    )
    answer = write_site(engine, library, principal, _check_place(engine, principal, params))
    return {"pages": answer["document_count"], "made": answer["made"], "withheld": answer["withheld"]}


def _one_scope(p: DownloadParams) -> str | None:
    if len(p.scope_ids) > 1:
        raise one_scope(p.what)
    return p.scope_ids[0] if p.scope_ids else None


def check_asked(engine: Engine, p: DownloadParams) -> None:
    """Refuse what cannot be made of any pages. Raises Invalid."""
    if p.as_of is not None and p.what != "files":
        raise only_files_of_the_past(p.what)
    if p.what == "files":
        check_format(engine, p.format, p.per)
    elif p.what == "volume":
        check_volume(p.format, facsimile=p.facsimile)
    elif p.what == "receiver" and p.receiver is None:
        raise receiver_needed()
    elif p.what != "receiver":
        _one_scope(p)


WRITERS = {
    "files": _files,
    "volume": _volume,
    "jsonl": _records,
    "parquet": _records,
    "receiver": _receiver,
    "site": _site,
}
