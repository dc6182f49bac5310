"""The verdicts on what is installed: kept by fingerprint, and reached by a process of its own for what is new.

A plugin may hang when it is imported, end its process, or crash it. So nothing of a distribution that has no verdict is
imported here: it is tried elsewhere first, with a time limit, and what spoils its trial is named by how far it came.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from platformdirs import user_data_dir

from armarium.admission.offers import Offer, package_stamp

log = logging.getLogger("armarium.plugins")

FILE = "plugin-trials.json"
SAID = "said.txt"
"""In the folder of a trial: what its process, and the plugins in it, wrote to stderr."""

FORMAT = 1
"""Of the file and of what a trial looks at; raising it has everything tried anew."""

SECONDS = 30.0
"""How long one part of a trial may take: an import, the tables, the routes."""

START_SECONDS = 120.0
"""How long the process may take to come up, which says nothing of any plugin."""

WITHOUT_PLUGINS_OF_PYDANTIC = "PYDANTIC_DISABLE_PLUGINS"
"""Set, pydantic does not read the entry points of everything installed, one of which that is malformed would stop it."""

Failed = dict[tuple[str, str], str]
"""Distribution and unit (`group:name`) to the sentence that says why it is not let in."""


class CannotTry(Exception):
    """The process of a trial does not come up here at all."""


class Trials:
    """The verdicts of one engine (or command), read from *file* and written back by `save`."""

    def __init__(self, file: Path | None, *, seconds: float = SECONDS) -> None:
        self.file = file
        self.seconds = seconds
        self._fresh: dict[str, dict[str, Any]] = {}

    @classmethod
    def of_environment(cls) -> Trials:
        """Those of this user's engine, found without its settings, which take time to load (`Settings.verdicts`)."""
        given = {name.upper(): value for name, value in os.environ.items()}
        named = given.get("SERVICE_PLUGIN_TRIALS")
        seconds = given.get("SERVICE_PLUGIN_TRIAL_SECONDS", "")
        state = given.get("SERVICE_STATE_DIR") or user_data_dir("armarium", appauthor=False)
        # A number that is none is refused by whoever reads the settings.
        return cls(
            Path(named) if named else Path(state) / FILE,
            seconds=float(seconds) if seconds.replace(".", "", 1).isdigit() else SECONDS,
        )

    def failed(self, offers: Sequence[Offer], *, trusting_ours: bool = False) -> Failed:
        """What of *offers* did not pass; what has no verdict is tried now.

        *trusting_ours*: what comes with Armarium counts as passed where it has no verdict yet.
        """
        sound = [offer for offer in offers if offer.fault is None]
        keys = _Keys(sound)
        kept = self._kept()
        wanted = [offer for offer in sound if not keys.fits(offer, kept.get(offer.key))]
        verdicts = {offer.key: dict(kept[offer.key]["failed"]) for offer in sound if offer not in wanted}
        if trusting_ours:
            wanted = [offer for offer in wanted if not offer.first_party]
        if wanted:
            log.info("trying %s", ", ".join(offer.key for offer in wanted))
            try:
                verdicts |= try_out(wanted, [o for o in sound if o not in wanted], verdicts, self.seconds)
            except CannotTry as error:
                log.warning("plugins cannot be tried here: %s", error)
                return self._untried(wanted, verdicts, error)
            for offer in wanted:
                self._note(offer, keys, verdicts[offer.key])
        return {(key, unit): why for key, found in verdicts.items() for unit, why in found.items()}

    def save(self) -> None:
        """Write down what was found, where the folder is there; one that takes no file has it tried again."""
        if not self._fresh or self.file is None or not self.file.parent.is_dir():
            return
        # Read again: another engine may have written meanwhile.
        verdicts = {**self._kept(), **self._fresh}
        try:
            with tempfile.NamedTemporaryFile(
                "w", dir=self.file.parent, prefix=f".{FILE}-", delete=False, encoding="utf-8"
            ) as written:
                json.dump({"format": FORMAT, "verdicts": verdicts}, written, ensure_ascii=False)
            os.replace(written.name, self.file)
        except OSError as error:
            log.info("the verdicts on plugins are not kept: %s", error)
            with contextlib.suppress(OSError, UnboundLocalError):
                os.unlink(written.name)
        self._fresh = {}

    def _note(self, offer: Offer, keys: _Keys, failed: dict[str, str]) -> None:
        # Ours are never held to have failed for good: a machine that was too busy once must not cost a family.
        if not (failed and offer.first_party):
            self._fresh[offer.key] = {"key": keys.of(offer, failed), "failed": failed}

    def _kept(self) -> dict[str, dict[str, Any]]:
        if self.file is None:
            return {}
        try:
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            if kept["format"] != FORMAT:
                return {}
            return {
                str(name): {
                    "key": str(one["key"]),
                    "failed": {str(k): str(v) for k, v in one["failed"].items()},
                }
                for name, one in kept["verdicts"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    @staticmethod
    def _untried(wanted: Iterable[Offer], verdicts: dict[str, dict[str, str]], error: CannotTry) -> Failed:
        why = f"It could not be tried before it is let in, and is left out: {error}"
        found = {(key, unit): said for key, failed in verdicts.items() for unit, said in failed.items()}
        for offer in wanted:
            if not offer.first_party:
                found |= {(offer.key, f"{e.group}:{e.name}"): why for e in offer.entries}
        return found


class _Keys:
    """What a verdict on an offer hangs on: its fingerprint, those of the offers it needs, the engine, the interpreter."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self._offers = {offer.key: offer for offer in offers}

    @cached_property
    def _engine(self) -> str:
        return "\n".join(
            [str(FORMAT), sys.version, *package_stamp("armarium"), *package_stamp("armarium_worker")]
        )

    @cached_property
    def _surroundings(self) -> str:
        """What else is installed, as far as the folders of the path tell: a fault may be cured by what is added there."""
        seen = []
        for place in sys.path:
            with contextlib.suppress(OSError):
                # Not the folder the program was started in, in which anything may change at any time.
                if place and os.path.isdir(place) and place != os.getcwd():
                    seen.append(f"{place} {os.stat(place).st_mtime_ns}")
        return "\n".join(seen)

    def of(self, offer: Offer, failed: dict[str, str]) -> str:
        """The key of a verdict on *offer*."""
        needed = self._needed(offer, set())
        parts = [self._engine, *(self._offers[key].fingerprint for key in sorted(needed))]
        if failed:
            parts.append(self._surroundings)
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _needed(self, offer: Offer, seen: set[str]) -> set[str]:
        seen.add(offer.key)
        for key in offer.requires:
            if key in self._offers and key not in seen:
                self._needed(self._offers[key], seen)
        return seen

    def fits(self, offer: Offer, kept: dict[str, Any] | None) -> bool:
        """Whether a verdict that was kept is still one on what is installed now."""
        return kept is not None and kept["key"] == self.of(offer, kept["failed"])


@dataclass
class _End:
    """How a trial's process ended: what it found, and where it came to grief when it did."""

    verdicts: dict[str, dict[str, str]] = field(default_factory=dict)
    refused: list[list[str]] = field(default_factory=list)
    others: list[list[str]] = field(default_factory=list)
    at: tuple[str, str] | None = None
    """The distribution and unit in hand when the process died; None when it came to its end."""
    how: str = ""
    together: bool = False
    """It died with several in hand."""


def try_out(
    wanted: Sequence[Offer],
    beside: Sequence[Offer],
    known: dict[str, dict[str, str]],
    seconds: float = SECONDS,
    path: Sequence[str] | None = None,
) -> dict[str, dict[str, str]]:
    """Each of *wanted* with what of it failed and why; *beside* are loaded with them, but for what *known* says failed.

    All are tried in one process. One that spoils it is tried alone; the others go on without it.
    """
    skip = {(key, unit): why for key, failed in known.items() for unit, why in failed.items()}
    found: dict[str, dict[str, str]] = {}
    left, passed, one_by_one = list(wanted), list(beside), False
    while left:
        end = _run(left, passed, skip, one_by_one, seconds, path)
        if end.at is None and not end.together:
            for offer in left:
                found[offer.key] = {**_of(skip, offer.key), **end.verdicts.get(offer.key, {})}
            return found
        if end.together and end.at is None:
            # Nobody can be named yet: let them be tried one after the other.
            if one_by_one:
                raise CannotTry(end.how)
            one_by_one = True
            continue
        assert end.at is not None
        key, _ = end.at
        suspect = next(offer for offer in wanted if offer.key == key)
        alone = end if left == [suspect] else _run([suspect], passed, skip, True, seconds, path)
        while alone.at is not None:
            skip[alone.at] = f"It {alone.how}"
            alone = _run([suspect], passed, skip, True, seconds, path)
        found[key] = {**_of(skip, key), **alone.verdicts.get(key, {})}
        skip |= {(key, one): why for one, why in found[key].items()}
        left.remove(suspect)
        passed.append(suspect)
    return found


@dataclass(frozen=True)
class Examined:
    """All that was found wrong with one distribution, for who writes it."""

    failed: dict[str, str]
    """Unit to what spoiled its trial."""
    refused: list[tuple[str, str]]
    """Plugin and why an engine refuses it."""
    others: list[tuple[str, str]]
    """Driver or command and what is wrong with it."""


def examine_offer(offer: Offer, beside: Sequence[Offer], seconds: float, path: Sequence[str]) -> Examined:
    """Try *offer* beside those installed, all that is wrong told: also what an engine would see by itself."""
    skip: Failed = {}
    while True:
        end = _run([offer], beside, skip, True, seconds, path)
        if end.at is None:
            break
        skip[end.at] = f"It {end.how}"
    if end.together:
        raise CannotTry(end.how)
    return Examined(
        {**_of(skip, offer.key), **end.verdicts.get(offer.key, {})},
        [(name, why) for name, why in end.refused],
        [(name, why) for name, why in end.others],
    )


def _of(skip: Failed, key: str) -> dict[str, str]:
    return {unit: why for (offer, unit), why in skip.items() if offer == key}


def _run(
    wanted: Sequence[Offer],
    beside: Sequence[Offer],
    skip: Failed,
    one_by_one: bool,
    seconds: float,
    path: Sequence[str] | None,
) -> _End:
    """One process: the events it told of, and how it ended."""
    places = [place for place in (path or sys.path) if place]
    asked = {
        "path": places,
        "wanted": [offer.key for offer in wanted],
        "beside": [offer.key for offer in beside],
        "skip": [list(one) for one in skip],
        "one_by_one": one_by_one,
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
                    return _End(event["done"], event["refused"], event["others"])
                end.at = (event["offer"], event["unit"]) if event.get("offer") else None
                end.together = end.at is None
                end.how = event["step"]
        if not started:
            lines = Path(folder, SAID).read_text(errors="replace").strip().split("\n")
            raise CannotTry(f"the process that tries it does not come up. {lines[-1][:300]}")
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
    """The process of a trial and what it tells, None at its end; it and what it started are gone after the block."""
    # The path is set before anything of ours is imported: what runs here is what runs there.
    program = (
        f"import sys; sys.path[:] = {asked['path']!r}; from armarium.admission.trial import main; main()"
    )
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
