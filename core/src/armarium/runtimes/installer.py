"""Installs one runtime: a virtual environment, its pinned packages by pip, a probe, and the marker of a complete
installation.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from armarium.errors import Conflict, Unavailable
from armarium.ids import now
from armarium.runtimes import tethered_process
from armarium.runtimes.places import MARKER, interpreter, read_marker, tree_size
from armarium_worker import Runtime

OnProgress = Callable[[int, int, str], None]
PROBE_SECONDS = 300
TAIL = 12
_NAMED = re.compile(
    r"^(?:Collecting |Requirement already satisfied: )([A-Za-z0-9._-]+)|^Processing (?:\S*/)?([A-Za-z0-9._]+)"
)


class InstallationStopped(Exception):
    """The installation was asked to stop; the next one starts from scratch."""


def install(
    runtime: Runtime,
    place: Path,
    requirements: Path,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> None:
    """Install *runtime* in *place*; returns at once when it is installed. Raises Unavailable with the installer's
    message.

    A virtual environment cannot be renamed into place (its scripts contain its path), so it is built where it stays and
    counts as installed only once its marker is written.
    """
    from filelock import FileLock, Timeout

    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(str(place.parent / "install.lock"), timeout=0):
            if read_marker(place) is None:
                _build(
                    runtime,
                    place,
                    requirements,
                    on_progress or (lambda *_: None),
                    should_stop or (lambda: False),
                )
    except Timeout:
        raise Conflict(
            f"The runtime {runtime.name} is being installed already; wait for that to finish.", code="busy"
        ) from None


def _build(
    runtime: Runtime,
    place: Path,
    requirements: Path,
    on_progress: OnProgress,
    should_stop: Callable[[], bool],
) -> None:
    names = pinned_names(requirements)
    total = len(names) + 3
    shutil.rmtree(place, ignore_errors=True)
    on_progress(0, total, "making the environment")
    make, pip_beside = _ways()
    _run([*make, str(place)], "The environment could not be made", should_stop)
    seen: set[str] = set()
    pip = [*pip_beside, str(interpreter(place))] if pip_beside else [str(interpreter(place)), "-m", "pip"]
    command = [
        *pip, "install", "--disable-pip-version-check", "--no-input",
        "--progress-bar", "off", "-r", str(requirements),
    ]  # fmt: skip
    for line in _lines(command, f"The packages of {runtime.name} could not be installed", should_stop):
        match = _NAMED.match(line)
        name = canonical(match.group(1) or match.group(2)) if match else None
        if name in names and name not in seen:
            seen.add(name)
            on_progress(1 + len(seen), total, f"getting {name}")
        elif line.startswith("Installing collected packages"):
            on_progress(total - 2, total, "unpacking")
    on_progress(total - 1, total, "trying it out")
    _run(
        [str(interpreter(place)), "-P", "-c", f"import {runtime.probe}"],
        f"The runtime {runtime.name} was installed and does not start",
        should_stop,
    )
    marker = {
        "name": runtime.name,
        "installed_at": now(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "versions": pinned_versions(requirements),
        "size_bytes": tree_size(place),
    }
    temporary = place / f"{MARKER}.part"
    temporary.write_text(json.dumps(marker), "utf-8")
    os.replace(temporary, place / MARKER)
    on_progress(total, total, "done")


def _ways() -> tuple[list[str], list[str]]:
    """Return how to create the environment and how to run pip for it; both still lack the environment's path.

    Debian packages what the standard library needs to add pip separately; then the pip installed with the engine is
    used for the new environment, and without one uv installs a pip.
    """
    if importlib.util.find_spec("ensurepip") is not None:
        return [sys.executable, "-m", "venv", "--clear"], []
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "venv", "--clear", "--without-pip"], [
            sys.executable,
            "-m",
            "pip",
            "--python",
        ]
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is not None:
        return [uv, "venv", "--seed", "--python", sys.executable], []
    raise Unavailable(
        "This Python has neither ensurepip nor pip nor uv to make an environment with. Install the Debian package "
        "python3-venv, or uv, and try again.",
        code="runtime_failed",
    )


def _run(command: list[str], failure: str, should_stop: Callable[[], bool]) -> None:
    for _line in _lines(command, failure, should_stop):
        pass


def _lines(command: list[str], failure: str, should_stop: Callable[[], bool]) -> Iterator[str]:
    """Yield the output of *command* line by line. It ends with this process, whatever ends that (see
    `tethered_process`).
    """
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("SERVICE_", "PYTHON"))
    }
    process = subprocess.Popen(
        [sys.executable, "-I", tethered_process.__file__, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**environment, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    )
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    tail: deque[str] = deque(maxlen=TAIL)
    try:
        while True:
            if should_stop():
                raise InstallationStopped
            try:
                line = lines.get(timeout=0.2)
            except queue.Empty:
                continue
            if line is None:
                break
            if line.strip():
                tail.append(line.strip())
            yield line
    finally:
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode != 0:
        raise Unavailable(f"{failure}. The installer said: {_essence(tail)}", code="runtime_failed")


def _read(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(ValueError, OSError):
        for line in process.stdout:
            lines.put(line.rstrip("\n"))
    lines.put(None)


def _essence(tail: deque[str]) -> str:
    """Return the line that says what went wrong: pip's last ERROR, else the last line."""
    errors = [line.removeprefix("ERROR:").strip() for line in tail if line.startswith("ERROR:")]
    return (errors or list(tail) or ["nothing"])[-1][:400]


def pinned_versions(requirements: Path) -> dict[str, str]:
    """Return package to version of a requirements file of `name==version` lines."""
    found: dict[str, str] = {}
    for line in requirements.read_text("utf-8").splitlines():
        name, equals, version = line.split("#")[0].split(";")[0].strip().partition("==")
        if equals:
            found[canonical(name)] = version.strip()
    return found


def pinned_names(requirements: Path) -> frozenset[str]:
    """Return the packages a requirements file names."""
    return frozenset(pinned_versions(requirements))


def canonical(name: str) -> str:
    """Return a package's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).strip().lower()
