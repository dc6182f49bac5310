"""Reads layout files into an existing page: `armarium import FILE --into PAGE`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from armarium.commandline import Refused, Session, answer, full_path, plural

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
    companions = [("companions", Path(one).name, _bytes_of(full_path(one))) for one in beside]
    words = {key: str(value) for key, value in form.items() if value is not None}
    made: list[dict[str, Any]] = []
    refused: list[dict[str, str]] = []
    for place in places:
        try:
            sent = ("file", Path(place).name, _bytes_of(place))
            found = session.send(f"/api/documents/{page_id}/import", [sent, *companions], words)
            made.append({"file": place, **found})
        except Refused as refusal:
            if len(places) == 1:
                raise
            refused.append({"file": place, "why": str(refusal)})
    if not made:
        first, more = refused[0], len(refused) - 1
        raise Refused(
            f"Nothing was imported. {first['file']}: {first['why']}" + (f" And {more} more." if more else "")
        )
    answer(
        {"document_id": page_id, "passes": made, "count": len(made), "refused": refused},
        lambda: _print_layouts(made, refused),
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


def _print_layouts(made: list[dict[str, Any]], refused: list[dict[str, str]]) -> None:
    for one in made:
        counts = one["counts"]
        typer.echo(
            f"Read {Path(one['file']).name} as {one['format']}: {plural(counts['region'], 'region')}, "
            f"{plural(counts['line'], 'line')}, {plural(counts['word'], 'word')}, {plural(counts['readings'], 'text')}; "
            f"the pass {one['name']!r} ({one['pass_id']})."
        )
        if one["pages_left_out"]:
            left = ", ".join(map(str, one["pages_left_out"][:20]))
            typer.echo(
                f"  of the {one['pages_in_file']} pages in it these were left out: {left}; --page chooses."
            )
        for word in one["unknown_classes"]:
            typer.echo(f"  unknown class: {word}")
        for note in one["notes"]:
            typer.echo(f"  noted: {note}")
    for one in refused:
        typer.echo(f"  not read: {one['file']}: {one['why']}")
    takes = " ".join(one["audit_id"] for one in made)
    typer.echo(f"Take it back with: armarium undo {takes}")
