"""Which runs are withheld from a caller: those that worked on withheld pages only, and executions of chains of such runs."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium.api import WithheldAlong, json_text, raw_of
from armarium_workflows.models import executions, run_states, runs

_RUNS = """
SELECT s.thread_id FROM main.workflow_run_state s WHERE s.pages > 0 AND NOT EXISTS (
    SELECT 1 FROM main.workflow_page p WHERE p.thread_id = s.thread_id AND p.page_id <> ''
    AND p.page_id NOT IN (SELECT id FROM {documents})
)
"""
_EXECUTIONS = """
SELECT e.id FROM main.workflow_execution e
JOIN json_each(e.threads) t LEFT JOIN main.workflow_run_state s ON s.thread_id = t.value
GROUP BY e.id HAVING max(t.value IN (SELECT value FROM json_each(:runs)))
AND NOT max(COALESCE(s.pages, 0) > 0 AND t.value NOT IN (SELECT value FROM json_each(:runs)))
"""
"""A step that the chain has not reached has no pages, and says nothing."""


class WithheldRuns(WithheldAlong):
    """Runs withheld from a caller along with their pages."""

    tables = (runs, run_states, executions)

    def find_withheld(self, conn: Connection, documents: str, parts: str) -> list[str]:
        """Return the runs all of whose pages are withheld, and the executions all of whose runs are."""
        raw = raw_of(conn)
        run_ids = [row[0] for row in raw.execute(_RUNS.format(documents=documents))]
        chained = raw.execute(_EXECUTIONS, {"runs": json_text(run_ids)}) if run_ids else ()
        return [*run_ids, *(row[0] for row in chained)]
