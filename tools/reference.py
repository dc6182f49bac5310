"""Writes docs/api/*.md: every public name a plugin may import, with its exact signature.

Run by `make docs`; tests/test_docs.py fails when a page differs from the code or a public name explains nothing.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / "docs" / "api"
MODULES = (
    "armarium.api",
    "armarium_documents.api",
    "armarium_source_model.api",
    "armarium_formats.api",
    "armarium_reading.api",
)
OPENING = "<!-- Made by `make docs` from the code. Do not edit. -->\n"


def public_names(module_name: str) -> list[tuple[str, object]]:
    """Names and values of a module's `__all__`; a module of a plugin's api has one."""
    module = importlib.import_module(module_name)
    return [(name, getattr(module, name)) for name in sorted(module.__all__)]


def explains(value: object) -> str:
    """The first paragraph of a value's own docstring; empty when it has none of its own."""
    text = (
        inspect.getdoc(value)
        if callable(value) or inspect.ismodule(value)
        else getattr(value, "__doc__", None)
    )
    if not text or (isinstance(value, type) and value.__doc__ is None) or text == type(value).__doc__:
        return ""
    if isinstance(value, type) and dataclasses.is_dataclass(value) and text.startswith(f"{value.__name__}("):
        return ""
    return " ".join(inspect.cleandoc(text).split("\n\n")[0].split())


def signature(name: str, value: object) -> str:
    try:
        said = str(inspect.signature(value))  # type: ignore[arg-type]  # refuses what is not callable
    except (TypeError, ValueError):
        return name
    said = re.sub(r"<(?:function|class|object|built-in function) ?'?([\w.]+)[^>]*>", r"\1", said)
    return f"{name}{said}"


def methods(kind: type) -> Iterator[tuple[str, object]]:
    for name, value in vars(kind).items():
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield name, value


def entry(name: str, value: object) -> str:
    parts = [f"### `{name}`\n"]
    is_plain = not isinstance(value, type) and not callable(value)
    if is_plain:
        parts.append(f"A constant or table: `{type(value).__module__}.{type(value).__name__}`.\n")
    elif getattr(value, "__module__", "").startswith("armarium"):
        parts.append(f"```python\n{signature(name, value)}\n```\n")
    if said := "" if is_plain else explains(value):
        parts.append(f"{said}\n")
    if isinstance(value, type) and value.__module__.startswith("armarium"):
        rows = [
            f"- `{method if isinstance(member, property) else signature(method, member)}`"
            + (f": {what}" if (what := explains(member)) else "")
            for method, member in methods(value)
        ]
        if rows:
            parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def page(module_name: str) -> str:
    module = importlib.import_module(module_name)
    body = "\n".join(entry(name, value) for name, value in public_names(module_name))
    return f"{OPENING}\n# `{module_name}`\n\n{explains(module)}\n\n{body}"


def pages() -> dict[Path, str]:
    return {PAGES / f"{name}.md": page(name) for name in MODULES}


if __name__ == "__main__":
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {text.count('### ')} names")
