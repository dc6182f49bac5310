"""The commands of knowledge: entities and where they are named, statements, what a correction put in doubt, matches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from armarium_cli.api import (
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    carry_out,
    full_path,
    is_id,
    plural,
    project_session,
    write_file,
)
from armarium_documents.commandline import DOCUMENT, document_id

commands = Commands(Topic.pages)

MOST = 1_000


@commands.asks(
    "entities garcia --type person",
    "GET /api/entities",
    fixed={"limit": MOST},
    title="{total:entity|entities}",
    columns=(
        "name=canonical_name",
        "type=entity_type",
        "state=curation_state",
        "documents=corroboration_count",
        "id",
    ),
)
def entities(
    q: Annotated[str | None, "WORDS: Words of their names; default: all."] = None,
    entity_type: Annotated[str | None, "--type: person, location, organization, …"] = None,
    document_id: Annotated[str | None, "--on: Only those named in this document.", DOCUMENT] = None,
) -> None:
    """List the persons, places and other things that the project knows."""


@commands.example("entity 'Juan Garcia' --out garcia.md")
def entity(
    name: Annotated[str, "An entity by its name or id."],
    form: Annotated[Literal["markdown", "text", "json"], "--as: The format."] = "text",
    out: Annotated[Path | None, "--out, -o: The file to write."] = None,
    overwrite: Annotated[bool, "Overwrite an existing file."] = False,
) -> None:
    """Show what is known of an entity: names, dates, places, statements, relations, sources."""
    with project_session() as session:
        content = session.raw(
            "GET", f"/api/entities/{_entity_id(session, name)}/export", query={"format": form}
        )
    if out is None:
        answer({"biography": content.decode()}, content.decode().rstrip("\n"))
        return
    place = full_path(str(out))
    write_file(Path(place), content, overwrite=overwrite)
    answer({"path": place}, f"Wrote {place}")


def _entity_id(session: Session, name: str) -> str:
    if is_id(name):
        return name
    rows = session.get("/api/entities", q=name, limit=MOST)["items"]
    exact = [row for row in rows if name in (row["canonical_name"], *row["aliases"])] or rows
    if len(exact) == 1:
        return str(exact[0]["id"])
    if not exact:
        raise Refused(f"No entity here is called {name!r}; armarium entities lists the existing ones.")
    first_matches = ", ".join(f"{row['canonical_name']} ({row['id']})" for row in exact[:5])
    raise Refused(
        f"{len(exact)} entities are called {name!r}: {first_matches}. Name the one you mean by its id."
    )


def _say_statements(listing: dict[str, Any]) -> Iterator[str]:
    if not listing["items"]:
        yield "No statements."
    for statement in listing["items"]:
        doubt = ", in doubt" if statement["stale"] else ""
        yield f"{statement['text']}  [{statement['curation_state']}{doubt}]  {statement['id']}"
        if statement["source_excerpt"]:
            yield f"    “{' / '.join(statement['source_excerpt'].splitlines())}”"


@commands.asks("statements 'sold the mill'", "GET /api/claims", fixed={"limit": MOST}, says=_say_statements)
def statements(
    q: Annotated[str | None, "WORDS: Words that they contain; default: all."] = None,
    entity_id: Annotated[str | None, "--about: Only those that name this entity.", Finder(_entity_id)] = None,
    document_id: Annotated[str | None, "--on: Only those that rest on this document.", DOCUMENT] = None,
) -> None:
    """List the statements of the project with what they rest on."""


@commands.example("in-doubt 0001.jpg --confirm")
def in_doubt(
    document: Annotated[
        str | None, "PAGE: A page by name, path or id; default: the pages written on last."
    ] = None,
    confirm: Annotated[bool, "Confirm everything whose words are still there."] = False,
) -> None:
    """Show what rests on text that has been corrected since, and what to do about each."""
    with project_session() as session:
        page = None if document is None else document_id(session, document)
        listing = session.get("/api/staleness", document_id=page)
        sure = [
            row for row in listing["items"] if row["todo"] == "confirm" and row["kind"] != "interpretation"
        ]
        if confirm and sure:
            kinds = {(row["kind"], row["id"]) for row in listing["items"] if row["todo"] == "review"}
            items = [
                {"kind": kind, "id": identity}
                for kind, identity in dict.fromkeys((row["kind"], row["id"]) for row in sure)
                if (kind, identity) not in kinds
            ]
            if items:
                session.act("knowledge.confirm", {"items": items})
                listing = session.get("/api/staleness", document_id=page)

    def print_doubts() -> None:
        if not listing["items"]:
            typer.echo("Nothing is in doubt.")
        for row in listing["items"]:
            typer.echo(f"{row['todo']}: {row['kind']} {row['text'] or ''} ({row['id']})")
            typer.echo(f"    {row['why']}")

    answer(listing, print_doubts)


@commands.example("same-entities --find")
def same_entities(
    find: Annotated[bool, "First look for more, by their names."] = False,
) -> None:
    """List the entities that may be the same; a person decides each."""
    with project_session() as session:
        if find:
            carry_out(session, "entity.find_matches", {}, "Look for entities that may be the same")
        listing = session.get("/api/entity-matches", state="pending", limit=MOST)
        names = {
            entity_id: session.get(f"/api/entities/{entity_id}")["canonical_name"]
            for match in listing["items"]
            for entity_id in (match["survivor_entity_id"], match["candidate_entity_id"])
        }

    def print_entities() -> None:
        typer.echo(f"{plural(listing['total'], 'pair')} to decide")
        for match in listing["items"]:
            pair = f"{names[match['survivor_entity_id']]} – {names[match['candidate_entity_id']]}"
            typer.echo(f"{match['score']:.2f}  {pair}  {match['reason'] or ''}  {match['id']}")

    answer(listing, print_entities)
