"""The import contracts bite: a copy of our packages keeps them all, and each planted import breaks the one it should."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT, dists

LINT = Path(sys.executable).parent / "lint-imports"

MUTANTS = {
    "the core imports a family": ("armarium/ids.py", "import armarium_documents.api", "Tiers"),
    "a lower family imports a higher": (
        "armarium_documents/errors.py",
        "import armarium_formats.api",
        "Tiers",
    ),
    "a family imports a private module of the core": (
        "armarium_documents/errors.py",
        "import armarium.db",
        "the core",
    ),
    "a family imports another's tables": (
        "armarium_formats/errors.py",
        "import armarium_documents.models",
        "documents",
    ),
    "a reader imports a private module": (
        "armarium_reader_rapidocr/reader.py",
        "import armarium_reading.jobs",
        "reading",
    ),
    "a query imports a route": (
        "armarium_source_model/queries/text.py",
        "import armarium_source_model.routes",
        "Rooms",
    ),
    "the engine imports torch": ("armarium/engine.py", "import torch", "torch"),
}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our packages in another place."""
    place = tmp_path_factory.mktemp("packages")
    for dist in dists():
        for package in dist.packages:
            shutil.copytree(package, place / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def broken_contracts(copies: Path) -> list[str]:
    command = [LINT, "--no-cache", "--config", ROOT / ".importlinter"]
    environment = {**os.environ, "PYTHONPATH": str(copies), "COLUMNS": "300"}
    ran = subprocess.run(command, cwd=copies, env=environment, capture_output=True, text=True)
    return re.findall(r"(?m)^(.+) BROKEN", ran.stdout)


@pytest.mark.slow
def test_what_is_written_keeps_every_contract(copies: Path) -> None:
    assert broken_contracts(copies) == []


@pytest.mark.slow
@pytest.mark.parametrize(("module", "planted", "contract"), MUTANTS.values(), ids=MUTANTS.keys())
def test_a_planted_import_breaks_its_contract(copies: Path, module: str, planted: str, contract: str) -> None:
    path = copies / module
    sound = path.read_text(encoding="utf-8")
    try:
        path.write_text(f"{sound}\n{planted}\n", encoding="utf-8")
        broken = broken_contracts(copies)
    finally:
        path.write_text(sound, encoding="utf-8")
    assert any(contract in name for name in broken), broken


# What opens sockets. import-linter knows an outside package by its first name only, and two of these are part of one.
OPENERS = (
    *(
        "socket",
        "ssl",
        "http.client",
        "urllib.request",
        "httpcore",
        "httpx",
        "requests",
        "urllib3",
        "aiohttp",
    ),
    *("websockets", "ftplib", "smtplib", "xmlrpc.client"),
)

MAY_OPEN = {
    "armarium/addresses.py": {"socket": "reads the spellings of an address"},
    "armarium/egress.py": {"socket": "looks names up", "httpx": "asks through the guarded transport"},
    "armarium/transport.py": dict.fromkeys(("ssl", "httpcore", "httpx"), "the guarded transport itself"),
    "armarium/serving.py": {"socket": "listens"},
    "armarium/reachable.py": {"socket": "asks whether an engine of this machine answers"},
    "armarium/cli/wire.py": {
        "socket": "the engine's private socket",
        "http.client": "the engine of this machine, without the time that httpx takes to load",
    },
    "armarium/cli/session.py": {"http.client": "the engine of this machine"},
    "armarium/cli/shared_engine.py": {"http.client": "the engine of this machine"},
}
"""Each module that may import one of them, with what for."""


def openers_in(source: str) -> set[str]:
    """Those of `OPENERS` that a module imports, wherever in it."""
    named: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "__import__",
            "importlib.import_module",
        ):
            named |= {str(one.value) for one in node.args if isinstance(one, ast.Constant)}
    return {one for one in OPENERS if any(name == one or name.startswith(f"{one}.") for name in named)}


def modules() -> dict[str, str]:
    """The text of each of our modules, by its path from its package's folder; what only tests use left out."""
    found = {}
    for dist in dists():
        for package in dist.packages:
            for path in package.rglob("*.py"):
                place = path.relative_to(package.parent)
                if "testing" not in place.parts:
                    found[place.as_posix()] = path.read_text(encoding="utf-8")
    return found


def test_sockets_are_opened_by_named_modules_only() -> None:
    met = {place: openers_in(text) for place, text in modules().items()}
    assert {place: names for place, names in met.items() if names} == {
        place: set(names) for place, names in MAY_OPEN.items()
    }


@pytest.mark.parametrize("name", OPENERS)
def test_each_way_to_open_a_socket_is_seen(name: str) -> None:
    sound = modules()["armarium/objects.py"]
    package, _, last = name.rpartition(".")
    ways = [
        f"import {name}",
        f"def late():\n    import {name} as other",
        f"__import__({name!r})",
        f"from {name} import x",
    ]
    if package:
        ways.append(f"from {package} import {last}")
    for way in ways:
        assert openers_in(f"{sound}\n{way}\n") == {name}
