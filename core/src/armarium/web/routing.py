"""Chooses the route of a request by walking the words of its path instead of trying hundreds of patterns in turn.

FastAPI tries its routes one after another, which with hundreds of them costs more than the rest of a request. The
switch proposes the few that can match; the route itself still decides, and only what the switch does not know (a mounted app)
goes the usual way: FastAPI would make every deferred route to find that a path is unknown. Where two path templates match, the more literal one is meant (OpenAPI, Path
Templating): a method that it does not accept is refused with those that it does. HEAD is answered wherever GET is, by
the same route and without the body (RFC 9110, 9.3.2); the description names only GET.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.datastructures import URL
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Match

from armarium.principals import caller
from armarium.web.panels import panel_may_ask

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


_Place = tuple[list[int], int]
"""The precedence of a route: how literal its path is, and when it was registered."""


@dataclass(slots=True)
class _Node:
    """A node in the tree of words: what may follow, and the routes that end here or take the rest of the path."""

    words: dict[str, _Node] = field(default_factory=dict)
    parameter: _Node | None = None
    ending: list[tuple[_Place, APIRoute]] = field(default_factory=list)
    swallowing: list[tuple[_Place, APIRoute]] = field(default_factory=list)


def _rank(path: str) -> list[int]:
    """Return how literal a path template is, word by word: the smaller, the more literal."""
    return [2 if ":path}" in word else 1 if "{" in word else 0 for word in path.split("/")[1:]]


class _Template:
    """A path template and the methods it accepts."""

    def __init__(self, route: APIRoute) -> None:
        self.path = route.path
        self.methods: set[str] = set()
        self._route = route
        self.words = route.path.split("/")[1:]
        self.rank = _rank(route.path)

    def matches(self, path: str) -> bool:
        return self._route.path_regex.match(path) is not None

    def stands_before(self, other: _Template) -> bool:
        """Return whether some address matches both and this is the more literal one, with methods of its own."""
        return (
            self.rank < other.rank
            and not other.methods <= self.methods
            and (len(self.words) == len(other.words) or 2 in self.rank or 2 in other.rank)
            and all(
                mine == theirs or "{" in mine or "{" in theirs
                for mine, theirs in zip(self.words, other.words, strict=False)
            )
        )

    def wrong_method(self) -> HTTPException:
        methods = self.methods | {"HEAD"} if "GET" in self.methods else self.methods
        return HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})


class Switch:
    """Replaces FastAPI's own routing (`install`)."""

    def __init__(self, app: FastAPI) -> None:
        self._router = app.router
        self._slow = app.router.middleware_stack
        self._rest = APIRouter(default=self._answer_unknown)
        self._roots: dict[str, _Node] = {}
        self._templates: dict[str, _Template] = {}
        self._nearer: dict[str, list[_Template]] = {}
        self._size = -1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the matching route; HTTPException 405 where the path does not accept the method."""
        if scope["type"] == "http" and not scope.get("root_path"):
            head = scope["method"] == "HEAD"
            method = "GET" if head else scope["method"]
            as_get = {**scope, "method": method} if head else scope
            for route in self.candidates(method, scope["path"]):
                match, child_scope = route.matches(as_get)
                if match == Match.FULL:
                    for nearer in self._nearer_than(route.path):
                        if method not in nearer.methods and nearer.matches(scope["path"]):
                            raise nearer.wrong_method()
                    if (asked_by := caller()) is not None:
                        panel_may_ask(asked_by.principal, method, scope["path"], route.path)
                    scope.setdefault("router", self._router)
                    scope.update(child_scope)
                    if head:
                        # The route's own check of the method would refuse HEAD; the answer still knows the method.
                        await _headers_alone(route.app, scope, receive, send)
                    else:
                        await route.handle(scope, receive, send)
                    return
            for template in self._templates.values():
                if method not in template.methods and template.matches(scope["path"]):
                    raise template.wrong_method()
            as_get.setdefault("router", self._router)
            await (
                _headers_alone(self._rest, as_get, receive, send)
                if head
                else self._rest(as_get, receive, send)
            )
            return
        await self._slow(scope, receive, send)

    async def _answer_unknown(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lead to the same path with or without a slash at its end if there is one, else refuse."""
        path = scope["path"]
        other = {**scope, "path": path.rstrip("/") if path.endswith("/") else f"{path}/"}
        if path != "/" and any(template.matches(other["path"]) for template in self._templates.values()):
            await RedirectResponse(str(URL(scope=other)))(scope, receive, send)
        else:
            await self._router.not_found(scope, receive, send)

    def candidates(self, method: str, path: str) -> list[APIRoute]:
        """Return the routes that may match, the more literal path first, then in the order in which they were
        registered.
        """
        if self._size != len(self._router.routes):
            self._build()
        root = self._roots.get(method)
        if root is None:
            return []
        entries: list[tuple[_Place, APIRoute]] = []
        places = [root]
        for word in path.split("/")[1:]:
            following: list[_Node] = []
            for place in places:
                entries += place.swallowing
                next_place = place.words.get(word)
                if next_place is not None:
                    following.append(next_place)
                if place.parameter is not None:
                    following.append(place.parameter)
            places = following
        for place in places:
            entries += place.ending
        if len(entries) > 1:
            entries.sort(key=lambda entry: entry[0])
        return [route for _, route in entries]

    def _build(self) -> None:
        self._size = len(self._router.routes)
        self._roots = {}
        templates: dict[str, _Template] = {}
        for order, route in enumerate(routes_of(self._router.routes)):
            templates.setdefault(route.path, _Template(route)).methods.update(route.methods or ())
            for method in route.methods or ():
                self._place(self._roots.setdefault(method, _Node()), (_rank(route.path), order), route)
        self._rest.routes = [route for route in self._router.routes if not _is_switched(route)]
        self._templates = dict(sorted(templates.items(), key=lambda entry: entry[1].rank))
        self._nearer = {}

    def _nearer_than(self, path: str) -> list[_Template]:
        # Worked out for the templates that are asked for: comparing each with each takes as long as ten requests.
        if path not in self._nearer:
            template = self._templates[path]
            self._nearer[path] = [
                other for other in self._templates.values() if other.stands_before(template)
            ]
        return self._nearer[path]

    @staticmethod
    def _place(node: _Node, order: _Place, route: APIRoute) -> None:
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


class _HeadersSent(Exception):
    """Stops the endpoint once the headers of a HEAD response are sent."""


async def _headers_alone(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the headers of *app*'s answer, Content-Length included, and no body; a stream ends before it begins."""

    async def tell(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        if message.get("more_body"):
            raise _HeadersSent

    with suppress(_HeadersSent):
        await app(scope, receive, tell)


def install(app: FastAPI) -> None:
    """Put the switch before the routing of *app*."""
    app.router.middleware_stack = Switch(app)


def routes_of(routes: Iterable[Any]) -> Iterator[APIRoute]:
    """Return every API route among *routes*, including those of routers included without a prefix."""
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif _is_plainly_included(route):
            yield from routes_of(route.original_router.routes)


def _is_plainly_included(route: Any) -> bool:
    # FastAPI keeps an included router as one entry; older versions copied its routes. Where including
    # added a prefix or dependencies, its routes answer only through that entry.
    context = getattr(route, "include_context", None)
    return hasattr(route, "original_router") and not (
        getattr(context, "prefix", "") or getattr(context, "dependencies", None)
    )


def _is_switched(route: Any) -> bool:
    """Return whether `routes_of` gives everything that *route* stands for."""
    return isinstance(route, APIRoute) or (
        _is_plainly_included(route) and all(map(_is_switched, route.original_router.routes))
    )
