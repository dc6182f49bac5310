"""Empty Trash as a workload for the fault tests: a kill or a full disk leaves everything in the Trash, or nothing."""

from __future__ import annotations

import sys
from pathlib import Path

from armarium.api import Engine, Library, Plugin, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.faults import Say, Workload

sys.path.insert(0, str(Path(__file__).parent))


def _plugins() -> list[Plugin]:
    from armarium_documents.plugin import armarium_plugin

    return [armarium_plugin()]


def _prepare(engine: Engine, library: Library, folder: Path) -> None:
    from documents_fixtures import add_picture, picture

    box = engine.run(library, "document.create", {"name": "Box"}, LOCAL_OWNER).result
    result = engine.run(library, "document.create", {"name": "Kept"}, LOCAL_OWNER).result
    assert box is not None
    assert result is not None
    for number in range(6):
        add_picture(engine, library, box["id"], picture(grey=number * 9), f"{number}")
    # One picture that only the kept folder has, and one that both folders share.
    add_picture(engine, library, result["id"], picture(grey=0), "shared")
    add_picture(engine, library, result["id"], picture(grey=99), "alone")
    engine.run(library, "document.delete", {"ids": [box["id"]]}, LOCAL_OWNER)


def _work(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    say(f"emptied {engine.run(library, 'document.empty_trash', {}, LOCAL_OWNER).audit_id}")


def _check(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    wrong: list[str] = []
    with library.db.read() as conn:
        raw = raw_of(conn)
        (left,) = raw.execute("SELECT count(*) FROM document WHERE deleted_at IS NOT NULL").fetchone()
        (live,) = raw.execute("SELECT count(*) FROM document WHERE deleted_at IS NULL").fetchone()
        (known,) = raw.execute("SELECT count(*) FROM document__history WHERE name IN ('Box', '1')").fetchone()
        wrong += [
            f"the file {digest[:12]} of a live page is gone"
            for (digest,) in raw.execute("SELECT checksum FROM rendition")
            if not library.objects.has(digest)
        ]
    if left not in (0, 7):
        wrong.append(f"{left} of 7 documents are in the Trash: it was half emptied")
    if left and any(word.startswith("emptied") for word in said):
        wrong.append("the Trash was said to be emptied and is not")
    if not left and known:
        wrong.append("what was removed is still in the history")
    if live != 4:
        wrong.append(f"{live} live documents, 4 were there")
    return wrong


EMPTY_TRASH = Workload(plugins=_plugins, prepare=_prepare, work=_work, check=_check)
