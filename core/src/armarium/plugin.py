"""What a plugin contributes: one `Plugin` value, and the migrations of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import pluggy
from sqlalchemy import Connection, MetaData

if TYPE_CHECKING:
    from alembic.operations import Operations
    from fastapi import APIRouter

    from armarium.actions import Action, ActionContext
    from armarium.engine import Engine
    from armarium.history.visibility import Rights, WithheldAlong
    from armarium.jobs.kinds import JobKind
    from armarium.jobs.recipe_jobs import RecipeJob
    from armarium.projects.libraries import Library

hookspec = pluggy.HookspecMarker("armarium")
hookimpl = pluggy.HookimplMarker("armarium")

ENGINE_API = 2
"""The number of the plugin contract; a plugin built for another one is refused with a sentence."""

OF_THE_ENGINE = frozenset({"library", "auth", "jobs", "runtimes", "engine"})
"""The core's own plugins, without which there is no project; any other may be left out of one."""


@dataclass(frozen=True)
class Migration:
    """One step of a family's tables from `version - 1` to `version`.

    `upgrade` gets alembic's Operations on the library's connection, inside the one migrating transaction. A
    change to a tracked table is made through `armarium.api.alter_tracked` so that its history follows.
    """

    version: int
    summary: str
    upgrade: Callable[[Operations], None]


@dataclass(frozen=True)
class Site:
    """A web application as its built files: `index.html` and `assets/`, whose names contain a hash of their content.

    They are answered to every browser on this machine without a token, with a policy that lets them load only each other,
    and so they contain nothing of a project.
    """

    folder: Path
    unbuilt: str
    """The sentence shown in its place where the files are not there."""

    @property
    def is_built(self) -> bool:
        """Whether there is something to show."""
        return (self.folder / "index.html").is_file()


PanelPlace = Literal["page", "entity", "work", "figures"]


@dataclass(frozen=True)
class Panel:
    """A panel in the web application: a script of the plugin's own, shown in a sandboxed frame beside a page, an entity,
    the work or the figures.

    The frame has an origin of its own, without cookies. It loads its folder's files only and asks the engine with a token
    that reaches `routes` only, in the project shown, with the rights of whoever is signed in, an editor's at most, and
    for as long as the session lasts. What happens in it is written by a machine of the plugin's name.
    """

    name: str
    title: str
    place: PanelPlace
    folder: Path
    """Its files, flat: `panel.js`, a module, and what that loads; `panel.css` where there is one."""
    routes: tuple[str, ...] = ()
    """What it may ask for, as the published description spells it: `GET /api/segments/document/{document_id}/text`."""


@dataclass(frozen=True)
class Plugin:
    """All that one plugin contributes; a new kind of contribution is a new field with a default."""

    name: str
    summary: str
    engine_api: int = ENGINE_API
    prefixes: tuple[str, ...] = ()
    """Prefixes of the names of its actions (`prefix.verb`), tables and job kinds; empty: its own name."""
    metadata: MetaData | None = None
    """Tables of every project."""
    engine_metadata: MetaData | None = None
    """Tables of the engine's own database."""
    version: int = 1
    """The version of its tables; the last migration's."""
    migrations: tuple[Migration, ...] = ()
    engine_version: int = 1
    """The version of its tables in the engine's own database; the last of `engine_migrations`."""
    engine_migrations: tuple[Migration, ...] = ()
    actions: tuple[Action[Any], ...] = ()
    jobs: tuple[JobKind, ...] = ()
    recipe_jobs: tuple[RecipeJob, ...] = ()
    """Work that workflows and recipes are made of; the job kind of each is included and need not be named in `jobs`
    too.
    """
    queries: tuple[Callable[..., Any], ...] = ()
    """Functions marked with `@query(…)`, each a GET of its own."""
    routers: tuple[APIRouter, ...] = ()
    """Handwritten routes: files, streams, what is neither an action nor a query."""
    endpoints: tuple[str, ...] = ()
    """Paths outside `/api/` among its routes, at which another protocol is spoken that describes itself (`/mcp`)."""
    linked: tuple[str, ...] = ()
    """Beginnings of paths (`/api/reconcile/`) whose next part is the token, for programs that can be given an address and
    nothing else: only a viewer's token for one project is taken so, pages of any origin may ask, and forms are read.
    """
    driver_groups: tuple[str, ...] = ()
    check_driver: Callable[[str, str, Any], str | None] | None = None
    """Returns why a class found under a group and name is not a driver of it; None when it is one."""
    on_create: tuple[Callable[[ActionContext], None], ...] = ()
    """Called inside `library.create`'s step in the new project: what every project starts with."""
    on_open: tuple[Callable[[Engine, Library], None], ...] = ()
    """Called when a project was opened, before it is first used: complete what was left unfinished. May run actions."""
    on_step: tuple[Callable[[ActionContext], None], ...] = ()
    """Called at the end of each step of a project, undo and redo too, in its transaction: for notes in append-only
    tables that exist if and only if the step does. Must not write tracked rows; an exception is recorded, and the step
    goes on.
    """
    stats: Callable[[Connection], dict[str, int]] | None = None
    """Counts it adds to `GET /api/library/stats`."""
    rights: Rights | None = None
    """The records that say who may see what of a project (`history.visibility`); a project has one such plugin."""
    site: Site | None = None
    """The web application at `/`; an engine has one, that of the plugin loaded first."""
    panels: tuple[Panel, ...] = ()
    """Panels that it adds to the web application, whoever's that is."""
    names: Callable[[Connection, Sequence[str]], Mapping[str, str]] | None = None
    """Returns the names of the documents among these ids, for the history; called once for a whole page of steps."""
    withheld_along: tuple[WithheldAlong, ...] = ()
    """What of its rows is withheld along with withheld documents."""
    examine: Callable[[Library], Iterable[str]] | None = None
    """Returns what is wrong with what it keeps in a project, each a sentence, for `armarium doctor`."""
    rebuild: Callable[[Library], None] | None = None
    """Rebuilds what it keeps and can work out anew, for `armarium doctor --rebuild`."""
    hookspecs: ModuleType | None = None
    """The module with the extension points that it offers to other plugins."""
    hooks: object | None = None
    """What answers extension points of others: a module, its name, or an object with functions marked with `hookimpl`;
    None: the module of `armarium_plugin`, where an installed distribution names it.
    """

    @property
    def owned_prefixes(self) -> tuple[str, ...]:
        """The prefixes in force."""
        return self.prefixes or (self.name,)

    @property
    def kinds(self) -> tuple[JobKind, ...]:
        """Every job kind it provides, including those of its recipe jobs."""
        return (*self.jobs, *(job.kind for job in self.recipe_jobs))

    def owns(self, name: str) -> bool:
        """Return whether *name* (of an action, a table, a job kind) begins with one of its prefixes."""
        return any(
            name == own or name.startswith((f"{own}.", f"{own}_", f"{own}-")) for own in self.owned_prefixes
        )
