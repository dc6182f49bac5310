"""Which plugins depend on which: by foreign keys, and by indexes that follow another's table; and the index of a reference."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table, Text, create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex

from armarium.api import Plugin, derived, derived_index, reference
from armarium.plugins.relations import plugins_under


def test_a_plugin_depends_on_the_one_whose_table_its_index_follows() -> None:
    texts, indexes = MetaData(), MetaData()
    pages = Table(
        "zebra_text",
        texts,
        Column("number", Integer, primary_key=True),
        Column("words", Text, nullable=False),
        info=derived(),
    )
    derived_index(
        "ape_index", indexes, pages, module="fts5", values={"words": "{row}.words"}, columns=("words",)
    )
    ape = Plugin(name="ape", summary="Looks words up.", prefixes=("ape",), metadata=indexes)
    assert plugins_under(ape, {"zebra_text": "zebra", "ape_index": "ape"}) == {"zebra"}


def test_the_index_of_an_optional_reference_holds_only_rows_that_refer() -> None:
    metadata = MetaData()
    nodes = Table(
        "node",
        metadata,
        Column("id", Text, primary_key=True),
        reference("parent_id", "node.id", required=False),
        reference("owner_id", "node.id"),
        reference("other_id", "node.id", required=False, index=False),
    )
    dialect = sqlite.dialect()
    made = {str(index.name): str(CreateIndex(index).compile(dialect=dialect)) for index in nodes.indexes}
    assert set(made) == {"ix_node_parent_id", "ix_node_owner_id"}
    assert made["ix_node_parent_id"].endswith("WHERE parent_id IS NOT NULL")
    assert "WHERE" not in made["ix_node_owner_id"]
    engine = create_engine("sqlite://")
    with engine.connect() as conn:
        conn.exec_driver_sql("PRAGMA foreign_keys = ON")
        metadata.create_all(conn)
        # The rows that refer to one are found by it, also by SQLite's own check when that one is deleted.
        for asked in ("SELECT id FROM node WHERE parent_id = 'a'", "DELETE FROM node WHERE id = 'a'"):
            plan = "; ".join(row[3] for row in conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked}"))
            assert "ix_node_parent_id" in plan, plan
