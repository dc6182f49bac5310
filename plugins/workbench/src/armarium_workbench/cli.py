"""The command that opens the workbench in a browser."""

from __future__ import annotations

from typing import Annotated

from armarium.commandline import (
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
        with engine_for_window() as found:
            show_window(webview, _require_link(sign_in_link(found, place)))
        return
    card = served_engine()
    if card is None:
        serve_for_people({}, browser=not no_browser, place=place)
        return
    show_link(_require_link(sign_in_link(card, place)), browser=not no_browser)


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
    known = {one["path"]: one["id"] for one in session.get("/api/registry")["libraries"]}
    return f"/p/{known[session.library]}{document}"
