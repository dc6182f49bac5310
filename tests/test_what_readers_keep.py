"""What a reader of a format keeps beside the model is used by somebody, or named to the person who imported the file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORMATS = ROOT / "plugins" / "formats" / "src" / "armarium_formats"

NAMED = {
    "hocr": "counted in `kept`, which the import answers and the export lists as a loss",
    "abbyy": "counted in `kept`, which the import answers and the export lists as a loss",
    "labels": "counted in `kept`, which the import answers and the export lists as a loss",
}
"""Readers of formats that are not written: each counts what it keeps."""


def sources(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def is_extras(node: ast.expr) -> bool:
    return "extras" in ast.unparse(node)


def stored_keys(tree: ast.AST) -> Iterator[str]:
    """Yield the keys that a module puts into extras of pages, segments and texts."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Subscript) and is_extras(target.value):
                yield from constants(target.slice)
        shown = []
        if isinstance(node, ast.keyword) and node.arg == "extras":
            shown.append(node.value)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(is_extras(name) for name in names):
                shown.append(node.value)
        for one in shown:
            for inner in ast.walk(one):
                if isinstance(inner, ast.Dict):
                    for key in inner.keys:
                        if key is not None:
                            yield from constants(key)


def constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def used_keys(tree: ast.AST) -> Iterator[str]:
    """Yield the keys that a module looks up in a mapping."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield from constants(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in ("get", "pop"):
                yield from constants(node.args[0])
        elif isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            yield from constants(node.left)
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Tuple):
            for element in node.iter.elts:
                for inner in ast.walk(element):
                    if isinstance(inner, ast.expr):
                        yield from constants(inner)


def find_unused(stored: dict[str, set[str]], used: set[str]) -> dict[str, list[str]]:
    return {key: sorted(where) for key, where in stored.items() if key not in used}


def test_every_key_that_a_reader_keeps_is_looked_up_or_named() -> None:
    stored: dict[str, set[str]] = defaultdict(set)
    used: set[str] = set()
    for path, tree in sources(FORMATS):
        part = path.relative_to(FORMATS).parts[0]
        used |= set(used_keys(tree))
        if part not in NAMED:
            for key in stored_keys(tree):
                stored[key].add(str(path.relative_to(FORMATS)))
    for family in (ROOT / "plugins").glob("*/src"):
        if family.parent.name != "formats":
            for _, tree in sources(family):
                used |= set(used_keys(tree))
    assert len(stored) > 20
    assert find_unused(stored, used) == {}


def test_a_key_that_nobody_reads_is_found() -> None:
    tree = ast.parse("page.extras['qgis'] = {'points': 1}\nextras['left'] = 2\nprint(extras.get('left'))")
    stored = {key: {"reader.py"} for key in stored_keys(tree)}
    assert find_unused(stored, set(used_keys(tree))) == {"qgis": ["reader.py"], "points": ["reader.py"]}


def test_readers_of_formats_that_are_not_written_count_what_they_keep() -> None:
    for part in NAMED:
        texts = "".join(path.read_text("utf-8") for path in (FORMATS / part).rglob("*.py"))
        assert "kept" in texts, part
