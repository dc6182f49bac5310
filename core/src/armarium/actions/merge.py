"""Writing a merge as one step: under the rights of everything that made the changes, and within what laws demand.

As for undo, which it resembles: it needs the same rights as the steps whose changes it brings, and obeys their laws.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import orjson

from armarium.actions.context import ActionContext
from armarium.actions.rights import authorise_step
from armarium.errors import Conflict
from armarium.history import tree_cycles
from armarium.history.audit import parts_of
from armarium.history.merge_plans import MergePlan, write_plan
from armarium.store.database import raw_of


def write_merge(
    ctx: ActionContext, plan: MergePlan, source: sqlite3.Connection, steps: Iterable[int]
) -> None:
    """Write the rows of *plan* in the step *ctx*; *steps* are those of the *source* that made the changes.

    Raises what the actions of those steps would raise for this caller, and Conflict where a row would come to lie beneath
    itself.
    """
    ctx.ran |= authorise_step(ctx.engine, _actions_of(source, steps), ctx.principal, ctx.library)
    raw = raw_of(ctx.conn)
    tables = {table.name: table for table, _ in plan.updates.values()}
    newest = tree_cycles.newest(raw, tables.values())
    write_plan(raw, ctx.schema, plan, ctx.now)
    for table, since in newest.items():
        circle = tree_cycles.made_since(raw, table, since, ctx.audit_seq)
        if circle is not None:
            raise Conflict(
                f"The merge was refused: {circle.why}. Merge without what was moved, or move it back first.",
                code="merge_refused",
            )


def _actions_of(raw: sqlite3.Connection, steps: Iterable[int]) -> list[str]:
    """Return the actions that ran in *steps*; those that were undone left nothing to merge."""
    names: dict[str, None] = {}
    found = raw.execute(
        "SELECT seq, action_name FROM audit WHERE seq IN (SELECT value FROM json_each(?)) AND NOT undone ORDER BY seq",
        (orjson.dumps(sorted(set(steps))).decode(),),
    )
    for seq, name in found.fetchall():
        names[name] = None
        names |= dict.fromkeys(parts_of(raw, seq))
    return list(names)
