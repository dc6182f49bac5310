"""Regenerates requirements/*.txt: versions and hashes of what the pyproject files require, and no addresses.

Run by `make lock` in the environment that `tools/bootstrap.py` created. The base lock is what a user gets; the dev lock
is the base lock and the tools of tests and benchmarks, at the same versions.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from bootstrap import (
    ALONE,
    INSTALLERS,
    RELEASE,
    REQUIREMENTS,
    ROOT,
    TESTING,
    UV,
    uv_environment,
    workspace_members,
)

HEADER = "# Made by `make lock` from the pyproject files: versions and hashes, no addresses. Do not edit.\n"
FORBIDDEN = (
    "torch",
    "torchvision",
    "kraken",
    "transformers",
)  # they belong in runtimes, never in the base install


def read(pyproject: Path) -> dict[str, Any]:
    return tomllib.loads(pyproject.read_text())


def list_wanted() -> dict[str, list[str]]:
    """Return requirements by lock, without our own dists; an editable install of those needs hatchling and editables."""
    projects = [read(member / "pyproject.toml") for member in workspace_members()]
    base = {
        name
        for project in projects
        if project["project"]["name"] != f"armarium-{TESTING}"
        for name in project["project"].get("dependencies", [])
    }
    base |= {name for project in projects for name in project["build-system"]["requires"]}
    base.add("editables>=0.5")
    groups = read(ROOT / "pyproject.toml")["dependency-groups"]
    third_party = sorted(name for name in base if not name.startswith("armarium"))
    return {**groups, "base": third_party, "dev": [*third_party, *groups["dev"]]}


def compile_lock(requirements: list[str], lock: Path, constraints: Path | None, *, upgrade: bool) -> None:
    command = [
        str(UV),
        "pip",
        "compile",
        "--quiet",
        "--universal",
        "--python-version",
        "3.11",
        "-o",
        str(lock),
    ]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-annotate", "--no-header"]
    command += ["--no-deps"] if lock == ALONE else []
    command += ["--upgrade"] if upgrade else []
    command += ["-c", str(constraints)] if constraints else []
    command += ["-"]
    environment = {**os.environ, **uv_environment()}
    subprocess.run(command, cwd=ROOT, input="\n".join(requirements), text=True, check=True, env=environment)
    text = lock.read_text()
    if unwanted := [name for name in FORBIDDEN if re.search(rf"(?m)^{name}==", text)]:
        raise SystemExit(
            f"{lock.name} would hold {', '.join(unwanted)}; that belongs into a runtime's requirements"
        )
    lock.write_text(HEADER + text)


def main(arguments: list[str]) -> int:
    upgrade = "--upgrade" in arguments
    lists = list_wanted()
    compile_lock(lists["installers"], INSTALLERS, None, upgrade=upgrade)
    compile_lock(lists["alone"], ALONE, None, upgrade=upgrade)
    base = REQUIREMENTS / "base.txt"
    compile_lock(lists["base"], base, None, upgrade=upgrade)
    compile_lock(lists["dev"], REQUIREMENTS / "dev.txt", base, upgrade=upgrade)
    compile_lock(lists["release"], RELEASE, base, upgrade=upgrade)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
