"""The past of a project is what a plain copy of its rows, made at the time, says it was."""

from __future__ import annotations

import random
from typing import Any

import pytest
from source_model_fixtures import Desk
from test_undo_histories import Moves

from armarium.api import find_moment, raw_of, reading_as_of
from armarium_source_model.models import metadata
from armarium_source_model.queries.text import page_text
from armarium_testing.histories import Histories

STEPS = 30
TABLES = [
    name
    for name, table in metadata.tables.items()
    if table.info["rules"].kind == "tracked" and not table.info["rules"].follows
] + [
    "document",
    "content_representation",
    "content_representation_revision",
    "rendition",
    "segment_forwarding",
]


def copy_of(desk: Desk) -> dict[str, list[Any]]:
    """Return every row as it is now, by table, from the tables themselves."""
    with desk.library.db.read() as conn:
        raw = raw_of(conn)
        return {name: sorted(raw.execute(f'SELECT * FROM "{name}"'), key=repr) for name in TABLES}


def texts_of(desk: Desk, pages: list[str]) -> dict[str, Any]:
    with desk.library.db.read() as conn:
        return {page: page_text(conn, page).answer() for page in pages}


@pytest.mark.parametrize("seed", range(3))
def test_every_step_of_a_random_history_is_read_as_it_was(desk: Desk, seed: int) -> None:
    moves = Moves(desk)
    histories = Histories(desk.engine, desk.library, moves.all(), seed=seed)
    kept: list[tuple[str, dict[str, list[Any]], dict[str, Any]]] = []
    for _ in range(STEPS):
        histories.run(1, steps=1)
        if random.Random(seed).random() < 0.3:
            histories.run(1, steps=4)  # with undos of them
        with desk.library.db.read() as conn:
            moment = find_moment(conn)
        kept.append((moment.audit_id, copy_of(desk), texts_of(desk, moves.pages)))

    for step, rows, texts in kept:
        with reading_as_of(desk.library.db, step):
            whole = copy_of(desk)
            assert texts_of(desk, moves.pages) == texts, step
        for name in TABLES:
            assert whole[name] == rows[name], (seed, step, name)
        with reading_as_of(desk.library.db, step, [moves.pages[0]]):
            collected = copy_of(desk)
            assert texts_of(desk, moves.pages[:1]) == {moves.pages[0]: texts[moves.pages[0]]}, step
        for name in ("segment", "content_representation", "reading_choice", "reading_order_entry"):
            column = 1 if name in ("segment", "content_representation", "reading_choice") else 3
            of_page = [row for row in rows[name] if moves.pages[0] in row]
            assert [row for row in collected[name] if moves.pages[0] in row] == of_page, (step, name, column)
    assert copy_of(desk) == kept[-1][1], "what was read as of the past is not kept"
