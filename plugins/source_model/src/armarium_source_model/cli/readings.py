"""Commands about the readings of a line: list them, choose the one that counts, correct."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium_cli.api import Commands, Refused, Topic, answer, id_of, project_session, table
from armarium_source_model.cli.editing import correct_page

commands = Commands(Topic.lines)


@commands.example("readings ID")
def readings(
    segment: Annotated[str, "Id of the line (armarium text --ids shows them)."],
    kind: Annotated[str | None, "Only this kind: transcription, translation, …"] = None,
    choose: Annotated[str | None, "--choose ID: Choose this reading as the one that counts."] = None,
    release: Annotated[bool, "--release/--no-release: Withdraw that choice; the rule decides again."] = False,
    retract: Annotated[
        str | None, "--retract ID: Take this reading out of the count; it stays readable."
    ] = None,
) -> None:
    """List the readings of a line side by side; with an option, change which one counts first."""
    if sum((choose is not None, release, retract is not None)) > 1:
        raise Refused("Give one change at a time: --choose, --release or --retract.")
    place = f"/api/segments/{id_of(segment)}/readings"
    with project_session() as session:
        changed: dict[str, Any] = {}
        if choose is not None or release:
            body = {"kind": kind or _kind_of(session.get(place), choose), "representation_id": choose}
            changed = session.post(f"{place}/choice", body)
        if retract is not None:
            changed = session.post(f"/api/segments/readings/{id_of(retract)}/retract")
        listing = session.get(place, kind=kind)
    audit_id = changed.get("audit_id")

    def words() -> None:
        rows = [
            (
                reading["id"],
                reading["kind"],
                _state(reading, listing["counting"]),
                reading["producer_model"]
                or reading["producer_tool"]
                or reading["created_by"]
                or reading["provenance_kind"],
                reading["content"],
            )
            for reading in listing["items"]
        ]
        table("", ("id", "kind", "", "by", "text"), rows)
        if audit_id:
            typer.echo(f"Take it back with: armarium undo {audit_id}")

    answer({**listing, "audit_id": audit_id}, words)


def _kind_of(listing: dict[str, Any], representation_id: str | None) -> str:
    """Return the kind of the reading that is chosen; a choice is per kind."""
    for reading in listing["items"]:
        if reading["id"] == representation_id:
            return str(reading["kind"])
    return "transcription"


def _state(reading: dict[str, Any], counting: dict[str, Any]) -> str:
    if reading["counting"]:
        why = counting[reading["kind"]]
        basis = why["basis"].replace("-", " ")
        return f"counts ({basis}{', disputed' if why['disputed'] else ''})"
    if reading["retracted"]:
        return "retracted"
    return "corrected" if reading["superseded_by"] else "stale" if reading["stale"] else ""


@commands.example("correct 0001.jpg")
def correct(
    what: Annotated[
        str, "LINE|PAGE: Id of a line (armarium text --ids shows them), or a page by name, path or id."
    ],
    words: Annotated[
        str | None, "WORDS: The text of the line; without it, the page's lines open in an editor."
    ] = None,
    kind: Annotated[str | None, "Another kind of reading: translation, normalized_text, …"] = None,
    level: Annotated[str | None, "as_written, expanded, normalised or another word."] = None,
    expect: Annotated[str | None, "Id of the reading you saw; refused when another counts now."] = None,
) -> None:
    """Correct a line as a person, or a page's lines in the editor of VISUAL or EDITOR, all in one step.

    One line: armarium correct ID 'En la villa'. Earlier readings are kept.
    """
    if words is None:
        if level is not None or expect is not None:
            raise Refused("--level and --expect are for one line; give its text after its id.")
        correct_page(what, kind)
        return
    options = {"kind": kind, "level": level, "expected_counting_id": expect}
    body = {"text": words, **{name: value for name, value in options.items() if value is not None}}
    with project_session() as session:
        result = session.post(f"/api/segments/{id_of(what)}/correct", body)

    def print_outcome() -> None:
        typer.echo(f"Corrected. Take it back with: armarium undo {result['audit_id']}")
        for span in result["unplaced"]:
            typer.echo(f"  not moved along: {span['id']}: {span['why']}")

    answer(result, print_outcome)
