"""The command that makes the citation of a line, and says what a citation leads to, then and now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from armarium_cli.api import Commands, Topic, answer, id_of, project_session

commands = Commands(Topic.lines)


@commands.example("cite ID")
def cite(
    what: Annotated[
        str, "LINE|CITATION: Id of a line (armarium text --ids shows them), or a citation of one."
    ],
) -> None:
    """Print the citations of a line; of a citation, what it said at its step, what it says now, and what changed it."""
    with project_session() as session:
        if not what.startswith("service:"):
            cited = session.get(f"/api/segments/{id_of(what)}/reference")
            answer(cited, f"{cited['dated_reference']}\nWithout its step: {cited['reference']}")
            return
        place = session.post("/api/locations/resolve", {"segmentId": what})
        if place["asOf"] is None and place["resolvedSegmentId"] is not None:
            readings_now = session.get(
                f"/api/segments/{place['resolvedSegmentId']}/readings", kind="transcription"
            )
            place["textNow"] = next(
                (each["content"] for each in readings_now["items"] if each["counting"]), None
            )
    answer(place, "\n".join(_words_of(place)))


def _words_of(place: dict[str, Any]) -> Iterator[str]:
    yield " › ".join(step["name"] for step in place["path"])
    if place["asOf"] is not None:
        yield f"At step {place['asOf']['step']}, {place['asOf']['at'][:16]}: {_text_or_none(place['textThen'])}"
    yield "Now: " + ("the line was removed." if place["segmentDeleted"] else _text_or_none(place["textNow"]))
    for step in place["changedBy"]:
        undone = ", taken back since" if step["undone"] else ""
        yield f"  changed by step {step['audit_id']}: {step['action']}, {step['actor']}, {step['at'][:16]}{undone}"


def _text_or_none(text: str | None) -> str:
    return "no text" if text is None else text
