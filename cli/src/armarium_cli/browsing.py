"""The one-time link that signs a browser in to the engine's web application, and opening it where there is a desktop."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote

from armarium.client import Reachable
from armarium_cli.output import answer
from armarium_cli.refusals import Refused
from armarium_cli.session import Session
from armarium_cli.shared_engine import running, this_place, wire_to

NoBrowser = Annotated[bool, "Print the link only; open no browser."]

Place = Callable[[Session], str | None]
"""Returns what the application shows first, as the address it has there; None: its first view."""


def sign_in_link(card: Reachable, place: Place = lambda session: None) -> str | None:
    """Return a link that signs one browser in as the owner, once and for ten minutes; None where the engine of *card* has
    no web application, or none that a browser can reach.
    """
    wire = wire_to(this_place(), uds=card.uds, base_url=card.base_url)
    session = Session(wire, None, True)
    try:
        if card.transport != "tcp" or not session.get("/api/engine")["application"]:
            return None
        address = place(session)
        pairing = session.post("/api/pair/code", {"role": "owner", "browser": True})
    finally:
        wire.close()
    target = "" if address is None else f"&to={quote(address, safe='')}"
    return f"{card.base_url}/#code={pairing['code']}{target}"


def show_link(link: str, *, browser: bool, words: str | None = None) -> None:
    """Print *link* after what it is for, or *words*; open it where *browser* says so and there is a desktop."""
    answer({"link": link}, words or f"Open the workbench, once and within ten minutes: {link}")
    if browser and has_desktop():
        import webbrowser

        webbrowser.open(link)


def served_engine() -> Reachable | None:
    """Return the engine that a person serves here and that a browser reaches; None when there is none."""
    engine = running(this_place())
    if engine is None:
        return None
    card, wire = engine
    wire.close()
    if card.transport == "tcp":
        return card
    if not card.background:
        raise Refused(
            "The engine that serves here listens on a Unix socket, which no browser reaches. Stop it, and start it with "
            "armarium serve without --uds."
        )
    return None


def has_desktop() -> bool:
    """Return whether a window can be shown here."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
