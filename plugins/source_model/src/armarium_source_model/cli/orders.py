"""Commands about reading orders: `armarium order columns|list|show|new|place|remove|renumber|withdraw|restore`."""

from __future__ import annotations

from typing import Annotated, Any

from armarium_cli.api import (
    BY_ID,
    Commands,
    Finder,
    Refused,
    Session,
    Topic,
    answer,
    id_of,
    in_words,
    plural,
    project_session,
    table,
)
from armarium_documents.commandline import document_id
from armarium_source_model.cli.pages import Page, short

commands = Commands(Topic.lines)
order = commands.group("order", "Reading orders of a page: named ways through its segments.")

Order = Annotated[str, "Id of the order (armarium order list shows them).", BY_ID]
ROOT = "/api/reading-orders"


def _in_columns(reply: dict[str, Any]) -> str:
    number = reply["columns"]
    arrangement = "as their positions suggest" if number is None else f"in {plural(number, 'column')}"
    return in_words(f"The lines are read {arrangement}. {{undo}}", reply)


@order.asks("columns 0001.jpg 2", f"PUT {ROOT}/document/{{page}}/columns", says=_in_columns)
def columns(
    page: Page,
    columns: Annotated[
        int,
        "How many; 0 leaves it to the positions of the lines.",
        Finder(lambda session, number: number or None),
    ],
    pass_id: Annotated[str | None, "--pass ID: Of this pass [default: the working pass]."] = None,
) -> None:
    """State in how many columns the lines of a page stand, where its text mixes them up."""


@order.asks(
    "list 0001.jpg",
    f"GET {ROOT}/document/{{page}}",
    columns=(
        "id",
        "name",
        "kind",
        "entries=entry_count",
        ("", lambda row: row["deleted_at"] and "withdrawn"),
    ),
)
def list_(
    page: Page, include_deleted: Annotated[bool, "--withdrawn: Include withdrawn ones."] = False
) -> None:
    """List the orders of a page, the as-written one first."""


@order.example("show ID")
def show(order: Order) -> None:
    """Show the entries of an order, nested."""
    with project_session() as session:
        entries = _entries(session, id_of(order), None)
        texts: dict[str, str] = {}
        for page in dict.fromkeys(entry["document_id"] for entry in _flatten(entries)):
            listed = session.get(f"/api/segments/document/{page}")["segments"]
            texts |= {segment["id"]: segment["text"] or f"({segment['kind']})" for segment in listed}

    def words() -> None:
        rows = [
            (entry["id"], "  " * depth + short(texts.get(entry["segment_id"], "(no longer on its page)")))
            for entry, depth in _walk_entries(entries, 0)
        ]
        table("", ("id", "text"), rows)

    answer({"order_id": order, "items": entries, "count": len(list(_flatten(entries)))}, words)


def _entries(session: Session, order_id: str, parent: str | None) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = session.get(f"{ROOT}/{order_id}/entries", parent_entry_id=parent)["items"]
    for entry in items:
        entry["inside"] = _entries(session, order_id, entry["id"]) if entry["child_count"] else []
    return items


def _walk_entries(entries: list[dict[str, Any]], depth: int) -> list[tuple[dict[str, Any], int]]:
    return [
        pair for entry in entries for pair in ((entry, depth), *_walk_entries(entry["inside"], depth + 1))
    ]


def _flatten(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for entry, _ in _walk_entries(entries, 0)]


@order.example("new 0001.jpg 'As I read it' --seed")
def new(
    page: Page,
    name: Annotated[str, "Its name."],
    kind: Annotated[str, "as-written, imposed, commentary, flow or another word."] = "imposed",
    of_pass: Annotated[str | None, "--pass ID: For this pass [default: the working pass]."] = None,
    seed: Annotated[bool, "--seed/--no-seed: Fill it with the order of the boxes."] = False,
) -> None:
    """Create a reading order."""
    with project_session() as session:
        if of_pass is None:
            passes = session.get(f"/api/segments/document/{document_id(session, page)}")["passes"]
            of_pass = next((row["id"] for row in passes if row["working_basis"]), None)
            if of_pass is None:
                raise Refused("The page has no pass to order yet; find lines first, or name one with --pass.")
        body = {
            "document_id": document_id(session, page),
            "pass_id": of_pass,
            "name": name,
            "kind": kind,
            "seed_from_pass": seed,
        }
        reply = session.post(ROOT, body)
    answer(reply, in_words("Order {id} with {entry_count} entries. {undo}", reply))


@order.asks("place ID SEGMENT", f"POST {ROOT}/{{order}}/place", says="Entry {id}, version {version}. {undo}")
def place(
    order: Order,
    segment_id: Annotated[str, "SEGMENT: Id of the segment (armarium segments shows them).", BY_ID],
    after_entry_id: Annotated[str | None, "--after ENTRY: After this entry [default: first]."] = None,
    at_end: Annotated[bool, "After the last."] = False,
    parent_entry_id: Annotated[str | None, "--inside ENTRY: Inside this entry."] = None,
    expected_version: Annotated[
        int | None, "--moving VERSION: Move its entry, which has this version now."
    ] = None,
) -> None:
    """Put a segment into an order, or move it there."""


@order.asks("remove ID ENTRY", f"DELETE {ROOT}/{{order}}/entries/{{entry}}", says="Taken out. {undo}")
def remove(order: Order, entry: Annotated[str, "Id of the entry.", BY_ID]) -> None:
    """Take an entry out of an order; the segment stays."""


@order.asks("renumber ID", f"POST {ROOT}/{{order}}/renumber", says="Renumbered. {undo}")
def renumber(order: Order) -> None:
    """Renumber the entries of an order to make room between them."""


@order.asks("withdraw ID", f"DELETE {ROOT}/{{order}}", says="Withdrawn. {undo}")
def withdraw(order: Order) -> None:
    """Withdraw an order; it can be restored."""


@order.asks("restore ID", f"POST {ROOT}/{{order}}/restore", says="Restored. {undo}")
def restore(order: Order) -> None:
    """Restore a withdrawn order."""
