"""Which route a request is for, found by walking its words, not by trying hundreds of patterns one after another.

FastAPI tries its routes in turn, which with some hundred of them costs more than all else a request does. The
switch proposes the few that can match; the route itself still decides, and what the switch does not know (an
unknown path, a wrong method, a mounted app) goes the usual way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Match

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


@dataclass(slots=True)
class _Node:
    """A place in the tree of words: what may follow, and the routes that end here or swallow the rest."""

    words: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    ending: list[tuple[int, APIRoute]] = field(default_factory=list)
    swallowing: list[tuple[int, APIRoute]] = field(default_factory=list)


class Switch:
    """Stands before FastAPI's own routing (`install`); the order of registration is kept."""

    def __init__(self, app: FastAPI) -> None:
        self._router = app.router
        self._slow = app.router.middleware_stack
        self._roots: dict[str, _Node] = {}
        self._size = -1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get("root_path"):
            for route in self.candidates(scope["method"], scope["path"]):
                match, child_scope = route.matches(scope)
                if match == Match.FULL:
                    scope.setdefault("router", self._router)
                    scope.update(child_scope)
                    await route.handle(scope, receive, send)
                    return
        await self._slow(scope, receive, send)

    def candidates(self, method: str, path: str) -> list[APIRoute]:
        """The routes that may match, in the order in which they were registered."""
        if self._size != len(self._router.routes):
            self._build()
        root = self._roots.get(method)
        if root is None:
            return []
        found: list[tuple[int, APIRoute]] = []
        places = [root]
        for word in path.split("/")[1:]:
            following: list[_Node] = []
            for place in places:
                found += place.swallowing
                known = place.words.get(word)
                if known is not None:
                    following.append(known)
                if place.parameter is not None:
                    following.append(place.parameter)
            places = following
        for place in places:
            found += place.ending
        if len(found) > 1:
            found.sort(key=lambda entry: entry[0])
        return [route for _, route in found]

    def _build(self) -> None:
        self._size = len(self._router.routes)
        self._roots = {}
        for order, route in enumerate(routes_of(self._router.routes)):
            for method in route.methods or ():
                self._place(self._roots.setdefault(method, _Node()), order, route)

    @staticmethod
    def _place(node: _Node, order: int, route: APIRoute) -> None:
        for word in route.path.split("/")[1:]:
            if ":path}" in word:
                node.swallowing.append((order, route))
                return
            if "{" in word:
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.words.setdefault(word, _Node())
        node.ending.append((order, route))


def install(app: FastAPI) -> None:
    """Put the switch before the routing of *app*."""
    app.router.middleware_stack = Switch(app)


def routes_of(routes: Iterable[Any]) -> Iterator[APIRoute]:
    """Every API route among *routes*, those of routers included under no prefix of their own among them."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            # FastAPI keeps an included router as one entry; older versions copied its routes. Where including
            # added a prefix or dependencies, its routes answer only through that entry.
            context = getattr(route, "include_context", None)
            if not getattr(context, "prefix", "") and not getattr(context, "dependencies", None):
                yield from routes_of(route.original_router.routes)
