"""Row 58: what an installation from `dist/` takes, as `install.sh` does it: megabytes and seconds of processor."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections import defaultdict
from importlib import metadata
from pathlib import Path

from benchmarks.harness import Result
from benchmarks.places import scratch_folder

DIST = Path(__file__).parent.parent / "dist"
GOAL_MB, GOAL_SECONDS = 450, 60
NAMED = 15
"""MB from which on a package is named in the note."""


def measure(rounds: int) -> list[Result]:
    """Install, make a project and remove, *rounds* times; the last figures count. Seconds of processor, because those of the
    clock say how busy the machine is.
    """
    if not (DIST / "install.sh").is_file():
        raise RuntimeError("There is no release to install: run `make release` first.")
    for _ in range(rounds):
        with scratch_folder() as folder:
            home = {"HOME": str(folder), "PATH": os.environ["PATH"]}
            installing = _spent(["sh", str(DIST / "install.sh"), "--yes"], home)
            place = folder / ".local" / "share" / "armarium-engine"
            before = _megabytes(place)
            for words in (["create", "Letters"], ["ls"], ["engine", "stop"]):
                _spent([str(folder / ".local" / "bin" / "armarium"), *words], home)
            after, named = _megabytes(place), _by_package(place)
            _spent(["sh", str(DIST / "install.sh"), "--remove", "--yes"], home)
    return [
        Result(58, "an installation by install.sh", "MB", before, GOAL_MB, "goal", before / GOAL_MB, limit=1.0,
               note=f"{after - before:.0f} MB more of bytecode after the first project; {named}"),
        Result(58, "the same, processor time", "s", installing, GOAL_SECONDS, "goal", installing / GOAL_SECONDS, limit=1.0),
    ]  # fmt: skip


def _spent(words: list[str], environment: dict[str, str]) -> float:
    """Run *words*; return the seconds of processor that it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, env=environment, cwd=environment["HOME"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _by_package(place: Path) -> str:
    """Return the largest packages with their sizes, bytecode left out."""
    sizes: defaultdict[str, float] = defaultdict(float)
    (packages,) = place.glob("lib/python*/site-packages")
    for dist in metadata.distributions(path=[str(packages)]):
        name = re.sub(r"^armarium-.*", "our own", dist.name)
        sizes[name] += sum((file.size or 0) for file in dist.files or ()) / 1e6
    large = sorted((size, name) for name, size in sizes.items() if size >= NAMED)
    rest = sum(size for size in sizes.values() if size < NAMED)
    count = sum(size < NAMED for size in sizes.values())
    return (
        f"{', '.join(f'{name} {size:.0f}' for size, name in reversed(large))}, {count} others {rest:.0f} MB"
    )
