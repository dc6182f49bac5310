"""Commands about the engine itself: show its state, stop it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from armarium_cli.declared import Commands
from armarium_cli.options import Topic
from armarium_cli.output import answer, table
from armarium_cli.refusals import Refused
from armarium_cli.session import Session
from armarium_cli.shared_engine import GO_WAIT, running, this_place, wait_until_gone

commands = Commands(Topic.engine)
engine = commands.group("engine", "The engine that all commands share.", example="engine")


@engine.callback()
def show_engine(context: typer.Context) -> None:
    """Show the engine that all commands share: whether it runs, what it works on, why it stays up."""
    if context.invoked_subcommand is not None:
        return
    place = this_place()
    connection = running(place)
    if connection is None:
        answer(
            {"running": False, "state_dir": str(place.state_dir)},
            "No engine is running; the next command that needs one starts it.",
        )
        return
    session = Session(connection[1], None, True)
    standing = {"running": True, **session.get("/api/engine")}
    session.wire.close()
    answer(standing, lambda: _show(standing))


def _show(standing: dict[str, Any]) -> None:
    mode_words = {
        "background": "in the background",
        "serving": "serving",
        "embedded": "inside another program",
    }
    rows: list[tuple[object, object]] = [
        ("runs", f"{mode_words[standing['mode']]}, process {standing['pid']}"),
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


@engine.example("stop")
def stop_engine() -> None:
    """Stop the engine after the items in progress; remaining work continues with the next command on its project."""
    place = this_place()
    connection = running(place)
    if connection is None:
        answer({"stopped": False}, "No engine is running.")
        return
    card, wire = connection
    session = Session(wire, None, True)
    stopping = session.post("/api/engine/stop", {})
    wire.close()
    if stopping["in_hand"]:
        typer.echo(f"It finishes the items in progress first: {'; '.join(stopping['in_hand'])}.", err=True)
    try:
        wait_until_gone(card, place, None if stopping["in_hand"] else GO_WAIT)
    except KeyboardInterrupt as stopped:
        raise Refused("Stopped waiting; the engine stops all the same.", ends_with=130) from stopped
    names = [Path(path).stem for path in stopping["carry_on"]]
    words = f" Work is left in {', '.join(names)}; the next command on it continues that." if names else ""
    answer(
        {"stopped": True, "pid": card.pid, "carry_on": stopping["carry_on"]},
        f"The engine has stopped.{words}",
    )
