"""Row 20: `armarium ls` against a running engine, compared with the minimum start time of a command with these
libraries.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.harness import Result, compare
from benchmarks.places import scratch_folder

COMMAND = [sys.executable, "-c", "from armarium_cli import main; main()"]
PEER = [sys.executable, "-c", "import typer, rich, http.client"]


def measure(rounds: int) -> list[Result]:
    """Measure the time of the whole process, on both sides started the same way."""
    with scratch_folder() as folder:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ARMARIUM_")},
            "SERVICE_STATE_DIR": str(folder / "state"),
            "SERVICE_LOCAL_ONLY": "true",
        }
        _run([*COMMAND, "create", "Letters"], folder, environment)
        try:
            return [
                compare(
                    6,
                    "armarium ls, with an engine that runs",
                    engine=lambda: _run([*COMMAND, "ls"], folder, environment),
                    peer=lambda: _run(PEER, folder, environment),
                    peer_name="importing typer, rich and http.client",
                    unit="s",
                    rounds=rounds,
                    limit=2.0,
                )
            ]
        finally:
            _run([*COMMAND, "engine", "stop"], folder, environment)


def _run(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    """Return the seconds a process takes from its start to its end."""
    begun = time.perf_counter()
    ran = subprocess.run(words, cwd=folder, env=dict(environment), capture_output=True, text=True)
    took = time.perf_counter() - begun
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(words[3:])} ended with {ran.returncode}: {ran.stderr[-600:]}")
    return took
