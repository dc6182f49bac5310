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

commands = Commands(Topic.engine)


@commands.example("open 0001.jpg")
def open_(
    page: Annotated[str | None, "PAGE: The page to show, by name, path or id; default: the project."] = None,
    no_browser: NoBrowser = False,
) -> None:
    """Open the workbench in a browser, with a link that signs it in once; without a served engine, serve one."""

    def place(session: Session) -> str | None:
        return _place_of(session, page)

    card = served_engine()
    if card is None:
        serve_for_people({}, browser=not no_browser, place=place)
        return
    link = sign_in_link(card, place)
    if link is None:
        raise Refused("The workbench is not built here. Run make base in the checkout, which builds it.")
    show_link(link, browser=not no_browser)


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
