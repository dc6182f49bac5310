"""A small family of jobs for the tests of jobs: chores that write, wait, fail and spawn.

It writes through one action, `chore.note`, into a tracked table, so that a test can count effects exactly.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from pydantic import Field
from sqlalchemy import Column, Integer, MetaData, Table, Text

from armarium.actions import ActionContext, Params, action
from armarium.errors import Conflict
from armarium.ids import new_id
from armarium.jobs.body_ends import RetryLater
from armarium.jobs.context import JobContext
from armarium.jobs.kinds import JobKind, LaneName
from armarium.jobs.queue import NewJob
from armarium.messages import Message
from armarium.plugin import Plugin
from armarium.store.tables import tracked

metadata = MetaData()

notes = Table(
    "chore_note",
    metadata,
    Column("id", Text, primary_key=True),
    Column("job_id", Text, nullable=False, index=True),
    Column("item", Integer, nullable=False),
    info=tracked(label="note"),
)


class Note(Params):
    """What a chore did."""

    job_id: str
    item: int


class Many(Params):
    """Chores to queue at once."""

    kind: str = "chore-items"
    jobs: int = Field(ge=1)
    items: int = 1
    title: str = "A chore"
    model: str | None = None


class Items(Message):
    """How many items a chore has, and how long each takes."""

    items: int = Field(ge=0)
    seconds: float = 0.0


class Tree(Message):
    """How many children, and how many items each has."""

    children: int
    items: int = 1
    failing: int = 0
    number: int = 0
    """Distinguishes trees that would otherwise be the same work."""


@action(
    "chore.note",
    params=Note,
    summary="Note one item a chore did",
    example=lambda ex: {"job_id": "j", "item": 0},
)
def note(ctx: ActionContext, p: Note) -> dict[str, Any]:
    """Insert one tracked row."""
    row = new_id()
    ctx.conn.exec_driver_sql(
        "INSERT INTO chore_note (id, job_id, item) VALUES (?, ?, ?)", (row, p.job_id, p.item)
    )
    ctx.target(row)
    return {"id": row}


@action("chore.begin", params=Many, summary="Put chores in the queue", example=lambda ex: {"jobs": 1})
def begin(ctx: ActionContext, p: Many) -> dict[str, Any]:
    """Queue jobs, which exist if and only if the step does."""
    ids = [
        ctx.enqueue(
            p.kind, {"items": p.items} if p.kind != "chore-nothing" else {}, title=p.title, model=p.model
        )
        for _ in range(p.jobs)
    ]
    return {"job_ids": ids}


class Gate:
    """Lets a test hold a chore at an item and release it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def pass_through(self) -> None:
        """Report that the chore is here, and wait until it is released."""
        self.reached.set()
        self.open.wait(120)


def chores_plugin(gate: Gate | None = None, calls: list[tuple[str, str]] | None = None) -> Plugin:
    """Return the family. *gate* holds `chore-gated`; *calls* collects those of on_pause and on_cancel."""
    heard = calls if calls is not None else []
    held = gate or Gate()

    def wait_at_gate(job: JobContext) -> None:
        for item in range(job.checkpoint.get("item", 0), job.args.items):
            job.check()
            held.pass_through()
            job.act(
                "chore.note",
                {"job_id": job.job_id, "item": item},
                checkpoint={"item": item + 1},
                done=item + 1,
            )

    def kind(name: str, lane: LaneName, run: Any, **more: Any) -> JobKind:
        return JobKind(f"chore-{name}", lane, f"Chores: {name}", run, **more)

    return Plugin(
        name="chore",
        summary="Chores, for tests",
        prefixes=("chore",),
        metadata=metadata,
        actions=(note, begin),
        jobs=(
            kind("nothing", "cpu", lambda job: None),
            kind("items", "cpu", do_items, args=Items),
            kind("gated", "cpu", wait_at_gate, args=Items),
            kind("tree", "database", spawn_tree, args=Tree),
            kind("refused", "cpu", refuse, args=Items),
            kind("broken", "cpu", break_down, args=Items),
            kind("later", "network", put_off, retries=3),
            kind("later-each", "network", put_off_each_item, args=Items, retries=3),
            kind("heavy", "local-model", do_items, args=Items, heavy=True),
            kind("training", "local-model", wait_at_gate, args=Items, heavy=True, steps_aside=True),
            kind("first", "images", do_items, args=Items, first=True, stage="thumbnails"),
            kind("read", "images", do_items, args=Items, stage="read-files"),
            kind("online", "network", do_items, args=Items, needs_network=True, also_lanes=("cpu",)),
            kind("run", "recipes", spawn_tree, args=Tree, is_run=True),
            kind("page", "network", do_items, args=Items, handed_in_by_run=True),
            kind(
                "far",
                "remote",
                wait_at_gate,
                args=Items,
                remote=True,
                also_lanes=("cpu",),
                on_pause=lambda engine, library, job_id, paused: heard.append((f"pause {paused}", job_id)),
                on_cancel=lambda engine, library, job_id: heard.append(("cancel", job_id)),
            ),
        ),
    )


def do_items(job: JobContext) -> dict[str, Any]:
    """Note each item together with its checkpoint: killed at any time, no item is lost or noted twice."""
    items = job.args.items
    for item in range(job.checkpoint.get("item", 0), items):
        job.check()
        if job.args.seconds:
            time.sleep(job.args.seconds)
        job.act(
            "chore.note",
            {"job_id": job.job_id, "item": item},
            checkpoint={"item": item + 1},
            done=item + 1,
            total=items,
        )
    return {"items": items}


def spawn_tree(job: JobContext) -> None:
    """Spawn children that do the items; *failing* of them fail."""
    tree: Tree = job.args
    job.spawn_many(
        [
            NewJob(
                "chore-refused" if child < tree.failing else "chore-items",
                {"items": tree.items},
                f"Child {child}",
                key=str(child),
                total=tree.items,
            )
            for child in range(tree.children)
        ]
    )


def refuse(job: JobContext) -> None:
    """Fail with a sentence until a file in the project's derived folder makes retries succeed."""
    switch = job.library.derived_folder / "chore-may"
    if not switch.exists():
        raise Conflict("The chore was refused: it was to be. Retry it when it may.", code="chore_refused")
    do_items(job)


def break_down(job: JobContext) -> None:
    """Fail with an exception whose message must never be shown or logged."""
    raise ValueError("a secret word of the source: Konrad")


def put_off(job: JobContext) -> None:
    """Ask to be run again later."""
    raise RetryLater("The far side is busy.", seconds=0.2)


def put_off_each_item(job: JobContext) -> None:
    """Do one item, then ask to be run again later, until all items are done."""
    done = job.checkpoint.get("done", 0) + 1
    job.save({"done": done}, done=done, total=job.args.items)
    if done < job.args.items:
        raise RetryLater("The far side is busy.", seconds=0.05)
