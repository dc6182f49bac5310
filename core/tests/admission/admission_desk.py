"""A folder of plugins on the path of this process, of the trial's and of every command's."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from armarium.testing.broken_plugins import Broken, write_all
from armarium.testing.fixtures import OWNER_TOKEN

SECONDS = 20.0
"""How long a part of a trial may take in tests: a hanging plugin is waited for twice."""


@contextmanager
def on_the_path(site: Path) -> Iterator[None]:
    """*site* is where plugins are found; what was imported from there is forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        importlib.invalidate_caches()
        for name in set(sys.modules) - before:
            if name.startswith("broken_"):
                del sys.modules[name]


def settings(home: Path, **more: Any) -> Any:
    """The settings of an engine that keeps its verdicts apart from those of other tests."""
    from armarium.settings import Settings

    given = {
        "state_dir": home / "state",
        "library_roots": [home],
        "owner_token": OWNER_TOKEN,
        "plugin_trials": home / "trials.json",
        "plugin_trial_seconds": SECONDS,
        **more,
    }
    return Settings(**given)


def command(home: Path, site: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command of the program, with the plugins in *site*."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "SERVICE_STATE_DIR": str(home / "state"),
        "SERVICE_LIBRARY_ROOTS": str(home),
        "SERVICE_OWNER_TOKEN": OWNER_TOKEN,
        "SERVICE_PLUGIN_TRIALS": str(home / "trials.json"),
        "SERVICE_PLUGIN_TRIAL_SECONDS": str(SECONDS),
    }
    program = [sys.executable, "-c", "from armarium.cli import main; main()"]
    return subprocess.run(
        [*program, *words], env=environment, cwd=cwd or home, capture_output=True, text=True, timeout=600
    )


@pytest.fixture
def site(tmp_path: Path) -> Callable[[Iterable[Broken]], Path]:
    """Writes plugins into a folder of its own; the folder."""

    def write(broken: Iterable[Broken]) -> Path:
        place = tmp_path / "site"
        write_all(broken, place)
        return place

    return write
