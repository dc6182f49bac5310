"""A move that is killed, after which something happens to one of its two projects before they are opened again.

The other project is renamed, removed, or reset to a copy of its database from before or during the move; the two are
opened in either order. The work is that of `workloads.TRANSFER`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from workloads import lay_boxes, transfer, whole_boxes

from armarium.api import raw_of
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium_testing.faults import Opening, Say, Workload

SOURCE, TARGET = "Elsewhere.library", "Struck.library"
RENAMED = "Under another name.library"
KEPT = "kept"


def _keep(folder: Path) -> None:
    """Copy both databases as a snapshot would find them now; a kill meanwhile leaves no copies."""
    path = folder / "being kept"
    for name in (SOURCE, TARGET):
        for part in ("library.sqlite", "library.sqlite-wal"):
            if (folder / name / part).exists():
                (path / name).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name / part, path / name / part)
    path.rename(folder / f"{KEPT}.{len(list(folder.glob(KEPT + '.*'))):02}")


def _moves(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    """Run the transfers, with a copy of both databases before each half of each."""
    from armarium_documents.actions.transfer import copying

    def kept_before(name: str) -> None:
        step = getattr(copying._Transfer, name)

        def keep_and_do(self: Any, *given: Any) -> Any:
            _keep(folder)
            return step(self, *given)

        setattr(copying._Transfer, name, keep_and_do)

    def note_word(word: str) -> None:
        say(word)
        _keep(folder)

    _keep(folder)
    for name in ("_copy", "_make_live", "_send_out"):
        kept_before(name)
    transfer(engine, library, folder, note_word)


def _open(names: tuple[str, ...], engine: Engine, folder: Path) -> Library:
    return [engine.libraries.get(folder / name) for name in names][-1]


def _rename(name: str, folder: Path) -> None:
    (folder / name).rename(folder / RENAMED)


def _remove(name: str, folder: Path) -> None:
    shutil.rmtree(folder / name)


def _set_back(name: str, place: int, folder: Path) -> None:
    """Reset a project to one of the copies: the *place*-th, or counted from the newest."""
    paths = sorted(folder.glob(f"{KEPT}.*"))
    if not paths:
        return
    copy = paths[max(place, -len(paths)) if place < 0 else min(place, len(paths) - 1)]
    for part in ("library.sqlite", "library.sqlite-wal", "library.sqlite-shm"):
        (folder / name / part).unlink(missing_ok=True)
    for path in (copy / name).iterdir():
        shutil.copyfile(path, folder / name / path.name)


def _check_settled(fate: str, engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    """Return the faults of the remaining projects, which are open: anything half transferred, lost or still held."""
    wrong: list[str] = []
    live: dict[str, int] = {}
    explained = False
    left = {one.path.name: one for one in engine.libraries.open_now() if not engine.is_global(one)}
    for one in left.values():
        found, more = whole_boxes(one)
        # A complete copy records that its source has yet to be settled while that project is absent.
        wrong += [word for word in more if fate != "removed" or "were not finished" not in word]
        wrong += [
            str(finding["what"])
            for finding in examine(engine, one.path)["findings"]
            if finding["level"] == "error"
        ]
        live[one.path.name] = found.get("moved", 0)
        with one.db.read() as conn:
            raw = raw_of(conn)
            explained |= bool(
                raw.execute(
                    "SELECT 1 FROM document_transfer t JOIN activity a ON a.message LIKE '%' || t.reason"
                ).fetchone()
            )
    total = sum(live.values())
    if fate != "removed" and total == 0:
        wrong.append("the moved box is nowhere")
    if total > 1 and fate != "set back":
        wrong.append(f"the moved box is there {total} times: {live}")
    if total > 1 and not explained:
        wrong.append(f"the moved box is in both, and nothing says why: {live}")
    third = engine.run(None, "library.create", {"path": str(folder / "Third.library")}, LOCAL_OWNER).result
    assert third is not None
    for name in [name for name, number in live.items() if number]:
        with left[name].db.read() as conn:
            box = conn.exec_driver_sql(
                "SELECT id FROM document WHERE name = 'moved' AND deleted_at IS NULL"
            ).scalar_one()
        params = {"source_library": str(folder / name), "items": [box], "mode": "move"}
        try:
            engine.run(
                engine.libraries.get(folder / "Third.library"), "document.transfer", params, LOCAL_OWNER
            )
        except Exception as error:
            wrong.append(f"what is in {name} is held for good: {error}")
    return wrong


def _openings() -> tuple[Opening, ...]:
    made: list[Opening] = []

    def add(
        name: str, fate: str, before: Callable[[Path], None], *orders: tuple[str, ...], every: int = 1
    ) -> None:
        for order in orders:
            made.append(
                Opening(
                    f"{name} {fate}, {order[0]} opened first",
                    partial(_open, order),
                    before,
                    partial(_check_settled, fate),
                    every,
                )
            )

    for name, other in ((SOURCE, TARGET), (TARGET, SOURCE)):
        add(name, "renamed", partial(_rename, name), (RENAMED, other), (other, RENAMED))
        add(name, "removed", partial(_remove, name), (other,))
        for place, every in ((-1, 1), (-2, 2), (-3, 3), (0, 3)):
            back = partial(_set_back, name, place)
            add(name, "set back", back, (name, other), (other, name), every=every)
    return tuple(made)


MOVES = Workload(
    plugins=lambda: None,
    prepare=lay_boxes,
    work=_moves,
    check=lambda engine, library, folder, said: [],
    openings=_openings(),
)
