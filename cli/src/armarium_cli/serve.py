"""The command that runs the engine."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Mapping
from contextvars import copy_context
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.client import Reachable
from armarium_cli.browsing import NoBrowser, Place, show_link, sign_in_link
from armarium_cli.declared import Commands
from armarium_cli.options import Topic
from armarium_cli.output import answer, tell_if_slow, wants_json
from armarium_cli.refusals import report_failures
from armarium_cli.session import in_process
from armarium_cli.shared_engine import STARTING, retire, running, this_place
from armarium_cli.user_settings import settings_of_this_user

commands = Commands(Topic.engine)


@commands.example("serve --port 8765")
def serve(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0: any that is free.")
    ] = None,
    uds: Annotated[str | None, "Listen on this Unix socket instead."] = None,
    no_browser: NoBrowser = False,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
) -> None:
    """Run the engine until it is stopped, and print the link that opens its workbench."""
    changes: dict[str, object] = {}
    if port is not None:
        changes["port"] = port
    if uds is not None:
        changes["uds"] = Path(uds).absolute()
    if background:
        serving, settings = in_process(), settings_of_this_user().model_copy(update=changes)
        logging.getLogger("armarium").setLevel(logging.WARNING)
        serving.serve(
            settings, on_ready=lambda card: serving.write_to_log(settings.state_dir), background=True
        )
        return
    serve_for_people(changes, browser=not no_browser and sys.stdout.isatty())


def serve_for_people(
    changes: Mapping[str, object], *, browser: bool, place: Place = lambda session: None
) -> None:
    """Serve until stopped, with the settings of this user and *changes*; print the address and a link that signs in, which
    *browser* opens.
    """
    serving = in_process()
    settings = settings_of_this_user().model_copy(update=dict(changes))
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("armarium").setLevel(logging.WARNING)
    _take_the_place_of_one_at_rest()

    def show(card: Reachable) -> None:
        with report_failures():
            link = sign_in_link(card, place)
            if link is not None and not wants_json():
                show_link(link, browser=browser)

    with tell_if_slow(STARTING) as ready:

        def say_address(card: Reachable) -> None:
            ready()
            answer(_public(card), _describe_address(card))
            # The engine cannot answer while it waits for this.
            context = copy_context()
            threading.Thread(target=context.run, args=(show, card), name="link", daemon=True).start()

        serving.serve(settings, on_ready=say_address)


def _take_the_place_of_one_at_rest() -> None:
    """Stop an idle background engine: a served engine also serves the commands."""
    place = this_place()
    engine = running(place)
    if engine is not None and engine[0].background:
        card, wire = engine
        try:
            retire(card, wire, place, only_when_idle=True)
        finally:
            wire.close()


def _public(card: Reachable) -> dict[str, Any]:
    """Return what a program needs to speak to the engine."""
    fields = ("transport", "uds", "host", "port", "base_url", "pid", "version", "started_at")
    return {name: getattr(card, name) for name in fields}


def _describe_address(card: Reachable) -> str:
    if card.uds is not None:
        return f"Armarium answers on the Unix socket {card.uds}"
    return f"Armarium answers at {card.base_url}/docs"
