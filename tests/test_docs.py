"""The manuals are true: generated pages match the code, quoted code matches the files, commands and paths exist."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import reference
import rooms
from checkout import ROOT, files, place, text

QUOTE = re.compile(r"<!-- quotes (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_explains_itself(module: str) -> None:
    silent = [
        name
        for name, value in reference.public_names(module)
        if (inspect.isroutine(value) or isinstance(value, type)) and not reference.explains(value)
    ]
    assert silent == []


@pytest.mark.parametrize("module", reference.MODULES)
def test_every_public_name_is_documented_with_its_signature(module: str) -> None:
    page = reference.PAGES / f"{module}.md"
    assert page.exists(), f"{place(page)} is missing: run make docs"
    assert page.read_text(encoding="utf-8") == reference.page(module), (
        f"{place(page)} is behind the code: run make docs"
    )


def test_the_page_of_extension_points_lists_what_the_code_declares() -> None:
    assert reference.POINTS.read_text(encoding="utf-8") == reference.points_page(), "run make docs"


def test_the_readme_of_every_family_lists_what_the_code_declares() -> None:
    behind = [
        place(path) for path, readme in rooms.readmes().items() if path.read_text(encoding="utf-8") != readme
    ]
    assert behind == [], "run make docs"


def quotes() -> list[tuple[Path, str, str]]:
    return [(page, quoted, body) for page in files(".md") for quoted, body in QUOTE.findall(text(page))]


@pytest.mark.parametrize(
    ("page", "quoted", "body"), quotes(), ids=lambda value: str(value)[-40:].replace("\n", " ")
)
def test_quoted_code_is_in_the_file(page: Path, quoted: str, body: str) -> None:
    """A block under `quotes PATH` is a passage of that file, word for word."""
    assert body.strip("\n") in text(ROOT / quoted), f"{place(page)} quotes {quoted}, which has changed since"


def test_paths_named_in_the_manuals_exist() -> None:
    """Whatever is in backticks and looks like a path of the checkout must be one."""
    gone = []
    for page in (
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").glob("*.md"),
    ):
        for name in re.findall(
            r"`((?:core|worker|plugins|examples|tests|benchmarks|docs|tools|requirements)/[\w./-]*)`",
            text(page),
        ):
            if not (ROOT / name).exists():
                gone.append(f"{place(page)}: {name}")
    assert gone == []


def code_lines(path: Path) -> int:
    """Return the lines of Python without blank lines, comments, docstrings and imports."""
    tree = ast.parse(text(path))
    left_out = {
        number for number, line in enumerate(text(path).split("\n"), 1) if not line.split("#")[0].strip()
    }
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.stmt)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(set(range(1, len(text(path).split("\n")) + 1)) - left_out)


def test_the_example_family_is_small() -> None:
    """It has a table, two actions with routes, a query, a job that an action queues and an answer to another family; its recipe
    job and its command are not counted.
    """
    modules = (ROOT / "examples/reading_room/src/armarium_reading_room").glob("*.py")
    assert sum(code_lines(path) for path in modules if path.name not in ("recipe_jobs.py", "cli.py")) <= 95
