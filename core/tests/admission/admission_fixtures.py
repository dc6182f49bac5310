"""Fixtures for the tests of admission: a folder of plugins on the path of this process, of its trials and of commands."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armarium_testing.fixtures import OWNER_TOKEN

SECONDS = 20.0
"""Seconds that a part of a trial may take in tests; a hanging plugin costs that twice."""


@contextmanager
def plugins_on_path(site: Path) -> Iterator[None]:
    """Let plugins be found in *site* for the duration of the block; then unload what was imported from there."""
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
    """Return the settings of an engine whose verdicts are separate from those of other tests."""
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


PROGRAM = [sys.executable, "-c", "from armarium_cli import main; main()"]


def environment(home: Path, site: Path) -> dict[str, str]:
    """Return the environment of a command: the plugins in *site*, and nothing from other tests."""
    return {
        **os.environ,
        "PYTHONPATH": str(site),
        "SERVICE_STATE_DIR": str(home / "state"),
        "SERVICE_LIBRARY_ROOTS": str(home),
        "SERVICE_OWNER_TOKEN": OWNER_TOKEN,
        "SERVICE_PLUGIN_TRIALS": str(home / "trials.json"),
        "SERVICE_PLUGIN_TRIAL_SECONDS": str(SECONDS),
        "ARMARIUM_NO_BACKGROUND": "1",
    }


def command(home: Path, site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the program, with the plugins in *site*."""
    return subprocess.run(
        [*PROGRAM, *words], env=environment(home, site), cwd=home, capture_output=True, text=True, timeout=900
    )


@contextmanager
def serving(home: Path, site: Path) -> Iterator[str]:
    """Run `armarium serve` with the plugins in *site*; yield its address."""
    process = subprocess.Popen(
        [*PROGRAM, "--json", "serve", "--port", "0"],
        env=environment(home, site),
        cwd=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = ""
        # The output of plugins that are imported is not part of it.
        while not said.endswith("}\n"):
            line = process.stdout.readline()
            assert line, said
            said += line
        yield json.loads(said)["base_url"]
    finally:
        process.terminate()
        process.wait(60)
