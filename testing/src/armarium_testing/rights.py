"""Rights of every action, compared with its declaration and with locks: done, undone and redone by every kind of
caller.

Which documents a row belongs to, and which lock applies to them, is computed here from the rows alone, in plain Python;
nothing of `armarium.history` is used.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from armarium.actions import Action, ActionContext, Example, Params
from armarium.engine import Engine
from armarium.errors import Conflict, ServiceError
from armarium.history.changes import values_of
from armarium.history.visibility import texts_in
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import rules_of
from armarium_testing.conformance import Fault, stop_background_work
from armarium_testing.examples import example_of
from armarium_testing.lock_model import Content, Model, Row

EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor", token_kind="device")
VIEWER = replace(EDITOR, role="viewer", name="a viewer")
AGENT = replace(EDITOR, kind="machine", name="an agent", token_kind="agent")
STRANGER = replace(EDITOR, name="bound elsewhere", libraries=frozenset({"/another.library"}))

MOST_LOCKS = 4
"""How many nodes are locked, one after another, each time an action is done, undone and redone."""

Refusal = tuple[int, str | None] | None
"""Status and code; None where it was not refused."""


class _Lock(Params):
    node_id: str
    locked: bool


def set_lock(engine: Engine, library: Library, node_id: str, locked: bool) -> None:
    """Lock or unlock a node as its owner, by whatever column its table declares."""
    tree = next(table for table in engine.library_schema.tracked if rules_of(table).tree)
    rules = rules_of(tree).tree
    assert rules is not None
    column = rules.locked

    def perform(ctx: ActionContext, p: _Lock) -> None:
        ctx.conn.execute(
            tree.update().where(tree.primary_key.columns[0] == p.node_id).values({column: p.locked})
        )

    turn: Action[_Lock] = Action(
        "kit.lock", summary="Lock a node.", params=_Lock, perform=perform, role="owner", undoable=False
    )
    engine.bus.step(turn, library, _Lock(node_id=node_id, locked=locked), LOCAL_OWNER)


@contextmanager
def lock_on(engine: Engine, library: Library, node_id: str) -> Iterator[None]:
    """Lock one node for the duration of the block."""
    model = Model(engine, library)
    was_locked = model.locks_itself(model.read(), node_id)
    set_lock(engine, library, node_id, True)
    try:
        yield
    finally:
        set_lock(engine, library, node_id, was_locked)


def attempt(work: Callable[[], Any]) -> Refusal:
    """Return how *work* is refused, or None."""
    try:
        work()
    except ServiceError as refusal:
        return refusal.status, refusal.code
    return None


def exercise_rights(engine: Engine, name: str, folder: Path) -> list[Fault]:
    """Check the rights of every action of plugin *name*; return the faults.

    *engine* is started; the kit stops its background work. *folder* is empty and inside its allowed roots.
    """
    plugin = next(plugin for plugin in engine.plugins.loaded if plugin.name == name)
    faults: list[Fault] = []
    for number, action in enumerate(plugin.actions):
        if (example := example_of(engine, action)) is None:
            continue
        place = folder / f"rights-{number:03}"
        place.mkdir(parents=True)
        engine.run(None, "library.create", {"path": str(place / "Kit.library")}, LOCAL_OWNER)
        library = engine.libraries.get(place / "Kit.library")
        params = dict(example(Example(engine, library, LOCAL_OWNER, place)))
        stop_background_work(engine, library)
        try:
            faults += [Fault(action.name, what) for what in _Trial(engine, library, action, params).faults()]
        finally:
            engine.libraries.release(library.path)
    return faults


class _Trial:
    """One action in a project of its own, in the state that its example set up."""

    def __init__(self, engine: Engine, library: Library, found: Action[Any], params: Row) -> None:
        self.engine, self.library, self.found, self.params = engine, library, found, params
        self.model = Model(engine, library)
        self.home = None if found.scope == "engine" else library
        """Whose log its steps are in; None: the engine's own."""

    def faults(self) -> Iterator[str]:
        yield from self._refused_outright(self._do, "does it")
        if self.home is None:
            if self.found.undoable:
                yield from self._refused_in_the_engine(self._do(LOCAL_OWNER))
            return
        ground = self.model.read()
        refusals: dict[str, Refusal] = {}
        done: str | None = None
        for node in self._some(ground):
            with lock_on(self.engine, self.library, node):
                before = self.model.read()
                try:
                    done = self._do(EDITOR)
                except ServiceError as error:
                    refusals[node] = (error.status, error.code)
                    continue
                if self.model.refuses(before, self.model.read(), self._name_refusals(done)):
                    yield "an editor does it under a lock"
                break
        before = self.model.read()
        if done is None:
            try:
                done = self._do(LOCAL_OWNER)
            except Conflict:
                # The action needs nothing that was touched since, and each lock touches something.
                return
            after = self.model.read()
            for node, refusal in refusals.items():
                if refusal == (403, "node_locked") and not self._under(node, before, after, done):
                    yield "an editor is refused it for a lock that lies over nothing it changes"
        if not self.found.undoable:
            return
        yield from self._taken_back(done)

    def _refused_in_the_engine(self, done: str) -> Iterator[str]:
        """Do the equivalent of step *done* in the engine's own database, where nothing is locked."""
        yield from self._refused_outright(lambda principal: self._undo(done, principal), "undoes it")
        undone = self._undo(done, LOCAL_OWNER)
        yield from self._refused_outright(lambda principal: self._undo(undone, principal), "redoes it")

    def _some(self, content: Content) -> list[str]:
        """Return the nodes to which belongs what the parameters name, then others at random."""
        texts = set(texts_in(self.params))
        first = {
            node
            for table, rows in content.items()
            for key, row in rows.items()
            if len(key) == 1 and key[0] in texts
            for node in self.model.belongs(content, table, row)
        }
        nodes = sorted(self.model.nodes(content))
        random.Random(self.found.name).shuffle(nodes)
        return sorted(nodes, key=lambda node: node not in first)[:MOST_LOCKS]

    def _taken_back(self, done: str) -> Iterator[str]:
        """Let those who may not try to undo step *done* and to redo it, under each lock; then do both as the owner."""
        # Locking a node changes its row, so nobody can undo a step that changed that row too.
        refused = {(403, "node_locked"), (409, "undo_refused")}
        if self.found.role == "owner":
            refused.add((403, "owner_only"))
        for doing in ("undoes it", "redoes it"):
            yield from self._refused_outright(lambda principal, step=done: self._undo(step, principal), doing)  # type: ignore[misc]
            yield from self._refused_by_rows(done, doing)
            before = self.model.read()
            refusals = {}
            for node in self._some(before):
                with lock_on(self.engine, self.library, node):
                    refusals[node] = attempt(lambda step=done: self._undo(step, EDITOR, keep=False))  # type: ignore[misc]
            following = self._undo(done, LOCAL_OWNER)
            after = self.model.read()
            for node, refusal in refusals.items():
                under = self._under(node, before, after, done)
                if under and refusal not in refused:
                    yield f"an editor {doing} under a lock ({refusal})"
                if not under and refusal == (403, "node_locked"):
                    yield f"an editor is refused, as one who {doing}, for a lock over nothing it changes"
            done = following

    def _refused_outright(self, work: Callable[[Principal], Any], what: str) -> Iterator[str]:
        """Try callers who may not run the action whatever the rows are: viewers, tokens of other projects, machines,
        and editors for an owner's action.
        """
        action = self.found
        owners_first = action.role == "owner" and self.home is None
        stranger = (403, "owner_only" if owners_first else "library_access_denied")
        # An engine-wide action that a bound token may run checks the token's reach itself.
        own = action.bound and self.home is None and what == "does it"
        expected: list[tuple[Principal, Refusal]] = [] if own else [(STRANGER, stranger)]
        if action.role != "viewer":
            role = "owner_only" if action.role == "owner" else "library_access_denied"
            expected.append((VIEWER, (403, role)))
        if action.role == "owner":
            expected += [(EDITOR, (403, "owner_only")), (AGENT, (403, "owner_only"))]
        elif action.person_only:
            refusal = action.person_only() if callable(action.person_only) else None
            expected.append(
                (AGENT, (refusal.status, refusal.code) if refusal is not None else (403, "person_only"))
            )
        for principal, refused in expected:
            met = attempt(lambda principal=principal: work(principal))  # type: ignore[misc]
            if met != refused:
                yield f"{principal.name} {what}: expected {refused}, met {met}"

    def _refused_by_rows(self, done: str, what: str) -> Iterator[str]:
        """Check that a change which needs a person also needs one when it is undone, in either direction."""
        before = self.model.read()
        undoing = self._undo(done, LOCAL_OWNER)
        after = self.model.read()
        self._undo(undoing, LOCAL_OWNER)
        for rule in self.found.rules:
            when = rule.when
            is_asked = when is not None and any(
                when(*(self._see_row(rule.table, row) for row in (one, other)))
                for was, is_ in ((before, after), (after, before))
                for key in was[rule.table].keys() | is_[rule.table].keys()
                if (one := was[rule.table].get(key)) != (other := is_[rule.table].get(key))
            )
            if not is_asked:
                continue
            principal = AGENT if rule.ask == "person" else EDITOR
            refusal = rule.make_refusal(self.found.name)
            outcome = attempt(lambda principal=principal: self._undo(self._newest(done), principal))  # type: ignore[misc]
            if outcome != (refusal.status, refusal.code):
                yield f"{principal.name} {what} though its rows ask for a {rule.ask}"

    def _see_row(self, table: str, row: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return a row as a rule sees it."""
        columns = list(self.model.tables[table].columns)
        return None if row is None else values_of(columns, list(row.values()))

    def _under(self, node: str, before: Content, after: Content, done: str) -> bool:
        """Return whether a lock on *node* applies to what changed from *before* to *after*."""
        tree = self.model.tree
        assert tree is not None
        rules = rules_of(tree).tree
        assert rules is not None
        contents = []
        for content in (before, after):
            rows = {key: {**row, rules.locked: key == (node,)} for key, row in content[tree.name].items()}
            contents.append({**content, tree.name: rows})
        return self.model.refuses(contents[0], contents[1], self._name_refusals(done))

    def _name_refusals(self, done: str) -> list[str]:
        if not self.found.guards_targets:
            return []
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            rows = raw.execute(
                "SELECT target_id FROM audit_target WHERE seq = (SELECT seq FROM audit WHERE id = ?)", (done,)
            ).fetchall()
        return [row[0] for row in rows]

    def _do(self, who: Principal) -> str:
        return self.engine.run(self.library, self.found.name, self.params, who).audit_id

    def _undo(self, step: str, who: Principal, *, keep: bool = True) -> str:
        """Undo *step* as *who*; unless *keep* is true the owner redoes it at once. Return the undo's own step."""
        (undone,) = self.engine.undo(self.home, [self._newest(step)], who)["audit_ids"]
        if not keep:
            self.engine.undo(self.home, [undone], LOCAL_OWNER)
        return str(undone)

    def _newest(self, step: str) -> str:
        """Return the step in effect in the chain of undos and redos of *step*."""
        db = self.library.db if self.home is not None else self.engine.state
        with db.read() as conn:
            raw = raw_of(conn)
            (newest,) = raw.execute(
                "WITH RECURSIVE chain(id, depth) AS (VALUES (?, 0) UNION ALL SELECT a.id, depth + 1"
                " FROM chain JOIN audit a ON a.inverse_of = chain.id)"
                " SELECT a.id FROM chain JOIN audit a ON a.id = chain.id"
                " WHERE a.undone = 0 AND depth % 2 = 0 ORDER BY a.seq DESC LIMIT 1",
                (step,),
            ).fetchone()
        return str(newest)
