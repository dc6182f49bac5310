"""How tables of earlier versions of the source model become those of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Column, Text

from armarium.api import Migration, alter_tracked
from armarium_source_model.models import forwardings, links, reading_orders, segments

if TYPE_CHECKING:
    from alembic.operations import Operations


def _index_areas(op: Operations) -> None:
    """An index of the boxes instead of an R*Tree, whose upkeep was a fifth of every import."""
    for verb in ("insert", "update", "delete"):
        op.execute(f"DROP TRIGGER IF EXISTS segment_area__follows_{verb}")
    op.execute("DROP TABLE IF EXISTS segment_area")
    (index,) = (one for one in segments.indexes if one.name == "ix_segment_area")
    index.create(op.get_bind(), checkfirst=True)


def _index_notes(op: Operations) -> None:
    """What an undo, a page's flows and the names of places are found by, without reading all there is."""
    for table in (forwardings, links, reading_orders):
        for index in table.indexes:
            index.create(op.get_bind(), checkfirst=True)


def _state_page_facts(op: Operations) -> None:
    """What a file states of its page as a whole becomes a fact of the pass that was read from it."""

    def add(table: str) -> None:
        there = {row[1] for row in op.get_bind().exec_driver_sql(f"PRAGMA table_info({table})")}
        for name in ("language", "script", "direction", "line_order"):
            if name not in there:
                op.add_column(table, Column(name, Text))

    alter_tracked(op, "segment_pass", add)


def _let_pages_go(op: Operations) -> None:
    """Notes without a foreign key: what was ever deleted, split or merged kept its page from being un-created."""
    op.execute("ALTER TABLE segment_forwarding RENAME TO segment_forwarding_held")
    for index in forwardings.indexes:
        op.execute(f"DROP INDEX IF EXISTS {index.name}")
    forwardings.create(op.get_bind())
    columns = ", ".join(column.name for column in forwardings.columns)
    op.execute(
        f"INSERT INTO segment_forwarding ({columns}) SELECT {columns} FROM segment_forwarding_held ORDER BY sequence"
    )
    op.execute("DROP TABLE segment_forwarding_held")


MIGRATIONS = (
    Migration(2, "areas are found by an index of the boxes", _index_areas),
    Migration(3, "notes, flows and namings are found by indexes", _index_notes),
    Migration(4, "a pass holds what its file states of the page", _state_page_facts),
    Migration(5, "notes of deleted, merged and split segments hold no page", _let_pages_go),
)
