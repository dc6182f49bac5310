"""GET /api/health, /api/plugins and /api/clients: that the engine is alive, what is loaded, who is connected."""

from __future__ import annotations

import time
from importlib import metadata as distributions
from typing import Any, Literal

from fastapi import Response

from armarium import __version__
from armarium.engine import Engine
from armarium.errors import NotFound
from armarium.messages import Message
from armarium.plugins.drivers import RefusedDriver
from armarium.plugins.registry import RefusedPlugin
from armarium.web.http import REFUSALS, CurrentEngine, CurrentPrincipal, json_response
from armarium.web.routers import Router

router = Router(prefix="/api", tags=["engine"])


class Health(Message):
    """The engine answers. `uptime_seconds` counts from its start."""

    status: Literal["ok"]
    version: str
    offline: bool
    uptime_seconds: float


class LoadedPlugin(Message):
    """A loaded plugin, and what it provides."""

    name: str
    summary: str
    distribution: str | None = None
    version: str | None = None
    """The version of its distribution; null for one added by an embedding program."""
    engine_api: int
    prefixes: list[str]
    actions: list[str]
    jobs: list[str]
    tables: list[str]
    driver_groups: list[str]
    drivers: dict[str, list[str]]
    """The names of the drivers installed, by group."""


class InstalledDriver(Message):
    """A format, reader or the like that can be loaded."""

    group: str
    name: str
    distribution: str | None = None
    ready: bool
    """Whether it can work now: what it needs is on this machine."""
    why: str | None = None
    """What is missing, and how to get it."""


class Plugins(Message):
    """All plugins and drivers offered to this engine."""

    items: list[LoadedPlugin]
    refused: list[RefusedPlugin]
    faults: list[RefusedPlugin]
    """What loaded plugins have failed at since the engine started."""
    drivers: list[InstalledDriver]
    refused_drivers: list[RefusedDriver]
    count: int


class Client(Message):
    """A connected surface; `client` is its name for itself, else its transport."""

    client: str
    transport: Literal["uds", "tcp"]
    agent: str | None = None
    """The name of the agent whose token it has; trusted, unlike the client's."""
    requests: int
    first_seen: str
    last_seen: str


class Clients(Message):
    """All clients since the engine started."""

    clients: list[Client]


@router.get("/health", response_model=Health, responses=REFUSALS(), summary="Whether the engine answers")
async def health(engine: CurrentEngine) -> Response:
    """Answers without a token."""
    return json_response(
        {
            "status": "ok",
            "version": __version__,
            "offline": engine.settings.local_only,
            "uptime_seconds": round(max(0.0, time.time() - engine.started_at), 3),
        }
    )


@router.get(
    "/plugins",
    response_model=Plugins,
    responses=REFUSALS(),
    summary="Plugins loaded, and plugins refused with the reason",
)
def plugins(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """First-party families and third-party plugins; each driver is loaded to see whether it can work here."""
    registry = engine.plugins
    groups = sorted({group for plugin in registry.loaded for group in plugin.driver_groups})
    drivers = [_driver(engine, group, name) for group in groups for name in engine.drivers.names(group)]
    loaded = [
        {
            "name": plugin.name,
            "summary": plugin.summary,
            "distribution": registry.distributions.get(plugin.name),
            "version": _version(registry.distributions.get(plugin.name)),
            "engine_api": plugin.engine_api,
            "prefixes": list(plugin.owned_prefixes),
            "actions": sorted(action.name for action in plugin.actions),
            "jobs": sorted(kind.name for kind in plugin.kinds),
            "tables": sorted(plugin.metadata.tables) if plugin.metadata is not None else [],
            "driver_groups": list(plugin.driver_groups),
            "drivers": {
                group: [
                    driver["name"] for driver in drivers if driver is not None and driver["group"] == group
                ]
                for group in plugin.driver_groups
            },
        }
        for plugin in registry.loaded
    ]
    return json_response(
        {
            "items": loaded,
            "refused": [refusal.model_dump() for refusal in registry.refused],
            "faults": [fault.model_dump() for fault in registry.faults],
            "drivers": [driver for driver in drivers if driver is not None],
            "refused_drivers": [
                refusal.model_dump() for group in groups for refusal in engine.drivers.refusals(group)
            ],
            "count": len(loaded),
        }
    )


def _driver(engine: Engine, group: str, name: str) -> dict[str, Any] | None:
    """Return a driver as the list shows it; None for one that does not load, which is listed with the refused ones."""
    try:
        driver = engine.drivers.load(group, name)
    except NotFound:
        return None
    why = engine.runtimes.missing(driver)
    return {
        "group": group,
        "name": name,
        "distribution": engine.drivers.distribution_of(group, name),
        "ready": why is None,
        "why": why,
    }


def _version(distribution: str | None) -> str | None:
    if distribution is None:
        return None
    try:
        return distributions.version(distribution)
    except distributions.PackageNotFoundError:
        return None


@router.get("/clients", response_model=Clients, responses=REFUSALS(), summary="Connected surfaces")
async def clients(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Kept in memory; a restart forgets them."""
    return json_response({"clients": engine.auth.clients.list_clients()})
