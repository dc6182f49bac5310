"""The extension point of workflows: what runs made that are not artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from armarium.api import hookspec


@hookspec
def armarium_workflows_found_in_run(
    conn: Connection, run_id: str
) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return the results of a run that are not artifacts: by document and kind, each by the text it is compared by.

    Called for each of two runs that are compared, in the thread of the read, with its connection. All answers count.
    """
