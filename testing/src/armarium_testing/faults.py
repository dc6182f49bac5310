"""Kills and disk faults: run a workload in a forked process, kill it or fail its disk, open what is left and check it.

    python -m armarium_testing.faults MODULE:NAME FOLDER [--random N] [--every N] [--errors N] [--first N]
           [--seed S]

`MODULE:NAME` names a `Workload`. Imports are paid once; each round is a fork on a fresh copy of the starting state.
Random kills come after a random time; `--every` kills at every N-th write, sync or rename; `--errors` makes every N-th
of those fail with a full disk, an I/O error and a read-only disk instead. The last two preload `fault_shim.c` and need
a C compiler. Prints one JSON object; `faults` empty means that nothing was lost, doubled or left half-written.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium.settings import Settings
from armarium_testing.shim import (
    COUNT,
    FAIL_FROM,
    FAIL_ONCE,
    KILL,
    OFF,
    arm_shim,
    build_shim,
    calls_seen,
    compare_when_refused,
    make_room,
)

RESTART_LIMIT = 5.0
"""Processor seconds an engine may need to open what a kill left; wall-clock time would also depend on other load."""

Say = Callable[[str], None]


def _as_it_lies(place: Path) -> None:
    return None


@dataclass(frozen=True)
class Opening:
    """One way in which the state after a kill is opened; each gets a copy of it, at the same path."""

    name: str
    open: Callable[[Engine, Path], Library] | None = None
    """Opens the projects in the order under test, returns the one to check; None opens the one that was worked on."""
    before: Callable[[Path], None] = _as_it_lies
    """What is done to the files before an engine opens them."""
    check: Callable[[Engine, Library, Path, list[str]], list[str]] | None = None
    """Checks that replace the workload's `finish` and `check`."""
    every: int = 1
    """This way is tried after the first kill, and after every so many."""


@dataclass(frozen=True)
class Workload:
    """Work to be interrupted. All functions are called in forked processes with an engine of their own."""

    plugins: Callable[[], Sequence[Plugin] | None]
    """The plugins of the engine; None for every installed one."""
    prepare: Callable[[Engine, Library, Path], None]
    """Sets up the starting state, once; the folder is for files that the work needs."""
    work: Callable[[Engine, Library, Path, Say], None]
    """The work; calls `say` with a word once something is acknowledged and must survive."""
    check: Callable[[Engine, Library, Path, list[str]], list[str]]
    """Checks the state after the kill, given the words that were said; returns sentences about faults."""
    finish: Callable[[Engine, Library, Path], None] | None = None
    """Completes the work before `check` (jobs that resume from a checkpoint)."""
    openings: tuple[Opening, ...] = (Opening(""),)
    """The ways in which the state after a kill is opened, each after every kill or a sample of them."""


@dataclass
class Report:
    """The result of a run of kills."""

    kills: int = 0
    errors: int = 0
    refused_in_words: int = 0
    slowest_restart: float = 0.0
    """Wall-clock seconds."""
    dearest_restart: float = 0.0
    """Processor seconds."""
    faults: list[str] = field(default_factory=list)


