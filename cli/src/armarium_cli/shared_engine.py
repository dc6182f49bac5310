"""The engine that all commands share: found by its card, started in the background, replaced when it does not fit; or one
elsewhere, where the environment names it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from armarium.client import (
    LOCK,
    Reachable,
    __version__,
    asked_for,
    behaviour,
    fingerprint,
    read_card,
    running_engine,
    state_folder,
)
from armarium_cli.options import global_options
from armarium_cli.output import tell_if_slow
from armarium_cli.refusals import Refused
from armarium_cli.user_settings import settings_of_this_user
from armarium_cli.wire import Wire

if TYPE_CHECKING:
    from armarium_cli.wire import Wire

STALLED = 120.0
"""Seconds for which a starting engine may do nothing. How long it takes to start depends on the machine, and on the
plugins it tries."""

LOOK_EVERY = 1.0
"""Seconds between two looks at what a starting engine does."""

STARTING = "The engine is starting; the first start after an installation takes longest."

GO_WAIT = 15.0
"""Seconds an idle engine may take to stop."""

HANDSHAKE_WAIT = 5.0
"""Seconds within which an engine that accepts a connection answers, or removes its card because it is stopping."""

START = [sys.executable, "-P", "-c", "from armarium_cli import main; main()", "serve", "--background"]
"""The program itself, without the current folder on the module search path."""

URL, TOKEN = "ARMARIUM_URL", "ARMARIUM_TOKEN"
"""The address of an engine elsewhere, and a token for it."""

NO_BACKGROUND = "ARMARIUM_NO_BACKGROUND"
OF_ONE_COMMAND = ("ARMARIUM_LIBRARY", "ARMARIUM_JSON", "SERVICE_UDS", "SERVICE_HOST", "SERVICE_PORT")
"""Variables that concern the command or another way to listen; the background engine is started without them."""


@dataclass(frozen=True)
class Place:
    """Where this user's engine is and which settings are requested, from the environment alone."""

    state_dir: Path
    environment: Mapping[str, str] = field(repr=False)

    @property
    def owner_token(self) -> str:
        """Return the token from the environment, else the one in the engine's state folder."""
        token = asked_for(self.environment).get("OWNER_TOKEN")
        if token:
            return token
        try:
            return (self.state_dir / "owner-token").read_text(encoding="ascii").strip()
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is damaged"
            raise Refused(f"The owner token in {self.state_dir} cannot be read: {why}.") from error


def this_place() -> Place:
    """Return the place that this process's environment names, with full paths: the engine runs in another folder."""
    environment = {
        name: ":".join(os.path.abspath(root) for root in value.split(":") if root)
        if name.upper() == "SERVICE_LIBRARY_ROOTS"
        else value
        for name, value in os.environ.items()
    }
    return Place(state_folder(environment).absolute(), environment)


def wants_foreground() -> bool:
    """Return whether the command is to run without a background engine."""
    return global_options().foreground or os.environ.get(NO_BACKGROUND, "0") not in ("", "0")


def wire_to(place: Place, *, uds: str | None, base_url: str) -> Wire:
    """Return a connection to an engine, as its owner."""
    return _wire(place.owner_token, uds=uds, base_url=base_url)


def _wire(token: str, *, uds: str | None = None, base_url: str) -> Wire:
    headers = {"Authorization": f"Bearer {token}", "X-Service-Client": "command line"}
    return Wire(uds=uds, base_url=base_url, headers=headers)


