"""What the commands of families share: following a job, listing what it named, writing files."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from armarium.client import fitting_name
from armarium_cli.output import legible, progress
from armarium_cli.refusals import STOPPED, Refused
from armarium_cli.session import Session

_NAMED = 5
"""How many things of one name a refusal lists."""

PACKAGE = ".library"
"""The suffix of a project's folder."""


def follow_job(session: Session, job_id: str, title: str) -> dict[str, Any]:
    """Follow a job with a progress bar to its end; raises Refused with its reason when it does not succeed."""
    try:
        with progress(title) as show:
            node = session.follow(job_id, show)
    except KeyboardInterrupt as stopped:
        goes_on = (
            "Stopped watching; the work goes on in the background: armarium jobs --watch shows it, "
            f"armarium jobs cancel {job_id} ends it."
            if session.running
            else "Stopped. Finished work is kept, and the next command on this project continues: "
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


def result_of(session: Session, job_id: str) -> dict[str, Any]:
    """Return the result of a finished job."""
    node = session.get(f"/api/activity/jobs/{job_id}")
    return dict(node.get("result") or {})


def carry_out(session: Session, action: str, params: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Run an action that begins a job, and follow that to its end; return what the action answered and the job's result."""
    begun = session.act(action, params)["result"]
    follow_job(session, begun["job_id"], title)
    return {**begun, **result_of(session, begun["job_id"])}


def find_named(
    items: Iterable[Mapping[str, Any]], text: str, noun: str, see: str, keys: Sequence[str] = ("id", "name")
) -> Any:
    """Return the one of *items* that has *text* under one of *keys*; Refused, with the command to *see* them, otherwise."""
    matches = [item for item in items if text in [item[key] for key in keys]]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise Refused(f"There is no {noun} called {text!r}; {see} lists them.")
    first_matches = ", ".join(str(item[keys[0]]) for item in matches[:_NAMED]) + (
        " …" if len(matches) > _NAMED else ""
    )
    raise Refused(
        f"{len(matches)} of them are called {text!r}: {first_matches}. Name the {noun} that you mean by its id."
    )


def find_begun(items: Iterable[Mapping[str, Any]], key: str, text: str, noun: str, see: str) -> str:
    """Return the id under *key* that is *text* or the only one to begin with it; Refused otherwise."""
    ids = [str(item[key]) for item in items if str(item[key]).startswith(text)]
    if text in ids or len(ids) == 1:
        return text if text in ids else ids[0]
    begins = f"More than one {noun} begins" if ids else f"No {noun} begins"
    raise Refused(f"{begins} with {text!r}; {see} shows them.")


def name_each(what: str, outcome: dict[str, Any], key: str, words: Callable[[Any], str]) -> None:
    """Print a line for each thing that a job names; jobs name a limited number and count the rest."""
    ids = outcome.get(key) or []
    for item in ids:
        typer.echo(f"  {what}: {legible(words(item))}")
    more = int(outcome.get(f"{key}_count", len(ids))) - len(ids)
    if more > 0:
        typer.echo(f"  {what}: {more} more; armarium jobs log {outcome.get('job_id', 'JOB')} names them all.")


def file_name(name: str) -> str:
    """Return *name* as a file name that every system accepts."""
    return fitting_name(name)


def place_for(place: Path, *, overwrite: bool) -> Path:
    """Return *place* if a file may be written there: raises Refused for a folder, a device, an existing file, a
    project's own folder.
    """
    real = place.expanduser().absolute().resolve()
    if any(part.suffix == PACKAGE for part in (real, *real.parents)):
        raise Refused(f"{place} lies inside a project, which keeps its own files; write somewhere else.")
    if place.is_dir():
        raise Refused(f"{place} is a folder; give the name of a file.")
    if place.exists() and not place.is_file():
        raise Refused(f"{place} is not an ordinary file; give the name of a file.")
    if (place.exists() or place.is_symlink()) and not overwrite:
        raise Refused(f"{place} already exists; pass --overwrite to overwrite it.")
    return place


def write_file(place: Path, content: bytes, *, overwrite: bool) -> None:
    """Write *content* as a new file at *place*, whole or not at all; a link there is replaced, not followed."""
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
