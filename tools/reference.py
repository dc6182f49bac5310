"""Writes docs/api/*.md: every public name a plugin may import, with its exact signature.

Run by `make docs`; tests/test_docs.py fails when a page differs from the code or a public name has no explanation.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pydantic
import sqlalchemy

from armarium.api import Action
from armarium.errors import Refusal
from armarium.plugins.offers import PLUGINS, find_offers
from armarium.plugins.registry import find_plugins

PAGES = Path(__file__).resolve().parent.parent / "docs" / "api"
MODULES = (
    "armarium_worker",
    "armarium.api",
    "armarium_cli.api",
    "armarium_documents.api",
    "armarium_documents.commandline",
    "armarium_source_model.api",
    "armarium_images.api",
    "armarium_canvas.api",
    "armarium_workflows.api",
    "armarium_formats.api",
    "armarium_layout.api",
    "armarium_reading.api",
    "armarium_rights.api",
    "armarium_checking.api",
    "armarium_finding.api",
    "armarium_exports.api",
    "armarium_iiif.api",
    "armarium_knowledge.api",
    "armarium_paleography.api",
    "armarium_search.api",
    "armarium_training.api",
)
POINTS = PAGES.parent / "extension-points.md"
POINTS_OPENING = """What the engine and each family ask of other plugins: with which arguments, when, and whose answer counts. How to answer
one, and how to offer your own, is in [write-a-family.md](write-a-family.md#what-plugins-ask-each-other). `armarium plugins --points`
lists those of your installation, your own plugins included.
"""
OPENING = "<!-- Made by `make docs` from the code. Do not edit. -->\n"


def public_names(module_name: str) -> list[tuple[str, object]]:
    """Return names and values of what a module offers: its `__all__`, else what it imports under the same name
    (`import page as page`, by which type checkers know it too) and what it names itself.
    """
    module = importlib.import_module(module_name)
    names = set(getattr(module, "__all__", ()))
    for node in () if names else ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            names |= {one.name for one in node.names if one.name == one.asname}
        elif isinstance(node, ast.Assign):
            names |= {one.id for one in ast.walk(node.targets[0]) if isinstance(one, ast.Name)}
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            names.add(node.name)
    return [(name, getattr(module, name)) for name in sorted(names)]


def explains(value: object) -> str:
    """Return the first paragraph of a value's own docstring; empty when it has none of its own."""
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
    """Return *name* with its parameters, one per line when they are long; the bare name of what cannot be called."""
    if isinstance(value, type) and issubclass(value, pydantic.BaseModel):
        # Its signature is known when its validator is built, which otherwise happens on first use.
        value.model_rebuild()
    try:
        said = inspect.signature(value)  # type: ignore[arg-type]  # refuses what is not callable
    except (TypeError, ValueError):
        return name
    parameters = [parameter for key, parameter in said.parameters.items() if key != "self"]
    kinds = [parameter.kind for parameter in parameters]
    parts = [spell_parameter(parameter) for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    ending = "" if isinstance(value, type) else f" -> {annotation(said.return_annotation)}"
    flat = f"{name}({', '.join(parts)}){ending}"
    return flat if len(flat) <= 100 else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){ending}"


def spell_parameter(parameter: inspect.Parameter) -> str:
    said = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))  # with its stars
    if parameter.annotation is not parameter.empty:
        said += f": {annotation(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return said
    default = repr(parameter.default)
    return f"{said} = {'...' if default.startswith('<') or '<' in default else default}"


def annotation(value: object) -> str:
    """Return a type as it is written in the code."""
    if isinstance(value, typing.ForwardRef):
        return value.__forward_arg__
    if isinstance(value, str):
        return value.strip("'\"")
    if isinstance(value, type):
        return value.__name__
    return re.sub(
        r"<(?:function )?(?:\w+\.)*(\w+)(?: object)? at 0x\w+>", r"\1", str(value).replace("typing.", "")
    )


def methods(kind: type) -> Iterator[tuple[str, object]]:
    for name, value in vars(kind).items():
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield name, value


def entry(name: str, value: object) -> str:
    parts = [f"### `{name}`\n"]
    if isinstance(value, sqlalchemy.Table):
        columns = ", ".join(f"`{column.name}`" for column in value.columns)
        parts.append(f"The table `{value.name}`: {columns}.\n")
    elif isinstance(value, Action):
        parts.append(f"The action `{value.name}`: {value.summary}\n")
    elif isinstance(value, Refusal):
        parts.append(f"The refusal {value.kind.status} `{value.code}`: {value.sentence}\n")
    elif not isinstance(value, type) and not inspect.isroutine(value):
        parts.append(f"`{name} = {constant(value)}`\n")
    else:
        parts.append(f"```python\n{signature(name, value)}\n```\n")
        parts.extend(f"{said}\n" for said in [explains(value)] if said)
    if isinstance(value, type) and value.__module__.startswith("armarium"):
        parts.extend(method_entry(*member) for member in methods(value))
    return "\n".join(parts)


def constant(value: object) -> str:
    if isinstance(value, int | float | str | tuple | frozenset):
        return repr(sorted(value) if isinstance(value, frozenset) else value)
    if typing.get_origin(value) is not None:
        bare = r"<function ([\w.]+) at [^>]*>|<class '([^']+)'>|<([\w.]+) object at [^>]*>"
        return re.sub(bare, r"\1\2\3", str(value).replace("typing.", ""))
    return type(value).__name__


def method_entry(name: str, member: object) -> str:
    said = name if isinstance(member, property) else signature(name, member)
    what = explains(member)
    return f"```python\n{said}\n```\n" + (f"\n{what}\n" if what else "")


def page(module_name: str) -> str:
    module = importlib.import_module(module_name)
    body = "\n".join(entry(name, value) for name, value in public_names(module_name))
    return f"{OPENING}\n# `{module_name}`\n\n{explains(module)}\n\n{body}"


def points_page() -> str:
    """Return the page of the extension points of our own plugins."""
    ours = [
        entry.load() for offer in find_offers() if offer.first_party for entry in offer.entries_of(PLUGINS)
    ]
    parts = [f"{OPENING}\n# Extension points\n\n{POINTS_OPENING}"]
    owner = ""
    for point in find_plugins(None, ours).points.describe():
        if point.owner != owner:
            owner = point.owner
            parts.append(f"## {owner}\n")
        answered = ", ".join(f"`{name}`" for name in point.answered_by) or "none of ours"
        if point.name == "armarium_plugin":
            answered = "every plugin"
        parts.append(
            f"### `{point.name}`\n\n```python\n{point.name}{point.signature}\n```\n\n{point.explanation}\n\n"
            f"Answered by {answered}.\n"
        )
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    return {PAGES / f"{name}.md": page(name) for name in MODULES} | {POINTS: points_page()}


if __name__ == "__main__":
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"{path.name}: {text.count('### ')} names")
