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

from armarium.cli.options import global_options

SAY_EVERY = 10.0
"""Seconds between two lines about a job where there is no terminal."""

SETTLED = 2.0
"""Seconds after which a new state, or that something takes long, is printed: most waits are shorter."""

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
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else f"\\x{ord(found[0]):02x}", text)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table."""
    # Imported late: most commands print no table.
    from armarium.cli.tables import draw_table

    shown = [[legible(str("" if cell is None else cell), "\n\t") for cell in row] for row in rows]
    for line in draw_table(title, columns, shown):
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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _in_lines(title)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[reason]}"),
        console=console,
        transient=False,
    ) as bars:
        task = bars.add_task(title, total=None, reason="")

        def show(node: Mapping[str, Any]) -> None:
            total = node.get("total") or None
            bars.update(task, completed=node.get("done") or 0, total=total, reason=_state(node))

        yield show


def _in_lines(title: str) -> Callable[[Mapping[str, Any]], None]:
    """Print a line when the work takes long, when it is held up for a new reason, and at its end."""
    began = time.monotonic()
    printed_at, printed = began, ""

    def show(node: Mapping[str, Any]) -> None:
        nonlocal printed_at, printed
        state, at = _state(node), time.monotonic()
        ended = node.get("state") in ("done", "failed", "cancelled", "paused")
        if not ended and at - printed_at < (SAY_EVERY if state == printed else SETTLED):
            return
        printed_at, printed = at, state
        counted = f" {node.get('done') or 0}/{node['total']}" if node.get("total") else ""
        seconds = f", {at - began:.0f} s" if ended else ""
        print(f"{title}:{counted}{seconds}{', ' + state if state else ''}", file=sys.stderr)

    return show


def _state(node: Mapping[str, Any]) -> str:
    state = str(node.get("state", ""))
    reason = node.get("reason")
    if state in ("done", "running"):
        return ""
    return f"{state}: {reason}" if reason else state
