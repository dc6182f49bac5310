"""How commands answer: tables and sentences for people, one JSON value for programs (`--json`)."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from armarium_cli.options import global_options

SAY_EVERY = 10.0
"""Seconds between two lines about a job where there is no terminal."""

SETTLED = 2.0
"""Seconds after which a new state, or that something takes long, is printed: most waits are shorter."""

PACE_AFTER = 5.0
"""Seconds after which the time left is told."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def wants_json() -> bool:
    """Return whether the command was called with `--json`."""
    return global_options().json


def answer(value: Any, words: str | Callable[[], None]) -> None:
    """Print *value* as JSON, or *words* (a sentence, or a function that prints more) for a person."""
    if wants_json():
        print(json.dumps(value, ensure_ascii=False, indent=2))
    elif callable(words):
        words()
    else:
        print(words)
    # Flushed because a command that keeps running, as `serve` does, may write into a pipe.
    sys.stdout.flush()


def legible(text: str, keep: str = "") -> str:
    """Return *text* as a terminal may show it: control characters, which a file name may contain, are escaped except
    *keep*.
    """
    return _CONTROL.sub(lambda match: match[0] if match[0] in keep else f"\\x{ord(match[0]):02x}", text)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    # Imported late: most commands print no table.
    from armarium_cli.tables import draw_table

    cells = [[legible(str("" if cell is None else cell), "\n\t") for cell in row] for row in rows]
    for line in draw_table(title, columns, cells):
        print(line)


@contextmanager
def tell_if_slow(sentence: str) -> Iterator[Callable[[], None]]:
    """Print *sentence* on the terminal when the block takes longer than two seconds; call what it yields to say that
    the wait is over.
    """
    timer = threading.Timer(SETTLED, lambda: print(sentence, file=sys.stderr, flush=True))
    timer.daemon = True
    if sys.stderr.isatty() and not wants_json():
        timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()


@contextmanager
def progress(title: str) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A progress bar fed with job nodes; silent under `--json`, plain lines where there is no terminal."""
    if wants_json():
        yield lambda node: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _in_lines(title)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[reason]}"),
        console=console,
        transient=False,
    ) as bars:
        task = bars.add_task(title, total=None, reason="", counted="")
        pace = Pace()

        def show(node: Mapping[str, Any]) -> None:
            counted = ", ".join(part for part in (_progress_words(node), pace.time_left(node)) if part)
            bars.update(
                task,
                completed=_count_done(node),
                total=node.get("total") or None,
                reason=_state(node),
                counted=counted,
            )

        yield show


def _in_lines(title: str) -> Callable[[Mapping[str, Any]], None]:
    """Print a line when the work takes long, when it is held up for a new reason, and at its end."""
    began = time.monotonic()
    printed_at, printed = began, ""
    pace = Pace()

    def show(node: Mapping[str, Any]) -> None:
        nonlocal printed_at, printed
        state, at = _state(node), time.monotonic()
        pace.time_left(node, at)
        ended = node.get("state") in ("done", "failed", "cancelled", "paused")
        if not ended and at - printed_at < (SAY_EVERY if state == printed else SETTLED):
            return
        printed_at, printed = at, state
        counted = f" {_progress_words(node)}" if node.get("total") else ""
        remaining = None if ended else pace.time_left(node, at)
        parts = [f"{at - began:.0f} s" if ended else remaining, state]
        print(f"{title}:{counted}{''.join(f', {part}' for part in parts if part)}", file=sys.stderr)

    return show


class Pace:
    """How fast a job goes on, from the nodes seen so far: how long the rest takes."""

    def __init__(self) -> None:
        self._began: tuple[float, float] | None = None

    def time_left(self, node: Mapping[str, Any], at: float | None = None) -> str | None:
        """Return the time left in words; None as long as it cannot be told: for work whose parts are not known yet."""
        at = time.monotonic() if at is None else at
        done, total = _count_done(node), node.get("total") or 0
        if self._began is None:
            self._began = at, done
        seconds, progress = at - self._began[0], done - self._began[1]
        if node.get("stages") or node.get("state") != "running" or progress <= 0 or seconds < PACE_AFTER:
            return None
        seconds_left = seconds * (total - done) / progress
        return (
            f"about {seconds_left / 60:.0f} min left"
            if seconds_left >= 90
            else f"about {max(seconds_left, 1):.0f} s left"
        )


def _item(node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return how far the work is with the page in hand: of the job itself, or of the first beneath it that is at work."""
    item: Mapping[str, Any] | None = node.get("item")
    return item or next(filter(None, map(_item, node.get("children") or ())), None)


def _count_done(node: Mapping[str, Any]) -> float:
    """Return how many pages are done, with the part of the page in hand."""
    done, item = float(node.get("done") or 0), _item(node)
    return done + (min(item["done"] / item["total"], 1.0) if item and item["total"] else 0.0)


def _progress_words(node: Mapping[str, Any]) -> str:
    """Return the progress as it is shown: `3/5, 12 of 40 lines`."""
    item = _item(node)
    pages = f"{node.get('done') or 0}/{node.get('total') or '?'}"
    if not item:
        return pages
    of = f" of {item['total']}" if item["total"] else ""
    return f"{pages}, {item['done']}{of} {item['unit'] or ''}".rstrip()


def _state(node: Mapping[str, Any]) -> str:
    state = str(node.get("state", ""))
    reason = node.get("reason")
    if state in ("done", "running"):
        return ""
    return f"{state}: {reason}" if reason else state
