"""Commands about links between things: `armarium link add|of|types|withdraw|restore`."""

from __future__ import annotations

from typing import Annotated, Any

from armarium_cli.api import (
    BY_ID,
    Commands,
    Finder,
    Session,
    Topic,
    answer,
    in_words,
    is_id,
    project_session,
)
from armarium_documents.commandline import document_id

commands = Commands(Topic.lines)
link = commands.group("link", "Links between segments, documents and other things.")


def _end_id(session: Session, end: str) -> str:
    """Return the id of a thing; URIs and provisional ids, which contain a colon, stay as they are."""
    return end if is_id(end) or ":" in end else document_id(session, end)


End = Annotated[
    str, "A document by name, path or id; a segment or other thing by id; or a URI.", Finder(_end_id)
]
Link = Annotated[str, "Id of the link.", BY_ID]


@link.example("add ID glosses ID")
def add(
    one: End,
    link_type: Annotated[str, "The type of the link (armarium link types lists them)."],
    other: End,
    from_kind: Annotated[str, "The kind of the first thing."] = "segment",
    to_kind: Annotated[str, "The kind of the second thing; uri for a URI."] = "segment",
    certainty: Annotated[float | None, "Certainty, from 0 to 1."] = None,
    note: Annotated[str | None, "A note on it."] = None,
) -> None:
    """Link two things: ONE glosses OTHER."""
    body: dict[str, Any] = {
        "link_type": link_type,
        "from_kind": from_kind,
        "to_kind": to_kind,
        "certainty": certainty,
        "note": note,
    }
    with project_session() as session:
        for side, end, kind in (("from_id", one, from_kind), ("to_id", other, to_kind)):
            body[side] = document_id(session, end) if kind == "document" else end
        reply = session.post("/api/links", body)
    answer(reply, in_words("Linked ({result[link_id]}). {undo}", reply))


@link.asks(
    "of ID",
    "GET /api/links/of/{end}",
    rows="links",
    columns=(
        "id",
        "says=label",
        "of={other_kind} {other_id}",
        "certainty",
        ("note", lambda row: ("withdrawn " if row["deleted_at"] else "") + (row["note"] or "")),
    ),
)
def of(
    end: End,
    include_deleted: Annotated[bool, "--withdrawn: Include withdrawn ones."] = False,
) -> None:
    """List the links of a thing, seen from its side."""


@link.asks(
    "types",
    "GET /api/links/types",
    rows="types",
    columns=("type=key", "from one end=label", "from the other=inverse_label"),
    says=lambda reply: "\n".join(f"{alias} means {key}." for alias, key in reply["aliases"].items()),
)
def types() -> None:
    """Show the vocabulary of links."""


@link.asks("withdraw ID", "DELETE /api/links/{link}", says="Withdrawn. {undo}")
def withdraw(link: Link) -> None:
    """Withdraw a link; it can be restored."""


@link.asks("restore ID", "POST /api/links/{link}/restore", says="Restored. {undo}")
def restore(link: Link) -> None:
    """Restore a withdrawn link."""