class Striker:
    """Runs one workload and interrupts it, in *folder*."""

    last_words_count = True
    """Whether the words said between the interruption and the end of the process were acknowledged."""

    def __init__(self, workload: Workload, folder: Path, *, seed: int = 0) -> None:
        self.workload = workload
        self.folder = folder
        self.random = random.Random(seed)
        self.report = Report()
        self.looked_over = 0
        self.ground = folder / "ground"
        folder.mkdir(parents=True, exist_ok=True)
        # An engine is created and thrown away here, so that what it imports is loaded in every fork.
        Engine(Settings(state_dir=folder / "unused"), plugins=workload.plugins())
        self._in_child(lambda say: self._prepare())
        self._import_ahead()

    def _engine(
        self, place: Path, open_first: Callable[[Engine, Path], Library] | None = None
    ) -> tuple[Engine, Library]:
        settings = Settings(
            state_dir=place / "state",
            library_roots=[self.folder],
            owner_token="a-token-for-tests-of-kills-0123456789",
        )
        engine = Engine(settings, plugins=self.workload.plugins())
        engine.start(jobs=False)
        if open_first is not None:
            return engine, open_first(engine, place)
        package = place / "Struck.library"
        if not package.exists():
            engine.run(None, "library.create", {"path": str(package)}, LOCAL_OWNER)
        return engine, engine.libraries.get(package)

    def _import_ahead(self) -> None:
        """Import what the work imports on first use; otherwise every fork would do so."""

        def name_modules(say: Say) -> None:
            here = set(sys.modules)
            self._work(self._copy())(lambda word: None)
            for name in set(sys.modules) - here:
                say(name)

        words, _, _ = self._in_child(name_modules)
        for name in words:
            # Some modules exist only inside others; a failing import shows again in the work itself.
            with suppress(Exception):
                importlib.import_module(name)
        gc.collect()
        gc.freeze()

    def _prepare(self) -> None:
        # All rounds use the same folder, so that stored paths, in the registry for example, are right in each.
        place = self.folder / "round"
        place.mkdir()
        engine, library = self._engine(place)
        self.workload.prepare(engine, library, place)
        engine.close()
        place.rename(self.ground)

    def _copy(self) -> Path:
        place = self.folder / "round"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.ground, place)
        return place

    def _in_child(
        self, work: Callable[[Say], None], *, kill_after: float | None = None
    ) -> tuple[list[str], int, float]:
        """Run *work* in a fork, killed after *kill_after* seconds; return its words, exit status and duration."""
        reader, writer = os.pipe()
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            os.close(reader)
            status = 0

            def say(word: str) -> None:
                os.write(writer, word.encode() + b"\n")

            try:
                work(say)
            except BaseException as error:
                os.write(writer, f"!{type(error).__name__}: {error}\n".encode())
                status = 1
            finally:
                os._exit(status)
        os.close(writer)
        data, struck = b"", False
        deadline = None if kill_after is None else began + kill_after
        while True:
            remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([reader], [], [], remaining)
            if not ready:
                self.strike_down(child)
                deadline, struck = None, True
                continue
            chunk = os.read(reader, 65536)
            if not chunk:
                break
            if self.last_words_count or not struck:
                data += chunk
        os.close(reader)
        _, status = os.waitpid(child, 0)
        # A word cut off by the kill was not acknowledged.
        words = data.decode().split("\n")[:-1]
        return words, status, time.monotonic() - began

    def strike_down(self, child: int) -> None:
        """Kill the working process; a subclass for another kind of disaster does more."""
        os.kill(child, signal.SIGKILL)

    def _work(self, place: Path, arm: Callable[[], None] | None = None) -> Callable[[Say], None]:
        def run(say: Say) -> None:
            engine, library = self._engine(place)
            if arm is not None:
                arm()
            say("begun")
            self.workload.work(engine, library, place, say)
            say("ended")
            engine.close()

        return run

    def _look_over(self, place: Path, acknowledged: list[str], what: str) -> None:
        """Check what is left in every way that is due, always under its original path."""
        turn, self.looked_over = self.looked_over, self.looked_over + 1
        openings = [opening for opening in self.workload.openings if turn % opening.every == 0]
        aside = place.with_name("struck")
        shutil.rmtree(aside, ignore_errors=True)
        place.rename(aside)
        for opening in openings:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(aside, place)
            opening.before(place)
            self._look_at(place, acknowledged, ", ".join(filter(None, (what, opening.name))), opening)

    def _look_at(self, place: Path, acknowledged: list[str], what: str, opening: Opening) -> None:
        def look(say: Say) -> None:
            began, worked = time.monotonic(), time.process_time()
            engine, library = self._engine(place, opening.open)
            say(f"restart {time.monotonic() - began} {time.process_time() - worked}")
            for finding in examine(engine, library.path)["findings"]:
                if finding["level"] == "error":
                    say(f"fault {finding['what']}")
            if opening.check is None and self.workload.finish is not None:
                self.workload.finish(engine, library, place)
            for sentence in (opening.check or self.workload.check)(engine, library, place, acknowledged):
                say(f"fault {sentence}")
            engine.close()

        words, status, _ = self._in_child(look)
        for word in words:
            kind, _, label = word.partition(" ")
            if kind == "restart":
                clock, work = map(float, label.split())
                self.report.slowest_restart = max(self.report.slowest_restart, clock)
                self.report.dearest_restart = max(self.report.dearest_restart, work)
            else:
                self.report.faults.append(f"{what}: {label or word}")
        if status != 0:
            self.report.faults.append(f"{what}: what was left could not be checked")

    def at_random(self, rounds: int) -> None:
        """Kill *rounds* times after a random time."""
        _, _, whole = self._in_child(self._work(self._copy()))
        for number in range(rounds):
            place = self._copy()
            moment = self.random.uniform(0, whole * 1.05)
            acknowledged, _, _ = self._in_child(self._work(place), kill_after=moment)
            self.report.kills += 1
            self._look_over(
                place,
                [word for word in acknowledged if not word.startswith("!")],
                f"kill {number} at {moment:.4f} s",
            )

    def at_every(self, stride: int, first: int = 1) -> None:
        """Kill at every *stride*-th write, sync or rename of the work, from the *first* on."""
        for number in range(first, self._calls() + 1, stride):
            place = self._copy()
            acknowledged, _, _ = self._in_child(self._work(place, lambda n=number: arm_shim(KILL, n)))  # type: ignore[misc]
            self.report.kills += 1
            self._look_over(
                place, [word for word in acknowledged if not word.startswith("!")], f"kill at call {number}"
            )

    def with_errors(self, stride: int, first: int = 1) -> None:
        """Let every *stride*-th call from the *first* on fail, once and for a while, with each of three errors."""
        calls = self._calls()
        for mode in (FAIL_ONCE, FAIL_FROM):
            for number_of_error in (errno.ENOSPC, errno.EIO, errno.EROFS):
                for number in range(first, calls + 1, stride):
                    self._one_error(mode, number, number_of_error)

    def _one_error(self, mode: int, number: int, number_of_error: int) -> None:
        place = self._copy()
        outcome = (
            f"{errno.errorcode[number_of_error]} at call {number}{' and after' if mode == FAIL_FROM else ''}"
        )

        def run(say: Say) -> None:
            engine, library = self._engine(place)
            compare_when_refused(engine, mode, number_of_error, say)
            arm_shim(mode, number, number_of_error)
            if mode == FAIL_FROM:
                threading.Thread(target=make_room, args=(number,), daemon=True).start()
            try:
                self.workload.work(engine, library, place, say)
            except ServiceError as error:
                arm_shim(OFF, 0)
                say(f"*refused {error.detail}")
            else:
                arm_shim(OFF, 0)
                say("*done")
            engine.run(library, "library.set", {"name": "written after the fault"}, LOCAL_OWNER)
            say("*written")

        words, status, _ = self._in_child(run)
        self.report.errors += 1
        if any(word.startswith("*refused") for word in words):
            self.report.refused_in_words += 1
        self.report.faults += [f"{outcome}: {word[9:]}" for word in words if word.startswith("*changed ")]
        if status != 0 or "*written" not in words:
            self.report.faults.append(f"{outcome}: {words[-1] if words else 'nothing was said'}")
            return
        self._look_over(place, [word for word in words if not word.startswith("*")], outcome)

    def _calls(self) -> int:
        """Return how many calls of the work the shim sees."""

        def run(say: Say) -> None:
            engine, library = self._engine(self._copy())
            arm_shim(COUNT, 0)
            self.workload.work(engine, library, self.folder / "round", lambda word: None)
            say(str(calls_seen()))

        words, status, _ = self._in_child(run)
        if status != 0:
            raise RuntimeError(f"the work fails without any fault: {words[-1:]}")
        return int(words[-1])


