"""`armarium plugins --new`: writes the smallest complete family into a folder: a table, an action, a query, a test."""

from __future__ import annotations

import re
from pathlib import Path

from armarium.errors import BadRequest, Conflict

_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")

_PYPROJECT = """[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "armarium-@DASHED@"
version = "0.1.0"
description = "A family of routes for Armarium."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["armarium-core", "pydantic>=2.14", "sqlalchemy>=2.0.31"]

[project.entry-points."armarium.plugins"]
@NAME@ = "armarium_@NAME@.plugin"

[tool.hatch.build.targets.wheel]
packages = ["src/armarium_@NAME@"]
"""

_README = """# armarium-@DASHED@

A family of routes for Armarium, as `armarium plugins --new` creates it: one table, one action, one query.

```sh
armarium plugins --check .     # what the engine would say about it
pip install --editable .       # into the environment that Armarium runs in
armarium plugins               # now lists it
pytest                         # proves that its action is audited, undone and redone
```

The tests need the distribution armarium-testing (pytest, the engine's fixtures and its conformance kit), which is built from
a checkout of Armarium as its other parts are.
"""

_PLUGIN = '''"""What this family brings to the engine, and what it answers to other families: the only file with hooks."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_@NAME@ import actions, queries
from armarium_@NAME@.records import metadata


@hookimpl
def armarium_plugin() -> Plugin:
    """Notes of a project."""
    return Plugin(
        name="@NAME@",
        summary="Notes of a project",
        metadata=metadata,
        actions=actions_in(actions),
        queries=queries_in(queries),
    )
'''

_RECORDS = '''"""What this family keeps, each noun once: what is sent, and what a row has besides. Names of tables begin with its own."""

from __future__ import annotations

from pydantic import Field
from sqlalchemy import MetaData

from armarium.api import Params, Record, SourceText, provenance_columns, record, tracked

metadata = MetaData()


class AddNote(Params):
    """A note to add. The audit log keeps only how long the words are."""

    words: SourceText = Field(min_length=1, max_length=10_000)


@record(metadata, "@NAME@_note", tracked(label="note"), last=provenance_columns())
class Note(AddNote, Record):
    """A note as it is kept and answered: its id, its words, and who made it and when."""
'''

_ACTIONS = '''"""The only writes of this family. Nothing says how they are undone: the engine keeps what was there before."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_@NAME@.records import AddNote, Note


@action(
    "@NAME@.add_note",
    summary="Add a note",
    words="Added a note",
    params=AddNote,
    result=Note,
    route=Route("POST", "/api/@DASHED@/notes"),
    example=lambda ex: {"words": "The seal is lost."},
)
def add_note(ctx: ActionContext, p: AddNote) -> dict[str, Any]:
    """One row, with who made it and when."""
    row = Note.rows.insert(ctx.conn, {"words": p.words, **ctx.provenance()})
    ctx.target(row["id"])
    return row
'''

_QUERIES = '''"""Reads of this family."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import listed, query
from armarium_@NAME@.records import Note


@query("/api/@DASHED@/notes", summary="The notes", answer=listed(Note))
def list_notes(conn: Connection) -> dict[str, Any]:
    """All of them, oldest first."""
    return Note.rows.list_all(conn, order=(Note.table.c.id,))
'''

_TEST = '''"""Its action does what every action must: it is audited, undone, redone, and refused to those without the right."""

from __future__ import annotations

from armarium_testing.conformance import exercise_plugin


def test_every_action_conforms(engine, tmp_path) -> None:
    assert exercise_plugin(engine, "@NAME@", tmp_path / "kit") == []
'''

_FILES = {
    "pyproject.toml": _PYPROJECT,
    "README.md": _README,
    "src/armarium_@NAME@/__init__.py": '"""A family of routes for Armarium."""\n',
    "src/armarium_@NAME@/py.typed": "",
    "src/armarium_@NAME@/plugin.py": _PLUGIN,
    "src/armarium_@NAME@/records.py": _RECORDS,
    "src/armarium_@NAME@/actions.py": _ACTIONS,
    "src/armarium_@NAME@/queries.py": _QUERIES,
    "tests/test_@NAME@.py": _TEST,
}


def write_family(name: str, folder: Path) -> list[Path]:
    """Write a family called *name* into *folder*, which is created and must be empty; return the files written."""
    if _NAME.fullmatch(name) is None:
        raise BadRequest(
            f"{name!r} cannot be the name of a plugin: use 2 to 40 lower-case letters, digits and underscores.",
            code="plugin_name",
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict(f"{folder} exists already; name an empty folder, or none.", code="already_exists")
    written = []
    for path, text in _FILES.items():
        place = folder / _fill_template(path, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_fill_template(text, name), encoding="utf-8")
        written.append(place)
    return written


def _fill_template(text: str, name: str) -> str:
    return text.replace("@NAME@", name).replace("@DASHED@", name.replace("_", "-"))
