"""The commands of knowledge: entities and where they are named, statements, what a correction put in doubt,
matches.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from armarium.commandline import (
    Refused,
    Session,
    Topic,
    answer,
    follow_job,
    full_path,
    is_id,
    plural,
    project_session,
    result_of,
    table,
    write_file,
)
from armarium_documents.commandline import document_id

MOST = 1_000


def commands() -> typer.Typer:
    """Return the commands."""
    program = typer.Typer()
    add = program.command
    add(rich_help_panel=Topic.pages, epilog="Example: armarium entities garcia --type person")(entities)
    add(rich_help_panel=Topic.pages, epilog="Example: armarium entity 'Juan Garcia' --out garcia.md")(entity)
    add(rich_help_panel=Topic.pages, epilog="Example: armarium statements 'sold the mill'")(statements)
    add("in-doubt", rich_help_panel=Topic.pages, epilog="Example: armarium in-doubt 0001.jpg --confirm")(
        in_doubt
    )
    add("same-entities", rich_help_panel=Topic.pages, epilog="Example: armarium same-entities --find")(
        same_entities
    )
    return program


def entities(
    words: Annotated[str | None, typer.Argument(help="Words of their names; default: all.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="person, location, organization, …")] = None,
    document: Annotated[str | None, typer.Option("--on", help="Only those named in this document.")] = None,
) -> None:
    """List the persons, places and other things that the project knows."""
    with project_session() as session:
        query: dict[str, Any] = {"q": words, "entity_type": kind, "limit": MOST}
        if document is not None:
            query["document_id"] = document_id(session, document)
        found = session.get("/api/entities", **query)
    rows = [
        (
            one["canonical_name"],
            one["entity_type"],
            one["curation_state"],
            one["corroboration_count"],
            one["id"],
        )
        for one in found["items"]
    ]
    columns = ("name", "type", "state", "documents", "id")
    answer(found, lambda: table(plural(found["total"], "entity", "entities"), columns, rows))


def entity(
    name: Annotated[str, typer.Argument(help="An entity by its name or id.")],
    form: Annotated[Literal["markdown", "text", "json"], typer.Option("--as", help="The format.")] = "text",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file to write.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite an existing file.")] = False,
) -> None:
    """Show what is known of an entity: names, dates, places, statements, relations, sources."""
    with project_session() as session:
        told = session.raw("GET", f"/api/entities/{_entity_id(session, name)}/export", query={"format": form})
    if out is None:
        answer({"biography": told.decode()}, told.decode().rstrip("\n"))
        return
    place = full_path(str(out))
    write_file(Path(place), told, overwrite=overwrite)
    answer({"path": place}, f"Wrote {place}")


def _entity_id(session: Session, name: str) -> str:
    if is_id(name):
        return name
    found = session.get("/api/entities", q=name, limit=MOST)["items"]
    exact = [one for one in found if name in (one["canonical_name"], *one["aliases"])] or found
    if len(exact) == 1:
        return str(exact[0]["id"])
    if not exact:
        raise Refused(f"No entity here is called {name!r}; armarium entities lists the existing ones.")
    some = ", ".join(f"{one['canonical_name']} ({one['id']})" for one in exact[:5])
    raise Refused(f"{len(exact)} entities are called {name!r}: {some}. Name the one you mean by its id.")


def statements(
    words: Annotated[str | None, typer.Argument(help="Words that they contain; default: all.")] = None,
    about: Annotated[str | None, typer.Option("--about", help="Only those that name this entity.")] = None,
    document: Annotated[
        str | None, typer.Option("--on", help="Only those that rest on this document.")
    ] = None,
) -> None:
    """List the statements of the project with what they rest on."""
    with project_session() as session:
        query: dict[str, Any] = {"q": words, "limit": MOST}
        if about is not None:
            query["entity_id"] = _entity_id(session, about)
        if document is not None:
            query["document_id"] = document_id(session, document)
        found = session.get("/api/claims", **query)

    def print_statements() -> None:
        if not found["items"]:
            typer.echo("No statements.")
        for one in found["items"]:
            doubt = ", in doubt" if one["stale"] else ""
            typer.echo(f"{one['text']}  [{one['curation_state']}{doubt}]  {one['id']}")
            if one["source_excerpt"]:
                typer.echo(f"    “{' / '.join(one['source_excerpt'].splitlines())}”")

    answer(found, print_statements)


def in_doubt(
    document: Annotated[
        str | None, typer.Argument(help="A page by name, path or id; default: the pages written on last.")
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Confirm everything whose words are still there.")
    ] = False,
) -> None:
    """Show what rests on text that has been corrected since, and what to do about each."""
    with project_session() as session:
        page = None if document is None else document_id(session, document)
        found = session.get("/api/staleness", document_id=page)
        sure = [one for one in found["items"] if one["todo"] == "confirm" and one["kind"] != "interpretation"]
        if confirm and sure:
            kinds = {(one["kind"], one["id"]) for one in found["items"] if one["todo"] == "review"}
            items = [
                {"kind": kind, "id": identity}
                for kind, identity in dict.fromkeys((one["kind"], one["id"]) for one in sure)
                if (kind, identity) not in kinds
            ]
            if items:
                session.act("knowledge.confirm", {"items": items})
                found = session.get("/api/staleness", document_id=page)

    def print_doubts() -> None:
        if not found["items"]:
            typer.echo("Nothing is in doubt.")
        for one in found["items"]:
            typer.echo(f"{one['todo']}: {one['kind']} {one['text'] or ''} ({one['id']})")
            typer.echo(f"    {one['why']}")

    answer(found, print_doubts)


def same_entities(
    find: Annotated[bool, typer.Option("--find", help="First look for more, by their names.")] = False,
) -> None:
    """List the entities that may be the same; a person decides each."""
    with project_session() as session:
        if find:
            job_id = session.act("entity.find_matches", {})["result"]["job_id"]
            follow_job(session, job_id, "Look for entities that may be the same")
            result_of(session, job_id)
        found = session.get("/api/entity-matches", state="pending", limit=MOST)
        names = {
            one: session.get(f"/api/entities/{one}")["canonical_name"]
            for match in found["items"]
            for one in (match["survivor_entity_id"], match["candidate_entity_id"])
        }

    def print_entities() -> None:
        typer.echo(f"{plural(found['total'], 'pair')} to decide")
        for one in found["items"]:
            pair = f"{names[one['survivor_entity_id']]} – {names[one['candidate_entity_id']]}"
            typer.echo(f"{one['score']:.2f}  {pair}  {one['reason'] or ''}  {one['id']}")

    answer(found, print_entities)
