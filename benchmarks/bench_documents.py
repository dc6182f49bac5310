"""Many described letters in one folder, written by one step: the data of the dataset query and of a folder's page."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from armarium.api import ActionContext, Engine, Library, Params, Plugin, action, json_text, new_id
from armarium_documents.api import documents
from benchmarks.places import OWNER

COLUMNS = tuple(column.name for column in documents.columns)
PLACES = [
    f"{town} {number}" for town in ("Toledo", "Cuenca", "Lima", "Sevilla", "Potosí") for number in range(40)
]
BATCH = 50_000


class Letter:
    """One letter as plain values: what is stored, and what the peers get in columns of their own."""

    def __init__(self, number: int, chance: random.Random) -> None:
        self.id = new_id()
        self.name = f"Letter {number:07}"
        self.sort_order = 1024 * number
        self.place = chance.choice(PLACES)
        self.hand = chance.choice("ABCDEFGHIJ")
        self.pages = chance.randrange(1, 400)
        self.price = round(chance.random() * 1000, 2)
        self.date = (
            f"{chance.randrange(1500, 1900)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
        )

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of the letter."""
        return {
            "place": self.place,
            "hand": self.hand,
            "pages": self.pages,
            "price": self.price,
            "date": self.date,
        }


def letters(count: int) -> Iterator[Letter]:
    """Return *count* letters, always the same except for their ids."""
    chance = random.Random(1)
    return (Letter(number, chance) for number in range(count))


class Stock:
    """Rows generated outside the step, which `bench_documents.fill` writes."""

    rows: list[tuple[object, ...]] = []


@action("bench_documents.fill", params=Params, summary="Write the documents in stock.")
def fill(ctx: ActionContext, p: Params) -> dict[str, Any]:
    """Insert many rows by bulk insert."""
    return {"count": ctx.bulk_insert(documents, COLUMNS, Stock.rows)}


def plugins() -> list[Plugin]:
    """Return documents, and the action that fills them."""
    from armarium_documents.plugin import armarium_plugin

    mine = Plugin(name="bench_documents", summary="Documents to be measured.", actions=(fill,))
    return [armarium_plugin(), mine]


def add_letters(engine: Engine, library: Library, made: list[Letter]) -> str:
    """Put *made* into a new folder of *library*; return the folder's id."""
    folder = (engine.run(library, "document.create", {"name": "Letters"}, OWNER).result or {})["id"]
    moment = "2026-01-01T00:00:00.000Z"
    for start in range(0, len(made), BATCH):
        Stock.rows = [_row(one, folder, moment) for one in made[start : start + BATCH]]
        engine.run(library, "bench_documents.fill", {}, OWNER)
    Stock.rows = []
    return str(folder)


def _row(one: Letter, folder: str, moment: str) -> tuple[object, ...]:
    values: dict[str, object] = dict.fromkeys(COLUMNS)
    values |= {"attributes": json_text(one.attributes()), "metadata": "{}", "source_metadata": "{}"}
    values |= {"id": one.id, "name": one.name, "parent_id": folder, "sort_order": one.sort_order}
    values |= {
        "node_kind": "document",
        "doc_type": "file",
        "source_authority": "unknown",
        "status": "pending",
    }
    values |= dict.fromkeys(
        ("is_read", "is_starred", "is_flagged", "is_locked", "exclude_from_processing"), 0
    )
    values |= {"provenance_chain": "[]", "created_at": moment, "updated_at": moment}
    return tuple(values.values())
