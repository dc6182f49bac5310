"""The processes in which plugins are tried: started, listened to, stopped; and who is to blame when one fails.

A plugin may hang when it is imported, end its process, or crash it. So it is tried where that costs nothing, and what
breaks a trial is named with how far it got. What a part of a trial may take is counted in processor time, and a hang is
known by doing nothing: on a busy machine a trial takes longer and gives the same verdict.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from armarium.effort import Effort
from armarium.engine_card import TRIAL_SECONDS
from armarium.plugins.offers import Offer, unit_of

LOOK_EVERY = 0.25
"""Seconds between two looks at a process that reports nothing."""

WITHOUT_PLUGINS_OF_PYDANTIC = "PYDANTIC_DISABLE_PLUGINS"
"""When set, pydantic does not read the entry points of everything installed, one of which may be malformed."""

SAID = "said.txt"
"""File in the folder of a trial: what its process, and the plugins in it, wrote to stderr."""

Failed = dict[tuple[str, str], str]
"""Distribution and unit (`group:name`) to the sentence that says why it is refused."""


class CannotTry(Exception):
    """The trial process does not start here at all."""


@dataclass
class Examination:
    """What a trial process found, and where it failed when it did."""

    failed: dict[str, dict[str, str]] = field(default_factory=dict)
    """By distribution and unit, what did not pass."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Plugin and why an engine refuses it."""
    others: list[tuple[str, str]] = field(default_factory=list)
    """Driver or command and its fault."""
    done: bool = False
    """Whether it finished."""
    at: tuple[str, str] | None = None
    """The distribution and unit in progress when it died; None while the engine itself was loaded."""
    how: str = ""


def try_out(
    offers: Sequence[Offer],
    beside: Sequence[Offer],
    known: dict[str, dict[str, str]],
    seconds: float = TRIAL_SECONDS,
    path: Sequence[str] | None = None,
) -> dict[str, dict[str, str]]:
    """Return for each of *offers* what of it failed and why; *beside* are loaded with them, except what failed
    according to *known*.

    All are tried in one process. If one breaks it, each is tried alone beside those that came through before it, since
    another may be to blame.
    """
    skip = {(key, unit): why for key, failed in known.items() for unit, why in failed.items()}
    together = _run(offers, beside, skip, seconds, path)
    if together.done:
        return {offer.key: together.failed.get(offer.key, {}) for offer in offers}
    for number, offer in enumerate(offers):
        examine_offer(offer, [*beside, *offers[:number]], seconds, path, skip)
    return {offer.key: _reasons_of(skip, offer.key) for offer in offers}


def examine_offer(
    offer: Offer,
    beside: Sequence[Offer],
    seconds: float,
    path: Sequence[str] | None = None,
    skip: Failed | None = None,
) -> Examination:
    """Try *offer* together with those installed, without what is in *skip*, to which its own failures are added; return all
    its faults, including those an engine would see by itself.
    """
    skip = {} if skip is None else skip
    units = {(offer.key, unit_of(entry)) for entry in offer.entries}
    while not units <= skip.keys():
        end = _run([offer], beside, skip, seconds, path)
        if end.done:
            break
        if end.at is None:
            raise CannotTry(end.how)
        skip[end.at] = f"It {end.how}"
    else:
        end = Examination()
    skip.update({(offer.key, unit): why for unit, why in end.failed.get(offer.key, {}).items()})
    end.failed[offer.key] = _reasons_of(skip, offer.key)
    return end


def _reasons_of(skip: Failed, key: str) -> dict[str, str]:
    return {unit: why for (offer, unit), why in skip.items() if offer == key}


def _run(
    offers: Sequence[Offer],
    beside: Sequence[Offer],
    skip: Failed,
    seconds: float,
    path: Sequence[str] | None,
) -> Examination:
    """Run one process; return what it reported, and how it ended."""
    places = [place for place in (path or sys.path) if place]
    request = {
        "path": places,
        "wanted": [offer.key for offer in offers],
        "beside": [offer.key for offer in beside],
        "skip": [list(pair) for pair in skip],
    }
    end = Examination()
    started = False
    with tempfile.TemporaryDirectory(prefix="armarium-trial-", ignore_cleanup_errors=True) as folder:
        with _process({**request, "folder": folder}, folder) as (process, events):
            effort = Effort(process.pid)
            used_before = 0.0
            while True:
                try:
                    event = events.get(timeout=LOOK_EVERY)
                except queue.Empty:
                    idle = effort.look()
                    if idle >= seconds:
                        end.how = f"did nothing for {seconds:g} seconds {end.how}, and was stopped."
                    elif effort.used - used_before >= seconds:
                        end.how = f"took longer than {seconds:g} seconds {end.how}, and was stopped."
                    else:
                        continue
                    break
                if event is None:
                    end.how = f"ended the process {end.how} ({_ending(process)})."
                    break
                started = True
                if "failed" in event:
                    return Examination(**event, done=True)
                end.at = (event["offer"], event["unit"]) if event["offer"] else None
                end.how = event["step"]
                effort.look()
                used_before = effort.used
        if not started:
            lines = Path(folder, SAID).read_text(errors="replace").strip().split("\n")
            raise CannotTry(f"the process that tries it does not start. {lines[-1][:300]}")
    return end


def _ending(process: subprocess.Popen[bytes]) -> str:
    with contextlib.suppress(subprocess.TimeoutExpired):
        code = process.wait(5)
        if code < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-code).name
        return f"exit code {code}"
    return "no exit code"


@contextlib.contextmanager
def _process(
    asked: dict[str, Any], folder: str
) -> Iterator[tuple[subprocess.Popen[bytes], queue.Queue[dict[str, Any] | None]]]:
    """The process of a trial and the events it reports, None at its end; it and what it started are gone after the
    block.
    """
    # The path is set before anything of ours is imported: what runs here is what runs there.
    program = f"import sys; sys.path[:] = {asked['path']!r}; from armarium.plugin_trial import main; main()"
    environment = {
        name: value for name, value in os.environ.items() if not name.upper().startswith("SERVICE_")
    }
    environment[WITHOUT_PLUGINS_OF_PYDANTIC] = "__all__"
    try:
        with open(os.path.join(folder, SAID), "wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
    except OSError as error:
        raise CannotTry(error.strerror or str(error)) from error
    events: queue.Queue[dict[str, Any] | None] = queue.Queue()
    assert process.stdin is not None
    assert process.stdout is not None

    def listen(lines: Any) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in lines:
                events.put(json.loads(line))
        events.put(None)

    listener = threading.Thread(target=listen, args=(process.stdout,), daemon=True)
    listener.start()
    try:
        with contextlib.suppress(OSError):
            process.stdin.write(json.dumps(asked).encode())
            process.stdin.close()
        yield process, events
    finally:
        _stop(process)
        listener.join(1)
        process.stdout.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    deadline = time.monotonic() + 5
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
