"""The interactive reference at /docs and the readable one at /redoc: a page of our own that loads nothing from
elsewhere.

The usual pages load third-party scripts from the network into the engine's own origin: they would not work offline, and
whoever controls them could write with a visitor's session. This one permits only its own script, named by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib import resources

from fastapi import FastAPI, Response


@lru_cache(maxsize=1)
def page() -> tuple[bytes, dict[str, str]]:
    """Return the page's bytes, and headers that forbid everything but its own style and script."""
    parts = resources.files(__package__)
    html, style, script = (
        parts.joinpath(name).read_text("utf-8") for name in ("page.html", "style.css", "script.js")
    )
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    body = html.replace("/*STYLE*/", style).replace("/*SCRIPT*/", script)
    return body.encode(), {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def install(app: FastAPI) -> None:
    """Answer /docs and /redoc with our own page instead of FastAPI's."""

    async def reference() -> Response:
        body, headers = page()
        return Response(body, 200, headers, "text/html; charset=utf-8")

    served = {"/docs", "/redoc", "/docs/oauth2-redirect"}
    app.router.routes[:] = [
        route for route in app.router.routes if getattr(route, "path", None) not in served
    ]
    for path in ("/docs", "/redoc"):
        app.add_api_route(path, reference, methods=["GET"], include_in_schema=False)
