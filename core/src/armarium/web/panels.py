"""Panels of plugins: their files, answered to anybody here into a sandboxed frame, and the tokens with which they ask."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from starlette.staticfiles import StaticFiles

from armarium.errors import Forbidden, NotFound
from armarium.messages import Message
from armarium.plugin import Panel, PanelPlace
from armarium.principals import Principal
from armarium.store.rows import listed

if TYPE_CHECKING:
    from armarium.engine import Engine

PANELS = "/panels/"
"""Below this are the files of panels, as `/panels/PLUGIN/PANEL/FILE`."""

PAGE = """<!doctype html>
<html><meta charset="utf-8"><title>{title}</title>
{style}<script type="module" crossorigin src="panel.js"></script>
<main id="panel"></main>
</html>
"""

unknown_panel = NotFound.saying(
    "unknown_panel", "No plugin here has a panel {plugin}/{name}; the list of panels has the right names."
)
undeclared_route = Forbidden.saying(
    "undeclared_route",
    "The panel {panel} did not declare {method} {path} among its routes, and so may not ask for it.",
)
panel_of_session = Forbidden.saying(
    "person_only", "A panel is shown to a person who is signed in; its token is made in that session."
)


class ShownPanel(Message):
    """A panel that a plugin adds to the web application, and what it may ask for."""

    plugin: str
    name: str
    title: str
    place: PanelPlace
    address: str
    routes: list[str]


ShownPanels = listed(ShownPanel, "Panels")


class PanelToken(Message):
    """The token of a panel in this session, for the project of the request; it ends with the session."""

    token: str
    routes: list[str]


def panel_may_ask(principal: Principal, method: str, path: str, chosen: str | None = None) -> None:
    """Refuse what a panel did not declare; every other token asks what its role permits.

    An address may fit a declared route and be another, more literal one's: once the route is *chosen*, it is what counts.
    """
    if principal.routes is None:
        return
    verb = "GET" if method == "HEAD" else method
    declared = [route for route in principal.routes if _pattern(route).fullmatch(f"{verb} {path}")]
    if not declared or (
        chosen is not None and f"{verb} {_strip_parameters(chosen)}" not in map(_strip_parameters, declared)
    ):
        raise undeclared_route(panel=principal.name, method=method, path=path)


def _strip_parameters(route: str) -> str:
    """Return a route without the names of its parameters."""
    return re.sub(r"\{[^}]*\}", "{}", route)


@lru_cache(maxsize=512)
def _pattern(route: str) -> re.Pattern[str]:
    parts = re.split(r"\{[a-z_]+\}", route)
    return re.compile("[^/]+".join(map(re.escape, parts)))


def panels_of(engine: Engine) -> dict[tuple[str, str], Panel]:
    """Return the panels of the loaded plugins by plugin and name."""
    return {(plugin.name, panel.name): panel for plugin in engine.plugins.loaded for panel in plugin.panels}


def find_panel(engine: Engine, plugin: str, name: str) -> Panel:
    """Return a panel; NotFound."""
    panel = panels_of(engine).get((plugin, name))
    if panel is None:
        raise unknown_panel(plugin=plugin, name=name)
    return panel


def panel_files(engine: Engine) -> APIRouter:
    """Return the routes of the frames of panels and their files."""
    router = APIRouter(include_in_schema=False)

    def policy(request: Request, plugin: str, name: str) -> dict[str, str]:
        own = f"{request.url.scheme}://{request.headers['host']}"
        files = f"{own}{PANELS}{plugin}/{name}/"
        # A sandboxed document has no origin that 'self' could mean: its addresses are spelled out.
        return {
            "Content-Security-Policy": f"sandbox allow-scripts; default-src 'none'; script-src {files}; "
            f"style-src {files}; img-src {files} blob: data:; font-src {files}; connect-src {own}/api/; "
            f"base-uri 'none'; form-action 'none'; frame-ancestors {own}",
            "Cache-Control": "no-cache",
            "Cross-Origin-Resource-Policy": "cross-origin",
            "Referrer-Policy": "no-referrer",
        }

    @router.get(PANELS + "{plugin}/{name}/", response_class=Response)
    async def frame(request: Request, plugin: str, name: str) -> Response:
        panel = find_panel(engine, plugin, name)
        styled = (panel.folder / "panel.css").is_file()
        style = '<link rel="stylesheet" crossorigin href="panel.css">\n' if styled else ""
        body = PAGE.format(title=escape(panel.title), style=style)
        return Response(body, media_type="text/html", headers=policy(request, plugin, name))

    @router.get(PANELS + "{plugin}/{name}/{file}", response_class=Response)
    async def file(request: Request, plugin: str, name: str, file: str) -> Response:
        files = StaticFiles(directory=Path(find_panel(engine, plugin, name).folder), check_dir=False)
        answer = await files.get_response(file, request.scope)
        answer.headers.update(policy(request, plugin, name))
        return answer

    return router