def running(place: Place) -> tuple[Reachable, Wire] | None:
    """Return the engine that serves *place* and answers, whatever its settings; None when there is none.

    The request also keeps the engine from shutting down the moment after.
    """
    from http.client import HTTPException

    deadline = time.monotonic() + HANDSHAKE_WAIT
    why: object = None
    while True:
        card = running_engine(place.state_dir)
        if card is None:
            return None
        wire = wire_to(place, uds=card.uds, base_url=card.base_url)
        try:
            status, _ = wire.request("GET", "/api/health")
            if status < 500:
                return card, wire
        except (OSError, HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        # An engine that is stopping closes connections it accepted, and removes its card a moment later.
        wire.close()
        if time.monotonic() > deadline:
            raise Refused(
                f"The engine does not answer ({why or 'it says it is stopping'}). Is it still running?"
            )
        time.sleep(0.05)


def engine_elsewhere() -> str | None:
    """Return the address of the engine that the environment names instead of one of this machine; raises Refused for one
    to which the token would go unprotected, or that SERVICE_LOCAL_ONLY forbids.
    """
    url = os.environ.get(URL, "").rstrip("/")
    if not url:
        return None
    place = urlsplit(url)
    here = place.hostname in ("localhost", "127.0.0.1", "::1")
    if not place.hostname or place.path or place.scheme not in (("http", "https") if here else ("https",)):
        raise Refused(f"{URL} is {url!r}; it names an engine as https://archive.example does.")
    if not here and "LOCAL_ONLY" in asked_for(os.environ) and settings_of_this_user().local_only:
        raise Refused(f"{URL} names another machine, and SERVICE_LOCAL_ONLY keeps commands on this one.")
    return url


def wire_elsewhere(url: str) -> Wire:
    """Return a connection to the engine at *url*, with the token from the environment."""
    if not os.environ.get(TOKEN):
        raise Refused(f"{TOKEN} is not set: a token for the engine at {url}, made there by armarium token.")
    return _wire(os.environ[TOKEN], base_url=url)


def connect_shared(place: Place) -> Wire | None:
    """Return a connection to the shared engine, started when there is none; None when the command runs without."""
    elsewhere = engine_elsewhere()
    if elsewhere is not None:
        return wire_elsewhere(elsewhere)
    engine = running(place)
    foreground = wants_foreground()
    carry_on: list[str] = []
    if engine is not None:
        card, wire = engine
        paths = None if _fits(card, place, foreground) else _part_with(card, wire, place, foreground)
        if paths is None:
            return wire
        wire.close()
        carry_on = paths
    if foreground:
        return None
    wire = start(place)
    for path in carry_on:
        from urllib.parse import quote

        # Once opened, its jobs resume by themselves; a project that cannot be opened is reported to the command that
        # names it.
        wire.request(
            "GET", "/api/library/settings", headers={"X-Service-Library-Path": quote(path, safe="/")}
        )
    return wire


def _fits(card: Reachable, place: Place, foreground: bool) -> bool:
    """Return whether the engine of *card* fits this command, as far as its card says."""
    settings = behaviour(place.environment)
    is_same_engine = (
        card.asked == settings if card.background else not settings or settings.items() <= card.asked.items()
    )
    return is_same_engine and not (foreground and card.background) and not _is_outdated(card)


def _is_outdated(card: Reachable) -> bool:
    return card.version != __version__ or bool(card.software and card.software != fingerprint(card.sources))


def _part_with(card: Reachable, wire: Wire, place: Place, foreground: bool) -> list[str] | None:
    """Stop an engine that does not fit; return the projects whose work its successor continues. None: it is used all
    the same.

    An engine that a person serves is never stopped. A background engine with other settings is stopped when idle; one
    of older software also finishes the items in progress first.
    """
    differing = _differing(card, place)
    if _is_outdated(card):
        if not card.background:
            print(
                f"The engine that serves here (process {card.pid}, version {card.version}) was started before the "
                "software was changed; stop it and start it again to use what is installed now.",
                file=sys.stderr,
            )
            return None if not differing else _refuse(card, differing)
        return retire(card, wire, place)
    if not card.background:
        return _refuse(card, differing) if differing else None
    if not foreground and not differing and card.settings == settings_of_this_user().behaviour():
        return None
    try:
        return retire(card, wire, place, only_when_idle=True)
    except Refused as refused:
        if refused.body.get("code") != "at_work":
            raise
        if foreground or differing:
            asked_how = "in the foreground" if foreground else f"with {', '.join(differing)}"
            raise Refused(
                {
                    **refused.body,
                    "detail": f"This command is to run {asked_how}, but the engine in the background is at work: "
                    f"{'; '.join(refused.body.get('work', []))}. Wait until it is done (armarium jobs --watch), or stop "
                    "it after its item in progress (armarium engine stop).",
                }
            ) from refused
        return None


def _refuse(card: Reachable, differing: list[str]) -> list[str]:
    raise Refused(
        {
            "detail": f"This command is to run with {', '.join(differing)}, but the engine that serves here (process "
            f"{card.pid}) was started otherwise. Stop that one first, or leave the setting out.",
            "code": "other_settings",
        }
    )


def _differing(card: Reachable, place: Place) -> list[str]:
    """Return the settings given for this command that the engine does not have, as they were spelled."""
    settings = behaviour(place.environment)
    if all(card.asked.get(name) == value for name, value in settings.items()):
        return []
    effective = settings_of_this_user().behaviour()
    return [
        f"SERVICE_{name}={value}"
        for name, value in settings.items()
        if name.lower() in effective and card.settings.get(name.lower()) != effective[name.lower()]
    ]


def retire(card: Reachable, wire: Wire, place: Place, *, only_when_idle: bool = False) -> list[str]:
    """Stop an engine after its items in progress, wait for its end, and return the projects whose work is to be
    continued.
    """
    status, answer = wire.request("POST", "/api/engine/stop", body={"only_when_idle": only_when_idle})
    stopping: dict[str, Any] = json.loads(answer)
    if status >= 400:
        raise Refused(stopping, status=status)
    if stopping["in_hand"]:
        print(
            f"The engine finishes the items in progress first: {'; '.join(stopping['in_hand'])}.",
            file=sys.stderr,
        )
    wait_until_gone(card, place, None if stopping["in_hand"] else GO_WAIT)
    paths: list[str] = stopping["carry_on"]
    return paths


def wait_until_gone(card: Reachable, place: Place, seconds: float | None) -> None:
    """Wait until the process of *card* has released its state folder; raises Refused after *seconds*."""
    from filelock import FileLock, Timeout

    lock = FileLock(place.state_dir / LOCK, thread_local=False)
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        card_now = read_card(place.state_dir)
        if card_now is not None and card_now.pid != card.pid:
            return
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if deadline is not None and time.monotonic() > deadline:
                raise Refused(
                    f"The engine (process {card.pid}) was asked to stop and is still there; armarium engine shows why."
                ) from None
            time.sleep(0.05)
            continue
        lock.release()
        return


def start(place: Place) -> Wire:
    """Start the engine in the background, or use one that another command started meanwhile; return a connection."""
    environment = {
        name: value for name, value in place.environment.items() if name.upper() not in OF_ONE_COMMAND
    }
    environment |= {"SERVICE_STATE_DIR": str(place.state_dir), "ARMARIUM_JSON": "1"}
    with tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(
            START,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
        from armarium.client import Effort

        effort, looked, idle = Effort(child.pid), time.monotonic(), 0.0
        with tell_if_slow(STARTING):
            while idle < STALLED:
                ended = child.poll() is not None
                if running_engine(place.state_dir) is not None:
                    engine = running(place)
                    if engine is not None:
                        # It outlives this command, so nothing waits for the process.
                        child.returncode = 0 if child.returncode is None else child.returncode
                        return engine[1]
                if ended:
                    refusal = _refusal(stderr)
                    if refusal.body.get("code") != "already_serving":
                        raise refusal
                if time.monotonic() - looked >= LOOK_EVERY:
                    looked, idle = time.monotonic(), effort.look()
                time.sleep(0.01)
        child.kill()
        raise Refused(
            f"The engine did not start: for {STALLED:.0f} seconds it has done nothing. "
            f"Its last word: {_last_line(stderr) or 'none'}. armarium serve starts it where you can watch it."
        )


def _refusal(stderr: IO[bytes]) -> Refused:
    """Return why an engine did not start, from the last line of its log."""
    last = _last_line(stderr)
    try:
        body = json.loads(last)
    except ValueError:
        body = None
    if isinstance(body, dict) and body.get("detail"):
        return Refused(body)
    return Refused(f"The engine did not start: {last or 'it gave no reason'}")


def _last_line(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    return stderr.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
