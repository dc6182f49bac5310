"""The processes in which plugins are tried: started, listened to, stopped; and who is to blame when one fails.

A plugin may hang when it is imported, end its process, or crash it. So it is tried where that costs nothing, with a
time limit, and what breaks a trial is named with how far it got.
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

from armarium.engine_card import TRIAL_SECONDS
from armarium.plugins.offers import Offer

START_SECONDS = 120.0
"""Seconds the process may take to start, which says nothing about any plugin."""

WITHOUT_PLUGINS_OF_PYDANTIC = "PYDANTIC_DISABLE_PLUGINS"
"""When set, pydantic does not read the entry points of everything installed, one of which may be malformed."""

SAID = "said.txt"
"""File in the folder of a trial: what its process, and the plugins in it, wrote to stderr."""

TOGETHER, ONE_BY_ONE, IMPORT = "together", "one by one", "import"
"""How a trial proceeds: all at once where that passes; one after the other; or only importing."""

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
    """The distribution and unit in progress when it died; None also where several were."""
    importing: bool = False
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

    All are tried in one process. One that breaks it is tried alone; the others continue without it.
    """
    skip = {(key, unit): why for key, failed in known.items() for unit, why in failed.items()}
    found: dict[str, dict[str, str]] = {}
    left, passed, how = list(wanted), list(beside), TOGETHER
    while left:
        end = _run(left, passed, skip, how, seconds, path)
        for offer in [offer for offer in left if offer.key in end.verdicts]:
            found[offer.key] = {**_reasons_of(skip, offer.key), **end.verdicts[offer.key]}
            skip |= {(offer.key, unit): why for unit, why in found[offer.key].items()}
            left.remove(offer)
            passed.append(offer)
        if end.done:
            break
        if end.at is None:
            # Nobody can be blamed yet: try them one after the other.
            if how == ONE_BY_ONE:
                raise CannotTry(end.how)
            how = ONE_BY_ONE
            continue
        suspect = next((offer for offer in left if offer.key == end.at[0]), None)
        if suspect is None or left == [suspect] or _spoils_alone(suspect, end, passed, skip, seconds, path):
            skip[end.at] = f"It {end.how}"
            continue
        # It does so only together with others, who may be to blame: it is judged by itself.
        alone = _run([suspect], passed, skip, ONE_BY_ONE, seconds, path)
        if alone.at is not None:
            skip[alone.at] = f"It {alone.how}"
            continue
        found[suspect.key] = {**_reasons_of(skip, suspect.key), **alone.verdicts.get(suspect.key, {})}
        left.remove(suspect)
        passed.append(suspect)
    return {offer.key: found.get(offer.key, _reasons_of(skip, offer.key)) for offer in wanted}


def _spoils_alone(
    suspect: Offer,
    end: _End,
    passed: Sequence[Offer],
    skip: Failed,
    seconds: float,
    path: Sequence[str] | None,
) -> bool:
    """Return whether *suspect* breaks a trial of its own at the same place, where nobody else can be the cause."""
    if end.importing:
        return _run([suspect], [], skip, IMPORT, seconds, path).at == end.at
    return _run([suspect], passed, skip, ONE_BY_ONE, seconds, path).at == end.at


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
        end = _run([offer], beside, skip, ONE_BY_ONE, seconds, path)
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
    mode: str,
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
        "mode": mode,
    }
    end = _End()
    started = False
    with tempfile.TemporaryDirectory(prefix="armarium-trial-", ignore_cleanup_errors=True) as folder:
        with _process({**asked, "folder": folder}, folder) as (process, events):
            while True:
                limit = seconds if started else max(seconds, START_SECONDS)
                try:
                    event = events.get(timeout=limit)
                except queue.Empty:
                    end.how = f"took longer than {seconds:g} seconds {end.how}, and was stopped."
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
                end.importing = event["importing"]
                end.how = event["step"]
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
        with open(os.path.join(folder, SAID), "wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
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
