"""The command that runs the engine."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from armarium.cli.options import Topic
from armarium.cli.output import answer, tell_if_slow
from armarium.cli.session import in_process
from armarium.cli.shared_engine import STARTING, retire, running, this_place
from armarium.cli.user_settings import settings_of_this_user
from armarium.engine_card import Reachable


def register(program: typer.Typer) -> None:
    """Add the command."""
    program.command(rich_help_panel=Topic.engine, epilog="Example: armarium serve --port 8765")(serve)


def serve(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0: any that is free.")
    ] = None,
    uds: Annotated[str | None, typer.Option(help="Listen on this Unix socket instead.")] = None,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
) -> None:
    """Run the engine until it is stopped."""
    changes: dict[str, object] = {}
    if port is not None:
        changes["port"] = port
    if uds is not None:
        changes["uds"] = Path(uds).absolute()
    serving = in_process()
    settings = settings_of_this_user().model_copy(update=changes)
    logging.getLogger("armarium").setLevel(logging.WARNING)
    if background:
        serving.serve(
            settings, on_ready=lambda card: serving.write_to_log(settings.state_dir), background=True
        )
        return
    _take_the_place_of_one_at_rest()
    with tell_if_slow(STARTING) as ready:

        def say_address(card: Reachable) -> None:
            ready()
            answer(_public(card), _describe_address(card))

        serving.serve(settings, on_ready=say_address)


def _take_the_place_of_one_at_rest() -> None:
    """Stop an idle background engine: a served engine also serves the commands."""
    place = this_place()
    found = running(place)
    if found is not None and found[0].background:
        card, wire = found
        try:
            retire(card, wire, place, only_when_idle=True)
        finally:
            wire.close()


def _public(card: Reachable) -> dict[str, Any]:
    """Return what a program needs to speak to the engine."""
    wanted = ("transport", "uds", "host", "port", "base_url", "pid", "version", "started_at")
    return {name: getattr(card, name) for name in wanted}


def _describe_address(card: Reachable) -> str:
    if card.uds is not None:
        return f"Armarium answers on the Unix socket {card.uds}"
    return f"Armarium answers at {card.base_url}/docs"
