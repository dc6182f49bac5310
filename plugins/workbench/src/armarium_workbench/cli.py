"""The commands that open the workbench and the manual in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from armarium_cli.api import (
    Commands,
    NoBrowser,
    Refused,
    Session,
    Topic,
    project_meant,
    serve_for_people,
    served_engine,
    show_link,
    sign_in_link,
)
from armarium_documents.commandline import document_id
from armarium_workbench.window import engine_for_window, require_window, show_window

commands = Commands(Topic.engine)

MANUAL = Path(__file__).parent / "manual"
"""The manual as a site, put here by `make site`."""


@commands.example("open 0001.jpg")
def open_(
    page: Annotated[str | None, "PAGE: The page to show, by name, path or id; default: the project."] = None,
    no_browser: NoBrowser = False,
    window: Annotated[bool, "Show it in a window of its own, until that is closed."] = False,
) -> None:
    """Open the workbench in a browser, with a link that signs it in once; without a served engine, serve one."""

    def place(session: Session) -> str | None:
        return _place_of(session, page)

    if window:
        webview = require_window()
        with engine_for_window() as engine_card:
            show_window(webview, _require_link(sign_in_link(engine_card, place)))
        return
    card = served_engine()
    if card is None:
        serve_for_people({}, browser=not no_browser, place=place)
        return
    show_link(_require_link(sign_in_link(card, place)), browser=not no_browser)


@commands.example("docs")
def docs(
    no_browser: NoBrowser = False,
    serve: Annotated[
        bool, "Serve it until Ctrl-C, for a browser that may not read this folder (Firefox from a snap)."
    ] = False,
) -> None:
    """Open the manual of this version in a browser; it is here and needs no network."""
    page = MANUAL / "index.html"
    if not page.is_file():
        raise Refused("The manual is not built here. Run make site in the checkout, or read docs/ there.")
    if not serve:
        show_link(page.as_uri(), browser=not no_browser, words=f"The manual: {page}")
        return
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=MANUAL)) as server:
        link = f"http://127.0.0.1:{server.server_port}/"
        show_link(link, browser=not no_browser, words=f"The manual, until Ctrl-C: {link}")
        server.serve_forever()


def _require_link(link: str | None) -> str:
    if link is None:
        raise Refused("The workbench is not built here. Run make base in the checkout, which builds it.")
    return link


def _place_of(session: Session, page: str | None) -> str | None:
    """Return where the application shows *page*, or the current project; None for the list of projects."""
    session.library = project_meant(session)
    if session.library is None:
        if page is not None:
            raise Refused(
                "Which project is the page in? Name it with --library, or call the command in its folder."
            )
        return None
    # The first request that names a project opens it, and so the engine knows it.
    document = "" if page is None else f"/page/{document_id(session, page)}"
    session.get("/api/library/settings")
    ids_by_path = {library["path"]: library["id"] for library in session.get("/api/registry")["libraries"]}
    # A branch is not registered, and so it is named by its path.
    return f"/p/{ids_by_path.get(session.library) or quote(session.library, safe='')}{document}"
