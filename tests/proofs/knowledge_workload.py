"""Names, statements, corrections, texts, index and vectors as a workload for the fault tests: each exists once and is
consistent with the readings that count.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from workloads import PATIENCE, carry_on

from armarium.engine import Engine
from armarium.jobs.queue import NewJob, enqueue
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium_testing.faults import Say, Workload

PAGES = 3
DEED = ("Before me came Juan Garcia of Toledo", "and Ana Lopez his wife", "and sold the mill to Juan Garcia")
NAMED = 3
"""Exact names on each page, before any correction."""


def _run(engine: Engine, library: Library, name: str, params: dict[str, Any]) -> dict[str, Any]:
    return engine.run(library, name, params, LOCAL_OWNER).result or {}


def _prepare(engine: Engine, library: Library, folder: Path) -> None:
    for number in range(PAGES):
        page = _run(engine, library, "document.create", {"name": f"Deed {number}", "doc_type": "page"})["id"]
        of_page = {"document_id": page}
        of_page["pass_id"] = _run(engine, library, "segment.pass_create", {**of_page, "name": "Lines"})["id"]
        lines = [
            {**of_page, "kind": "line", "anchor": {"rect": [0.1, 0.1 + 0.2 * row, 0.8, 0.1]}}
            for row in range(len(DEED))
        ]
        items = _run(engine, library, "segment.create_many", {"segments": lines})["items"]
        for line, text in zip(items, DEED, strict=True):
            _run(engine, library, "representation.create", {"segment_id": line["id"], "text": text})
    for name in ("Juan Garcia", "Ana Lopez"):
        _run(engine, library, "entity.create", {"canonical_name": name, "entity_type": "person"})


def _work(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    with library.db.read() as conn:
        pages = (
            conn.exec_driver_sql("SELECT id FROM document WHERE doc_type = 'page' ORDER BY id")
            .scalars()
            .all()
        )
        lines = conn.exec_driver_sql("SELECT id FROM segment ORDER BY document_id, bbox_y").scalars().all()
        juan = conn.exec_driver_sql("SELECT id FROM entity WHERE canonical_name = 'Juan Garcia'").scalar_one()

    def run(name: str, params: dict[str, Any]) -> dict[str, Any]:
        result = engine.run(library, name, params, LOCAL_OWNER)
        say(name)
        return {**(result.result or {}), "step": result.audit_id}

    # A job finds names on all pages.
    job = engine.recipe_jobs["find-names-tag-words"]
    with library.db.write() as conn:
        enqueue(conn, NewJob(job.kind, job.arguments(list(pages), job.parse({})), title=job.name), started_by=LOCAL_OWNER)  # fmt: skip
    say("names begun")
    engine.jobs.run_until_idle(library, PATIENCE)
    for number in range(PAGES):
        first, wife, _ = lines[3 * number : 3 * number + 3]
        other_entity_id = run("entity.create", {"canonical_name": f"Iuan {number}", "entity_type": "person"})[
            "id"
        ]
        run("claim.create", {"text": "He sold the mill", "subject_entity_id": juan})
        corrected = run(
            "representation.create", {"segment_id": first, "text": f"Coram me Juan Garcia {number}"}
        )
        run("representation.create", {"segment_id": wife, "text": f"word{number} and Ana Lopez"})
        merged = run("entity.merge", {"survivor_id": juan, "ids": [other_entity_id]})
        for step, undone in ((corrected, number == 1), (merged, number != 1)):
            if undone:
                engine.undo(library, [step["step"]], LOCAL_OWNER)
                say("undone")
    run("search.embed", {})
    engine.jobs.run_until_idle(library, PATIENCE)


SOUND = {
    "words are said twice to name the same":
        "SELECT count(*) FROM (SELECT 1 FROM mention GROUP BY representation_id, segment_char_start, entity_id HAVING count(*) > 1)",
    "a mention names characters that its reading does not have":
        "SELECT count(*) FROM mention m JOIN content_representation r ON r.id = m.representation_id"
        " WHERE m.segment_char_end > length(r.content)",
    "a mention is of an entity that was merged away":
        "SELECT count(*) FROM mention m JOIN entity e ON e.id = m.entity_id WHERE e.merged_into_id IS NOT NULL",
}  # fmt: skip


def _check(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    with library.db.read() as conn:
        wrong = [what for what, count in SOUND.items() if conn.exec_driver_sql(count).scalar_one()]
        for name in {word for word in said if "." in word}:
            statement = "SELECT count(*) FROM audit WHERE action_name = ? AND inverse_of IS NULL"
            done = conn.exec_driver_sql(statement, (name,)).scalar_one()
            if done < said.count(name):
                wrong.append(f"{said.count(name) - done} acknowledged steps {name} are lost")
        named = conn.exec_driver_sql("SELECT count(*) FROM mention").scalar_one()
        states = set(conn.exec_driver_sql("SELECT state FROM job").scalars())
    if "names begun" in said and named != NAMED * PAGES:
        wrong.append(f"{named} names are on the pages, and {NAMED * PAGES} stand there")
    if states - {"done"}:
        wrong.append(f"jobs are {sorted(states)}")
    # The texts of pages, the index and the names agree with the rows.
    wrong += [finding["what"] for finding in examine(engine, library.path, files=False)["findings"]]
    return wrong


def _plugins() -> list[Plugin]:
    families = ("documents", "source_model", "reading", "rights", "checking", "search", "knowledge")
    return [import_module(f"armarium_{name}.plugin").armarium_plugin() for name in families]


KNOWING = Workload(plugins=_plugins, prepare=_prepare, work=_work, check=_check, finish=carry_on)
