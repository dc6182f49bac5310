"""Which plugins depend on which: by foreign keys, and by indexes that follow another plugin's table."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, Table, Text

from armarium.api import Plugin, derived, derived_index
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
