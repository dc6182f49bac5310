"""Writes into each family's README what it contains: tables, actions, jobs and routes, from the code.

Run by `make docs`; tests/test_docs.py fails when a README differs. What is above the mark is written by hand.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from fastapi import APIRouter
from fastapi.routing import APIRoute

from armarium.api import Engine, Plugin, Settings
from armarium.store.tables import rules_of
from armarium.web.action_routes import routers_of

ROOT = Path(__file__).resolve().parent.parent
MARK = "<!-- What follows is made by `make docs` from the code. Do not edit. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"## {title}\n\n{table(head, rows)}\n" if rows else ""


def describe_plugins(plugins: Sequence[Plugin], routers: Iterable[APIRouter]) -> str:
    """Return the tables, actions, job kinds and routes of some plugins, as Markdown."""
    tables = sorted({row for plugin in plugins for row in tables_of(plugin)})
    actions = sorted(
        (action for plugin in plugins for action in plugin.actions), key=lambda action: action.name
    )
    jobs = sorted((kind for plugin in plugins for kind in plugin.jobs), key=lambda kind: kind.name)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    parts = [
        section(
            "Tables",
            ("table", "kind", "a row is a"),
            [(f"`{name}`", kind, label) for name, kind, label in tables],
        ),
        section(
            "Actions",
            ("action", "what it does", "who", "undo"),
            [
                (
                    f"`{action.name}`",
                    action.summary,
                    "a person" if action.person_only else action.role,
                    "yes" if action.undoable else "no",
                )
                for action in actions
            ],
        ),
        section(
            "Jobs",
            ("kind", "lane", "what it does"),
            [(f"`{job.name}`", job.lane, job.summary) for job in jobs],
        ),
        section(
            "Routes",
            ("route", "what it does"),
            [
                (f"`{method} {route.path}`", route.summary or "")
                for route in sorted(routes, key=lambda route: route.path)
                for method in sorted(route.methods or ())
            ],
        ),
    ]
    return "\n".join(part for part in parts if part)


def tables_of(plugin: Plugin) -> list[tuple[str, str, str]]:
    return [
        (table.name, rules.kind, rules.label or "")
        for metadata in (plugin.metadata, plugin.engine_metadata)
        if metadata is not None
        for table in metadata.tables.values()
        if (rules := rules_of(table)).kind != "foreign"
    ]


def readmes() -> dict[Path, str]:
    """Return each README of the core and of a family with its generated part."""
    with tempfile.TemporaryDirectory() as state:
        loaded = Engine(Settings(state_dir=Path(state))).plugins.loaded
    core = [plugin for plugin in loaded if not (ROOT / "plugins" / plugin.name).is_dir()]
    described_by_folder = {
        ROOT / "core": describe_plugins(core, [router for plugin in core for router in routers_of(plugin)])
    }
    for plugin in loaded:
        if plugin not in core:
            described_by_folder[ROOT / "plugins" / plugin.name] = describe_plugins(
                [plugin], [*routers_of(plugin)]
            )
    return {
        folder / "README.md": with_tables(folder / "README.md", text)
        for folder, text in described_by_folder.items()
    }


def with_tables(readme: Path, tables: str) -> str:
    by_hand = readme.read_text(encoding="utf-8").split(MARK)[0].rstrip("\n")
    return f"{by_hand}\n\n{MARK}\n\n{tables}"


if __name__ == "__main__":
    for path, text in readmes().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
