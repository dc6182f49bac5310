"""The workbench in a window of its own, through pywebview, which the extra `desktop` brings."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from armarium_cli.api import Reachable, Refused, has_desktop, served_engine

STARTS_WITHIN = 60.0
"""Seconds in which an engine that is started for the window answers."""


def require_window() -> Any:
    """Return pywebview, or refuse with what is missing for a window."""
    try:
        import webview
    except ImportError:
        raise Refused(
            "A window of its own needs pywebview, which is not installed: pip install 'armarium-workbench[desktop]'. "
            "Without --window the workbench opens in the browser."
        ) from None
    if not has_desktop():
        raise Refused("There is no display here for a window. Without --window the link is printed.")
    return webview


def show_window(webview: Any, link: str) -> None:
    """Show *link* until the window is closed."""
    import platformdirs

    # The downloads of the workbench are its exports.
    webview.settings["ALLOW_DOWNLOADS"] = True
    webview.create_window("Armarium", link, width=1440, height=900, min_size=(1024, 600), text_select=True)
    try:
        # In pywebview's private mode there is no local storage: the workbench keeps in it what is typed and not yet saved.
        webview.start(
            private_mode=False, storage_path=platformdirs.user_data_dir("armarium-window", appauthor=False)
        )
    except Exception as error:
        raise Refused(
            f"The window could not be shown: {error}. pywebview needs a browser engine of the system (GTK with WebKit, or Qt); "
            "without --window the workbench opens in the browser."
        ) from error


@contextmanager
def engine_for_window(running: Callable[[], Reachable | None] = served_engine) -> Iterator[Reachable]:
    """Yield the engine that is served here; where there is none, one that is served as long as the block lasts."""
    card = running()
    if card is not None:
        yield card
        return
    child = subprocess.Popen([sys.argv[0], "serve", "--no-browser"], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + STARTS_WITHIN
        while (card := running()) is None:
            if child.poll() is not None or time.monotonic() > deadline:
                raise Refused("The engine for the window did not start; armarium serve says why.")
            time.sleep(0.1)
        yield card
    finally:
        child.terminate()
        child.wait()
