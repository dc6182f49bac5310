"""`armarium open --window`: a window of its own, and a sentence where something for it is missing."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from armarium_cli.api import Refused
from armarium_workbench import cli, window

CARD: Any = SimpleNamespace(base_url="http://127.0.0.1:1", transport="tcp", uds=None, background=False)


class Webview:
    """A double of pywebview that remembers what it was shown."""

    def __init__(self, broken: str | None = None) -> None:
        self.settings: dict[str, bool] = {}
        self.shown: list[tuple[str, str]] = []
        self.broken = broken

    def create_window(self, title: str, url: str, **_more: Any) -> None:
        self.shown.append((title, url))

    def start(self, **how: Any) -> None:
        # Without it nothing typed would outlive the window, and with GTK the workbench would not start.
        assert how["private_mode"] is False
        if self.broken:
            raise RuntimeError(self.broken)


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":9")


@pytest.mark.usefixtures("display")
def test_the_link_is_shown_in_a_window_where_exports_can_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    double = Webview()
    monkeypatch.setitem(sys.modules, "webview", double)
    monkeypatch.setattr(window, "served_engine", lambda: CARD)
    monkeypatch.setattr(cli, "engine_for_window", lambda: window.engine_for_window(lambda: CARD))
    monkeypatch.setattr(cli, "sign_in_link", lambda card, place: f"{card.base_url}/#code=AAAA-BBBB")
    cli.open_(window=True)
    assert double.shown == [("Armarium", "http://127.0.0.1:1/#code=AAAA-BBBB")]
    assert double.settings == {"ALLOW_DOWNLOADS": True}


@pytest.mark.usefixtures("display")
def test_without_pywebview_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webview", None)
    with pytest.raises(Refused, match=r"pip install 'armarium-workbench\[desktop\]'"):
        cli.open_(window=True)


def test_without_a_display_the_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webview", Webview())
    monkeypatch.setattr(window, "has_desktop", lambda: False)
    with pytest.raises(Refused, match="no display"):
        cli.open_(window=True)


@pytest.mark.usefixtures("display")
def test_a_system_without_a_browser_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match=r"could not be shown: no GTK.*browser engine of the system"):
        window.show_window(Webview("no GTK"), "http://127.0.0.1:1/")


def test_an_engine_is_served_for_the_window_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    ended: list[str] = []
    child = SimpleNamespace(
        poll=lambda: None, terminate=lambda: ended.append("asked"), wait=lambda: ended.append("over")
    )
    monkeypatch.setattr(window.subprocess, "Popen", lambda command, **_: started.append(command) or child)
    answers = iter([None, None, CARD])
    with window.engine_for_window(lambda: next(answers)) as card:
        assert card is CARD
        assert ended == []
    assert started[0][1:] == ["serve", "--no-browser"]
    assert ended == ["asked", "over"]


def test_an_engine_that_does_not_start_is_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    child = SimpleNamespace(poll=lambda: 1, terminate=lambda: None, wait=lambda: None)
    monkeypatch.setattr(window.subprocess, "Popen", lambda command, **_: child)
    with pytest.raises(Refused, match="armarium serve says why"), window.engine_for_window(lambda: None):
        raise AssertionError("there is none")
