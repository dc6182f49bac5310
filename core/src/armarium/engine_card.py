"""The card of a running engine: how to reach it and what it runs. Uses only the standard library, so that it loads
fast.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

CARD = "engine.json"
LOG = "engine.log"
VERDICTS = "plugin-trials.json"
"""The file of the verdicts on plugins."""

TRIAL_SECONDS = 30.0
"""Seconds of processor time that one part of the trial of a plugin may use, and for which it may do nothing."""

LOCK = "serving.lock"
"""Locked by the engine that serves a state folder, from before it listens until its process ends."""

PREFIX = "SERVICE_"
OF_THE_PLACE = frozenset(
    {
        "STATE_DIR",
        "UDS",
        "HOST",
        "PORT",
        "OWNER_TOKEN",
        "ROTATE_TOKEN",
        "CORS_ORIGINS",
        "PUBLIC_URL",
        "OPEN_PROJECT",
        "REST_SECONDS",
        "PLUGIN_TRIALS",
        "PLUGIN_TRIAL_SECONDS",
    }
)
"""Settings that concern where an engine is, who may reach it and how long it idles; the others change what a command
gets.
"""


@dataclass(frozen=True)
class Reachable:
    """How to reach a running engine; written to `engine.json` in its state folder, readable by its user only."""

    transport: Literal["uds", "tcp"]
    uds: str | None
    host: str | None
    port: int | None
    base_url: str
    pid: int
    version: str
    started_at: str
    background: bool = False
    """Whether a command started it, so that it stops by itself and commands may replace it."""
    software: str = ""
    """The `fingerprint` of the installed software when it started."""
    sources: tuple[str, ...] = ()
    """Folders of code installed in place, for `fingerprint`."""
    asked: dict[str, str] = field(default_factory=dict)
    """The settings from its environment that make a difference, as they were spelled."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The values of those settings in effect."""


def read_card(state_dir: Path) -> Reachable | None:
    """Return the card in *state_dir*, whether or not its engine still runs; None when there is none or it cannot be
    read.
    """
    try:
        values = json.loads((state_dir / CARD).read_text(encoding="utf-8"))
        field_names = {part.name for part in fields(Reachable)}
        return Reachable(**{key: value for key, value in values.items() if key in field_names})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def running_engine(state_dir: Path) -> Reachable | None:
    """Return the engine that serves this state folder, or None. A card left behind by a killed engine is removed."""
    card = read_card(state_dir)
    if card is None or answers(card):
        return card
    forget(state_dir, card)
    return None


def answers(card: Reachable) -> bool:
    """Return whether something listens where *card* says."""
    try:
        if card.transport == "uds" and card.uds is not None:
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(2.0)
                probe.connect(card.uds)
        else:
            with socket.create_connection((card.host or "127.0.0.1", card.port or 0), timeout=2.0):
                pass
    except (OSError, ValueError):
        return False
    return True


def forget(state_dir: Path, card: Reachable) -> None:
    """Remove *card* when the one in the state folder is still that engine's."""
    with suppress(OSError, ValueError, AttributeError):
        if json.loads((state_dir / CARD).read_text(encoding="utf-8")).get("pid") == card.pid:
            (state_dir / CARD).unlink()


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return the state folder of an engine started with *environment*, as `Settings` determines it."""
    chosen = asked_for(environment).get("STATE_DIR")
    if chosen is not None:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_data_dir("armarium", appauthor=False))


def asked_for(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in *environment*, by their names without the prefix, which are case-insensitive."""
    return {
        name.upper().removeprefix(PREFIX): value
        for name, value in environment.items()
        if name.upper().startswith(PREFIX)
    }


def behaviour(environment: Mapping[str, str]) -> dict[str, str]:
    """Return those settings that make a difference to what a command gets."""
    return {name: value for name, value in sorted(asked_for(environment).items()) if name not in OF_THE_PLACE}


def fingerprint(sources: Iterable[str]) -> str:
    """Return a short text that changes with the software: the interpreter, what is installed, and code used in place."""
    stamps = [sys.version, sys.prefix]
    # The first entry is the script's folder or the current one, which is not part of the software.
    for folder in filter(None, sys.path):
        with suppress(OSError), os.scandir(folder) as inside:
            stamps += [_stamp(entry) for entry in inside if entry.name.endswith((".dist-info", ".egg-info"))]
    for folder in sources:
        with suppress(OSError), os.scandir(folder) as inside:
            stamps += [_stamp(entry) for entry in inside if entry.name.endswith(".py")]
    return hashlib.sha256("\n".join(sorted(stamps)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _stamp(entry: os.DirEntry[str]) -> str:
    return f"{entry.path} {entry.stat().st_mtime_ns}"


def code_in_place() -> tuple[str, ...]:
    """Return the folders of the loaded modules outside the interpreter's own folders: a checkout installed in place."""
    own = tuple({os.path.join(os.path.realpath(root), "") for root in (sys.prefix, sys.base_prefix)})
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    folders = {os.path.dirname(file) for file in files if isinstance(file, str) and file.endswith(".py")}
    return tuple(sorted(folder for folder in folders if not os.path.realpath(folder).startswith(own)))
