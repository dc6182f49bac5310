"""The files, distributions and folders of the checkout, for the tests that check them."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import bootstrap

ROOT = bootstrap.ROOT


@dataclass(frozen=True)
class Dist:
    """One of our own distributions, as its pyproject declares it."""

    folder: Path

    @property
    def project(self) -> dict:
        return _project_in(self.folder)

    @property
    def name(self) -> str:
        return self.project["name"]

    @property
    def packages(self) -> list[Path]:
        return [path.parent for path in sorted(self.folder.glob("src/*/__init__.py"))]

    @property
    def modules(self) -> list[Path]:
        return [path for package in self.packages for path in sorted(package.rglob("*.py"))]


@cache
def _project_in(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


@cache
def dists() -> list[Dist]:
    """Return all distributions but the meta-distribution."""
    return [Dist(folder) for folder in bootstrap.workspace_members() if folder != ROOT]


def families() -> list[Dist]:
    return [dist for dist in dists() if dist.folder.parent.name == "plugins"]


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Return the files that are, or are about to be, under version control; all of them when no suffix is given."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    paths = (ROOT / name for name in sorted(set(listed.split("\0"))) if name)
    return tuple(path for path in paths if path.is_file() and (not suffixes or path.suffix in suffixes))


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def is_test(path: Path) -> bool:
    return "tests" in path.relative_to(ROOT).parts


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported_names(path: Path, *, top_level_only: bool = False) -> set[str]:
    """Return the absolute names of the modules that a file imports, anywhere in it or only at its top level."""
    tree = ast.parse(text(path))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
    return found
