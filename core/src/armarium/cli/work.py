"""What the commands of families share: following a job, telling what it named, choosing pages, writing exports."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.cli.documents import document_id
from armarium.cli.names import document_names
from armarium.cli.output import legible, progress
from armarium.cli.refusals import STOPPED, Refused
from armarium.cli.session import Session

_UNFIT = re.compile(r'[/\\:*?"<>|\x00-\x1f]')
"""Characters that some file system takes in no name."""

PACKAGE = ".library"
"""What a project's folder ends in."""

Scope = Annotated[
    list[str] | None,
    typer.Argument(
        help="Pages, files or folders, each by name, path or id; none: the whole project.",
        autocompletion=document_names,
    ),
]


def finished(session: Session, job_id: str, title: str) -> dict[str, Any]:
    """Follow a job with a progress bar to its end; Refused with its reason when it does not end well."""
    try:
        with progress(title) as show:
            node = session.follow(job_id, show)
    except KeyboardInterrupt as stopped:
        goes_on = (
            "Stopped watching; the work goes on in the background: armarium jobs --watch shows it, "
            f"armarium jobs cancel {job_id} ends it."
            if session.running
            else "Stopped. What was done stays, and the next command on this project goes on with the rest: "
            f"armarium jobs --watch waits for it, armarium jobs cancel {job_id} ends it."
        )
        raise Refused(goes_on, ends_with=STOPPED) from stopped
    if node["state"] != "done":
        raise Refused(
            {
                "detail": node.get("reason") or f"{title}: the job is {node['state']}.",
                "job_id": job_id,
                "state": node["state"],
            }
        )
    return node


def scope_of(session: Session, ids: list[str] | None) -> list[str]:
    """The documents of these *ids*, names or paths, or the project's top nodes when none are named."""
    if ids:
        return [document_id(session, one) for one in ids]
    found = [node["id"] for node in session.get("/api/documents", limit=1000)["items"]]
    if not found:
        raise Refused("The project has no pages yet; bring some in with armarium import FOLDER.")
    return found


def result_of(session: Session, job_id: str) -> dict[str, Any]:
    """What a finished job answered."""
    node = session.get(f"/api/activity/jobs/{job_id}")
    return dict(node.get("result") or {})


def name_each(what: str, outcome: dict[str, Any], key: str, words: Callable[[Any], str]) -> None:
    """A line for each of what a job names; jobs name so many and count the rest."""
    named = outcome.get(key) or []
    for one in named:
        typer.echo(f"  {what}: {legible(words(one))}")
    more = int(outcome.get(f"{key}_count", len(named))) - len(named)
    if more > 0:
        typer.echo(f"  {what}: {more} more; armarium jobs log JOB names them all.")


def file_name(name: str) -> str:
    """*name* as a file may be called on every system."""
    return _UNFIT.sub("_", name)


def place_for(place: Path, *, overwrite: bool) -> Path:
    """*place* when a file may be written there: Refused for a folder, a device, a file that is there, a project's own."""
    real = place.expanduser().absolute().resolve()
    if any(part.suffix == PACKAGE for part in (real, *real.parents)):
        raise Refused(f"{place} lies inside a project, which keeps its own files; write somewhere else.")
    if place.is_dir():
        raise Refused(f"{place} is a folder; give the name of a file.")
    if place.exists() and not place.is_file():
        raise Refused(f"{place} is no ordinary file; give the name of a file.")
    if (place.exists() or place.is_symlink()) and not overwrite:
        raise Refused(f"{place} is there already; pass --overwrite to write over it.")
    return place


def write_file(place: Path, content: bytes, *, overwrite: bool) -> None:
    """Write *content* as a file of its own at *place*, whole or not at all; a link there is replaced, not followed."""
    place_for(place, overwrite=overwrite)
    fresh = place.with_name(f".{place.name[:200]}.{secrets.token_hex(4)}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("xb") as file:
            file.write(content)
        fresh.replace(place)
    except OSError as error:
        raise Refused(f"{place} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            fresh.unlink()


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
    made: list[tuple[Path, Path]] = []
    taken: dict[Path, set[str]] = {}
    below = _folders_of(session, pages)
    new: list[Path] = []
    try:
        for page in pages:
            try:
                given = session.get(f"/api/documents/{page['id']}/export/{format_name}", **(choices or {}))
            except Refused as refused:
                if leaves_out is not None and leaves_out(page, refused):
                    continue
                raise
            inner = folder.joinpath(*below[page["id"]])
            name = _free(file_name(given["filename"]), taken.setdefault(inner, set()))
            place = inner / name
            place_for(place, overwrite=overwrite)
            new += _make_folder(inner)
            fresh = place.with_name(f".{name[:200]}.{secrets.token_hex(4)}")
            made.append((fresh, place))
            # Bytes, so that line ends are the format's on every system.
            with fresh.open("xb") as file:
                file.write(given.pop("content").encode("utf-8"))
            if told is not None:
                told(given)
        for fresh, place in made:
            fresh.replace(place)
    finally:
        for fresh, _ in made:
            fresh.unlink(missing_ok=True)
        for empty in reversed(new):
            with suppress(OSError):
                empty.rmdir()
    return [str(place) for _, place in made]


def _folders_of(session: Session, pages: list[dict[str, Any]]) -> dict[str, list[str]]:
    """For each page the names of the folders it lies in, from the innermost on that holds all of *pages*."""
    nodes: dict[str, dict[str, Any]] = {}

    def above(parent_id: str | None) -> list[str]:
        found: list[str] = []
        while parent_id is not None:
            if parent_id not in nodes:
                nodes[parent_id] = session.get(f"/api/documents/{parent_id}")
            found.append(parent_id)
            parent_id = nodes[parent_id]["parent_id"]
        return found[::-1]

    chains = {page["id"]: above(page["parent_id"]) for page in pages}
    shared = 0
    for level in zip(*chains.values(), strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    return {
        page: [_UNFIT.sub("_", nodes[one]["name"]).strip(" .") or "_" for one in chain[shared:]]
        for page, chain in chains.items()
    }


def _make_folder(place: Path) -> list[Path]:
    """The folders that had to be made for *place* to be one, outermost first."""
    new = [one for one in (*reversed(place.parents), place) if not one.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"The folder {place} cannot be made: {error.strerror or error}.") from error
    return new


def _free(name: str, taken: set[str]) -> str:
    """*name*, or the first `name-2`, `name-3` that no page of this export has (case does not tell names apart)."""
    stem, dot, suffix = name.rpartition(".")
    candidate, number = name, 1
    while candidate.casefold() in taken:
        number += 1
        candidate = f"{stem}-{number}{dot}{suffix}"
    taken.add(candidate.casefold())
    return candidate
