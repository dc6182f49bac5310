"""The first step of a new project: its name, and what each plugin starts it with."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING

from armarium.plugin import OF_THE_ENGINE
from armarium.principals import Principal
from armarium.store.database_errors import is_the_disk

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.projects.libraries import Library


class _Failed(Exception):
    """What one plugin starts a project with could not be created."""

    def __init__(self, plugin: str, why: str) -> None:
        super().__init__(plugin)
        self.plugin = plugin
        self.why = why


def seed(engine: Engine, library: Library, name: str | None, principal: Principal, *, called: str) -> None:
    """Make the first step of *library*, which does not have its final name *called* yet.

    No plugin can prevent a project from being created. One that fails is recorded, and the step is made without it.
    """
    without = set(library.db.left_out)
    while True:
        try:
            _seed(engine, library, name, principal, without)
        except _Failed as failed:
            without.add(failed.plugin)
            engine.plugins.note_fault(
                failed.plugin, f"What it starts a project with could not be made in {called}: {failed.why}"
            )
        else:
            return


def _seed(
    engine: Engine, library: Library, name: str | None, principal: Principal, without: Collection[str]
) -> None:
    with library.db.write() as conn:
        ctx, before, raw = engine.bus.open_step(
            conn, "library.create", library, principal, None, library.schema
        )
        if name is not None:
            raw.execute(
                "INSERT INTO library_setting (key, value, updated_at) VALUES ('name', ?, ?)",
                (json.dumps(name, ensure_ascii=False), ctx.now),
            )
        for plugin in engine.plugins.loaded:
            for start in plugin.on_create if plugin.name not in without else ():
                try:
                    start(ctx)
                except (Exception, SystemExit) as error:
                    if is_the_disk(error) or plugin.name in OF_THE_ENGINE:
                        raise
                    raise _Failed(plugin.name, engine.plugins.words_for(error)) from error
                # A row that a tracked table refuses ends the whole transaction, even where the plugin ignores the error.
                if not raw.in_transaction:
                    raise _Failed(plugin.name, "it ended the transaction in which the project is made")
        engine.bus.close_step(ctx, before, raw, {}, undoable=False)
