"""Distributions that only misbehave, each in one way, written into a folder on the path: an engine must survive all of
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = '''"""A plugin that only misbehaves."""
import ctypes, os, sys, time
from fastapi import APIRouter, FastAPI
from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Integer, MetaData, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY
from starlette.applications import Starlette
from armarium.api import *
from armarium_testing.faulty import an_action, a_job, a_table, a_router

'''


@dataclass(frozen=True)
class BrokenPlugin:
    """One distribution: the text of its module, how it is refused, and how the engine finds it."""

    name: str
    source: str
    words: str | None
    """A part of the sentence it is refused with; None if it is loaded and must do no harm."""
    deadly: bool = False
    """Whether it hangs, or ends the process that imports it."""
    entries: dict[str, str] = field(default_factory=dict)
    """Groups of entry points with the line in each; empty for a plugin of its name."""
    called: str | None = None
    """The name under which it is refused, where that is not its own."""

    @property
    def module(self) -> str:
        """The name of its module."""
        return f"broken_{self.name.replace('-', '_')}"

    def write(self, site: Path) -> None:
        """Write the module into *site*, with the metadata that an installer would write."""
        site.mkdir(parents=True, exist_ok=True)
        (site / f"{self.module}.py").write_text(self.source, encoding="utf-8")
        about = site / f"{self.module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: broken-{self.name}\nVersion: 1.0\n", encoding="utf-8"
        )
        (about / "entry_points.txt").write_text(self.entry_points, encoding="utf-8")

    @property
    def entry_points(self) -> str:
        """The text of its entry_points.txt."""
        entries = self.entries or {"armarium.plugins": f"{self.plugin} = {self.module}"}
        return "".join(f"[{group}]\n{line}\n" for group, line in entries.items())

    @property
    def plugin(self) -> str:
        """The name of its plugin."""
        return self.name.replace("-", "_")


def write_all(broken: Iterable[BrokenPlugin], site: Path) -> None:
    """Write all of *broken* into one folder."""
    for broken_plugin in broken:
        broken_plugin.write(site)


def _plugin(name: str, words: str | None, fields: str, before: str = "", **more: object) -> BrokenPlugin:
    """Return a distribution whose plugin has these *fields*, after the statements *before*."""
    own = name.replace("-", "_")
    naming = "" if "name=" in fields else f'name="{own}", '
    source = (
        f"{_HEAD}NAME = {own!r}\n{before}\n\n@hookimpl\ndef armarium_plugin():\n"
        f'    return Plugin({naming}summary="It misbehaves", {fields})\n'
    )
    return BrokenPlugin(name, source, words, **more)  # type: ignore[arg-type]


def _tables(
    name: str, words: str | None, columns: str, info: str = 'info=tracked(label="row")', before: str = ""
) -> BrokenPlugin:
    """Return a distribution with a table of these *columns*."""
    return _plugin(
        name,
        words,
        "metadata=metadata",
        f'metadata = MetaData()\n{before}\nTable(NAME + "_row", metadata, {columns}, {info})',
    )


def _module(name: str, words: str | None, body: str, **more: object) -> BrokenPlugin:
    return BrokenPlugin(name, f"{_HEAD}{body}\n", words, **more)  # type: ignore[arg-type]


_ID = 'Column("id", Text, primary_key=True)'
_GOOD = "def armarium_plugin():\n    return Plugin(name={name!r}, summary='It misbehaves')\narmarium_plugin = hookimpl(armarium_plugin)\n"


def _good(name: str) -> str:
    return _GOOD.format(name=name)


MILD: tuple[BrokenPlugin, ...] = (
    _module("missing-import", "does not import: ModuleNotFoundError", "import no_such_module_anywhere"),
    _module("bad-syntax", "does not import: SyntaxError", "def ("),
    _module("raises", "does not import: RuntimeError", "raise RuntimeError('not today')"),
    _module("exits", "does not import: SystemExit", "sys.exit(3)"),
    _module("asks", "does not import: EOFError", "input('Password: ')"),
    _module("no-hook", "no armarium_plugin", ""),
    _module(
        "hook-raises", "RuntimeError: no", "@hookimpl\ndef armarium_plugin():\n    raise RuntimeError('no')"
    ),
    _module("hook-exits", "SystemExit", "@hookimpl\ndef armarium_plugin():\n    sys.exit('no')"),
    _module("no-plugin", "did not return a Plugin", "@hookimpl\ndef armarium_plugin():\n    return 'me'"),
    _module(
        "misspelt-hook",
        "armarium_lifespam, which is not a hook",
        _good("misspelt_hook") + "@hookimpl\ndef armarium_lifespam(engine): ...",
    ),
    _module(
        "strange-hook",
        "hooks do not fit",
        _good("strange_hook") + "@hookimpl\ndef armarium_step_committed(nothing_like_this): ...",
    ),
    _module(
        "misspelt-point",
        "armarium_search_kind, which is not a hook of this engine; armarium_search_kinds is one",
        _good("misspelt_point") + "@hookimpl\ndef armarium_search_kind(): return ()",
    ),
    _module(
        "letters-as-locators",
        "armarium_source_model_locators() answered a value of type str that is no Sequence[Locator]",
        _good("letters_as_locators") + "@hookimpl\ndef armarium_source_model_locators(): return 'abc'",
    ),
    _plugin("other-contract", "plugin contract 99", "engine_api=99"),
    _plugin("nameless", "is not allowed: use lower-case", "name='My Plugin!'", called="My Plugin!"),
    _plugin("thief", "prefix document belongs to the plugin documents", "prefixes=('document',)"),
    _plugin("named-documents", "is already loaded", "name='documents'", called="documents"),
    _plugin("unprefixed", "does not begin with one of its prefixes", "actions=(an_action('elsewhere.do'),)"),
    _plugin("no-actions", "actions hold a value of type function", "actions=(lambda: None,)"),
    _plugin("number-of-actions", "actions are a value of type int", "actions=3"),
    _plugin(
        "params-dict", "derive its parameters from Params", "actions=(an_action(NAME + '.do', params=dict),)"
    ),
    _plugin(
        "short-action",
        "cannot be called as the engine calls it",
        "actions=(an_action(NAME + '.do', perform=lambda ctx: None),)",
    ),
    _plugin(
        "async-action",
        "is an async function",
        "actions=(an_action(NAME + '.do', perform=do),)",
        "async def do(ctx, p): ...",
    ),
    _plugin(
        "wrong-example",
        "example of the action wrong_example.do cannot be called",
        "actions=(an_action(NAME + '.do', example=lambda: {}),)",
    ),
    _plugin("wrong-role", "asks for the role 'admin'", "actions=(an_action(NAME + '.do', role='admin'),)"),
    _plugin("wrong-result", "name a model of pydantic", "actions=(an_action(NAME + '.do', result=list),)"),
    _plugin("shouting", "not named family.verb", "actions=(an_action('SHOUTING'),)"),
    _plugin("same-action", "already exists", "actions=(an_action(NAME + '.do'), an_action(NAME + '.do'))"),
    _plugin(
        "no-schema",
        "cannot be described as a JSON Schema",
        "actions=(an_action(NAME + '.do', params=Odd),)",
        "class Thing: ...\nclass Odd(Params, arbitrary_types_allowed=True):\n    thing: Thing",
    ),
    _tables("keyless", "no primary key", 'Column("word", Text)'),
    _tables("kindless", "does not say of what kind", _ID, ""),
    _tables("unlabelled", "has no label", _ID, "info=tracked(label='')"),
    _tables(
        "lost-document",
        "says document=document_id, and has no such column",
        _ID,
        "info=tracked(label='r', document='document_id')",
    ),
    _tables(
        "lost-monotonic", "says monotonic version", _ID, "info=tracked(label='r', monotonic=('version',))"
    ),
    _tables(
        "takes-the-locks",
        "that is document already",
        f'{_ID}, Column("up", Text), Column("locked", Integer), Column("name", Text)',
        "info=tracked(label='r', tree=Tree('up', 'locked', 'name'))",
        before="from armarium.store.tables import Tree",
    ),
    _tables(
        "holds-a-row",
        "so that no undo could remove a row named there",
        f'{_ID}, Column("document_id", Text, ForeignKey(documents.c.id))',
        "info=operational()",
        before="from armarium_documents.api import documents",
    ),
    _tables("column-op", "a name reserved for the history", f'{_ID}, Column("op", Text)'),
    _tables(
        "cascading",
        "would CASCADE rows unseen",
        f'{_ID}, Column("up", Text, ForeignKey("cascading_row.id", ondelete="CASCADE"))',
    ),
    _tables(
        "pointing-nowhere",
        "is not a column of its tables",
        f'{_ID}, Column("up", Text, ForeignKey("nowhere.id"))',
    ),
    _tables(
        "pointing-at-a-name",
        "can be written with it: foreign key mismatch",
        f'{_ID}, Column("up", Text, ForeignKey(documents.c.name))',
        before="from armarium_documents.api import documents",
    ),
    _tables("wrong-check", "no such function", f'{_ID}, CheckConstraint("no_such_function(id)")'),
    _tables("other-database", "ARRAY", f'{_ID}, Column("value", ARRAY(Text))'),
    _tables("taken-index", "already exists", f'{_ID}, Index("ix_document_children", "id")'),
    _tables(
        "computed",
        "computed column",
        f'{_ID}, Column("twice", Text, Computed("id || id"))',
        before="from sqlalchemy import Computed",
    ),
    _plugin(
        "stray-table",
        "table loose does not begin",
        "metadata=metadata",
        f'metadata = MetaData()\nTable("loose", metadata, {_ID}, info=operational())',
    ),
    _plugin(
        "audit",
        "the engine keeps for itself",
        "metadata=metadata",
        f'metadata = MetaData()\nTable("audit", metadata, {_ID}, info=operational())',
    ),
    _plugin(
        "twin-tables",
        "twice but for upper and lower case",
        "metadata=metadata",
        'metadata = MetaData()\na_table(metadata, "twin_tables_A")\na_table(metadata, "twin_tables_a")',
    ),
    _plugin(
        "engine-table",
        "no such function",
        "engine_metadata=metadata",
        f'metadata = MetaData()\nTable("engine_table_row", metadata, {_ID}, CheckConstraint("no_such_function(id)"), info=operational())',
    ),
    _plugin("no-router", "give APIRouter values", "routers=(FastAPI(),)"),
    _plugin("no-query", "mark it with @query", "queries=(len,)"),
    _plugin("route-twice", "there twice", "routers=(a_router('/api/route-twice', '/api/route-twice'),)"),
    _plugin("route-outside", "does not begin with /api/", "routers=(a_router('/elsewhere'),)"),
    _plugin("route-of-the-core", "belongs to the engine itself", "routers=(a_router('/api/health'),)"),
    _plugin(
        "nested-route",
        "belongs to the engine itself",
        "routers=(router,)",
        "router = APIRouter(prefix='/api')\nrouter.include_router(a_router('/health'))",
    ),
    _plugin(
        "swallower",
        "only routes of FastAPI",
        "routers=(router,)",
        "router = APIRouter()\nrouter.mount('/api', Starlette())",
    ),
    _plugin("wrong-lane", "lanes are local-model, cpu", "jobs=(a_job(NAME + '-work', lane='fast'),)"),
    _plugin(
        "wrong-body",
        "job kind wrong_body-work cannot be called",
        "jobs=(a_job(NAME + '-work', run=lambda: None),)",
    ),
    _plugin("no-kind", "give JobKind values", "jobs=('work',)"),
    _plugin("wrong-args", "name a model of pydantic", "jobs=(a_job(NAME + '-work', args=dict),)"),
    _plugin(
        "create-raises",
        "What it starts a project with",
        "on_create=(start,)",
        "def start(ctx):\n    raise RuntimeError('no')",
    ),
    _plugin(
        "create-exits",
        "What it starts a project with",
        "on_create=(start,)",
        "def start(ctx):\n    sys.exit('no')",
    ),
    _plugin("create-short", "on_create cannot be called", "on_create=(lambda: None,)"),
    _plugin(
        "create-null",
        "What it starts a project with",
        "metadata=metadata, on_create=(start,)",
        "metadata = MetaData()\nrows = a_table(metadata, NAME + '_row')\n"
        "def start(ctx):\n    try:\n        ctx.conn.exec_driver_sql('INSERT INTO create_null_row (id) VALUES (1)')\n"
        "    except Exception:\n        pass",
    ),
    _plugin(
        "open-raises",
        "It failed when",
        "on_open=(start,)",
        "def start(engine, library):\n    raise KeyError('no')",
    ),
    _plugin(
        "stats-raise", "Its stats fail", "stats=lambda conn: conn.exec_driver_sql('SELECT * FROM nothing')"
    ),
    _plugin("stats-words", "Its stats do not answer", "stats=lambda conn: 'many'"),
    _plugin(
        "lost-migration",
        "migrations lead to 3",
        "version=2, migrations=(Migration(3, 'too far', lambda op: None),)",
    ),
    _module(
        "deaf",
        "failed to take notice of a step",
        _good("deaf") + "@hookimpl\ndef armarium_step_committed(step):\n    sys.exit('no')",
    ),
    BrokenPlugin(
        "no-format",
        "raise RuntimeError('no such library')\n",
        "does not import: RuntimeError",
        entries={"armarium.formats": "no-format = broken_no_format:Format"},
    ),
    BrokenPlugin(
        "takes-pagexml",
        "from armarium_formats.pagexml.driver import PageXml as Format\n",
        "comes with armarium-formats; names are never overwritten",
        entries={"armarium.formats": "pagexml = broken_takes_pagexml:Format"},
        called="pagexml",
    ),
    BrokenPlugin(
        "calls-itself-pagexml",
        "from armarium_formats.pagexml.driver import PageXml as Format\n",
        "It calls itself pagexml",
        entries={"armarium.formats": "a-calls-itself = broken_calls_itself_pagexml:Format"},
        called="a-calls-itself",
    ),
    BrokenPlugin(
        "no-reader",
        "class Reader:\n    name = 'no-reader'\n",
        "not a class derived from Reader",
        entries={"armarium.readers": "no-reader = broken_no_reader:Reader"},
    ),
    BrokenPlugin(
        "no-commands",
        "def commands():\n    raise KeyError('no')\n",
        None,
        entries={"armarium.commands": "no_commands = broken_no_commands:commands"},
    ),
    BrokenPlugin(
        "takes-ls",
        "import typer\n\n\ndef commands():\n    group = typer.Typer()\n"
        "    group.command('ls')(lambda: print('mine'))\n    group.command('create')(lambda: print('mine'))\n    return group\n",
        None,
        entries={"armarium.commands": "takes_ls = broken_takes_ls:commands"},
    ),
    BrokenPlugin(
        "no-entries",
        "",
        "cannot be read",
        entries={"armarium.plugins": "this is no line of it"},
        called="broken-no-entries",
    ),
    _module("loud", None, "print('{}'); sys.stdout.write('loud\\n')\n" + _good("loud")),
)
"""Those that one engine can examine together: some are refused by their declaration, some by the trial."""

DEADLY: tuple[BrokenPlugin, ...] = (
    _module("ends-it", "ended the process while it was imported (exit code 7)", "os._exit(7)", deadly=True),
    _module(
        "crashes", "ended the process while it was imported (SIGSEGV)", "ctypes.string_at(0)", deadly=True
    ),
    _module("hangs", "did nothing for", "time.sleep(3600)", deadly=True),
    _module("spins", "took longer than", "while True:\n    pass", deadly=True),
    _module("closes-all", "ended the process", "os.closerange(3, 4096)\n" + _good("closes_all"), deadly=True),
    _module(
        "hook-ends-it", "ended the process", "@hookimpl\ndef armarium_plugin():\n    os._exit(0)", deadly=True
    ),
    _plugin(
        "create-ends-it",
        "ended the process when it was tried",
        "on_create=(lambda ctx: os._exit(1),)",
        deadly=True,
    ),
    BrokenPlugin(
        "deadly-format",
        "import os\n\nos._exit(4)\n",
        "ended the process while it was imported (exit code 4)",
        deadly=True,
        entries={"armarium.formats": "deadly-format = broken_deadly_format:Format"},
    ),
    BrokenPlugin(
        "deadly-commands",
        "import os\n\nos._exit(5)\n",
        None,
        deadly=True,
        entries={"armarium.commands": "deadly_commands = broken_deadly_commands:commands"},
    ),
)
"""Those that must never be imported by an engine or a command."""
