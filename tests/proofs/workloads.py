"""Workloads for the fault tests: the core's own on shelves, import and Trash, transfer, image cuts over a folder."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from armarium.actions import Outcome
from armarium.actions.bus import Bus
from armarium.engine import Engine
from armarium.errors import Conflict, Unavailable
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium.store import database as database
from armarium.store.database import Database
from armarium_testing.faults import Opening, Say, Workload
from armarium_testing.shelf import shelf_plugin

PATIENCE = 6.0
"""Seconds for the jobs of an import; on a disk that keeps failing they cannot finish."""


def _nothing(engine: Engine, library: Library, folder: Path) -> None:
    return None


def _shelves(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    for number in range(8):
        shelf = engine.run(library, "shelf.restock", {"name": f"shelf {number}"}, LOCAL_OWNER)
        say(f"step {shelf.audit_id}")
        digest = library.objects.put_bytes(f"file {number}".encode() * 500)
        say(f"file {digest}")
        many = engine.run(
            library, "shelf.add_many", {"shelf_id": shelf.result["id"], "titles": ["a"] * 50}, LOCAL_OWNER
        )
        say(f"step {many.audit_id}")
        if number % 3 == 1:
            done = engine.undo(library, [shelf.audit_id, many.audit_id], LOCAL_OWNER)
            say(f"step {done['audit_ids'][0]}")
        if number % 4 == 2:
            say(f"step {engine.run(library, 'snapshot.take', {}, LOCAL_OWNER).audit_id}")


def _shelves_whole(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        for word in said:
            kind, _, identity = word.partition(" ")
            if (
                kind == "step"
                and not conn.exec_driver_sql("SELECT 1 FROM audit WHERE id = ?", (identity,)).first()
            ):
                wrong.append(f"the acknowledged step {identity} is lost")
            if kind == "file" and not library.objects.has(identity):
                wrong.append(f"the acknowledged file {identity[:12]} is lost")
        odd = conn.exec_driver_sql(
            "SELECT shelf_id, count(*) FROM shelf_book GROUP BY shelf_id HAVING count(*) NOT IN (2, 52)"
        ).all()
        wrong += [f"shelf {shelf} holds {number} books: a step was half done" for shelf, number in odd]
    return wrong


SHELVES = Workload(plugins=lambda: [shelf_plugin()], prepare=_nothing, work=_shelves, check=_shelves_whole)


def _lies(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    say("step " + "0" * 32)
    # After this wait most kills come after the claim.
    time.sleep(0.3)


LIAR = Workload(plugins=lambda: [shelf_plugin()], prepare=_nothing, work=_lies, check=_shelves_whole)
"""Claims a step that was never made: the harness must detect it."""


def _careless_shelves() -> list[Plugin]:
    """Return the shelves on a database that does not wait for the disk: the fault that power cuts must reveal."""
    careful = Database._connect

    def careless(self: Database, *, reader: bool) -> sqlite3.Connection:
        conn = careful(self, reader=reader)
        conn.execute("PRAGMA synchronous=OFF")
        return conn

    Database._connect = careless  # type: ignore[method-assign]
    return [shelf_plugin()]


def _try_again(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    for name in ("one", "two"):
        with suppress(Unavailable):
            engine.run(library, "shelf.restock", {"name": name}, LOCAL_OWNER)


CARELESS = Workload(plugins=_careless_shelves, prepare=_nothing, work=_shelves, check=_shelves_whole)


def _folding_shelves() -> list[Plugin]:
    """Return the shelves on a database that checkpoints its WAL all the time, so that commits overwrite it."""
    database.CHECKPOINT_PAGES = 40
    return [shelf_plugin()]


FOLDING = Workload(plugins=_folding_shelves, prepare=_nothing, work=_shelves, check=_shelves_whole)


def _leaky_shelves() -> list[Plugin]:
    """Return the shelves on an action bus that refuses what it has committed: the fault that a failing disk must
    reveal.
    """
    whole = Bus.run

    def leaky(self: Bus, library: Library | None, name: str, *given: Any, **more: Any) -> Outcome:
        outcome = whole(self, library, name, *given, **more)
        if name == "shelf.restock":
            raise Unavailable("The disk is full; nothing was changed.")
        return outcome

    Bus.run = leaky  # type: ignore[method-assign, assignment]
    return [shelf_plugin()]


LEAKY = Workload(plugins=_leaky_shelves, prepare=_nothing, work=_try_again, check=_shelves_whole)


def _page_files(engine: Engine, library: Library, folder: Path) -> None:
    from PIL import Image

    source = folder / "source"
    (source / "box").mkdir(parents=True)
    for number in range(12):
        Image.new("L", (64, 48), number * 20).save(source / f"{number:02}.png")
    Image.new("L", (32, 32), 7).save(source / "box" / "inner.jpg")
    (source / "no picture.jpg").write_text("words")


def _start_import(engine: Engine, library: Library, folder: Path) -> str:
    outcome = engine.run(library, "document.import", {"folder": str(folder / "source")}, LOCAL_OWNER)
    assert outcome.result is not None
    return str(outcome.result["job_id"])


def _import(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    say(f"job {_start_import(engine, library, folder)}")
    engine.jobs.run_until_idle(library, PATIENCE)
    with library.db.read() as conn:
        ids = (
            conn.exec_driver_sql("SELECT id FROM document WHERE name LIKE '0%' ORDER BY name LIMIT 3")
            .scalars()
            .all()
        )
    outcome = engine.run(library, "document.delete", {"ids": list(ids)}, LOCAL_OWNER)
    say(f"step {outcome.audit_id}")
    engine.run(library, "document.restore", {"document_id": ids[0]}, LOCAL_OWNER)
    say(f"step {outcome.audit_id}")


def carry_on(engine: Engine, library: Library, folder: Path) -> None:
    """Do what a person does: wait for the jobs, retry those that the disk failed, and wait once more."""
    engine.jobs.run_until_idle(library, 60)
    with library.db.read() as conn:
        failed = (
            conn.exec_driver_sql("SELECT id FROM job WHERE state = 'failed' ORDER BY seq").scalars().all()
        )
    for job_id in failed:
        with suppress(Conflict):
            engine.run(library, "job.retry", {"job_id": job_id}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library, 60)


def _imported_once(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT d.name, count(*) FROM document d JOIN rendition r ON r.document_id = d.id GROUP BY d.name"
        ).all()
        missing = (
            conn.exec_driver_sql("SELECT checksum FROM rendition WHERE checksum IS NOT NULL").scalars().all()
        )
    wrong += [f"{name} came in {number} times" for name, number in rows if number != 1]
    wrong += [
        f"the file of {digest[:12]} is missing" for digest in missing if not library.objects.has(digest)
    ]
    if any(word.startswith("job ") for word in said) and len(rows) != 13:
        wrong.append(f"{len(rows)} of 13 files came in")
    return wrong


IMPORT = Workload(
    plugins=lambda: None, prepare=_page_files, work=_import, check=_imported_once, finish=carry_on
)


def other_project(engine: Engine, folder: Path) -> Library:
    package = folder / "Elsewhere.library"
    if not package.exists():
        engine.run(None, "library.create", {"path": str(package)}, LOCAL_OWNER)
    return engine.libraries.get(package)


def lay_boxes(engine: Engine, library: Library, folder: Path) -> None:
    """Create two boxes in another project, each with pictures and described pages; copy one and move the other."""
    from PIL import Image

    other = other_project(engine, folder)

    def run(name: str, params: dict[str, Any]) -> dict[str, Any]:
        return engine.run(other, name, params, LOCAL_OWNER).result or {}

    run("classification.create", {"key": "will", "label": "Will"})
    for number, name in enumerate(("copied", "moved")):
        box = run("document.create", {"name": name, "prototype_key": "will"})["id"]
        for page in range(4):
            file = folder / f"{number}{page}.png"
            Image.new("L", (32, 24), number * 100 + page * 20).save(file)
            checksum = other.objects.put_file(file)
            node = {"id": f"{number}{page}".rjust(32, "0"), "parent_id": box, "doc_type": "file"}
            node |= {"file_type": "image", "name": f"{name} {page}"}
            picture = {"checksum": checksum, "mime_type": "image/png", "size_bytes": file.stat().st_size}
            picture |= {"pixel_width": 32, "pixel_height": 24}
            run("document.add_files", {"nodes": [{**node, "picture": picture}]})
            text = {"document_id": node["id"], "kind": "translation", "content": f"text of {name} {page}"}
            run("content_representation.create", text)
            run("bookmark.create", {"target_id": node["id"], "name": f"alias of {name} {page}"})


def transfer(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    from armarium_documents.actions.transfer import copying

    copying.PART_ROWS = 4
    other = other_project(engine, folder)
    with other.db.read() as conn:
        boxes = dict(
            conn.exec_driver_sql("SELECT name, id FROM document WHERE name IN ('copied', 'moved')").all()
        )
    params = {"source_library": str(other.path), "items": [boxes["copied"]]}
    engine.run(library, "document.transfer", params, LOCAL_OWNER)
    say("copied")
    params = {"source_library": str(other.path), "items": [boxes["moved"]], "mode": "move"}
    moved = engine.run(library, "document.transfer", params, LOCAL_OWNER)
    say("moved")
    back = engine.undo(library, [moved.audit_id], LOCAL_OWNER)
    say("taken back")
    engine.undo(library, back["audit_ids"], LOCAL_OWNER)
    say("moved again")


def _target_first(engine: Engine, folder: Path) -> Library:
    library = engine.libraries.get(folder / "Struck.library")
    other_project(engine, folder)
    return library


def _source_first(engine: Engine, folder: Path) -> Library:
    other_project(engine, folder)
    return engine.libraries.get(folder / "Struck.library")


def whole_boxes(library: Library) -> tuple[dict[str, int], list[str]]:
    """Return each live box by name: how many there are, and what is wrong with one of them."""
    wrong: list[str] = []
    with library.db.read() as conn:
        boxes = conn.exec_driver_sql(
            "SELECT id, name, deleted_at IS NULL FROM document WHERE name IN ('copied', 'moved')"
        ).all()
        for box, name, live in boxes:
            (pages, texts, pictures) = conn.exec_driver_sql(
                "SELECT count(*), count(r.content), count(p.checksum) FROM document d"
                " LEFT JOIN content_representation r ON r.document_id = d.id AND r.content = 'text of ' || d.name"
                " LEFT JOIN rendition p ON p.document_id = d.id"
                " WHERE d.parent_id = ? AND (d.deleted_at IS NULL) = ?",
                (box, live),
            ).one()
            if (pages, texts, pictures) != (4, 4, 4):
                wrong.append(
                    f"{name} holds {pages} pages, {texts} texts, {pictures} pictures: it was half carried"
                )
        missing = conn.exec_driver_sql("SELECT checksum FROM rendition").scalars().all()
        pending = conn.exec_driver_sql(
            "SELECT count(*) FROM document_transfer WHERE state NOT IN ('done', 'taken-back')"
        ).scalar_one()
    wrong += [
        f"the file of {digest[:12]} is missing" for digest in missing if not library.objects.has(digest)
    ]
    if pending:
        wrong.append(f"{pending} transfers were not finished")
    live_boxes: dict[str, int] = {}
    for _, name, live in boxes:
        live_boxes[name] = live_boxes.get(name, 0) + live
    return live_boxes, wrong


def _carried_once(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    other = other_project(engine, folder)
    here, wrong = whole_boxes(library)
    there, more = whole_boxes(other)
    wrong += more
    wrong += [
        str(finding["what"])
        for finding in examine(engine, other.path)["findings"]
        if finding["level"] == "error"
    ]
    if there.get("copied", 0) != 1:
        wrong.append("the box that was copied is gone from where it was")
    if here.get("copied", 0) != 1 and ("copied" in said or here.get("copied", 0) > 1):
        wrong.append(f"the copy is there {here.get('copied', 0)} times")
    if here.get("moved", 0) + there.get("moved", 0) != 1:
        wrong.append(f"the moved box is here {here.get('moved', 0)} and there {there.get('moved', 0)} times")
    if said[-1:] == ["ended"] and here.get("moved", 0) != 1:
        wrong.append("the acknowledged move is lost")
    with other.db.read() as conn:
        aliases = conn.exec_driver_sql(
            "SELECT count(*) FROM document WHERE name LIKE 'alias of moved%' AND deleted_at IS NULL"
        ).scalar_one()
    if aliases != 4 * there.get("moved", 0):
        wrong.append(f"{aliases} aliases of the moved pages are left")
    return wrong


TRANSFER = Workload(
    plugins=lambda: None,
    prepare=lay_boxes,
    work=transfer,
    check=_carried_once,
    openings=(Opening("target opened first", _target_first), Opening("source opened first", _source_first)),
)
"""Opening the second project completes what was left, whichever that is."""


def _forgetful() -> list[Plugin]:
    """Return documents that complete nothing when a project is opened: the fault that kills must reveal."""
    from armarium_documents.plugin import armarium_plugin

    return [replace(armarium_plugin(), on_open=())]


FORGETFUL = replace(TRANSFER, plugins=_forgetful)


def _openings(engine: Engine, library: Library, folder: Path) -> None:
    """Create a box of six photographs of two facing pages."""
    from PIL import Image

    box = engine.run(library, "document.create", {"name": "Openings"}, LOCAL_OWNER).result
    assert box is not None
    for number in range(6):
        file = folder / f"{number}.png"
        image = Image.new("L", (80, 40), 200)
        image.paste(20 + number, (0, 0, 40, 40))
        image.save(file)
        node = {"id": f"{number}".rjust(32, "0"), "parent_id": box["id"], "doc_type": "file"}
        node |= {"file_type": "image", "name": f"opening {number}"}
        picture = {"checksum": library.objects.put_file(file), "mime_type": "image/png"}
        picture |= {"size_bytes": file.stat().st_size, "pixel_width": 80, "pixel_height": 40}
        engine.run(library, "document.add_files", {"nodes": [{**node, "picture": picture}]}, LOCAL_OWNER)


def _cut(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    with library.db.read() as conn:
        box = conn.exec_driver_sql("SELECT id FROM document WHERE name = 'Openings'").scalar_one()
    halves = [{"bbox": [0, 0, 0.5, 1]}, {"bbox": [0.5, 0, 0.5, 1]}]
    params = {"folder_id": box, "spec": {"kind": "split", "regions": halves}}
    batch = engine.run(library, "image.batch_apply", params, LOCAL_OWNER)
    say("cutting")
    treat = {"scope_ids": [box], "role": "background-removed"}
    engine.run(library, "image.treat", treat, LOCAL_OWNER)
    say("treating")
    engine.jobs.run_until_idle(library, PATIENCE)
    assert batch.result is not None
    engine.run(library, "document.delete", {"ids": ["0".rjust(32, "0")]}, LOCAL_OWNER)
    engine.run(library, "document.empty_trash", {}, LOCAL_OWNER)
    say("emptied")
    back = {"batch_id": batch.result["batch_id"]}
    engine.run(library, "image.batch_undo", back, LOCAL_OWNER)
    say("taken back")


def _cut_once(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        sources = conn.exec_driver_sql(
            "SELECT d.id, d.name, (SELECT count(*) FROM image_cut c JOIN document k ON k.id = c.child_id"
            " WHERE c.source_id = d.id AND k.deleted_at IS NULL), coalesce(i.state, 'never'),"
            " (SELECT count(*) FROM rendition r WHERE r.document_id = d.id AND r.role = 'background-removed')"
            " FROM document d LEFT JOIN image_batch_item i ON i.document_id = d.id"
            " WHERE d.name GLOB 'opening [0-9]' AND d.deleted_at IS NULL"
        ).all()
        digests = (
            conn.exec_driver_sql("SELECT checksum FROM rendition WHERE checksum IS NOT NULL").scalars().all()
        )
        # A job that the disk failed stays failed, with the reason, until a person retries it.
        ended = conn.exec_driver_sql("SELECT kind FROM job WHERE state = 'done'").scalars().all()
    for _, name, children, state, treated in sources:
        if children != {"done": 2}.get(state, 0):
            wrong.append(f"{name} has {children} parts and its item says {state}")
        if treated > 1 or (treated != 1 and "image-treat" in ended):
            wrong.append(f"{name} was treated {treated} times")
        if "taken back" in said and children:
            wrong.append(f"{name} has parts though its batch was undone")
        if "image-batch" in ended and state not in ("done", "undone", "skipped"):
            wrong.append(f"the item of {name} stands at {state}")
    if len(sources) not in ((5,) if "emptied" in said else (5, 6)):
        wrong.append(f"{len(sources)} photographs are left")
    wrong += [
        f"the file of {digest[:12]} is missing" for digest in digests if not library.objects.has(digest)
    ]
    return wrong


CUTS = Workload(plugins=lambda: None, prepare=_openings, work=_cut, check=_cut_once, finish=carry_on)
