"""The bus: runs an action in one transaction with its audit row, and announces the step once it is committed."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from armarium.actions.conducting import Conductor
from armarium.actions.context import ActionContext, Outcome, Step
from armarium.actions.definition import Action
from armarium.actions.recording import redact_params
from armarium.actions.rights import (
    authorise,
    check_params,
    check_rows,
    clash,
    of_absent_plugins,
    refuse_named,
)
from armarium.errors import BadRequest, Broken
from armarium.history import audit, capture
from armarium.history.spans import counts
from armarium.ids import new_id, now
from armarium.principals import Principal, asking
from armarium.store.database import Database, raw_of
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.history.schema import Schema
    from armarium.projects.libraries import Library

log = logging.getLogger("armarium.actions")


class Bus:
    """Runs actions: authorise, check the paths among the parameters, open a transaction, write the audit row, commit,
    announce.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def run(
        self,
        library: Library | None,
        name: str,
        params: Mapping[str, Any] | BaseModel,
        principal: Principal,
        *,
        set_id: str | None = None,
        in_transaction: Callable[[ActionContext], None] | None = None,
    ) -> Outcome:
        """Run the action *name* as *principal*.

        *set_id* groups the step with others that are undone together. *in_transaction* is called after the action in
        the same transaction (a job writes its checkpoint there). Raises the refusals of `armarium.errors`; then nothing
        has changed.
        """
        action = self.engine.actions.get(name)
        authorise(action, principal, library)
        parsed = action.parse(params)
        check_params(action, parsed, principal)
        self.engine.paths.check(parsed, principal)
        refuse_named(library, parsed, principal)
        if action.conduct is not None:
            return action.conduct(
                Conductor(self, library, action, principal, set_id=set_id, in_transaction=in_transaction),
                parsed,
            )
        return self.step(action, library, parsed, principal, set_id=set_id, in_transaction=in_transaction)

    def step(
        self,
        action: Action[Any],
        library: Library | None,
        parsed: BaseModel,
        principal: Principal,
        *,
        set_id: str | None = None,
        in_transaction: Callable[[ActionContext], None] | None = None,
    ) -> Outcome:
        """Run the step of an action whose caller's role and parameters have been checked already."""
        db = self.database_of(action, library)
        db.refuse_unless_sound()
        if action.prepare is not None:
            action.prepare(self.engine, library, parsed)
        try:
            with db.write() as conn:
                ctx, before, raw = self.open_step(
                    conn, action.name, library, principal, set_id, self.schema_of(db)
                )
                result = ctx.answer = ctx.perform(action, parsed)
                self._refuse_unsayable(action, result)
                if in_transaction is not None:
                    in_transaction(ctx)
                self.close_step(
                    ctx,
                    before,
                    raw,
                    redact_params(parsed),
                    undoable=action.undoable,
                    spends=action.spends,
                )
        except (IntegrityError, sqlite3.IntegrityError) as error:
            raise self.clash(error, db) from error
        self.tell(ctx)
        answer = result.model_dump(mode="json") if isinstance(result, BaseModel) else result
        return Outcome(answer, ctx.audit_id, ctx.set_id)

    def _refuse_unsayable(self, action: Action[Any], answer: Any) -> None:
        """Take the step back if an action of somebody else's plugin answers what cannot be sent to its caller."""
        plugin = self.engine.actions.plugin_of(action.name)
        if plugin not in self.engine.plugins.strangers or answer is None or isinstance(answer, BaseModel):
            return
        if isinstance(answer, dict):
            with suppress(TypeError, ValueError):
                json_text(answer)
                return
        self.engine.plugins.note_fault(plugin, f"The action {action.name} answers what is no JSON object.")
        raise Broken(
            f"The action {action.name} of the plugin {plugin} answers what is no JSON object. Nothing was changed; report it to "
            "the plugin's maker.",
            code="answer_not_json",
        )

    def clash(self, error: IntegrityError | sqlite3.IntegrityError, db: Database) -> Exception:
        """Return the refusal for a violated constraint of *db*."""
        return clash(error, lambda: of_absent_plugins(db, self.schema_of(db)))

    def schema_of(self, db: Database) -> Schema:
        """Return the tables of *db*, without those of plugins that do not work in it."""
        return db.schema

    def database_of(self, action: Action[Any], library: Library | None) -> Database:
        """Return the database the action writes to: the project's or the engine's own."""
        plugin = self.engine.actions.plugin_of(action.name)
        if action.scope == "engine" or (action.scope == "either" and library is None):
            self.engine.state.refuse_left_out(plugin)
            return self.engine.state
        if library is None:
            raise BadRequest(
                f"{action.name} works in a project; name one with the header X-Service-Library-Path.",
                code="library_required",
            )
        library.db.refuse_left_out(plugin)
        return library.db

    def open_step(
        self,
        conn: Connection,
        name: str,
        library: Library | None,
        principal: Principal,
        set_id: str | None,
        schema: Schema | None = None,
    ) -> tuple[ActionContext, audit.Head, sqlite3.Connection]:
        """Begin a step in an open transaction: tracked tables accept writes until `close_step`.

        *schema*: the tables of that database; by default the project's where *library* is given, else the engine's.
        """
        if schema is None:
            schema = library.schema if library is not None else self.engine.engine_schema
        raw = raw_of(conn)
        before = audit.head(raw)
        capture.begin_step(raw, before.seq + 1)
        heeds_locks = schema.locks is not None and not principal.may("owner")
        ctx = ActionContext(
            conn=conn,
            engine=self.engine,
            library=library,
            principal=principal.with_owner_name(None if library is None else library.owner_name),
            audit_id=new_id(),
            audit_seq=before.seq + 1,
            now=now(),
            action_name=name,
            schema=schema,
            heeds_locks=heeds_locks,
            any_locked=heeds_locks and schema.locks is not None and schema.locks.has_any(raw),
            set_id=set_id,
        )
        return ctx, before, raw

    def close_step(
        self,
        ctx: ActionContext,
        before: audit.Head,
        raw: sqlite3.Connection,
        params: Mapping[str, Any],
        *,
        undoable: bool,
        inverse_of: str | None = None,
        spends: bool = True,
    ) -> audit.Head:
        """End a step: check the rights over its changes, write its audit row, and make tracked tables refuse writes
        again. Without *spends* it is part of another step, in whose budget it is.
        """
        self.engine.step_ends(ctx)
        check_rows(ctx, raw, taking_back=inverse_of is not None)
        principal = ctx.principal
        if (
            spends
            and principal.token_kind == "agent"
            and (purse := self.engine.auth.purse_of(principal)) is not None
        ):
            purse.take("writes")
            self.engine.auth.note_spent(purse)
        targets = list(ctx.target_ids)
        after = audit.append(
            raw,
            before,
            {
                "seq": ctx.audit_seq,
                "id": ctx.audit_id,
                "action_name": ctx.action_name,
                "actor_kind": principal.kind,
                "actor_name": principal.name,
                "client": principal.client,
                "origin_window": principal.origin_window,
                "role": principal.role,
                "target_ids": orjson.dumps(targets[: audit.MAX_TARGETS]).decode(),
                "params": orjson.dumps(params).decode(),
                "changed": orjson.dumps(_limit_changes(ctx.changes)).decode(),
                "run_id": principal.run_id,
                "set_id": ctx.set_id,
                "inverse_of": inverse_of,
                "undoable": int(undoable),
                "created_at": ctx.now,
                "images": orjson.dumps(counts(raw, ctx.schema.tracked, ctx.audit_seq)).decode(),
            },
        )
        audit.append_targets(raw, ctx.audit_seq, targets)
        if undoable and inverse_of is None:
            audit.append_parts(raw, ctx.audit_seq, [name for name in ctx.ran if name != ctx.action_name])
        capture.end_step(raw)
        return after

    def tell(self, ctx: ActionContext, *, inverse_of: str | None = None) -> None:
        """Run what follows a commit: outside effects, the change event, waking the job queue, the plugins' hook."""
        for then in ctx.after_commit:
            try:
                with asking(None):
                    then()
            except Exception:
                log.exception("an effect after the commit of %s failed", ctx.action_name)
        step = Step(
            name=ctx.action_name,
            audit_id=ctx.audit_id,
            seq=ctx.audit_seq,
            library=ctx.library,
            principal=ctx.principal,
            changed={kind: list(ids) for kind, ids in ctx.changes.items()},
            target_ids=list(ctx.target_ids),
            at=ctx.now,
            set_id=ctx.set_id,
            run_id=ctx.run_id,
            inverse_of=inverse_of,
        )
        self.engine.events.publish(
            "change", change_data(step), str(ctx.library.path) if ctx.library is not None else None
        )
        if ctx.enqueued:
            self.engine.jobs.wake(ctx.library)
        self.engine.step_committed(step)


_ID_LISTS = (
    "document_ids",
    "entity_ids",
    "claim_ids",
    "artifact_ids",
    "representation_ids",
    "annotation_ids",
    "interpretation_ids",
    "segment_ids",
    "pass_ids",
    "job_ids",
)


def change_data(step: Step) -> dict[str, Any]:
    """Return the data of a step's change event."""
    return {
        "event_id": step.audit_id,
        "ts": step.at,
        "type": step.name,
        "audit_id": step.audit_id,
        "actor": {"kind": step.principal.kind, "name": step.principal.name},
        "client": step.principal.client,
        "origin_window": step.principal.origin_window,
        "run_id": step.run_id,
        "metadata": {"set_id": step.set_id, "inverse_of": step.inverse_of},
        **{kind: step.changed.get(kind, []) for kind in _ID_LISTS},
    }


def _limit_changes(changes: Mapping[str, Mapping[str, None]]) -> dict[str, list[str]]:
    """Return the ids of the change event, cut to 1,000 of each kind for the audit row."""
    return {kind: list(ids)[: audit.MAX_TARGETS] for kind, ids in changes.items()}
