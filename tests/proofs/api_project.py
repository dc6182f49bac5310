"""The project to which requests are sent: it has something of each kind, and a record of what exists now.

Every action has an example that prepares what it needs and returns parameters with which it succeeds; so a write is
requested with an example's parameters, and a read with ids that were just looked up. Both grow with the engine: nothing
here names a family.
"""

from __future__ import annotations

import inspect
import re
import tempfile
import time
from collections.abc import Iterator, Set
from contextlib import suppress
from pathlib import Path
from random import Random
from types import CodeType
from typing import Any

from armarium.actions import Example
from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.settings import Settings
from armarium.web.app import create_app
from armarium.web.routing import routes_of
from armarium_testing.examples import example_of
from armarium_testing.sample_files import SAMPLE_METS, SAMPLE_PAGE

TOKEN = "an-owner-token-for-tests-only-0123456789"
RENEW = 2000
"""Requests sent to one project before a new one is created, so that lists stay short and nothing runs out."""
LOOK = 15
"""Requests between two lookups of what exists."""
PATIENCE = 30.0
"""Seconds to wait for the running steps of cancelled runs."""

_LIVE = "(SELECT id FROM document WHERE deleted_at IS NULL)"
RELATIONS = (
    f"SELECT id AS document_id, parent_id FROM document WHERE id IN {_LIVE} AND doc_type = 'file'",
    f"SELECT id AS folder_id FROM document WHERE id IN {_LIVE} AND doc_type IN ('folder', 'group')",
    f"SELECT id AS bookmark_id, parent_id FROM document WHERE id IN {_LIVE} AND node_kind = 'alias'",
    f"SELECT document_id, id AS rendition_id, document_id AS image_id FROM rendition"
    f" WHERE materialized AND document_id IN {_LIVE}",
    f"SELECT document_id, id AS pass_id FROM segment_pass WHERE deleted_at IS NULL AND document_id IN {_LIVE}",
    f"SELECT p.document_id, p.id AS original_pass_id FROM segment_pass p JOIN format_import f ON f.pass_id = p.id"
    f" WHERE f.original IS NOT NULL AND p.deleted_at IS NULL AND p.document_id IN {_LIVE}",
    f"SELECT document_id, id AS mets_id FROM format_mets WHERE document_id IN {_LIVE}",
    f"SELECT document_id, pass_id, id AS segment_id, id AS end_id FROM segment"
    f" WHERE deleted_at IS NULL AND document_id IN {_LIVE}",
    f"SELECT s.document_id, s.pass_id AS read_pass_id FROM segment s JOIN content_representation r"
    f" ON r.segment_id = s.id WHERE s.deleted_at IS NULL AND NOT r.retracted AND s.document_id IN {_LIVE}",
    f"SELECT document_id, segment_id, id AS representation_id FROM content_representation"
    f" WHERE document_id IN {_LIVE}",
    f"SELECT document_id, id AS artifact_id FROM artifact WHERE document_id IN {_LIVE}",
    f"SELECT document_id, id AS annotation_id FROM annotation WHERE document_id IN {_LIVE}",
    f"SELECT document_id, id AS order_id, pass_id FROM reading_order"
    f" WHERE deleted_at IS NULL AND document_id IN {_LIVE}",
    f"SELECT e.document_id, e.order_id, e.id AS entry_id, e.segment_id, o.pass_id FROM reading_order_entry e"
    f" JOIN reading_order o ON o.id = e.order_id WHERE o.deleted_at IS NULL AND e.document_id IN {_LIVE}",
    "SELECT from_id AS end_id, id AS link_id FROM link WHERE deleted_at IS NULL AND from_kind = 'segment'",
    "SELECT id AS match_id, from_segment_id AS segment_id FROM segment_match WHERE withdrawn_at IS NULL",
    f"SELECT id AS item_id, folder_id FROM canvas_item WHERE folder_id IN {_LIVE}",
    "SELECT key FROM classification",
    "SELECT id AS job_id, kind AS job_kind FROM job",
    "SELECT id AS batch_id FROM image_batch",
    "SELECT a.thread_id AS left_run_id, b.thread_id AS right_run_id FROM workflow_run_state a"
    " JOIN workflow_run_state b ON b.status = 'done' AND b.thread_id <> a.thread_id"
    " WHERE a.status = 'done' AND (SELECT count(*) FROM workflow_run WHERE thread_id IN (a.thread_id, b.thread_id)) = 2",
    "SELECT id AS audit_id FROM audit ORDER BY seq DESC LIMIT 200",
)
ENGINE_RELATIONS = ("SELECT id AS token_id FROM token WHERE NOT revoked AND kind = 'agent'",)
"""Ids that were read together belong together: a segment with its pass and its page."""
MEANT_TWICE = ("SELECT DISTINCT proposal_id FROM finding_page",)
"""Ids for which two families use one name: where documents begin, and what looks similar."""


