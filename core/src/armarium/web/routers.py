"""Routers of handwritten routes, each of which FastAPI makes when it is first asked for, as those of actions and queries."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

from armarium.web.checked_routes import check_named_paths
from armarium.web.counted_routes import count_withheld
from armarium.web.deferred_routes import DeferredRoute


def watch_route(route: APIRoute) -> None:
    """Make *route* check the paths it is given, and count what it withholds."""
    check_named_paths([route])
    count_withheld([route])


class _HandwrittenRoute(DeferredRoute):
    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        methods: Collection[str] | None = None,
        name: str | None = None,
        **described: Any,
    ) -> None:
        super().__init__(
            path,
            methods or ("GET",),
            name or endpoint.__name__,
            lambda: {"endpoint": endpoint, **described},
            watch_route,
        )
        # Known before the route is made: whether it takes an upload is written on it.
        self.endpoint = endpoint


class Router(APIRouter):
    """FastAPI's `APIRouter`, for the routes of a plugin: declared in the same way, each made when it is first asked for.

    A fault in what a route declares is found by the trial of its plugin, and by `GET /openapi.json`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=_HandwrittenRoute, **options)
