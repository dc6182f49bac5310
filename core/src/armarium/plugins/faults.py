"""The faults of a plugin as it is declared, each a sentence that says what to do. Nothing of it is run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, get_args

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel
from sqlalchemy import MetaData, Table

from armarium.actions import Action, Params, Route, RowLaw, RowRule
from armarium.actions.query import query_of
from armarium.history import audit
from armarium.history.capture import OWN_COLUMNS
from armarium.history.visibility import WithheldAlong
from armarium.jobs.kinds import LANES, JobKind
from armarium.jobs.recipe_jobs import RecipeJob, faults_of_recipe_job
from armarium.plugin import Migration, Panel, PanelPlace, Plugin, Site
from armarium.principals import Role
from armarium.store.tables import TableKind, TableRules, rules_of

_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_ACTION_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+")
_PANEL_ROUTE = re.compile(r"(GET|POST|PUT|PATCH|DELETE) /api/[a-z0-9_{}/.-]+")
_RESERVED = frozenset({"schema_version", "audit_current"})
_ARGUMENTS = {
    "on_create": ("ctx",),
    "on_open": ("engine", "library"),
    "on_step": ("ctx",),
    "stats": ("conn",),
    "check_driver": ("group", "name", "driver"),
    "examine": ("library",),
    "rebuild": ("library",),
}
"""The functions that a plugin gives as values, and what each is called with."""
_KEEPS = (None, "NO ACTION", "RESTRICT")


def faults_of(plugin: Plugin) -> list[str]:
    """Return the faults of *plugin* by itself; none when it may be tried."""
    wrong = list(_fields(plugin))
    if wrong:
        # The checks below rely on these types.
        return wrong
    return [
        *_tables(plugin),
        *(fault for action in plugin.actions for fault in _action(action)),
        *(fault for kind in plugin.kinds for fault in _job(kind)),
        *(fault for job in plugin.recipe_jobs for fault in faults_of_recipe_job(job)),
        *_routes(plugin),
        *_functions(plugin),
        *(fault for panel in plugin.panels for fault in _panel(panel)),
    ]


def _fields(plugin: Plugin) -> Iterator[str]:
    if not isinstance(plugin.name, str) or _NAME.fullmatch(plugin.name) is None:
        yield f"Its name {plugin.name!r} is not allowed: use lower-case letters, digits and underscores."
    if not isinstance(plugin.summary, str) or not plugin.summary.strip():
        yield "Its summary is missing; describe in a few words what it provides."
    for name in ("metadata", "engine_metadata"):
        if not isinstance(getattr(plugin, name), MetaData | None):
            yield f"Its {name} is {_kind(getattr(plugin, name))}; give a MetaData of SQLAlchemy."
    expected: dict[str, tuple[type, str]] = {
        "prefixes": (str, "strings"),
        "actions": (Action, "values made with @action(…)"),
        "jobs": (JobKind, "JobKind values"),
        "recipe_jobs": (RecipeJob, "RecipeJob values"),
        "routers": (APIRouter, "APIRouter values of FastAPI"),
        "migrations": (Migration, "Migration values"),
        "engine_migrations": (Migration, "Migration values"),
        "driver_groups": (str, "strings"),
        "withheld_along": (WithheldAlong, "WithheldAlong values"),
        "panels": (Panel, "Panel values"),
    }
    for name, (kind, words) in expected.items():
        value = getattr(plugin, name)
        if not isinstance(value, tuple | list):
            yield f"Its {name} are {_kind(value)}; give a tuple of {words}."
            continue
        for item in value:
            if not isinstance(item, kind):
                yield f"Its {name} hold {_kind(item)}; give {words}."
    for name in ("version", "engine_version"):
        if not isinstance(getattr(plugin, name), int) or getattr(plugin, name) < 1:
            yield f"Its {name} is {getattr(plugin, name)!r}; count from 1."
    if not isinstance(plugin.hookspecs, ModuleType | None):
        yield f"Its hookspecs are {_kind(plugin.hookspecs)}; give the module."
    if not isinstance(plugin.site, Site | None):
        yield f"Its site is {_kind(plugin.site)}; give a Site."


def _functions(plugin: Plugin) -> Iterator[str]:
    for name, arguments in _ARGUMENTS.items():
        value = getattr(plugin, name)
        for function in value if isinstance(value, tuple | list) else (value,):
            if function is not None:
                yield from _call(name, function, *arguments)
    for version_field, version, migrations in (
        ("version", plugin.version, plugin.migrations),
        ("engine_version", plugin.engine_version, plugin.engine_migrations),
    ):
        numbers = [migration.version for migration in migrations]
        if numbers and (max(numbers) != version or len(set(numbers)) != len(numbers)):
            yield (
                f"Its {version_field} is {version} and its migrations lead to {', '.join(map(str, sorted(numbers)))}; "
                f"each number is used once, and the last is the {version_field}."
            )
        for migration in migrations:
            yield from _call(f"migration {migration.version}", migration.upgrade, "operations")


def _tables(plugin: Plugin) -> Iterator[str]:
    for metadata in (plugin.metadata, plugin.engine_metadata):
        names: set[str] = set()
        for table in metadata.tables.values() if metadata is not None else ():
            rules = table.info.get("rules")
            if isinstance(rules, TableRules) and rules.kind == "foreign":
                continue
            # SQLite's names are case-insensitive.
            name = table.name.lower()
            if name in names:
                yield f"Its table {table.name} is there twice but for upper and lower case; rename one."
            names.add(name)
            if name in _RESERVED or name in audit.metadata.tables or name.endswith("__history"):
                yield f"Its table {table.name} has a name that the engine keeps for itself; rename it."
            if not isinstance(rules, TableRules) or rules.kind not in get_args(TableKind):
                yield (
                    f"Its table {table.name} does not say of what kind it is; give it info=tracked(label=…), "
                    "append_only(), operational() or derived()."
                )
                continue
            yield from _table(table, rules, metadata)


def _table(table: Table, rules: TableRules, metadata: MetaData | None) -> Iterator[str]:
    columns = {column.name for column in table.columns}
    if rules.kind == "tracked":
        for name in sorted(columns & OWN_COLUMNS):
            yield f"Its tracked table {table.name} has a column {name}, a name reserved for the history."
        if not table.primary_key.columns:
            yield f"Its tracked table {table.name} has no primary key; without one no row of it could be undone."
        if not rules.label:
            yield f"Its tracked table {table.name} has no label; say in tracked(label=…) what a row is called."
        for column in table.columns:
            if column.computed is not None:
                yield f"Its tracked table {table.name} has a computed column {column.name}, which no undo could put back."
    claims = [(f"document={rules.document}", rules.document)] if rules.document is not None else []
    claims += [(f"monotonic {name}", name) for name in sorted(rules.monotonic)]
    claims += [(f"large {name}", name) for name in sorted(rules.large)]
    if rules.tree is not None:
        tree = {"parent": rules.tree.parent, "locked": rules.tree.locked, "name": rules.tree.name}
        if rules.tree.order is not None:
            tree["order"] = rules.tree.order
        claims += [(f"{part}={name} of its tree", name) for part, name in tree.items()]
    for words, name in claims:
        if name not in columns:
            yield f"Its table {table.name} says {words}, and has no such column."
    follows = rules.follows
    if follows is not None:
        own = metadata is not None and follows.table.name in metadata.tables
        if not own and rules_of(follows.table).kind != "derived":
            yield (
                f"Its index {table.name} follows the table {follows.table.name}, which is none of its tables "
                "and no derived one of another family."
            )
        lacking = set(follows.columns) - {column.name for column in follows.table.columns}
        for name in sorted(lacking):
            yield f"Its index {table.name} reads {follows.table.name}.{name}, and there is no such column."
    for key in table.foreign_keys:
        try:
            key.column  # noqa: B018 - resolving it is the question
        except Exception:
            yield (
                f"Its table {table.name} points at {key.target_fullname}, which is not a column of its tables; declare "
                "the table of another family with foreign_table(metadata, …)."
            )
            continue
        if rules.kind != "tracked" and rules_of(key.column.table).kind in ("tracked", "foreign"):
            yield (
                f"Its table {table.name} is {rules.kind} and points at {key.column.table.name} by a foreign key, so that "
                "no undo could remove a row named there. Leave the key out and keep the column."
            )
        if rules.kind in ("tracked", "append-only"):
            for rule in (key.ondelete, key.onupdate):
                if (rule or "NO ACTION").upper() not in _KEEPS:
                    yield (
                        f"Its table {table.name} has a foreign key to {key.target_fullname} that would {rule} rows "
                        "unseen; let the action delete them, and the key neither cascade nor set anything."
                    )


def _action(action: Action[Any]) -> Iterator[str]:
    action_words = f"Its action {action.name}"
    if not isinstance(action.name, str) or _ACTION_NAME.fullmatch(action.name) is None:
        yield f"{action_words} is not named family.verb, in lower-case letters."
    if not (isinstance(action.params, type) and issubclass(action.params, Params)):
        yield f"{action_words} takes {_kind(action.params)}; derive its parameters from Params."
    if action.result is not None and not (
        isinstance(action.result, type) and issubclass(action.result, BaseModel)
    ):
        yield f"{action_words} answers {_kind(action.result)}; name a model of pydantic, or none."
    if action.role not in get_args(Role):
        yield f"{action_words} asks for the role {action.role!r}; roles are {', '.join(get_args(Role))}."
    if action.scope not in ("library", "engine", "either"):
        yield f"{action_words} has the scope {action.scope!r}; scopes are library, engine, either."
    if not isinstance(action.rules, tuple | list) or not all(
        isinstance(rule, RowRule) for rule in action.rules
    ):
        yield f"{action_words} has rules that are no RowRule values."
    if not isinstance(action.route, Route | None):
        yield f"{action_words} has the route {_kind(action.route)}; give a Route."
    elif action.route is not None:
        for name, place in action.route.path_fields.items():
            if place not in action.params.model_fields:
                yield f"{action_words} takes no {place}, for which {{{name}}} stands in the path of its route."
    if not isinstance(action.laws, tuple | list) or not all(isinstance(law, RowLaw) for law in action.laws):
        yield f"{action_words} has laws that are no RowLaw values."
    if callable(action.person_only):
        yield from _call(f"person_only of the action {action.name}", action.person_only)
    yield from _call(f"action {action.name}", action.perform, "ctx", "params")
    for name, arguments in (
        ("example", ("example",)),
        ("after_undo", ("undone",)),
        ("prepare", ("engine", "library", "params")),
        ("conduct", ("conductor", "params")),
        ("partner", ("engine", "library", "audit_id")),
    ):
        function = getattr(action, name)
        if function is not None:
            yield from _call(f"{name} of the action {action.name}", function, *arguments)


def _job(kind: JobKind) -> Iterator[str]:
    job_words = f"Its job kind {kind.name}"
    if not isinstance(kind.name, str):
        yield f"{job_words} has no name; give it a string."
    for lane in kind.lanes:
        if lane not in LANES:
            yield f"{job_words} asks for the lane {lane!r}; lanes are {', '.join(LANES)}."
    if kind.args is not None and not (isinstance(kind.args, type) and issubclass(kind.args, BaseModel)):
        yield f"{job_words} takes {_kind(kind.args)}; name a model of pydantic, or none."
    if kind.scope not in ("library", "engine"):
        yield f"{job_words} has the scope {kind.scope!r}; scopes are library, engine."
    yield from _call(f"job kind {kind.name}", kind.run, "job")
    if kind.on_pause is not None:
        yield from _call(
            f"on_pause of the job kind {kind.name}", kind.on_pause, "engine", "library", "id", "paused"
        )
    if kind.on_cancel is not None:
        yield from _call(f"on_cancel of the job kind {kind.name}", kind.on_cancel, "engine", "library", "id")


def _panel(panel: Panel) -> Iterator[str]:
    panel_words = f"Its panel {panel.name!r}"
    if not isinstance(panel.name, str) or _NAME.fullmatch(panel.name) is None:
        yield f"{panel_words} has a name that is not allowed: use lower-case letters, digits and underscores."
    if not isinstance(panel.title, str) or not panel.title.strip():
        yield f"{panel_words} has no title; say in a few words what it shows."
    if panel.place not in get_args(PanelPlace):
        yield f"{panel_words} has the place {panel.place!r}; places are {', '.join(get_args(PanelPlace))}."
    if not (panel.folder / "panel.js").is_file():
        yield f"{panel_words} has no panel.js in {panel.folder.name}; put the module there that the frame runs."
    for route in panel.routes:
        if _PANEL_ROUTE.fullmatch(route) is None:
            yield f"{panel_words} declares {route!r}; write a route as its method, a space and its published path."


def _routes(plugin: Plugin) -> Iterator[str]:
    known: set[tuple[str, str]] = set()
    for router in plugin.routers:
        for path, route in _flatten_routes(router.routes):
            if not isinstance(route, APIRoute):
                yield f"One of its routers holds {_kind(route)}; only routes of FastAPI are let in."
            elif not path.startswith("/api/") and path not in plugin.endpoints:
                yield f"Its route {path} does not begin with /api/."
    for action in plugin.actions:
        if isinstance(action.route, Route) and not action.route.path.startswith("/api/"):
            yield f"The route {action.route.path} of its action {action.name} does not begin with /api/."
    for function in plugin.queries:
        yield from _query(function)
    for method, path in routes_of_plugin(plugin):
        if (method, path) in known:
            yield f"Its route {method} {path} is there twice; one of them would never be reached."
        known.add((method, path))


def _query(function: Any) -> Iterator[str]:
    declared = query_of(function)
    if declared is None:
        yield f"Its queries hold {getattr(function, '__name__', _kind(function))}; mark it with @query(…)."
        return
    if not declared.path.startswith("/api/"):
        yield f"The route {declared.path} of its query {declared.name} does not begin with /api/."
    parameters = [*inspect.signature(function).parameters]
    for name in re.findall(r"\{(\w+)", declared.path):
        if name not in parameters[1:]:
            yield f"Its query {declared.name} takes no {name}, for which {{{name}}} stands in the path of its route."
    if not parameters:
        yield f"Its query {declared.name} takes no connection; let that be its first parameter."


def routes_of_plugin(plugin: Plugin) -> list[tuple[str, str]]:
    """Like `routes_of`, for all routers of *plugin* and its actions."""
    declared: list[tuple[str, str]] = [
        (action.route.method, action.route.path)
        for action in plugin.actions
        if isinstance(action.route, Route)
    ]
    declared += [
        (query.method, query.path) for function in plugin.queries if (query := query_of(function)) is not None
    ]
    return [
        *(route for router in plugin.routers for route in routes_of(router)),
        *((method, _any_name(path)) for method, path in declared),
    ]


def _any_name(path: str) -> str:
    return re.sub(r"\{[^}:]*", "{", path)


def routes_of(router: APIRouter) -> list[tuple[str, str]]:
    """Return each (method, path) of *router*, with placeholders for ids replaced by one and the same name."""
    return [
        (method, _any_name(path))
        for path, route in _flatten_routes(router.routes)
        for method in sorted(getattr(route, "methods", None) or ())
    ]


def _flatten_routes(routes: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return each route with its whole path, including those of nested routers, which FastAPI keeps as one entry each."""
    for route in routes:
        # An APIRoute is asked for nothing more: one that is deferred would be made.
        if not isinstance(route, APIRoute) and hasattr(route, "original_router"):
            context = getattr(route, "include_context", None)
            yield from _flatten_routes(
                route.original_router.routes, prefix + (getattr(context, "prefix", "") or "")
            )
        else:
            yield prefix + str(getattr(route, "path", "")), route


def _call(what: str, function: Any, *arguments: str) -> Iterable[str]:
    """Return a fault where *function* cannot be called with so many positional arguments."""
    if not callable(function):
        return [f"Its {what} is {_kind(function)}, and no function."]
    if inspect.iscoroutinefunction(function):
        return [f"Its {what} is an async function; it is called from a thread and must be a plain one."]
    if not _fits(function, len(arguments)):
        words = ", ".join(arguments)
        return [f"Its {what} cannot be called as the engine calls it, with ({words}); change what it takes."]
    return []


def _fits(function: Callable[..., Any], arguments: int) -> bool:
    try:
        inspect.signature(function).bind(*(None,) * arguments)
    except TypeError:
        return False
    except ValueError:
        # A C function without a signature.
        return True
    return True


def _kind(value: object) -> str:
    return (
        f"the class {value.__name__}"
        if isinstance(value, type)
        else f"a value of type {type(value).__name__}"
    )