class ApiProject:
    """An engine, a project with something of each kind, and parameters with which every action succeeds."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="armarium-fuzz-")
        self.place = Path(self.folder.name)
        self.engine = Engine(
            Settings(
                state_dir=self.place / "state",
                owner_token=TOKEN,
                library_roots=[self.place],
                local_only=True,
                cors_origins=[],
            )
        )
        self.engine.start(jobs=False)
        self.app = create_app(engine=self.engine, jobs=False)
        self.actions = dict(_actions_of(self.app, self.engine))
        self.relations = (*RELATIONS, *MEANT_TWICE, *_relations_by_name(self.app, self.engine))
        self.laid = 0
        self.asked = 0
        self.lay()

    def lay(self) -> None:
        """Create a project in which the example of every action has run; close all former ones."""
        self.laid += 1
        self.spent: dict[str, dict[str, Any]] = {}
        former = self.engine.libraries.open_now()
        self.corner = self.place / f"ground-{self.laid}"
        self.corner.mkdir()
        self.path = self.corner / "Fuzz.library"
        self.engine.run(None, "library.create", {"path": str(self.path)}, LOCAL_OWNER)
        self.library: Library = self.engine.libraries.get(self.path)
        for one in former:
            self._end_runs(one)
            # An open project takes 4 MB and seven files until it is closed, and examples open many.
            self.engine.run(None, "library.release", {"path": str(one.path)}, LOCAL_OWNER)
        self._import()
        self._let_runs_end()
        for row in self.engine.actions.all():
            try:
                params = self.params(row.name)
                begins = row.result is not None and "job_id" in row.result.model_fields
                if (row.undoable or begins) and row.scope == "library":
                    result = self.engine.run(self.library, row.name, params, LOCAL_OWNER)
                    self.use_up(row.name)
                    if row.name == "project.start":
                        # While it runs a second start is refused, and the jobs of other examples would be part of it.
                        self.take_back(result.audit_id)
            except (ServiceError, FileExistsError):
                # A runtime and the key of a prototype can be created only once.
                self.use_up(row.name)
        self.look()

    def _let_runs_end(self) -> None:
        """Run two runs to their end, for routes that compare runs; those that examples start later may never end."""
        for _ in range(2):
            params = self.params("workflow.execute")
            self.engine.run(self.library, "workflow.execute", params, LOCAL_OWNER)
            self.use_up("workflow.execute")
        until = time.monotonic() + PATIENCE
        while self.engine.jobs.holding(self.library) and time.monotonic() < until:
            time.sleep(0.05)

    def _import(self) -> None:
        from PIL import Image, ImageDraw

        source = self.corner / "source"
        (source / "page").mkdir(parents=True)
        for number in range(3):
            page = Image.new("L", (120, 160), 230)
            ImageDraw.Draw(page).line((10, 20 + number, 100, 20), fill=0)
            page.save(source / f"{number}.png")
        layout = SAMPLE_PAGE.replace("letter.jpg", "2.png")
        (source / "page" / "2.xml").write_text(layout, encoding="utf-8")
        (source / "mets.xml").write_text(SAMPLE_METS.replace(".jpg", ".png"), encoding="utf-8")
        self.files = sorted(str(path) for path in source.rglob("*") if path.is_file())
        self.source = str(source)
        self.engine.run(self.library, "document.import", {"folder": str(source)}, LOCAL_OWNER)
        self.engine.jobs.run_until_idle(self.library, 60)
        with self.library.db.read() as conn:
            frames = conn.exec_driver_sql(
                "SELECT r.document_id, r.id FROM rendition r JOIN document d ON d.id = r.document_id"
                " WHERE d.name LIKE '_.png' ORDER BY d.name"
            ).all()
        for page, frame in frames:
            self._read(page, frame)

    def _read(self, page: str, frame: str) -> None:
        """Create a page with lines, readings and a reading order."""

        def do(action: str, **params: Any) -> dict[str, Any]:
            done = self.engine.run(self.library, action, {"document_id": page, **params}, LOCAL_OWNER).result
            assert done is not None
            return done

        lines = [
            {
                "key": str(n),
                "rect": [0.1, 0.1 + n / 10, 0.5, 0.05],
                "baseline": [[0.1, 0.14 + n / 10], [0.6, 0.14 + n / 10]],
            }
            for n in range(4)
        ]
        result = do("segment.take_lines", rendition_id=frame, name="p", provider="test", lines=lines)
        readings = [{"segment_id": segment, "text": "Dear Sir"} for segment in result["segment_ids"]]
        do("reading.take", pass_id=result["pass_id"], provider="test", readings=readings)
        do(
            "reading_order.create",
            pass_id=result["pass_id"],
            name="As written",
            kind="as-written",
            seed_from_pass=True,
        )

    def params(self, action: str) -> dict[str, Any]:
        """Return parameters with which the action succeeds now; the same again until `use_up` discards them."""
        if action not in self.spent:
            self.prepared = getattr(self, "prepared", 0) + 1
            folder = self.corner / f"example-{self.prepared}"
            folder.mkdir()
            found = self.engine.actions.get(action)
            example = example_of(self.engine, found)
            assert example is not None
            self._make_room(action)
            self.spent[action] = dict(example(Example(self.engine, self.library, LOCAL_OWNER, folder)))
        return dict(self.spent[action])

    def _end_runs(self, library: Library) -> None:
        """Cancel the runs of workflows that examples started, and wait for their running steps."""
        with library.db.read_all() as conn:
            going = conn.exec_driver_sql(
                "SELECT thread_id FROM workflow_run WHERE thread_id IN "
                "(SELECT id FROM job WHERE state IN ('waiting', 'running'))"
            )
            threads = going.scalars().all()
        for thread in threads:
            # A run that was cancelled before is refused.
            with suppress(ServiceError):
                self.engine.run(library, "run.cancel", {"thread_id": thread}, LOCAL_OWNER)
        until = time.monotonic() + PATIENCE
        while self.engine.jobs.holding(library) and time.monotonic() < until:
            time.sleep(0.05)

    def _make_room(self, action: str) -> None:
        """Remove what an example is about to add: the prototype keys that it chooses, a picture that other examples add
        as well.
        """
        if action.startswith("classification."):
            for key in ("will", "act"):
                try:
                    self.engine.run(self.library, "classification.delete", {"key": key}, LOCAL_OWNER)
                except ServiceError:
                    continue
        if action.startswith("ingest."):
            with self.library.db.read() as conn:
                brought = "SELECT id FROM document WHERE name = 'letter.png' AND deleted_at IS NULL"
                ids = conn.exec_driver_sql(brought).scalars().all()
            if ids:
                self.engine.run(self.library, "document.delete", {"ids": list(ids)}, LOCAL_OWNER)
        if action == "job.retry":
            with self.library.db.read() as conn:
                waiting = (
                    conn.exec_driver_sql(
                        "SELECT id FROM job WHERE state = 'waiting' AND handed_in_by IS NULL"
                    )
                    .scalars()
                    .all()
                )
            for job in waiting:
                # One that waits for the pages of a workflow run is not cancelled by itself.
                with suppress(ServiceError):
                    self.engine.run(self.library, "job.cancel", {"job_id": job}, LOCAL_OWNER)

    def lasting(self, action: str) -> bool:
        """Return whether an undo makes the prepared parameters valid again: an expected version never is."""
        return not any(name.startswith("expected_version") for name in self.spent.get(action, ()))

    def fresh_step(self) -> str:
        """Make a step that can be undone; return its audit id."""
        return self.engine.run(
            self.library, "document.create", {"name": "A note", "node_kind": "note"}, LOCAL_OWNER
        ).audit_id

    def use_up(self, action: str) -> None:
        """Discard the prepared parameters; the next request of this action gets new ones."""
        self.spent.pop(action, None)

    def take_back(self, audit_id: str) -> bool:
        """Undo a step that a request made; return whether that was possible."""
        for home in (self.library, None):
            try:
                self.engine.undo(home, [audit_id], LOCAL_OWNER)
            except ServiceError:
                continue
            return True
        return False

    def tick(self) -> None:
        """Count a request that is about to be sent; create a new project, or look up again what exists, when it is
        time.
        """
        self.asked += 1
        if self.asked % RENEW == 0:
            self.lay()
        elif self.asked % LOOK == 0:
            self.look()

    def look(self) -> None:
        """Look up what exists now."""
        self.rows: list[list[dict[str, Any]]] = []
        for db, statements in ((self.library.db, self.relations), (self.engine.state, ENGINE_RELATIONS)):
            with db.read() as conn:
                for statement in statements:
                    rows = conn.exec_driver_sql(statement).mappings().all()
                    self.rows.append([dict(row) for row in rows])
        self.names = {name for rows in self.rows for row in rows[:1] for name in row}
        self.pictured = {row["document_id"] for rows in self.rows for row in rows if "rendition_id" in row}

    def scene(self, wanted: Set[str], chance: Random, *, pictured: bool = False) -> dict[str, Any]:
        """Return ids that belong together and have as many of the *wanted* names as possible; other ids fill what is
        missing.
        """
        choice = [rows for rows in self.rows if rows and wanted & rows[0].keys()]
        if pictured:
            seen = [
                [row for row in rows if row.get("document_id", "") in {"", *self.pictured}] for rows in choice
            ]
            choice = [rows for rows in seen if rows]
        chance.shuffle(choice)
        choice.sort(
            key=lambda rows: (-len(wanted & rows[0].keys()), pictured and "document_id" not in rows[0])
        )
        found: dict[str, Any] = {}
        for rows in choice:
            agreeing = [
                row for row in rows if all(found.get(name, value) == value for name, value in row.items())
            ]
            if agreeing:
                found |= {name: value for name, value in chance.choice(agreeing).items() if value is not None}
        return found

    def jobs(self, kind: str) -> list[str]:
        """Return the jobs of a kind."""
        return [row["job_id"] for rows in self.rows for row in rows if row.get("job_kind") == kind]

    def close(self) -> None:
        self.engine.close()
        self.folder.cleanup()


def _relations_by_name(app: Any, engine: Engine) -> Iterator[str]:
    """Return queries for each `thing_id` among the path and query parameters that no relation above provides: the ids
    of the table called `thing`, or of one whose name ends so.
    """
    matches = set(re.findall(r"(\w+_id)\b", " ".join((*RELATIONS, *ENGINE_RELATIONS))))
    operations = (method for methods in app.openapi()["paths"].values() for method in methods.values())
    names = {parameter["name"] for operation in operations for parameter in operation.get("parameters", ())}
    tables = [
        table
        for plugin in engine.plugins.loaded
        if plugin.metadata is not None
        for table in plugin.metadata.tables.values()
    ]
    for name in sorted(item for item in names - matches if item.endswith("_id")):
        noun = name.removesuffix("_id")
        for table in tables:
            column = next((key for key in (name, "id") if key in table.c and table.c[key].primary_key), None)
            if column and (table.name == noun or table.name.endswith(f"_{noun}")):
                yield f"SELECT {column} AS {name} FROM {table.name}"


def _actions_of(app: Any, engine: Engine) -> Iterator[tuple[str, str]]:
    """Yield each operation with the action it runs, read from the code of the routes, so that a new route needs no
    entry here.
    """
    names = {row.name for row in engine.actions.all()}
    for route in routes_of(app.routes):
        for method in route.methods - {"GET", "HEAD"}:
            endpoint = inspect.unwrap(route.endpoint)
            declared = [endpoint.action] if hasattr(endpoint, "action") else _words(endpoint.__code__)
            said = [word for word in declared if word in names]
            if said:
                yield f"{method} {route.path_format}", said[-1]


def _words(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _words(constant)
