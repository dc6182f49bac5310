"""A workflow run as a workload for the fault tests: for each page a reading order, then regions in a pass of their own,
and a verdict on each reading.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection
from workloads import PATIENCE, carry_on

from armarium.actions import Example
from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.faults import Say, Workload
from armarium_testing.sample_layouts import lined_page

PAGES = 5
GRAPH = {
    "name": "Order, regions and verdicts",
    "nodes": [
        {"id": "pages", "tool": "input"},
        {"id": "order", "tool": "put-in-order"},
        {"id": "regions", "tool": "find-regions"},
        {"id": "check", "tool": "check"},
        {"id": "result", "tool": "output"},
    ],
    "edges": [
        {"id": "a", "source": "pages", "source_port": "pages", "target": "order", "target_port": "lines"},
        {
            "id": "b",
            "source": "pages",
            "source_port": "pages",
            "target": "regions",
            "target_port": "page_image",
        },
        {
            "id": "d",
            "source": "pages",
            "source_port": "pages",
            "target": "check",
            "target_port": "line_readings",
        },
        {"id": "c", "source": "order", "source_port": "result", "target": "result", "target_port": "value"},
    ],
}


def _pages(engine: Engine, library: Library, folder: Path) -> None:
    ex = Example(engine, library, LOCAL_OWNER, folder)
    for _ in range(PAGES):
        page = lined_page(ex)
        for reader in ("one", "two"):
            readings = [{"segment_id": line, "text": "Dear Sir and friend"} for line in page["segment_ids"]]
            taken = {"document_id": page["document_id"], "pass_id": page["pass_id"], "provider": reader}
            engine.run(library, "reading.take", {**taken, "readings": readings}, LOCAL_OWNER)
    engine.run(library, "workflow.create", GRAPH, LOCAL_OWNER)


def _execute(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    with library.db.read() as conn:
        workflow = conn.exec_driver_sql("SELECT id FROM workflow").scalar_one()
        pages = conn.exec_driver_sql("SELECT id FROM document WHERE doc_type = 'file'").scalars().all()
    params = {"workflow_id": workflow, "scope_ids": list(pages)}
    started = engine.run(library, "workflow.execute", params, LOCAL_OWNER).result or {}
    thread = {"thread_id": started["thread_id"]}
    say("started")
    # It is paused and resumed while it runs; it may have ended by then.
    with suppress(Conflict):
        engine.run(library, "run.pause", thread, LOCAL_OWNER)
        say("paused")
        engine.run(library, "run.resume", thread, LOCAL_OWNER)
    engine.jobs.run_until_idle(library, PATIENCE)


def _go_on(engine: Engine, library: Library, folder: Path) -> None:
    """Do what a person does: resume a run that a kill left paused; then wait until all is done."""
    with library.db.read() as conn:
        threads = conn.exec_driver_sql("SELECT thread_id FROM workflow_run").scalars().all()
    for thread in threads:
        with suppress(Conflict):
            engine.run(library, "run.resume", {"thread_id": thread}, LOCAL_OWNER)
    carry_on(engine, library, folder)


def made_twice(conn: Connection) -> tuple[list[str], tuple[int, int]]:
    """Return what was made more than once for a page, and how many pages have an order and how many have regions."""
    orders = conn.exec_driver_sql(
        "SELECT document_id, count(*) FROM reading_order WHERE deleted_at IS NULL GROUP BY document_id"
    ).all()
    regions = conn.exec_driver_sql(
        "SELECT document_id, count(DISTINCT pass_id) FROM segment WHERE deleted_at IS NULL AND kind = 'region'"
        " GROUP BY document_id"
    ).all()
    twice = [
        f"{what} of {document} {'were' if what.endswith('s') else 'was'} made {count} times"
        for what, found in (("the order", orders), ("the regions", regions))
        for document, count in found
        if count != 1
    ]
    return twice, (len(orders), len(regions))


def _wrong_verdicts(conn: Connection) -> list[str]:
    """Return whether there are too many or too few verdicts: two readers read every line alike, and each second reading
    is checked.
    """
    lines, verdicts, targets = conn.exec_driver_sql(
        "SELECT (SELECT count(DISTINCT segment_id) FROM content_representation), count(*), count(DISTINCT target_id)"
        " FROM check_verdict"
    ).one()
    return [] if lines == verdicts == targets else [f"{verdicts} verdicts on {targets} of {lines} readings"]


def _each_page_once(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    with library.db.read() as conn:
        runs = conn.exec_driver_sql(
            "SELECT r.thread_id, s.status, s.pages_done FROM workflow_run r"
            " JOIN workflow_run_state s ON s.thread_id = r.thread_id"
        ).all()
        wrong, (orders, regions) = made_twice(conn)
        if runs:
            wrong += _wrong_verdicts(conn)
    if len(runs) > 1 or ("started" in said and not runs):
        wrong.append(f"{len(runs)} runs are there")
    for _, status, done in runs:
        if status != "done" or done != PAGES:
            wrong.append(f"the run ended {status} with {done} of {PAGES} pages")
        elif (orders, regions) != (PAGES, PAGES):
            wrong.append(f"it is done, and {orders} pages are in order, {regions} have regions")
    return wrong


RUN = Workload(plugins=lambda: None, prepare=_pages, work=_execute, check=_each_page_once, finish=_go_on)