def strike(workload: str, folder: Path, *options: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """Run this module as a program, under the shim where it is needed; return its report."""
    environment = {**os.environ, **(env or {})}
    if any(option in ("--every", "--errors") for option in options):
        environment["LD_PRELOAD"] = str(build_shim(folder / "shim"))
    ran = subprocess.run(
        [sys.executable, "-m", "armarium_testing.faults", workload, str(folder / "strikes"), *options],
        env=environment,
        capture_output=True,
        text=True,
    )
    if ran.returncode != 0:
        raise RuntimeError(f"the strikes could not be run: {ran.stderr[-2000:]}")
    report: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program described above."""
    parser = argparse.ArgumentParser(prog="armarium_testing.faults")
    parser.add_argument("workload")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--errors", type=int, default=0)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    module, _, name = options.workload.partition(":")
    striker = Striker(getattr(importlib.import_module(module), name), options.folder, seed=options.seed)
    if options.random:
        striker.at_random(options.random)
    if options.every:
        striker.at_every(options.every, options.first)
    if options.errors:
        striker.with_errors(options.errors, options.first)
    report = striker.report
    if report.dearest_restart > RESTART_LIMIT:
        report.faults.append(f"a restart took {report.dearest_restart:.1f} s")
    print(json.dumps(report.__dict__))
    return 0


if __name__ == "__main__":
    sys.exit(main())
