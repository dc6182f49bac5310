"""A branch made, worked on, merged, packed and taken, as a workload for the fault tests: each is whole or not at all."""

from __future__ import annotations

from pathlib import Path

from armarium.actions import Example
from armarium.api import Engine, Library, Plugin, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.faults import Say, Workload

PATIENCE = 60.0
"""Seconds that the job of a merge may take."""


def _plugins() -> list[Plugin]:
    from armarium_agents.plugin import armarium_plugin as agents
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_source_model.plugin import armarium_plugin as source_model

    return [documents(), source_model(), agents()]


def _prepare(engine: Engine, library: Library, folder: Path) -> None:
    from armarium_testing.sample_pages import sample_page

    sample_page(Example(engine, library, LOCAL_OWNER, folder))


def _work(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    from PIL import Image

    from armarium_testing.sample_pages import sample_picture

    result = engine.run(library, "branches.create", {"name": "Work"}, LOCAL_OWNER).result or {}
    say(f"made {result['id']}")
    branch = engine.libraries.open_only(result["library_path"])
    sample_picture(Example(engine, branch, LOCAL_OWNER, folder), Image.new("L", (9, 9)), "new.png")
    to = {"branch_id": result["id"], "path": str(folder / "branch.zip")}
    engine.run(library, "branches.pack", to, LOCAL_OWNER)
    engine.run(library, "branches.take", {"path": to["path"]}, LOCAL_OWNER)
    say("taken")
    engine.run(library, "branches.merge", {"branch_id": result["id"]}, LOCAL_OWNER)
    say("merged")
    # What came later, by a job, as a merge of many rows is.
    branch = engine.libraries.open_only(result["library_path"])
    sample_picture(Example(engine, branch, LOCAL_OWNER, folder), Image.new("L", (8, 8)), "later.png")
    engine.run(library, "branches.start_merge", {"branch_id": result["id"]}, LOCAL_OWNER)
    say("queued")
    _finish(engine, library, folder)
    say("all")


def _finish(engine: Engine, library: Library, folder: Path) -> None:
    engine.jobs.run_until_idle(library, PATIENCE)


def _check(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        raw = raw_of(conn)
        branches = raw.execute("SELECT id, place FROM branch").fetchall()
        rows = {
            "pictures": raw.execute("SELECT count(*) FROM rendition").fetchone()[0],
            "pages": raw.execute("SELECT count(*) FROM document WHERE name = 'new.png'").fetchone()[0],
            "marks": raw.execute("SELECT count(*) FROM branch_settled").fetchone()[0] > 0,
        }
        later = raw.execute("SELECT count(*) FROM document WHERE name = 'later.png'").fetchone()[0]
        jobs = [state for (state,) in raw.execute("SELECT state FROM job WHERE kind = 'branch-merge'")]
        steps = raw.execute("SELECT count(*) FROM audit WHERE action_name = 'branches.merge'").fetchone()[0]
        lost = [d for (d,) in raw.execute("SELECT checksum FROM rendition") if not library.objects.has(d)]
    if len({bool(row) for row in rows.values()}) != 1:
        wrong.append(f"the merge was made in part: {rows}")
    if "merged" in said and not rows["pages"]:
        wrong.append("it was said to be merged and is not")
    # On a disk that refuses it may fail in words; then nothing of it is here.
    if "queued" in said and (later, jobs) not in ((1, ["done"]), (0, ["failed"])):
        wrong.append(f"the merge by a job was not made once: {later} pages, {jobs}")
    if later and (rows["pictures"], steps) != (2, 2):
        wrong.append(f"the merge by a job was made in part or twice: {rows}, {steps} steps")
    if lost:
        wrong.append("a merged picture has no file")
    if any(word.startswith("made") for word in said) and not branches:
        wrong.append("it was said to be made and is not known")
    for branch_id, place in branches:
        found = library.path.parent / place
        if found.is_dir():
            engine.libraries.open_only(found)
            engine.libraries.release(found)
        elif "taken" in said:
            wrong.append(f"the package of {branch_id} is gone")
    return wrong


BRANCH = Workload(plugins=_plugins, prepare=_prepare, work=_work, finish=_finish, check=_check)
