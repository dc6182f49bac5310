"""GET /api/panels, and the token with which a panel asks in a session."""

from __future__ import annotations

from fastapi import Response

from armarium.web.http import REFUSALS, CurrentEngine, CurrentLibrary, CurrentPrincipal, json_response
from armarium.web.panels import (
    PANELS,
    PanelToken,
    ShownPanels,
    find_panel,
    panel_of_session,
    panels_of,
)
from armarium.web.routers import Router

router = Router(prefix="/api/panels", tags=["engine"])


@router.get("", response_model=ShownPanels, responses=REFUSALS(), summary="The panels that plugins add")
def list_panels(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Each with its place and what it may ask for. Its `address` is shown in a frame with `sandbox="allow-scripts"`."""
    items = [
        {
            "plugin": plugin,
            "name": panel.name,
            "title": panel.title,
            "place": panel.place,
            "address": f"{PANELS}{plugin}/{panel.name}/",
            "routes": list(panel.routes),
        }
        for (plugin, _name), panel in panels_of(engine).items()
    ]
    return json_response({"items": items, "count": len(items)})


@router.post(
    "/{plugin}/{name}/token",
    response_model=PanelToken,
    responses=REFUSALS(404, 409),
    summary="The token of a panel in this session",
)
def make_panel_token(
    engine: CurrentEngine, principal: CurrentPrincipal, library: CurrentLibrary, plugin: str, name: str
) -> Response:
    """It reaches the routes that the panel declares, in the project of the request, for as long as the session lasts; the
    panel's former token in this session is worthless from now on.
    """
    if principal.kind != "person":
        raise panel_of_session()
    panel = find_panel(engine, plugin, name)
    token = engine.auth.make_panel_token(principal, f"{plugin}/{name}", str(library.path), panel.routes)
    return json_response(
        {"token": token, "routes": list(panel.routes)}, headers={"Cache-Control": "no-store"}
    )
