"""GET /api/health, /api/plugins and /api/clients: that the engine lives, what it is made of, who is connected."""

from __future__ import annotations

import time
from importlib import metadata as distributions
from typing import Literal

from fastapi import APIRouter, Response

from armarium import __version__
from armarium.http import REFUSALS, CurrentEngine, CurrentPrincipal, json_response
from armarium.messages import Message

router = APIRouter(prefix="/api", tags=["engine"])


class Health(Message):
    """The engine answers. `uptime_seconds` counts from its start."""

    status: Literal["ok"]
    version: str
    offline: bool
    uptime_seconds: float


class LoadedPlugin(Message):
    """A plugin that is in, and what it brings."""

    name: str
    summary: str
    distribution: str | None = None
    version: str | None = None
    """The version of its distribution; null for what an embedding program handed in."""
    engine_api: int
    prefixes: list[str]
    actions: list[str]
    jobs: list[str]
    tables: list[str]
    driver_groups: list[str]
    drivers: dict[str, list[str]]
    """The names of the drivers installed, by group."""


class RefusedPlugin(Message):
    """A plugin that was not let in, and why."""

    name: str
    why: str
    distribution: str | None = None


class RefusedDriver(Message):
    """A driver that was asked for and did not load, and why."""

    group: str
    name: str
    why: str


class Plugins(Message):
    """Everything this engine was offered."""

    plugins: list[LoadedPlugin]
    refused: list[RefusedPlugin]
    refused_drivers: list[RefusedDriver]
    count: int


class Client(Message):
    """A connected surface; `client` is what it calls itself, else its transport."""

    client: str
    transport: Literal["uds", "tcp"]
    requests: int
    first_seen: str
    last_seen: str


class Clients(Message):
    """Who asked this engine anything since it started."""

    clients: list[Client]


@router.get("/health", response_model=Health, responses=REFUSALS(), summary="Is the engine there")
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
    "/plugins", response_model=Plugins, responses=REFUSALS(), summary="Plugins loaded, and refused with why"
)
async def plugins(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """First-party families and strangers alike."""
    registry = engine.plugins
    loaded = [
        {
            "name": plugin.name,
            "summary": plugin.summary,
            "distribution": registry.distributions.get(plugin.name),
            "version": _version(registry.distributions.get(plugin.name)),
            "engine_api": plugin.engine_api,
            "prefixes": list(plugin.owned),
            "actions": sorted(found.name for found in plugin.actions),
            "jobs": sorted(kind.name for kind in plugin.jobs),
            "tables": sorted(plugin.metadata.tables) if plugin.metadata is not None else [],
            "driver_groups": list(plugin.driver_groups),
            "drivers": {group: engine.drivers.names(group) for group in plugin.driver_groups},
        }
        for plugin in registry.loaded
    ]
    groups = sorted({group for plugin in registry.loaded for group in plugin.driver_groups})
    drivers = [
        {"group": group, "name": name, "why": why}
        for group in groups
        for name, why in sorted(engine.drivers.refused(group).items())
    ]
    refused = [{"name": r.name, "why": r.why, "distribution": r.distribution} for r in registry.refused]
    return json_response(
        {"plugins": loaded, "refused": refused, "refused_drivers": drivers, "count": len(loaded)}
    )


def _version(distribution: str | None) -> str | None:
    if distribution is None:
        return None
    try:
        return distributions.version(distribution)
    except distributions.PackageNotFoundError:
        return None


@router.get("/clients", response_model=Clients, responses=REFUSALS(), summary="Connected surfaces")
async def clients(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Kept in memory; a restart forgets them (part A 4.1)."""
    return json_response({"clients": engine.auth.clients.listed()})
