"""The shim between a process and its files: compiled with the C compiler, armed in a fork.

`fault_shim.c` counts the calls that write, sync, rename or remove; it kills the process at one of them or makes it
fail. `clock_shim.c` gives a process another time of day.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.projects.libraries import Library
from armarium_testing.digest import differences, table_digests

SHIM = Path(__file__).with_name("fault_shim.c")
CLOCK_SHIM = Path(__file__).with_name("clock_shim.c")
OFF, COUNT, KILL, FAIL_ONCE, FAIL_FROM = range(5)
FULL_FOR = 0.3
"""Seconds for which a failing disk keeps failing, unless the work ends before: then somebody has freed space."""


def arm_shim(mode: int, at: int, number: int = 0) -> None:
    """Arm the shim: do *mode* at the *at*-th call from now on; *number* is the error with which the call fails."""
    ctypes.CDLL(None).fault_arm(mode, ctypes.c_long(at), number)


def calls_seen() -> int:
    """Return how many calls there were since the shim was armed."""
    return int(ctypes.CDLL(None).fault_seen())


def make_room(number: int) -> None:
    """Let the disk work again some time after it began to fail at call *number*, so that running jobs continue."""
    while calls_seen() < number:
        time.sleep(0.01)
    time.sleep(FULL_FOR)
    arm_shim(OFF, 0)


def compare_when_refused(engine: Engine, mode: int, number_of_error: int, say: Callable[[str], None]) -> None:
    """Report from now on when a refused action has changed something."""
    right = engine.run

    def run(library: Library | None, name: str, *args: Any, **more: Any) -> Any:
        # While jobs run others write too, and in a job's thread the changes of one step cannot be told from another's.
        alone = threading.current_thread() is threading.main_thread() and not engine.jobs.is_started
        # A conducted action commits in parts: what a refusal leaves is undone when the project is opened again.
        parts = engine.actions.get(name).conduct is not None
        if library is None or parts or not alone:
            return right(library, name, *args, **more)
        before = table_digests(library.db, engine.library_schema)
        try:
            return right(library, name, *args, **more)
        except ServiceError:
            arm_shim(OFF, 0)
            changed = differences(before, table_digests(library.db, engine.library_schema))
            if changed:
                say(f"*changed {name} was refused and changed {', '.join(changed)}")
            if mode == FAIL_FROM:
                arm_shim(mode, 1, number_of_error)
            raise

    engine.run = run  # type: ignore[method-assign]


def compiler() -> str | None:
    """Return the C compiler that can make the shim, or None."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def build_shim(folder: Path, source: Path = SHIM) -> Path:
    """Compile the shim into *folder*; raises RuntimeError without a compiler."""
    cc = compiler()
    if cc is None:
        raise RuntimeError(
            "no C compiler is at hand; kills at each call, disk faults and moved clocks need one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"{source.stem}.so"
    subprocess.run([cc, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library
