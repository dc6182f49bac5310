"""Commands about links between things: `armarium link add|of|types|withdraw|restore`."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from armarium.commandline import Topic, answer, id_of, is_id, project_session, table
from armarium_documents.commandline import document_id

End = Annotated[
    str, typer.Argument(help="A document by name, path or id; a segment or other thing by id; or a URI.")
]
ROOT = "/api/links"


def register(program: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Links between segments, documents and other things.")
    for command, example in (
        (add, "add ID glosses ID"),
        (of, "of ID"),
        (types, "types"),
        (withdraw, "withdraw ID"),
        (restore, "restore ID"),
    ):
        group.command(epilog=f"Example: armarium link {example}")(command)
    program.add_typer(group, name="link", rich_help_panel=Topic.lines)


def add(
    one: End,
    link_type: Annotated[str, typer.Argument(help="The type of the link (armarium link types lists them).")],
    other: End,
    from_kind: Annotated[str, typer.Option(help="The kind of the first thing.")] = "segment",
    to_kind: Annotated[str, typer.Option(help="The kind of the second thing; uri for a URI.")] = "segment",
    certainty: Annotated[float | None, typer.Option(help="Certainty, from 0 to 1.")] = None,
    note: Annotated[str | None, typer.Option(help="A note on it.")] = None,
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
        made = session.post(ROOT, body)
    answer(made, f"Linked ({made['result']['link_id']}). {_undo_hint(made)}")


def of(
    end: End,
    withdrawn: Annotated[bool, typer.Option("--withdrawn", help="Include withdrawn ones.")] = False,
) -> None:
    """List the links of a thing, seen from its side."""
    with project_session() as session:
        # URIs and provisional ids contain a colon; of the rest only ids are kept as they are.
        named = end if is_id(end) or ":" in end else document_id(session, end)
        found = session.get(f"{ROOT}/of/{quote(named, safe='')}", include_deleted=withdrawn or None)

    def words() -> None:
        rows = [
            (
                one["id"],
                one["label"],
                f"{one['other_kind']} {one['other_id']}",
                one["certainty"],
                ("withdrawn " if one["deleted_at"] else "") + (one["note"] or ""),
            )
            for one in found["links"]
        ]
        table("", ("id", "says", "of", "certainty", "note"), rows)

    answer(found, words)


def types() -> None:
    """Show the vocabulary of links."""
    with project_session() as session:
        found = session.get(f"{ROOT}/types")

    def words() -> None:
        table(
            "",
            ("type", "from one end", "from the other"),
            [(one["key"], one["label"], one["inverse_label"]) for one in found["types"]],
        )
        for alias, key in found["aliases"].items():
            typer.echo(f"{alias} means {key}.")

    answer(found, words)


def withdraw(link: Annotated[str, typer.Argument(help="Id of the link.")]) -> None:
    """Withdraw a link; it can be restored."""
    with project_session() as session:
        gone = session.delete(f"{ROOT}/{id_of(link)}")
    answer(gone, f"Withdrawn. {_undo_hint(gone)}")


def restore(link: Annotated[str, typer.Argument(help="Id of the link.")]) -> None:
    """Restore a withdrawn link."""
    with project_session() as session:
        back = session.post(f"{ROOT}/{id_of(link)}/restore")
    answer(back, f"Restored. {_undo_hint(back)}")


def _undo_hint(written: dict[str, Any]) -> str:
    return f"Take it back with: armarium undo {written['audit_id']}"
