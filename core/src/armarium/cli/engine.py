"""Commands about the engine itself: serve, how it stands, stop it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armarium.cli.options import Topic
from armarium.cli.output import answer, table
from armarium.cli.refusals import Refused
from armarium.cli.session import Session, settings_of_this_user
from armarium.cli.shared_engine import GO_WAIT, retire, running, this_place, wait_until_gone

if TYPE_CHECKING:
    from armarium.reachable import Reachable

engine = typer.Typer(help="The engine that all commands share.", invoke_without_command=True)


def register(program: typer.Typer) -> None:
    """Add the commands."""
    program.command(rich_help_panel=Topic.engine, epilog="Example: armarium serve --port 8765")(serve)
    program.add_typer(engine, name="engine", rich_help_panel=Topic.engine, epilog="Example: armarium engine")


def serve(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0: any that is free.")
    ] = None,
    uds: Annotated[str | None, typer.Option(help="Listen on this Unix socket instead.")] = None,
    background: Annotated[bool, typer.Option("--background", hidden=True)] = False,
) -> None:
    """Run the engine until it is told to stop."""
    from armarium.serving import serve as run_server
    from armarium.serving import write_to_log

    changes: dict[str, object] = {}
    if port is not None:
        changes["port"] = port
    if uds is not None:
        changes["uds"] = Path(uds).absolute()
    settings = settings_of_this_user().model_copy(update=changes)
    logging.getLogger("armarium").setLevel(logging.WARNING)
    if background:
        run_server(settings, on_ready=lambda card: write_to_log(settings.state_dir), background=True)
        return
    _take_the_place_of_one_at_rest()
    run_server(settings, on_ready=lambda card: answer(_public(card), _where(card)))


def _take_the_place_of_one_at_rest() -> None:
    """Have an engine in the background go that has nothing to do: who serves, serves for the commands too."""
    place = this_place()
    found = running(place)
    if found is not None and found[0].background:
        card, wire = found
        try:
            retire(card, wire, place, only_when_idle=True)
        finally:
            wire.close()


def _public(card: Reachable) -> dict[str, Any]:
    """What a program needs that is to speak to the engine."""
    wanted = ("transport", "uds", "host", "port", "base_url", "pid", "version", "started_at")
    return {name: getattr(card, name) for name in wanted}


def _where(card: Reachable) -> str:
    if card.uds is not None:
        return f"Armarium answers on the Unix socket {card.uds}"
    return f"Armarium answers at {card.base_url}/docs"


@engine.callback()
def show_engine(context: typer.Context) -> None:
    """The engine that all commands share: whether it runs, what it works on, why it stays."""
    if context.invoked_subcommand is not None:
        return
    place = this_place()
    found = running(place)
    if found is None:
        answer(
            {"running": False, "state_dir": str(place.state_dir)},
            "No engine is running; the next command that needs one starts it.",
        )
        return
    session = Session(found[1], None, True)
    standing = {"running": True, **session.get("/api/engine")}
    session.wire.close()
    answer(standing, lambda: _show(standing))


def _show(standing: dict[str, Any]) -> None:
    how = {"background": "in the background", "serving": "serving", "embedded": "inside another program"}
    rows: list[tuple[object, object]] = [
        ("runs", f"{how[standing['mode']]}, process {standing['pid']}"),
        ("version", standing["version"]),
        ("since", standing["started_at"][:19].replace("T", " ") + " UTC"),
        ("projects open", "\n".join(standing["projects"]) or "none"),
        ("work going on", "\n".join(standing["work"]) or "none"),
        ("stays", standing["stays_because"]),
        ("state", standing["state_dir"]),
    ]
    if standing["log"]:
        rows.append(("log", standing["log"]))
    table("The engine", ("", ""), rows)


@engine.command("stop", epilog="Example: armarium engine stop")
def stop_engine() -> None:
    """Stop it after the items in hand; work that is left goes on with the next command on its project."""
    place = this_place()
    found = running(place)
    if found is None:
        answer({"stopped": False}, "No engine is running.")
        return
    card, wire = found
    session = Session(wire, None, True)
    said = session.post("/api/engine/stop", {})
    wire.close()
    if said["in_hand"]:
        typer.echo(f"It finishes what it has in hand first: {'; '.join(said['in_hand'])}.", err=True)
    try:
        wait_until_gone(card, place, None if said["in_hand"] else GO_WAIT)
    except KeyboardInterrupt as stopped:
        raise Refused("Stopped waiting; the engine stops all the same.", ends_with=130) from stopped
    left = [Path(path).stem for path in said["carry_on"]]
    words = f" Work is left in {', '.join(left)}; the next command on it goes on with that." if left else ""
    answer(
        {"stopped": True, "pid": card.pid, "carry_on": said["carry_on"]}, f"The engine has stopped.{words}"
    )
