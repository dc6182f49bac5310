"""The page at `/`: the web application of a plugin, answered without a token, or a page that leads to the reference.

Its built files are all that it is given. Whatever else it shows it asks for over the published routes, as any client does.
"""

from __future__ import annotations

import os
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from armarium.plugin import Site

ASSETS = "/assets/"
"""Below this, the name of a file contains a hash of its content."""

SAFE = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
}

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Armarium</title>
<h1>Armarium</h1>
{more}<p>The library engine answers here. <a href="/docs">The reference of its HTTP interface</a> lists every route; nearly all
need a token. The same description, for programs: <a href="/openapi.json">openapi.json</a>.</p>
</html>
"""


class _BuiltFiles(StaticFiles):
    """Files, each perhaps with a packed copy beside it for those who take one."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        packed = Path(f"{os.fspath(full_path)}.gz")
        takes_packed = "gzip" in Headers(scope=scope).get("accept-encoding", "") and packed.is_file()
        if takes_packed:
            full_path, stat_result = packed, packed.stat()
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update({**SAFE, **({"Content-Encoding": "gzip"} if takes_packed else {})})
        return response


def site_router(site: Site | None) -> APIRouter:
    """Return the route of the page at `/` and, where a plugin has an application, of the files that it loads."""
    router = APIRouter(include_in_schema=False)
    files = _BuiltFiles(directory=None if site is None else site.folder, check_dir=False)

    @router.get("/", response_class=Response)
    async def page(request: Request) -> Response:
        if site is not None and site.is_built:
            response = await files.get_response("index.html", request.scope)
            response.headers["Cache-Control"] = "no-cache"
            return response
        more = "" if site is None else f"<p>{site.unbuilt}</p>\n"
        return Response(PAGE.format(more=more), media_type="text/html")

    async def asset(request: Request, name: str) -> Response:
        response = await files.get_response(f"assets/{name}", request.scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response

    if site is not None:
        router.add_api_route(ASSETS + "{name}", asset, methods=["GET"], response_class=Response)
    return router
