"""The conformance kit: what every plugin's actions must do, checked with their own examples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from armarium.actions import Action, Example, redact_params
from armarium.engine import Engine
from armarium.errors import Forbidden, Invalid, ServiceError
from armarium.guard.named_paths import undeclared_paths
from armarium.history.audit import select_row, verify_chain
from armarium.history.schema import Schema
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.digest import differences, table_digests
from armarium_testing.examples import example_of

FORBIDDEN_FIELDS = frozenset({"actor", "created_by", "provenance_kind", "created_at", "trust", "audit_id"})
"""Fields no action takes: the server sets the author."""

_NAME = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Fault:
    """One fault of an action."""

    action: str
    what: str

    def __str__(self) -> str:
        return f"{self.action}: {self.what}"


def exercise_plugin(engine: Engine, name: str, folder: Path) -> list[Fault]:
    """Check every action of plugin *name*, including its rights; return the faults, none if it conforms.

    *engine* is started; the kit stops its background work, including what an example has started, before it checks what
    an action does. *folder* is empty and inside its allowed roots. Each action gets a project of its own.
    """
    plugin = next((plugin for plugin in engine.plugins.loaded if plugin.name == name), None)
    if plugin is None:
        why = next(
            (refused.why for refused in engine.plugins.refused if refused.name == name), "it is not installed"
        )
        return [Fault(name, f"the plugin is not loaded: {why}")]
    faults: list[Fault] = []
    for number, action in enumerate(plugin.actions):
        place = folder / f"{number:03}"
        place.mkdir(parents=True)
        faults += exercise_action(engine, action, place)
    from armarium_testing.rights import exercise_rights

    return faults + exercise_rights(engine, name, folder)


def exercise_action(engine: Engine, action: Action[Any], folder: Path) -> list[Fault]:
    """Check one action in a new project under *folder*."""
    faults = [Fault(action.name, what) for what in _shape(action)]
    if example_of(engine, action) is None:
        return [*faults, Fault(action.name, "has no example, so nothing shows that it works or is undone")]
    place = folder / "Kit.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    try:
        faults += [Fault(action.name, what) for what in _behaviour(engine, action, library, folder)]
    finally:
        engine.libraries.release(library.path)
    return faults


def _shape(action: Action[Any]) -> Iterable[str]:
    if not _NAME.fullmatch(action.name):
        yield "its name is not of the form family.verb"
    if len(action.summary.split()) < 2:
        yield "its summary says nothing"
    if action.params.model_config.get("extra") != "forbid":
        yield "its parameters take unknown fields; derive them from Params"
    for name in undeclared_paths(action.params.model_json_schema()):
        yield f"it takes {name} as plain text: declare it a MaterialPath, PackagePath or RecipePath, or a ShownPath if nothing opens it"
    for field in FORBIDDEN_FIELDS & set(action.params.model_fields):
        yield f"it takes {field} from the caller; the server sets that"


def _behaviour(engine: Engine, action: Action[Any], library: Library, folder: Path) -> Iterable[str]:
    home = None if action.scope == "engine" else library
    db, schema = (library.db, engine.library_schema) if home else (engine.state, engine.engine_schema)
    example = example_of(engine, action)
    assert example is not None
    try:
        params = dict(example(Example(engine, library, LOCAL_OWNER, folder)))
    except ServiceError as error:
        yield f"its example cannot set up its project: {error.detail}"
        return
    stop_background_work(engine, library)
    yield from _refusals(engine, action, library, params)
    before = table_digests(db, schema)
    try:
        outcome = engine.run(library, action.name, params, LOCAL_OWNER)
    except ServiceError as error:
        yield f"its example is refused: {error.detail}"
        return
    if action.result is not None:
        try:
            action.result.model_validate(outcome.result)
        except ValueError as error:
            yield f"its answer is not what it declares: {error}"
    after = table_digests(db, schema)
    with db.read() as conn:
        row = select_row(conn, outcome.audit_id)
    if row is None or row["action_name"] != action.name:
        yield "it left no audit row of its own name"
        return
    if row["undoable"] != action.undoable:
        yield "its audit row does not say whether it can be undone"
    yield from _undo_and_redo(engine, action, home, outcome.audit_id, before, after, db, schema)
    with db.read() as conn:
        broken = verify_chain(conn)
    if broken:
        yield f"the audit chain is no longer intact: {broken}"


def stop_background_work(engine: Engine, library: Library) -> None:
    """Stop background work: what a job writes between two digests would be attributed to the action or its undo."""
    if engine.jobs.is_started:
        engine.jobs.stop()
        # Stopping detaches every queue; the project stays attached to the runner, as in an engine without jobs.
        engine.jobs.attach(library)


def _refusals(engine: Engine, action: Action[Any], library: Library, params: dict[str, Any]) -> Iterable[str]:
    viewer = replace(LOCAL_OWNER, role="viewer", name="a viewer")
    machine = replace(LOCAL_OWNER, kind="machine", name="an agent")
    if action.role != "viewer" and not _is_refused(engine, action, library, params, viewer):
        yield "a viewer may run it"
    if action.role == "owner" and not _is_refused(
        engine, action, library, params, replace(viewer, role="editor")
    ):
        yield "an editor may run it, though it says owner"
    refusal: type[ServiceError] = type(action.person_only()) if callable(action.person_only) else Forbidden
    if action.person_only and not _is_refused(engine, action, library, params, machine, refusal):
        yield "a machine may run it, though it says persons only"
    try:
        action.parse({**params, "no_such_field": 1})
    except Invalid as error:
        if error.code != "invalid_request":
            yield "an unknown field is refused without the code invalid_request"
    else:
        yield "it takes a field it does not know"
    _keeps_words_out(action, params)


def _keeps_words_out(action: Action[Any], params: dict[str, Any]) -> None:
    """Raise unless what the audit row would store is plain data."""
    redact_params(action.parse(params))


def _is_refused(
    engine: Engine,
    action: Action[Any],
    library: Library,
    params: dict[str, Any],
    who: Any,
    refusal: type[ServiceError] = Forbidden,
) -> bool:
    try:
        engine.run(library, action.name, params, who)
    except refusal:
        return True
    except ServiceError:
        return False
    return False


def _undo_and_redo(
    engine: Engine,
    action: Action[Any],
    home: Library | None,
    audit_id: str,
    before: dict[str, str],
    after: dict[str, str],
    db: Any,
    schema: Schema,
) -> Iterable[str]:
    if not action.undoable:
        try:
            engine.undo(home, [audit_id], LOCAL_OWNER)
        except ServiceError as error:
            if error.fields.get("reason") not in ("not-undoable", "gone"):
                yield f"undoing it is refused with the reason {error.fields.get('reason')}, not not-undoable"
        else:
            yield "it says it cannot be undone, and it was"
        return
    try:
        undone = engine.undo(home, [audit_id], LOCAL_OWNER)
    except ServiceError as error:
        yield f"it cannot be undone: {error.detail}"
        return
    # The parts of a conducted action remain; its undo reverts the step, so it is compared with the state after a second
    # undo.
    before = table_digests(db, schema) if action.conduct is not None else before
    changed = differences(before, table_digests(db, schema))
    if changed:
        yield f"after its undo these tables are not what they were: {', '.join(changed)}"
    try:
        redone = engine.undo(home, undone["audit_ids"], LOCAL_OWNER)
    except ServiceError as error:
        yield f"it cannot be redone: {error.detail}"
        return
    changed = differences(after, table_digests(db, schema))
    if changed:
        yield f"after its redo these tables are not what they were: {', '.join(changed)}"
    if action.conduct is not None:
        engine.undo(home, redone["audit_ids"], LOCAL_OWNER)
        changed = differences(before, table_digests(db, schema))
        if changed:
            yield f"after its second undo these tables are not what they were after the first: {', '.join(changed)}"
