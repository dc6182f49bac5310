"""Fixtures for the tests of workers: processes with the targets in `doubles.py`, ended after each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from armarium_worker import WorkerProcess


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., WorkerProcess]]:
    """`start("Echo")` starts a worker of `doubles.py`; all are killed at the end of the test."""
    package = tmp_path / "worker_doubles"
    package.mkdir()
    (package / "__init__.py").write_text((Path(__file__).parent / "doubles.py").read_text("utf-8"), "utf-8")
    started: list[WorkerProcess] = []

    def begin(name: str = "Echo", **options: Any) -> WorkerProcess:
        options = {"python": sys.executable, "packages": {"worker_doubles": package}, **options}
        started.append(WorkerProcess(f"worker_doubles:{name}", **options))
        return started[-1]

    yield begin
    for worker in started:
        worker.kill()
