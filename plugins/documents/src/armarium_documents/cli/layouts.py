"""Reads layout files into an existing page: `armarium import FILE --into PAGE`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from armarium_cli.api import Refused, Session, answer, full_path, plural

MAX_FILE_BYTES = 256 << 20
"""More than any route takes: what is larger is not even read."""


def read_into(
    session: Session,
    page_id: str,
    places: list[str],
    *,
    form: Mapping[str, object],
    beside: list[str],
) -> None:
    """Read each file into the page as a pass, one step each; a refused file does not stop the others."""
    companions = [("companions", Path(path).name, _bytes_of(full_path(path))) for path in beside]
    words = {key: str(value) for key, value in form.items() if value is not None}
    passes: list[dict[str, Any]] = []
    refused: list[dict[str, str]] = []
    for place in places:
        try:
            upload = ("file", Path(place).name, _bytes_of(place))
            imported = session.send(f"/api/documents/{page_id}/import", [upload, *companions], words)
            passes.append({"file": place, **imported})
        except Refused as refusal:
            if len(places) == 1:
                raise
            refused.append({"file": place, "why": str(refusal)})
    if not passes:
        first, more = refused[0], len(refused) - 1
        raise Refused(
            f"Nothing was imported. {first['file']}: {first['why']}" + (f" And {more} more." if more else "")
        )
    answer(
        {"document_id": page_id, "passes": passes, "count": len(passes), "refused": refused},
        lambda: _print_layouts(passes, refused),
    )


def _bytes_of(place: str) -> bytes:
    path = Path(place)
    try:
        if path.is_dir():
            raise Refused(f"{path} is a folder; for a page, name its layout file.")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Refused(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB, more than any layout file.")
        return path.read_bytes()
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from None


def _print_layouts(passes: list[dict[str, Any]], refused: list[dict[str, str]]) -> None:
    for imported in passes:
        counts = imported["counts"]
        typer.echo(
            f"Read {Path(imported['file']).name} as {imported['format']}: {plural(counts['region'], 'region')}, "
            f"{plural(counts['line'], 'line')}, {plural(counts['word'], 'word')}, {plural(counts['readings'], 'text')}; "
            f"the pass {imported['name']!r} ({imported['pass_id']})."
        )
        if imported["pages_left_out"]:
            pages = ", ".join(map(str, imported["pages_left_out"][:20]))
            typer.echo(
                f"  of the {imported['pages_in_file']} pages in it these were left out: {pages}; --page chooses."
            )
        for word in imported["unknown_classes"]:
            typer.echo(f"  unknown class: {word}")
        for note in imported["notes"]:
            typer.echo(f"  noted: {note}")
    for entry in refused:
        typer.echo(f"  not read: {entry['file']}: {entry['why']}")
    takes = " ".join(entry["audit_id"] for entry in passes)
    typer.echo(f"Take it back with: armarium undo {takes}")
