"""Whether every refusal of a package is produced by a test: where its source creates refusals, and where they occurred.

In a test:

    with listening() as made:
        …  # everything that is to be refused
    assert never_made(armarium_formats, made) == []
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import armarium.errors
from armarium.errors import Refusal, ServiceError

if TYPE_CHECKING:
    import pytest

Place = tuple[str, int]
"""A file and a line in it."""


@contextmanager
def listening() -> Iterator[set[Place]]:
    """Collect the places in the source at which any thread creates refusals during the block.

    For a refusal with a class of its own, both the place that uses the class and the one inside it are collected.
    """
    places: set[Place] = set()
    plain = ServiceError.__init__

    @functools.wraps(plain)
    def note_refusal(self: ServiceError, *args: Any, **fields: Any) -> None:
        frame = sys._getframe(1)
        while True:
            maker = frame.f_locals.get("self")
            places.add(
                maker.place if isinstance(maker, Refusal) else (frame.f_code.co_filename, frame.f_lineno)
            )
            inside = frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is self
            if not inside or frame.f_back is None:
                break
            frame = frame.f_back
        plain(self, *args, **fields)

    ServiceError.__init__ = note_refusal  # type: ignore[method-assign]
    try:
        yield places
    finally:
        ServiceError.__init__ = plain  # type: ignore[method-assign]


def never_made(package: ModuleType, places: set[Place]) -> list[str]:
    """Return where the source of *package* creates a refusal that is not among *places*: "place/file.py:line
    Class".
    """
    lines: dict[str, set[int]] = {}
    for file, line in places:
        lines.setdefault(file, set()).add(line)
    return [
        f"{Path(file).relative_to(Path(package.__path__[0]))}:{node.lineno} {name}"
        for file, node, name in _refusals_of(package)
        if not lines.get(file, set()) & set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    ]


def _refusals_of(package: ModuleType) -> Iterator[tuple[str, ast.Call, str]]:
    """Yield each call in the source that creates a refusal, with the name of its class."""
    names = [info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    for name in [package.__name__, *names]:
        module = importlib.import_module(name)
        file = str(module.__file__)
        yield from (
            (file, node, called) for node, called in _calls(module, ast.parse(Path(file).read_bytes()))
        )


def _calls(module: ModuleType, tree: ast.AST, inside: str = "") -> Iterator[tuple[ast.Call, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == "super().__init__":
                called = inside
            if _is_refusal(module, called):
                yield node, called
        yield from _calls(module, node, node.name if isinstance(node, ast.ClassDef) else inside)


def _is_refusal(module: ModuleType, name: str) -> bool:
    name = name.removesuffix(".saying")
    refusal = getattr(module, name, None) or getattr(armarium.errors, name, None)
    # The common base class is not a refusal itself.
    return isinstance(refusal, type) and issubclass(refusal, ServiceError) and refusal is not ServiceError


class EveryRefusal:
    """The part of a pytest run that records refusals; with xdist each worker records, and the main process adds them
    up.
    """

    def __init__(self, config: pytest.Config, packages: list[str]) -> None:
        self.config = config
        self.packages = packages
        self.missing: dict[str, list[str]] = {}
        self.listening = listening()
        self.made = self.listening.__enter__()

    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Receive what a finished worker recorded."""
        places = getattr(node, "workeroutput", {}).get("refusals", ())
        self.made |= {(str(file), int(line)) for file, line in places}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send what a worker recorded; in the main process, fail the run where something is missing."""
        self.listening.__exit__(None, None, None)
        out = getattr(self.config, "workeroutput", None)
        if out is not None:
            out["refusals"] = sorted(self.made)
            return
        for name in self.packages:
            if missing := never_made(importlib.import_module(name), self.made):
                self.missing[name] = missing
        if self.missing and session.exitstatus == 0:
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name the refusals that no test produced."""
        for name, missing in self.missing.items():
            terminalreporter.section(f"refusals of {name} that no test produces")
            for place in missing:
                terminalreporter.line(place)
