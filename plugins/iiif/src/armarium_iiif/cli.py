"""Commands of IIIF: import of manifests by reference, and fetching of their pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from armarium_cli.api import (
    Commands,
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
from armarium_documents.commandline import DOCUMENT, document_id

commands = Commands(Topic.files)
iiif = commands.group("iiif", "Import IIIF manifests and fetch their pictures.")

MAX_FILE_BYTES = 64 << 20


@iiif.example("import manifest.json")
def import_manifest(
    source: Annotated[str, "A manifest: a file on this machine, or a web address."],
    into: Annotated[str | None, "The folder to put it in; default: Sources."] = None,
    name: Annotated[str | None, "Name of its folder; default: its label."] = None,
    with_pictures: Annotated[bool, "--pictures: Also fetch the pictures of its canvases."] = False,
) -> None:
    """Import a IIIF manifest as a folder with a page for each canvas, or by its address a collection. Its pictures stay where
    they are published.
    """
    choices: dict[str, Any] = {
        **({"name": name} if name else {}),
    }
    with project_session() as session:
        if into:
            choices["parent_id"] = document_id(session, into)
        imported = (
            _by_address(session, source, choices) if "://" in source else _by_file(session, source, choices)
        )
        folder = imported.get("collection_id") or imported["document_id"]
        fetched = _fetch_images(session, [folder]) if with_pictures else None

    def words() -> None:
        if "collection_id" in imported:
            typer.echo(
                f"{plural(imported['manifests'], 'manifest')} with {plural(imported['canvases'], 'page')} in the folder {folder}; "
                f"{imported['already']} were there."
            )
            name_each(
                "not imported", imported, "failed", lambda failure: f"{failure['address']}: {failure['why']}"
            )
        else:
            print_manifest()
        if fetched is not None:
            _print_fetched(fetched)

    def print_manifest() -> None:
        typer.echo(
            f"{imported['name']}: {plural(imported['canvases'], 'page')} in the folder {imported['document_id']}."
        )
        if imported["passes"]:
            typer.echo(f"Read the transcription that it contains of {plural(imported['passes'], 'page')}.")
        for note in imported["notes"]:
            typer.echo(f"  {note}")

    answer({**imported, **({"pictures": fetched} if fetched is not None else {})}, words)


@iiif.asks(
    "pictures Letters",
    "POST /api/iiif/images/fetch",
    follows="Pictures",
    says=lambda fetched: _print_fetched(fetched),
)
def pictures(
    document_ids: Annotated[
        list[str], "IDS: Imported pages, or folders of them, each by name, path or id.", DOCUMENT
    ],
) -> None:
    """Fetch the pictures of imported canvases that lack them."""


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
    answer: dict[str, Any] = session.act("iiif.import", params)
    return {**answer["result"], "audit_id": answer["audit_id"]}


def _fetch_images(session: Session, ids: list[str]) -> dict[str, Any]:
    started = session.post("/api/iiif/images/fetch", {"document_ids": ids})
    follow_job(session, started["job_id"], "Pictures")
    return {**result_of(session, started["job_id"]), "job_id": started["job_id"]}


def _print_fetched(fetched: dict[str, Any]) -> None:
    typer.echo(f"Fetched {plural(fetched['fetched'], 'picture')}.")
    name_each("not fetched", fetched, "failed", lambda failure: f"{failure['document_id']}: {failure['why']}")
