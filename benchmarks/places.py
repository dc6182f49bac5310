"""Where a measurement runs: a new engine with one project, and a bare database beside it on the same disk."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from armarium.api import Engine, Library, Plugin, Principal, Settings
from armarium.web.heap import spare_the_heap

OWNER = Principal("person", "bench", "owner", token_kind="owner", folders=None)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a temporary folder, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="armarium-bench-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_engine(
    folder: Path,
    plugins: Sequence[Plugin] | None = None,
    *,
    jobs: bool = False,
    compute_priority: Literal["fast", "balanced", "background"] | None = None,
) -> Iterator[tuple[Engine, Library]]:
    """Yield a started engine and a new project in *folder*; without *plugins*, with all installed ones."""
    settings = Settings(state_dir=folder / "state", local_only=True, compute_priority=compute_priority)
    engine = Engine(settings, plugins=plugins)
    engine.start(jobs=jobs)
    # As the served engine does after its first answer.
    spare_the_heap()
    try:
        engine.run(None, "library.create", {"path": str(folder / "bench.library")}, OWNER)
        yield engine, engine.libraries.get(folder / "bench.library")
    finally:
        engine.close()
        gc.unfreeze()


def bare_database(path: Path, *statements: str) -> sqlite3.Connection:
    """Return a bare SQLite database with the durability the engine promises: WAL, synchronous FULL."""
    conn = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    conn.execute("PRAGMA journal_mode=WAL")
    conn.execute("PRAGMA synchronous=FULL")
    for statement in statements:
        conn.execute(statement)
    return conn
