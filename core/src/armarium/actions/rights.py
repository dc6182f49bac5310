"""Who may run an action and make its changes, and refusals for violated constraints of the database."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy.exc import IntegrityError

from armarium.actions.definition import owner_only, person_only
from armarium.errors import Conflict, Forbidden, ServiceError
from armarium.history.capture import quote_name
from armarium.history.changes import images
from armarium.history.spans import spans
from armarium.history.visibility import texts_in
from armarium.principals import Principal, Role
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import BaseModel

    from armarium.actions.context import ActionContext
    from armarium.actions.definition import Action
    from armarium.engine import Engine
    from armarium.history.schema import Schema
    from armarium.projects.libraries import Library
    from armarium.store.database import Database


class LawBrokenError(Exception):
    """What is undone would leave a row behind that violates a law; *refusal* is what the action itself would answer."""

    def __init__(self, refusal: ServiceError) -> None:
        super().__init__(refusal.detail)
        self.refusal = refusal


def authorise(found: Action[Any], principal: Principal, library: Library | None) -> None:
    """Raise the refusal when *principal* may not run the action."""
    _require(found.title, found.role, principal, library, in_project=found.scope != "engine")
    if (found.scope == "engine" or library is None) and not found.bound:
        refuse_bound(principal, required="write")
    if found.person_only and principal.kind != "person":
        raise found.person_only() if callable(found.person_only) else person_only(found.title)


def check_params(found: Action[Any], params: BaseModel, principal: Principal) -> None:
    """Raise the refusal when *params* need a right of *found* that *principal* lacks."""
    for rule in found.rules:
        if rule.sent is not None and rule.sent(params) and not rule.allows(principal):
            raise rule.make_refusal(found.title)


def refuse_named(library: Library | None, params: BaseModel, principal: Principal) -> None:
    """Raise 403 rights_restricted when parameters name a row that *principal* may not see."""
    visibility = None if library is None else library.db.visibility
    if visibility is not None and not visibility.surely_all(principal):
        visibility.refuse(principal, texts_in(params.model_dump()))


def authorise_step(
    engine: Engine, names: Iterable[str], principal: Principal, library: Library | None
) -> dict[str, Action[Any]]:
    """Return the actions *names*, which ran in a step; refuse its undo unless *principal* may run each of them."""
    ran: dict[str, Action[Any]] = {}
    for name in names:
        action = engine.actions.find(name)
        if action is None:
            authorise_unknown(name, principal, library)
        else:
            authorise(action, principal, library)
            ran[name] = action
    return ran


def check_rows(ctx: ActionContext, raw: sqlite3.Connection, *, taking_back: bool = False) -> None:
    """Refuse the open step when a row that it changed needs a right the caller lacks (a lock, a `RowRule`), or violates
    a law of an action that ran (`RowLaw`).

    *taking_back*: the step is an undo or redo; a change then needs its right in whichever direction it goes, and a
    violated law is raised as `LawBrokenError`.
    """
    visibility = None if ctx.library is None else ctx.library.db.visibility
    if visibility is not None:
        visibility.refuse_step(raw, ctx.audit_seq, ctx.principal)
        visibility.refuse_loosening(ctx.conn, raw, ctx.audit_seq, ctx.principal)
    locks = ctx.schema.locks
    if locks is not None and ctx.heeds_locks and (ctx.any_locked or locks.has_any(raw)):
        locks.refuse(raw, ctx.guarded)
        locks.refuse_step(raw, ctx.audit_seq)
    for action in ctx.ran.values():
        for rule in action.rules:
            table = ctx.schema.by_name.get(rule.table)
            # No step changes the tables of a plugin that is left out of this project.
            if table is None or rule.when is None or rule.allows(ctx.principal):
                continue
            for changed_span in spans(raw, [table], ctx.audit_seq).values():
                for before, after in images(raw, table, changed_span):
                    if rule.when(before, after) or (taking_back and rule.when(after, before)):
                        raise rule.make_refusal(action.title)
        for law in action.laws:
            bound = ctx.schema.by_name.get(law.table)
            if bound is None:
                continue
            for changed_span in spans(raw, [bound], ctx.audit_seq).values():
                for _, after in images(raw, bound, changed_span):
                    if after is not None and (refusal := law.broken(raw, after)) is not None:
                        raise LawBrokenError(refusal) if taking_back else refusal


def refuse_bound(principal: Principal, *, required: Literal["read", "write"]) -> None:
    """Refuse an engine-wide action to a token bound to some projects: owning one does not make its holder owner of the
    engine.
    """
    if principal.libraries is not None:
        raise Forbidden(
            "This token is bound to single projects, and this action concerns the whole engine. "
            "Ask the owner for a token that reaches all projects.",
            code="library_access_denied",
            library_path=None,
            required=required,
            role=principal.role,
        )


def authorise_unknown(name: str, principal: Principal, library: Library | None) -> None:
    """Refuse to undo a step whose action *name* no loaded plugin provides, unless *principal* may write."""
    _require(name, "editor", principal, library, in_project=library is not None)
    if library is None:
        refuse_bound(principal, required="write")


def _require(
    title: str, role: Role, principal: Principal, library: Library | None, *, in_project: bool
) -> None:
    if in_project and library is not None and not principal.reaches(str(library.path)):
        raise Forbidden(
            f"This token does not reach the project {library.name}.",
            code="library_access_denied",
            library_path=str(library.path),
            required="write",
            role=principal.role,
        )
    if not principal.may(role):
        if role == "owner":
            raise owner_only(title)
        raise Forbidden(
            f"Your role here is {principal.role}; “{title}” needs {role}.",
            code="library_access_denied",
            library_path=str(library.path) if library else None,
            required="write",
            role=principal.role,
        )


def clash(
    error: IntegrityError | sqlite3.IntegrityError, absent: Callable[[], list[str]] = list
) -> Exception:
    """Return the refusal for a violated constraint; a refusal by the history triggers is a bug and is returned as it
    is.

    *absent* names the tables of plugins that are not installed here.
    """
    text = str(error.orig) if isinstance(error, IntegrityError) else str(error)
    if "FOREIGN KEY" in text:
        sentence = "Something this step names is gone, or something else still needs what it removes; nothing was changed."
        tables = absent()
        if tables:
            sentence += (
                f" What needs it may be rows of a plugin that is not installed here ({', '.join(tables)}): "
                "install it, then try again."
            )
        return Conflict(sentence, code="still_referenced")
    if "UNIQUE" in text:
        return Conflict(
            f"There is one already ({text.split(':')[-1].strip()} must be unique); nothing was changed.",
            code="already_exists",
        )
    return error


def of_absent_plugins(db: Database, schema: Schema) -> list[str]:
    """Return the tables of *db* that no installed plugin declares and whose rows refer to others."""
    with db.read() as conn:
        raw = raw_of(conn)
        pointing = raw.execute(
            "SELECT DISTINCT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) WHERE m.type = 'table' "
            "ORDER BY m.name"
        ).fetchall()
        strange = [name for (name,) in pointing if name not in schema.by_name]
        return [
            name for name in strange if raw.execute(f"SELECT 1 FROM {quote_name(name)} LIMIT 1").fetchone()
        ]
