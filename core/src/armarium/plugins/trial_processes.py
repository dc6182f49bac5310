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
from armarium.plugins.offers import Offer

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
class _End:
    """How a trial process ended: its findings, and where it failed when it did."""

    verdicts: dict[str, dict[str, str]] = field(default_factory=dict)
    refused: list[list[str]] = field(default_factory=list)
    others: list[list[str]] = field(default_factory=list)
    done: bool = False
    """Whether it finished."""
    at: tuple[str, str] | None = None
    """The distribution and unit in progress when it died; None while the engine itself was loaded."""
    how: str = ""


def try_out(
    wanted: Sequence[Offer],
    beside: Sequence[Offer],
    known: dict[str, dict[str, str]],
    seconds: float = TRIAL_SECONDS,
    path: Sequence[str] | None = None,
) -> dict[str, dict[str, str]]:
    """Return for each of *wanted* what of it failed and why; *beside* are loaded with them, except what failed
    according to *known*.

    All are tried in one process. One that breaks it is tried alone, since another may be to blame; the others continue
    without it.
    """
    skip = {(key, unit): why for key, failed in known.items() for unit, why in failed.items()}
    found: dict[str, dict[str, str]] = {}
    left, passed = list(wanted), list(beside)

    def run(trying: list[Offer]) -> _End:
        end = _run(trying, passed, skip, seconds, path)
        for offer in [offer for offer in trying if offer.key in end.verdicts]:
            found[offer.key] = {**_reasons_of(skip, offer.key), **end.verdicts[offer.key]}
            skip.update({(offer.key, unit): why for unit, why in found[offer.key].items()})
            left.remove(offer)
            passed.append(offer)
        return end

    while left:
        end = run(list(left))
        suspects = [offer for offer in left if end.at is not None and offer.key == end.at[0]]
        if suspects and len(left) > 1:
            end = run(suspects)
        if end.at is not None:
            skip[end.at] = f"It {end.how}"
        elif not end.done:
            raise CannotTry(end.how)
    return {offer.key: found[offer.key] for offer in wanted}


@dataclass(frozen=True)
class Examination:
    """All faults found in one distribution, for its author."""

    failed: dict[str, str]
    """Unit to what broke its trial."""
    refused: list[tuple[str, str]]
    """Plugin and why an engine refuses it."""
    others: list[tuple[str, str]]
    """Driver or command and its fault."""


def examine_offer(offer: Offer, beside: Sequence[Offer], seconds: float, path: Sequence[str]) -> Examination:
    """Try *offer* together with those installed and return all its faults, including those an engine would see by
    itself.
    """
    skip: Failed = {}
    while True:
        end = _run([offer], beside, skip, seconds, path)
        if end.at is None:
            break
        skip[end.at] = f"It {end.how}"
    if not end.done:
        raise CannotTry(end.how)
    return Examination(
        {**_reasons_of(skip, offer.key), **end.verdicts.get(offer.key, {})},
        [(name, why) for name, why in end.refused],
        [(name, why) for name, why in end.others],
    )


def _reasons_of(skip: Failed, key: str) -> dict[str, str]:
    return {unit: why for (offer, unit), why in skip.items() if offer == key}


def _run(
    wanted: Sequence[Offer],
    beside: Sequence[Offer],
    skip: Failed,
    seconds: float,
    path: Sequence[str] | None,
) -> _End:
    """Run one process; return the events it reported, and how it ended."""
    places = [place for place in (path or sys.path) if place]
    asked = {
        "path": places,
        "wanted": [offer.key for offer in wanted],
        "beside": [offer.key for offer in beside],
        "skip": [list(one) for one in skip],
    }
    end = _End()
    started = False
    with tempfile.TemporaryDirectory(prefix="armarium-trial-", ignore_cleanup_errors=True) as folder:
        with _process({**asked, "folder": folder}, folder) as (process, events):
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
                if "done" in event:
                    return _End(event["done"], event["refused"], event["others"], done=True)
                if "judged" in event:
                    end.verdicts[event["judged"]] = event["failed"]
                    continue
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
    environment = {k: v for k, v in os.environ.items() if not k.upper().startswith("SERVICE_")}
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
