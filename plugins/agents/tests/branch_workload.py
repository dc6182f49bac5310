"""A branch made, worked on, merged, packed and taken, as a workload for the fault tests: each is whole or not at all."""

from __future__ import annotations

from pathlib import Path

from armarium.actions import Example
from armarium.api import Engine, Library, Plugin, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.faults import Say, Workload

TEXTS = tuple(f"line {number}" for number in range(3))


def _plugins() -> list[Plugin]:
    from armarium_agents.plugin import armarium_plugin as agents
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_source_model.plugin import armarium_plugin as source_model

    return [documents(), source_model(), agents()]


def _prepare(engine: Engine, library: Library, folder: Path) -> None:
    from armarium_source_model.samples import sample_page

    sample_page(Example(engine, library, LOCAL_OWNER, folder))


def _work(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    from PIL import Image

    from armarium_documents.samples import sample_picture

    made = engine.run(library, "branches.create", {"name": "Work"}, LOCAL_OWNER).result or {}
    say(f"made {made['id']}")
    branch = engine.libraries.open_only(made["library_path"])
    sample_picture(Example(engine, branch, LOCAL_OWNER, folder), Image.new("L", (9, 9)), "new.png")
    to = {"branch_id": made["id"], "path": str(folder / "branch.zip")}
    engine.run(library, "branches.pack", to, LOCAL_OWNER)
    engine.run(library, "branches.take", {"path": to["path"]}, LOCAL_OWNER)
    say("taken")
    engine.run(library, "branches.merge", {"branch_id": made["id"]}, LOCAL_OWNER)
    say("merged")


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
        lost = [d for (d,) in raw.execute("SELECT checksum FROM rendition") if not library.objects.has(d)]
    if len({bool(one) for one in rows.values()}) != 1:
        wrong.append(f"the merge was made in part: {rows}")
    if "merged" in said and not rows["pages"]:
        wrong.append("it was said to be merged and is not")
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


BRANCH = Workload(plugins=_plugins, prepare=_prepare, work=_work, check=_check)
