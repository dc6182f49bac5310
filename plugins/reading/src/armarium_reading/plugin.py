"""Reading as a plugin: what it brings to the engine."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium.api import Plugin, hookimpl
from armarium_reading import actions
from armarium_reading.jobs import KINDS
from armarium_reading.models import metadata
from armarium_reading.readers import GROUP, check_driver
from armarium_reading.routes import router


def _stats(conn: Connection) -> dict[str, int]:
    """Calls of models, for `GET /api/library/stats`."""
    return {"episodes": int(conn.exec_driver_sql("SELECT count(*) FROM episode").scalar_one())}


@hookimpl
def armarium_plugin() -> Plugin:
    """Readers of lines, the jobs that use them, the models of this machine, the ledger of calls."""
    return Plugin(
        name="reading",
        summary="Finding lines and reading them with drivers; models of this machine; the episode ledger.",
        # The names reading.* are shared with the source model: those used here are named whole.
        prefixes=(
            "reading.find_lines",
            "reading.read_lines",
            "reading.read_pages",
            "model",
            "episode",
            "find-lines",
            "read-a-line",
            "read-a-page",
            "download-model",
        ),
        metadata=metadata,
        actions=(
            actions.find_lines,
            actions.read_lines,
            actions.read_pages,
            actions.download_model,
            actions.delete_model,
        ),
        jobs=KINDS,
        routers=(router,),
        driver_groups=(GROUP,),
        check_driver=check_driver,
        stats=_stats,
    )
