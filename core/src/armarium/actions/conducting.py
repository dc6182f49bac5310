"""What an action that runs in several transactions works with: its parts, and its one step that can be undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from sqlalchemy.exc import IntegrityError

from armarium.actions.context import ActionContext, Outcome
from armarium.actions.definition import Action
from armarium.principals import Principal

if TYPE_CHECKING:
    from armarium.actions.bus import Bus
    from armarium.engine import Engine
    from armarium.projects.libraries import Library

T = TypeVar("T")


@dataclass(frozen=True)
class Conductor:
    """Runs the transactions of one conducted action (`Action.conduct`) in its project."""

    bus: Bus
    library: Library | None
    found: Action[Any]
    principal: Principal
    set_id: str | None = None
    in_transaction: Callable[[ActionContext], None] | None = None

    @property
    def engine(self) -> Engine:
        """The engine that runs it."""
        return self.bus.engine

    def part(self, what: str, write: Callable[[ActionContext], T], params: Mapping[str, Any]) -> T:
        """Run one transaction beside the main step, logged as `<action>_<what>`; it cannot be undone by itself.

        *params* are plain values that describe the part in the log. Raises as an action does.
        """
        db = self.bus.database_of(self.found, self.library)
        db.refuse_unless_sound()
        try:
            with db.write() as conn:
                ctx, before, raw = self.bus.open_step(
                    conn,
                    f"{self.found.name}_{what}",
                    self.library,
                    self.principal,
                    self.set_id,
                    self.bus.schema_of(db),
                )
                ctx.ran[self.found.name] = self.found
                answer = write(ctx)
                self.bus.close_step(ctx, before, raw, params, undoable=False)
        except (IntegrityError, sqlite3.IntegrityError) as error:
            raise self.bus.clash(error, db) from error
        self.bus.tell(ctx)
        return answer

    def step(self, params: BaseModel) -> Outcome:
        """Run the main step: `perform` in one transaction under the action's own name, which undo reverts."""
        return self.bus.step(
            self.found,
            self.library,
            params,
            self.principal,
            set_id=self.set_id,
            in_transaction=self.in_transaction,
        )
