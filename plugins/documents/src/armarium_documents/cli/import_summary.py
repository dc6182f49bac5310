"""Summarises an import for a terminal: what was imported, what was noted, what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from armarium_cli.api import Refused, Session, follow_job, legible, plural, result_of
from armarium_documents.remarks import count_remarks, remark_pattern

Found = dict[str, Any]

ONE_BY_ONE = 3
"""Files left out for one reason that have a line each; more of them share one."""


def is_archive(place: str) -> bool:
    """Return whether the file at *place* begins like a ZIP archive."""
    try:
        with Path(place).open("rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except OSError:
        return False


def bring_archives(
    session: Session, places: list[str], into: str | None, beyond: str
) -> tuple[Found, list[Found]]:
    """Import ZIP archives and other files; return the results of the import job and of the layout job."""
    body = {"paths": places, "beyond": beyond, **({"parent_id": into} if into else {})}
    try:
        answer = session.post("/api/ingest/files", body)
    except Refused as refused:
        if refused.body.get("code") != "already_here":
            raise
        return {"files": 0, "documents": 0, "already": len(refused.body["refused"])}, []
    texts = 0
    notes: list[Found] = []
    if answer["job_id"]:
        node = follow_job(session, answer["job_id"], "Pictures")
        for read in layout_results(session, node):
            texts += read["texts"]
            notes += read["notes"]
    for document in answer["documents"]:
        count_remarks(notes, document["name"], document["notes"])
    for imported in answer["passes"]:
        count_remarks(notes, imported["file"], imported["notes"])
    outcome = {
        "files": len(answer["documents"]),
        "documents": answer["documents"],
        "refused": answer["refused"],
        "audit_id": answer["audit_id"],
    }
    layouts = {key: answer[key] for key in ("mets", "unpaired")}
    return outcome, [{**layouts, "passes": len(answer["passes"]), "texts": texts, "notes": notes}]


def layout_results(session: Session, import_job: Found) -> list[Found]:
    """Return the results of the jobs that read layout files and text layers for an import."""
    children = import_job.get("children") or []
    return [result_of(session, child["id"]) for child in children if child["kind"] == "ingest-layouts"]


def tell(outcome: Found, layouts: Sequence[Found]) -> None:
    """Print what an import did."""
    typer.echo(f"Imported {plural(outcome.get('files', 0), 'file')}{_in_place_words(outcome)}.")
    _tell_left_out("not imported", outcome, "refused")
    for layout in layouts:
        if any(layout.get(key) for key in ("passes", "already", "unpaired", "refused")):
            typer.echo(
                f"Read {plural(layout.get('passes', 0), 'layout file')} into the pages they describe{_in_place_words(layout)}."
            )
        if layout.get("texts"):
            typer.echo(f"Read the text that PDFs had themselves on {plural(layout['texts'], 'page')}.")
        for mets in layout.get("mets", ()):
            _tell_mets(mets)
        for remark in layout.get("notes", ()):
            _tell_note(remark)
        unknown = layout.get("unknown_classes") or {}
        if unknown:
            words = ", ".join(f"{word} ({plural(count, 'file')})" for word, count in unknown.items())
            typer.echo(f"  unknown classes, read as regions: {legible(words)}")
        _tell_left_out("not paired", layout, "unpaired")
        _tell_left_out("not read", layout, "refused")
    for name in outcome.get("left") or () if not layouts else ():
        typer.echo(f"  left alone: {legible(name)}")


def _in_place_words(outcome: Found) -> str:
    """Return how many files were already in place, to follow the number that were imported."""
    already = outcome.get("already", 0)
    return f"; {already} {'was' if already == 1 else 'were'} there already" if already else ""


def _tell_mets(mets: Found) -> None:
    title = f" of {legible(mets['title'])!r}" if mets["title"] else ""
    typer.echo(
        f"Used {legible(mets['file'])}{title}: {mets['pictured']} of {plural(mets['pages'], 'page')}, "
        f"{plural(mets['ordered'], 'document')} put in its order, {mets['labelled']} labelled."
    )
    for item in mets["kept"]:
        typer.echo(f"  stored with the folder: {item['what']} ({item['count']})")
    for note in mets["notes"]:
        typer.echo(f"  noted: {legible(note)}")


def _tell_note(remark: Found) -> None:
    more = remark["count"] - len(remark["files"])
    files = ", ".join(remark["files"][:ONE_BY_ONE]) + (
        f" and {more + len(remark['files'][ONE_BY_ONE:])} more" if remark["count"] > ONE_BY_ONE else ""
    )
    typer.echo(f"  noted of {legible(files)}: {legible(remark['note'])}")


def _tell_left_out(what: str, outcome: Found, key: str) -> None:
    """Print the files that were left out, those with the same reason in one line; jobs name only a few."""
    files: list[Found] = outcome.get(key) or []
    alikes: dict[str, list[Found]] = {}
    for entry in files:
        alikes.setdefault(remark_pattern(entry["why"]), []).append(entry)
    for several in alikes.values():
        for entry in several if len(several) <= ONE_BY_ONE else ():
            typer.echo(f"  {what}: {legible(entry['file'])}: {legible(entry['why'])}")
        if len(several) > ONE_BY_ONE:
            first = ", ".join(entry["file"] for entry in several[:ONE_BY_ONE])
            typer.echo(
                f"  {what}: {legible(first)} and {len(several) - ONE_BY_ONE} more: {legible(several[0]['why'])}"
            )
    more = int(outcome.get(f"{key}_count", len(files))) - len(files)
    if more > 0:
        typer.echo(f"  {what}: {more} more; armarium jobs log {outcome.get('job_id', 'JOB')} names them all.")
