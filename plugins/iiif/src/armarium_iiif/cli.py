"""Commands of IIIF: import of manifests by reference, and fetching of their pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.commandline import (
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    full_path,
    name_each,
    plural,
    project_session,
    result_of,
)
from armarium_documents.commandline import document_id

MAX_FILE_BYTES = 64 << 20


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    group = typer.Typer(no_args_is_help=True, help="Import IIIF manifests and fetch their pictures.")
    group.command("import", epilog="Example: armarium iiif import manifest.json")(import_manifest)
    group.command("pictures", epilog="Example: armarium iiif pictures Letters")(pictures)
    program.add_typer(group, name="iiif", rich_help_panel=Topic.files)
    return program


def import_manifest(
    source: Annotated[str, typer.Argument(help="A manifest: a file on this machine, or a web address.")],
    into: Annotated[
        str | None, typer.Option("--into", help="The folder to put it in; default: Sources.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of its folder; default: its label.")
    ] = None,
    with_pictures: Annotated[
        bool, typer.Option("--pictures", help="Also fetch the pictures of its canvases.")
    ] = False,
) -> None:
    """Import a IIIF manifest as a folder with a page for each canvas. Its pictures stay where they are
    published.
    """
    choices: dict[str, Any] = {
        **({"name": name} if name else {}),
    }
    with project_session() as session:
        if into:
            choices["parent_id"] = document_id(session, into)
        made = (
            _by_address(session, source, choices) if "://" in source else _by_file(session, source, choices)
        )
        fetched = _fetch_images(session, [made["document_id"]]) if with_pictures else None

    def words() -> None:
        typer.echo(f"{made['name']}: {plural(made['canvases'], 'page')} in the folder {made['document_id']}.")
        if made["passes"]:
            typer.echo(f"Read the transcription that it contains of {plural(made['passes'], 'page')}.")
        for note in made["notes"]:
            typer.echo(f"  {note}")
        if fetched is not None:
            _print_fetched(fetched)

    answer({**made, **({"pictures": fetched} if fetched is not None else {})}, words)


def pictures(
    ids: Annotated[
        list[str], typer.Argument(help="Imported pages, or folders of them, each by name, path or id.")
    ],
) -> None:
    """Fetch the pictures of imported canvases that lack them."""
    with project_session() as session:
        fetched = _fetch_images(session, [document_id(session, one) for one in ids])
    answer(fetched, lambda: _print_fetched(fetched))


def _by_address(session: Session, address: str, choices: dict[str, Any]) -> dict[str, Any]:
    started = session.post("/api/iiif/manifests/fetch", {"url": address, **choices})
    follow_job(session, started["job_id"], "Import")
    return result_of(session, started["job_id"])


def _by_file(session: Session, source: str, choices: dict[str, Any]) -> dict[str, Any]:
    path = Path(full_path(source))
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Refused(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB, more than any manifest.")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Refused(f"{path} is not a IIIF manifest: it is not UTF-8.") from None
    params = {"file": text, "filename": path.name, **choices}
    done: dict[str, Any] = session.act("iiif.import", params)
    return {**done["result"], "audit_id": done["audit_id"]}


def _fetch_images(session: Session, ids: list[str]) -> dict[str, Any]:
    started = session.post("/api/iiif/images/fetch", {"document_ids": ids})
    follow_job(session, started["job_id"], "Pictures")
    return {**result_of(session, started["job_id"]), "job_id": started["job_id"]}


def _print_fetched(fetched: dict[str, Any]) -> None:
    typer.echo(f"Fetched {plural(fetched['fetched'], 'picture')}.")
    name_each("not fetched", fetched, "failed", lambda one: f"{one['document_id']}: {one['why']}")
