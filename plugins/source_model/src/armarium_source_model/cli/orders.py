"""Commands about reading orders: `armarium order columns|list|show|new|place|remove|renumber|withdraw|restore`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from armarium.commandline import Refused, Session, Topic, answer, id_of, plural, project_session, table
from armarium_documents.commandline import document_id
from armarium_source_model.cli.pages import Page, short

Order = Annotated[str, typer.Argument(help="Id of the order (armarium order list shows them).")]
Line = Annotated[str, typer.Argument(help="Id of the segment (armarium segments shows them).")]
ROOT = "/api/reading-orders"


def register(program: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True, help="Reading orders of a page: named ways through its segments."
    )
    group.command("list", epilog="Example: armarium order list 0001.jpg")(list_)
    for command, example in (
        (columns, "columns 0001.jpg 2"),
        (show, "show ID"),
        (new, "new 0001.jpg 'As I read it' --seed"),
        (place, "place ID SEGMENT"),
        (remove, "remove ID ENTRY"),
        (renumber, "renumber ID"),
        (withdraw, "withdraw ID"),
        (restore, "restore ID"),
    ):
        group.command(epilog=f"Example: armarium order {example}")(command)
    program.add_typer(group, name="order", rich_help_panel=Topic.lines)


def columns(
    page: Page,
    number: Annotated[
        int, typer.Argument(metavar="COLUMNS", help="How many; 0 leaves it to the positions of the lines.")
    ],
    of_pass: Annotated[
        str | None, typer.Option("--pass", metavar="ID", help="Of this pass [default: the working pass].")
    ] = None,
) -> None:
    """State in how many columns the lines of a page stand, where its text mixes them up."""
    with project_session() as session:
        body = {"columns": number or None, "pass_id": of_pass}
        made = session.put(f"{ROOT}/document/{document_id(session, page)}/columns", body)
    said = (
        "as their positions suggest" if made["columns"] is None else f"in {plural(made['columns'], 'column')}"
    )
    answer(made, f"The lines are read {said}. {_undo_hint(made)}")


def list_(
    page: Page,
    withdrawn: Annotated[bool, typer.Option("--withdrawn", help="Include withdrawn ones.")] = False,
) -> None:
    """List the orders of a page, the as-written one first."""
    with project_session() as session:
        found = session.get(
            f"{ROOT}/document/{document_id(session, page)}", include_deleted=withdrawn or None
        )

    def words() -> None:
        rows = [
            (
                one["id"],
                one["name"],
                one["kind"],
                one["entry_count"],
                "withdrawn" if one["deleted_at"] else "",
            )
            for one in found["items"]
        ]
        table("", ("id", "name", "kind", "entries", ""), rows)

    answer(found, words)


def show(order: Order) -> None:
    """Show the entries of an order, nested."""
    with project_session() as session:
        found = _entries(session, id_of(order), None)
        texts: dict[str, str] = {}
        for page in dict.fromkeys(one["document_id"] for one in _flat(found)):
            listed = session.get(f"/api/segments/document/{page}")["segments"]
            texts |= {one["id"]: one["text"] or f"({one['kind']})" for one in listed}

    def words() -> None:
        rows = [
            (one["id"], "  " * depth + short(texts.get(one["segment_id"], "(no longer on its page)")))
            for one, depth in _deep(found, 0)
        ]
        table("", ("id", "text"), rows)

    answer({"order_id": order, "items": found, "count": len(list(_flat(found)))}, words)


def _entries(session: Session, order_id: str, parent: str | None) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = session.get(f"{ROOT}/{order_id}/entries", parent_entry_id=parent)["items"]
    for one in items:
        one["inside"] = _entries(session, order_id, one["id"]) if one["child_count"] else []
    return items


def _deep(entries: list[dict[str, Any]], depth: int) -> list[tuple[dict[str, Any], int]]:
    return [pair for one in entries for pair in ((one, depth), *_deep(one["inside"], depth + 1))]


def _flat(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one, _ in _deep(entries, 0)]


def new(
    page: Page,
    name: Annotated[str, typer.Argument(help="Its name.")],
    kind: Annotated[
        str, typer.Option(help="as-written, imposed, commentary, flow or another word.")
    ] = "imposed",
    of_pass: Annotated[
        str | None, typer.Option("--pass", metavar="ID", help="For this pass [default: the working pass].")
    ] = None,
    seed: Annotated[bool, typer.Option(help="Fill it with the order of the boxes.")] = False,
) -> None:
    """Create a reading order."""
    with project_session() as session:
        if of_pass is None:
            passes = session.get(f"/api/segments/document/{document_id(session, page)}")["passes"]
            of_pass = next((one["id"] for one in passes if one["working_basis"]), None)
            if of_pass is None:
                raise Refused("The page has no pass to order yet; find lines first, or name one with --pass.")
        body = {
            "document_id": document_id(session, page),
            "pass_id": of_pass,
            "name": name,
            "kind": kind,
            "seed_from_pass": seed,
        }
        made = session.post(ROOT, body)
    answer(made, f"Order {made['id']} with {made['entry_count']} entries. {_undo_hint(made)}")


def place(
    order: Order,
    segment: Line,
    after: Annotated[
        str | None, typer.Option(metavar="ENTRY", help="After this entry [default: first].")
    ] = None,
    at_end: Annotated[bool, typer.Option("--at-end", help="After the last.")] = False,
    inside: Annotated[str | None, typer.Option(metavar="ENTRY", help="Inside this entry.")] = None,
    moving: Annotated[
        int | None, typer.Option(metavar="VERSION", help="Move its entry, which has this version now.")
    ] = None,
) -> None:
    """Put a segment into an order, or move it there."""
    body = {
        "segment_id": id_of(segment),
        "after_entry_id": after,
        "at_end": at_end,
        "parent_entry_id": inside,
        "expected_version": moving,
    }
    with project_session() as session:
        made = session.post(f"{ROOT}/{id_of(order)}/place", body)
    answer(made, f"Entry {made['id']}, version {made['version']}. {_undo_hint(made)}")


def remove(order: Order, entry: Annotated[str, typer.Argument(help="Id of the entry.")]) -> None:
    """Take an entry out of an order; the segment stays."""
    with project_session() as session:
        gone = session.delete(f"{ROOT}/{id_of(order)}/entries/{id_of(entry)}")
    answer(gone, f"Taken out. {_undo_hint(gone)}")


def renumber(order: Order) -> None:
    """Renumber the entries of an order to make room between them."""
    _print_change(order, "renumber", "Renumbered.")


def withdraw(order: Order) -> None:
    """Withdraw an order; it can be restored."""
    with project_session() as session:
        gone = session.delete(f"{ROOT}/{id_of(order)}")
    answer(gone, f"Withdrawn. {_undo_hint(gone)}")


def restore(order: Order) -> None:
    """Restore a withdrawn order."""
    _print_change(order, "restore", "Restored.")


def _print_change(order: str, verb: str, said: str) -> None:
    with project_session() as session:
        changed = session.post(f"{ROOT}/{id_of(order)}/{verb}")
    answer(changed, f"{said} {_undo_hint(changed)}")


def _undo_hint(written: dict[str, Any]) -> str:
    return f"Take it back with: armarium undo {written['audit_id']}"
