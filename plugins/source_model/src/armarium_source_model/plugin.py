"""The plugin of the source model: the only file with a hook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, Float, Integer, Text

from armarium.api import Migration, Plugin, actions_in, alter_tracked, hookimpl, queries_in
from armarium_documents.api import Carrier, Vocabulary, documents, representations
from armarium_source_model import actions, hookspecs, keeping, models, queries
from armarium_source_model.actions import readings
from armarium_source_model.hookspecs import RestsOnText
from armarium_source_model.queries import boxes, forwarding
from armarium_source_model.queries.staleness import StaleReadings
from armarium_source_model.routes import router
from armarium_source_model.routes import settings as settings_router

if TYPE_CHECKING:
    from alembic.operations import Operations


def _stats(conn: Connection) -> dict[str, int]:
    """Return the numbers of live segments and readings of documents that are not in the Trash."""
    # Those in the Trash are few, and their rows are found by an index.
    is_live = f"document_id NOT IN (SELECT id FROM {documents} WHERE deleted_at IS NOT NULL)"
    live, read = conn.exec_driver_sql(
        f"SELECT (SELECT count(*) FROM segment WHERE deleted_at IS NULL AND {is_live}), "
        f"(SELECT count(*) FROM {representations} WHERE segment_id IS NOT NULL AND NOT retracted AND {is_live})"
    ).one()
    return {"segments": live, "readings": read}


_CARRIER = Carrier(
    kinds={"segment_pass": "passes", "segment": "segments", "reading_order": "orders", "link": "links"},
    vocabulary=(
        Vocabulary(
            "reading_kind", "key", used_by=((representations.name, "kind"), ("reading_choice", "kind"))
        ),
    ),
)
"""How the source model is carried to another project: by its own columns, counted under these words."""


def _add_columns_of_passes(op: Operations) -> None:
    def add(table: str) -> None:
        op.add_column(table, Column("proportion", Float))
        op.add_column(table, Column("column_count", Integer))

    alter_tracked(op, "segment_pass", add)


def _add_step_of_segments(op: Operations) -> None:
    alter_tracked(op, "segment", lambda table: op.add_column(table, Column("joined_or_split_in", Text)))


@hookimpl
def armarium_plugin() -> Plugin:
    """Passes, segments and readings of pages, with the text that is worked out from them."""
    return Plugin(
        name="source_model",
        summary="What is on a page: passes, segments, readings, the reading that counts, the page's text.",
        # The names reading.* and representation.* are shared with other families, so those used here are
        # listed in full.
        prefixes=(
            "source_model",
            "segment",
            "reading_choice",
            "reading_kind",
            "reading_order",
            "source_setting",
            "link",
            "reading.choose",
            "reading.retract",
            "reading.take",
            "representation.create",
        ),
        metadata=models.metadata,
        version=3,
        migrations=(
            Migration(2, "passes say their page's proportions and columns", _add_columns_of_passes),
            Migration(3, "segments say which step joined or split them", _add_step_of_segments),
        ),
        actions=actions_in(actions),
        queries=queries_in(queries),
        routers=(router, settings_router),
        jobs=(keeping.KEEPING,),
        on_create=(readings.seed_kinds,),
        on_open=(keeping.begin,),
        on_step=(keeping.note_step,),
        stats=_stats,
        examine=keeping.examine,
        rebuild=keeping.remake,
        hookspecs=hookspecs,
        hooks=__name__,
    )


armarium_documents_writing = hookimpl(boxes.writing_of_boxes)
armarium_documents_earlier_segments = hookimpl(forwarding.absorbed_into)


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    return (_CARRIER,)


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (StaleReadings(),)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {
        "match": models.matches,
        "pass_choice": models.pass_choices,
        "reading_choice": models.reading_choices,
        "source_setting": models.source_settings,
    }
