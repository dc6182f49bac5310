"""The import contracts work: a copy of our packages keeps them all, and each planted import breaks the right one."""

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
    "the core imports the command line": ("armarium/plugins/check.py", "import armarium_cli.api", "Tiers"),
    "the command line imports the engine": ("armarium_cli/steps.py", "import armarium.engine", "the core"),
    "a job imports the command line": (
        "armarium_documents/errors.py",
        "import armarium_cli.api",
        "Only modules of commands",
    ),
    "a lower family imports a higher": (
        "armarium_documents/errors.py",
        "import armarium_formats.api",
        "Tiers",
    ),
    "a family imports a private module of the core": (
        "armarium_documents/errors.py",
        "import armarium.store.database",
        "the core",
    ),
    "a family imports another's tables": (
        "armarium_formats/errors.py",
        "import armarium_documents.models",
        "documents",
    ),
    "a family imports a private module of formats": (
        "armarium_iiif/errors.py",
        "import armarium_formats.batches.disk",
        "formats",
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
    "the store of the core imports its history": (
        "armarium/store/objects.py",
        "import armarium.history.audit",
        "The core:",
    ),
    "the engine imports torch": ("armarium/engine.py", "import torch", "torch"),
}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of our packages."""
    place = tmp_path_factory.mktemp("packages")
    for dist in dists():
        for package in dist.packages:
            shutil.copytree(package, place / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def broken_contracts(copies: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(copies), "COLUMNS": "300"}
    broken = []
    for config in (ROOT / ".importlinter", ROOT / ".importlinter-core"):
        command = [LINT, "--no-cache", "--config", config]
        ran = subprocess.run(command, cwd=copies, env=environment, capture_output=True, text=True)
        broken += re.findall(r"(?m)^(.+) BROKEN", ran.stdout)
    return broken


@pytest.mark.slow
def test_our_packages_keep_every_contract(copies: Path) -> None:
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


# The packages that open sockets. import-linter knows an outside package only by its first name, and two of these are
# parts of one.
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
    "armarium/network/addresses.py": {"socket": "reads the spellings of an address"},
    "armarium/plugin_trial.py": {"httpx": "asks the application of the trial in memory"},
    "armarium/network/egress.py": {"socket": "looks names up", "httpx": "asks through the guarded transport"},
    "armarium/network/transport.py": dict.fromkeys(
        ("ssl", "httpcore", "httpx"), "the guarded transport itself"
    ),
    "armarium/web/serving.py": {"socket": "listens"},
    "armarium/engine_card.py": {"socket": "asks whether an engine of this machine answers"},
    "armarium_cli/wire.py": {
        "socket": "the engine's private socket",
        "http.client": "the engine of this machine, without the time that httpx takes to load",
    },
    "armarium_cli/session.py": {"http.client": "the engine of this machine"},
    "armarium_cli/shared_engine.py": {"http.client": "the engine of this machine"},
    "armarium_far_worker/container.py": {
        "urllib.request": "runs in a job of the model hub, never in an engine"
    },
    "armarium_far_worker/published.py": dict.fromkeys(
        ("socket", "http.client", "urllib.request"),
        "fetches published pictures where a shard is read elsewhere, never in an engine",
    ),
}
"""Each module that may import one of them, and what for."""


def openers_in(source: str) -> set[str]:
    """Return which of `OPENERS` a module imports, anywhere in it."""
    if not any(all(word in source for word in opener.split(".")) for opener in OPENERS):
        return set()
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
    return {
        opener for opener in OPENERS if any(name == opener or name.startswith(f"{opener}.") for name in named)
    }


def modules() -> dict[str, str]:
    """Return the text of each of our modules by its path from its package's folder, except what only tests use."""
    found = {}
    for dist in dists():
        for package in dist.packages:
            for path in package.rglob("*.py"):
                place = path.relative_to(package.parent)
                if package.name != "armarium_testing":
                    found[place.as_posix()] = path.read_text(encoding="utf-8")
    return found


def test_sockets_are_opened_by_named_modules_only() -> None:
    met = {place: openers_in(text) for place, text in modules().items()}
    assert {place: names for place, names in met.items() if names} == {
        place: set(names) for place, names in MAY_OPEN.items()
    }


@pytest.mark.parametrize("name", OPENERS)
def test_each_way_to_open_a_socket_is_seen(name: str) -> None:
    sound = modules()["armarium/store/objects.py"]
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


MOST_ROOMS = 30
"""Most modules and packages at the top level of the core."""

MOST_LATE_IMPORTS = 10
"""Most statements inside functions that import a module of the core: each saves the command line or the start the time
to load what is seldom needed.
"""


def imports_of_the_core() -> dict[str, list[tuple[str, bool]]]:
    """Return each module of the core with the modules of the core that it imports, and whether it does so in a function.

    Imports for type checking only are left out.
    """
    folder = ROOT / "core" / "src" / "armarium"
    paths = {_module_name(path.relative_to(folder.parent)): path for path in folder.rglob("*.py")}
    found: dict[str, list[tuple[str, bool]]] = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        }
        at_top = {id(node) for node in tree.body}
        found[name] = [
            (module, id(node) not in at_top)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and id(node) not in skipped
            for module in sorted({_resolve_import(node.module, alias.name, paths) for alias in node.names})
            if module in paths
        ]
    return found


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _resolve_import(module: str, name: str, known: dict[str, Path]) -> str:
    return f"{module}.{name}" if f"{module}.{name}" in known else module


def a_cycle_in(graph: dict[str, list[tuple[str, bool]]]) -> list[str]:
    """Return modules that import one another in a cycle, one after the other; empty when there is none."""
    done: set[str] = set()

    def walk(module: str, above: list[str]) -> list[str]:
        if module in above:
            return [*above[above.index(module) :], module]
        if module in done:
            return []
        for other, _ in graph[module]:
            if other != module and (circle := walk(other, [*above, module])):
                return circle
        done.add(module)
        return []

    return next((circle for module in graph if (circle := walk(module, []))), [])


def test_no_import_cycle_in_the_core() -> None:
    graph = imports_of_the_core()
    assert a_cycle_in(graph) == []
    planted = {**graph, "armarium.ids": [("armarium.engine", True)]}
    assert {"armarium.ids", "armarium.engine"} <= set(a_cycle_in(planted))


def test_the_core_has_few_top_level_modules_and_few_late_imports() -> None:
    folder = ROOT / "core" / "src" / "armarium"
    # `commandline` is only where plugins written for 0.2 look for what has moved.
    rooms = [entry for entry in folder.iterdir() if not entry.name.startswith(("_", "py.", "commandline"))]
    assert len(rooms) <= MOST_ROOMS
    late = [
        (module, other)
        for module, imported in imports_of_the_core().items()
        for other, inside in imported
        if inside
    ]
    assert len(late) <= MOST_LATE_IMPORTS, late
