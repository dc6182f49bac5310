"""Fixtures for the tests of transfers: two projects, and a family that declares nothing but its foreign keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from documents_fixtures import OWNER, add_picture, picture, rows
from sqlalchemy import Column, Connection, ForeignKey, Integer, MetaData, Table, Text

from armarium.api import (
    ActionContext,
    Engine,
    Json,
    Library,
    Outcome,
    Params,
    Plugin,
    action,
    append_only,
    new_id,
    operational,
    tracked,
)
from armarium_documents.api import Carrier, Tie, Vocabulary, documents
from armarium_testing.answers import answering
from armarium_testing.digest import table_digests

metadata = MetaData()


def _id() -> Column[str]:
    return Column("id", Text, primary_key=True)


def _key(name: str, target: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, Text, ForeignKey(target, deferrable=True, initially="DEFERRED"), nullable=nullable)


people = Table(
    "loom_person", metadata, _id(), Column("name", Text, nullable=False), info=tracked(label="person")
)
hues = Table(
    "loom_hue",
    metadata,
    Column("key", Text, primary_key=True),
    Column("label", Text, nullable=False),
    info=tracked(label="hue"),
)
cloths = Table(
    "loom_cloth",
    metadata,
    _id(),
    Column(
        "page_id", Text, ForeignKey(documents.c.id, deferrable=True, initially="DEFERRED"), nullable=False
    ),
    Column("hue", Text),
    Column("woven_with_id", Text),
    Column("pattern", Json, nullable=False),
    info=tracked(label="cloth", document="page_id"),
)
threads = Table(
    "loom_thread",
    metadata,
    _id(),
    _key("cloth_id", "loom_cloth.id"),
    _key("spun_from_id", "loom_thread.id", nullable=True),
    Column("text", Text),
    info=tracked(label="thread"),
)
knots = Table(
    "loom_knot",
    metadata,
    _id(),
    _key("left_id", "loom_thread.id"),
    _key("right_id", "loom_thread.id"),
    _key("tied_by_id", "loom_person.id", nullable=True),
    info=tracked(label="knot"),
)
weavers = Table(
    "loom_weaver",
    metadata,
    _id(),
    _key("cloth_id", "loom_cloth.id"),
    _key("person_id", "loom_person.id"),
    info=tracked(label="weaver"),
)
marks = Table(
    "loom_mark",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("page_id", Text, nullable=False),
    Column("words", Text),
    info=append_only(document="page_id"),
)
queue = Table("loom_queue", metadata, _id(), Column("page_id", Text), info=operational())


class Rows(Params):
    """Rows of one table, as they are written."""

    table: str
    rows: list[dict[str, Any]]


@action("loom.weave", params=Rows, summary="Write rows of this family")
def weave(ctx: ActionContext, p: Rows) -> dict[str, Any]:
    for row in p.rows:
        ctx.conn.execute(metadata.tables[p.table].insert().values(row))
    return {}


@action("loom.dye", params=Rows, summary="Change the text of a thread")
def dye(ctx: ActionContext, p: Rows) -> dict[str, Any]:
    for row in p.rows:
        ctx.conn.execute(threads.update().where(threads.c.id == row["id"]).values(text=row["text"]))
    return {}


proposed: list[list[str]] = []


def _note_arrival(ctx: ActionContext, companions: Any) -> list[dict[str, Any]]:
    proposed.append(companions["loom_person"])
    return [
        {
            "id": new_id(),
            "survivor_entity_id": "0" * 32,
            "candidate_entity_id": person,
            "score": 0.5,
            "method": "transfer",
            "state": "pending",
        }
        for person in companions["loom_person"]
    ]


def _slots(conn: Connection, ids: Sequence[str]) -> list[tuple[str, str, str]]:
    return [("slot", "A slot", f"{len(ids)} things go.")]


cut_for: list[int] = []


def loom_plugin(**carrier: Any) -> Plugin:
    """Return the family; *carrier* are the fields of its carrier, by default it has none."""
    return Plugin(
        name="loom",
        summary="Cloths and threads",
        metadata=metadata,
        actions=(weave, dye),
        hooks=answering(armarium_documents_carriers=lambda: (Carrier(**carrier),)) if carrier else None,
    )


FULL_CARRIER = {
    "kinds": {"loom_person": "entities"},
    "vocabulary": (Vocabulary("loom_hue", "key", used_by=(("loom_cloth", "hue"),)),),
    "companions": ("loom_person",),
    "arrived": _note_arrival,
    "ties": (Tie("workspace_slot", _slots, lambda ctx, ids, moved: cut_for.append(len(moved))),),
}


class OpenProjects:
    """Two open projects of one engine, and short ways to use them."""

    def __init__(self, engine: Engine, source: Library, target: Library) -> None:
        self.engine, self.source, self.target = engine, source, target

    def do(self, action_name: str, where: Library | None = None, /, **params: Any) -> dict[str, Any]:
        """Run an action in the source or in *where*; return its result."""
        return self.engine.run(where or self.source, action_name, params, OWNER).result or {}

    def make(self, name: str, parent_id: str | None = None, **more: Any) -> str:
        """Create a folder, or what *more* states, in the source; return its id."""
        return str(self.do("document.create", name=name, parent_id=parent_id, **more)["id"])

    def note(self, name: str, parent_id: str | None = None, text: str = "Dear Sir") -> str:
        """Create a note in the source; return its id."""
        return self.make(name, parent_id, node_kind="note", page_content=text)

    def page(self, parent_id: str, name: str = "1.jpg", grey: int = 180) -> str:
        """Add a picture in the source; return its id."""
        return add_picture(self.engine, self.source, parent_id, picture(grey=grey), name)

    def outcome(self, items: Sequence[str], mode: str = "copy", **more: Any) -> Outcome:
        """Transfer; return the outcome."""
        params = {"source_library": str(self.source.path), "items": list(items), "mode": mode, **more}
        return self.engine.run(self.target, "document.transfer", params, OWNER)

    def transfer(self, items: Sequence[str], mode: str = "copy", **more: Any) -> dict[str, Any]:
        """Transfer; return the answer."""
        return self.outcome(items, mode, **more).result or {}

    def live(self, library: Library) -> list[tuple[str, str | None]]:
        """Return (name, name of the parent) of every live node except Sources, by name."""
        return rows(
            library,
            "SELECT d.name, p.name FROM document d LEFT JOIN document p ON p.id = d.parent_id"
            " WHERE d.deleted_at IS NULL AND d.system_key IS NULL ORDER BY 1, 2",
        )

    def states(self) -> tuple[str | None, str | None]:
        """Return the states of the newest transfer record in source and target."""
        return tuple(  # type: ignore[return-value]
            next(
                iter(rows(library, "SELECT state FROM document_transfer ORDER BY id DESC LIMIT 1")), (None,)
            )[0]
            for library in (self.source, self.target)
        )


def fill_source(projects: OpenProjects) -> str:
    box = projects.make("Box")
    projects.page(box)
    projects.note("Note", box)
    projects.do("classification.create", key="will", label="Will")
    projects.do("document.update", document_id=box, prototype_key="will")
    return box


def digests(projects: OpenProjects) -> list[dict[str, str]]:
    return [table_digests(x.db, projects.engine.library_schema) for x in (projects.source, projects.target)]


def fail_at(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, error: BaseException, *, after: bool
) -> None:
    """Make a step of the transfer fail, before or after its work."""
    real = getattr(owner, name)

    def fail(*given: Any, **more: Any) -> Any:
        if after:
            real(*given, **more)
        raise error

    monkeypatch.setattr(owner, name, fail)


def reopen(projects: OpenProjects, first: str = "source") -> OpenProjects:
    """Close and reopen both projects, *first* before the other; return them."""
    paths = projects.source.path, projects.target.path
    for path in paths:
        projects.engine.libraries.release(path)
    for path in paths if first == "source" else paths[::-1]:
        projects.engine.libraries.get(path)
    return OpenProjects(projects.engine, *(projects.engine.libraries.get(path) for path in paths))
