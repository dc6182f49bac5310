"""Exports pages into a folder, one file each: all or none."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from armarium_cli.api import (
    Refused,
    Session,
    file_name,
    place_for,
    plural,
    project_session,
    write_file,
)
from armarium_documents.cli.naming import document_id


def write_exports(
    session: Session,
    pages: list[dict[str, Any]],
    format_name: str,
    folder: Path,
    *,
    overwrite: bool,
    choices: Mapping[str, str] | None = None,
    told: Callable[[dict[str, Any]], None] | None = None,
    leaves_out: Callable[[dict[str, Any], Refused], bool] | None = None,
) -> list[str]:
    """Export *pages* into *folder*, one file each under the name the engine gives; the paths written.

    Pages of several folders are written into folders of these names, below the one that holds them all.

    *choices* is the query of each (pass_id, order_id, reading_kind); *told* gets each answer without its content;
    *leaves_out* says of a page that is refused whether the others are written without it. All or nothing: the files
    get their names only when every other page is exported and no name is taken.
    """
    files: list[tuple[Path, Path]] = []
    names_by_folder: dict[Path, set[str]] = {}
    below = _folders_of(session, pages)
    new: list[Path] = []
    try:
        for page in pages:
            try:
                exported = session.get(f"/api/documents/{page['id']}/export/{format_name}", **(choices or {}))
            except Refused as refused:
                if leaves_out is not None and leaves_out(page, refused):
                    continue
                raise
            inner = folder.joinpath(*below[page["id"]])
            name = _find_free_name(file_name(exported["filename"]), names_by_folder.setdefault(inner, set()))
            place = inner / name
            place_for(place, overwrite=overwrite)
            new += _make_folder(inner)
            fresh = place.with_name(f".{name[:200]}.{secrets.token_hex(4)}")
            files.append((fresh, place))
            # Bytes, so that line ends are the format's on every system.
            with fresh.open("xb") as file:
                file.write(exported.pop("content").encode("utf-8"))
            if told is not None:
                told(exported)
        for fresh, place in files:
            fresh.replace(place)
    finally:
        for fresh, _ in files:
            fresh.unlink(missing_ok=True)
        for empty in reversed(new):
            with suppress(OSError):
                empty.rmdir()
    return [str(place) for _, place in files]


def _folders_of(session: Session, pages: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return, for each page, the names of its folders below the folder that holds all of *pages*."""
    nodes: dict[str, dict[str, Any]] = {}

    def list_above(parent_id: str | None) -> list[str]:
        ids: list[str] = []
        while parent_id is not None:
            if parent_id not in nodes:
                nodes[parent_id] = session.get(f"/api/documents/{parent_id}")
            ids.append(parent_id)
            parent_id = nodes[parent_id]["parent_id"]
        return ids[::-1]

    chains = {page["id"]: list_above(page["parent_id"]) for page in pages}
    shared = 0
    for level in zip(*chains.values(), strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    return {
        page: [file_name(nodes[folder_id]["name"]).strip(" .") or "_" for folder_id in chain[shared:]]
        for page, chain in chains.items()
    }


def _make_folder(place: Path) -> list[Path]:
    """Make the folder *place*; return the folders that had to be made, outermost first."""
    new = [path for path in (*reversed(place.parents), place) if not path.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"The folder {place} cannot be made: {error.strerror or error}.") from error
    return new


def _find_free_name(name: str, names: set[str]) -> str:
    """Return *name*, or the first `name-2`, `name-3` … that no page of this export has, ignoring case."""
    stem, dot, suffix = name.rpartition(".")
    candidate, number = name, 1
    while candidate.casefold() in names:
        number += 1
        candidate = f"{stem}-{number}{dot}{suffix}"
    names.add(candidate.casefold())
    return candidate


def say_makers(makers: Iterable[Mapping[str, Any]]) -> None:
    """Print who stands behind the lines of an export: persons, machines, agents, files."""
    counts: Counter[str] = Counter()
    for maker in makers:
        counts[maker["words"]] += maker["lines"]
    if counts:
        counted = ", ".join(f"{lines} {words}" for words, lines in counts.items())
        typer.echo(f"  {plural(counts.total(), 'line')}: {counted}.")


def save_drawing(
    document: str,
    route: str,
    ending: str,
    out: Path | None,
    *,
    overwrite: bool,
    query: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Save what the engine draws of a document at *route* (with `{id}`) as *out*, else in this folder as its name and *ending*."""
    with project_session() as session:
        identity = document_id(session, document)
        node = session.get(f"/api/documents/{identity}")
        name = file_name(node["name"])
        stem = name if node["doc_type"] == "folder" else Path(name).stem
        place = out or Path(f"{stem[:100]}{ending}")
        place_for(place, overwrite=overwrite)
        data = session.raw("GET", route.format(id=identity), query=query)
    write_file(place, data, overwrite=overwrite)
    return {"path": str(place), "document_id": identity, "size_bytes": len(data), "name": node["name"]}
