"""Whoever may only look is offered nothing that the engine would refuse: every control of every screen is tried."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Response

CONTROLS = (
    "main :is(button:enabled, select:enabled, input[type=checkbox]:enabled, summary), "
    "dialog[open] :is(button:enabled, select:enabled, input[type=checkbox]:enabled)"
)
"""What may be pressed on a screen, or in a dialog that one of these opened."""
SCREENS = (
    *(
        "library",
        "work",
        "search",
        "search/doubt",
        "search/words",
        "search/likely",
        "people",
        "hands",
        "maps",
    ),
    *(
        "proposals",
        "figures",
        "export",
        "settings/rights",
        "settings/machine",
        "settings/plugins",
        "settings/look",
    ),
    *("trash", "history"),
)


@pytest.fixture
def refused() -> list[str]:
    """What a viewer's browser was refused, with the control that sent it."""
    return []


@pytest.fixture
def viewer(chromium: Browser, desk: Desk, refused: list[str]) -> Iterator[Page]:
    """A window of somebody who may only look."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    context.set_default_timeout(20_000)
    page = context.new_page()
    pressed = {"name": "at first"}
    page.on("response", lambda answer: note_refusal(answer, pressed["name"], refused))
    page.pressed = pressed  # type: ignore[attr-defined]
    code = desk.engine.ask("POST", "/api/pair/code", {"role": "viewer"})["code"]
    page.goto(f"{desk.engine.address}/#code={code}")
    page.get_by_text("Letters & <deeds>").first.wait_for()
    yield page
    context.close()


def note_refusal(answer: Response, pressed: str, refused: list[str]) -> None:
    if answer.status == 403:
        refused.append(
            f"{pressed}: {answer.request.method} {answer.url.partition('/api/')[2].partition('?')[0]}"
        )


def press_all(page: Page, address: str, screen: str) -> None:
    """Press each control of a screen, and of the dialogs that these open."""

    def open_anew() -> None:
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_load_state("networkidle")

    open_anew()
    tried: set[str] = set()
    while True:
        found = page.locator(CONTROLS)
        fresh = next(
            (
                (one, name)
                for one, name in zip(found.all(), names_of(found), strict=False)
                if name and name not in tried and "Sign out" not in name
            ),
            None,
        )
        if fresh is None:
            if page.locator("dialog[open]").count() == 0 and page.url == address:
                return
            open_anew()
            continue
        control, name = fresh
        tried.add(name)
        page.pressed["name"] = f"{screen}: {name}"  # type: ignore[attr-defined]
        control.evaluate(PRESS)
        page.wait_for_timeout(120)
        page.wait_for_load_state("networkidle")


PRESS = """(control) => {
  for (const field of control.closest('dialog, section, form')?.querySelectorAll('input:not([type]), textarea') ?? []) {
    field.value ||= 'es';
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
  if (control.tagName !== 'SELECT') return control.click();
  control.selectedIndex = control.options.length - 1;
  control.dispatchEvent(new Event('change', { bubbles: true }));
}"""
NAMES = """(controls) => controls.map((one) => !one.checkVisibility() ? '' :
  `${one.closest('dialog') ? 'dialog ' : ''}${one.tagName} ${one.getAttribute('aria-label') ?? one.textContent.trim().slice(0, 40)}`)"""


def names_of(controls: Locator) -> list[str]:
    named: list[str] = controls.evaluate_all(NAMES)
    return named


@pytest.fixture
def used(desk: Desk) -> Desk:
    """A project in which something of everything was done, so that each screen shows something."""
    ask, letter = desk.engine.ask, desk.pages["letter.jpg"]
    spans = ask("GET", f"/api/segments/document/{letter}/text")["spans"]
    words = desk.lines("letter.jpg")[0].split()
    person = ask("POST", "/api/entities", {"canonical_name": "Berta", "entity_type": "person"})["id"]
    ask("POST", "/api/entities", {"canonical_name": "Berta Roig", "entity_type": "person"})
    named = {"document_id": letter, "entity_id": person, "char_start": 0, "char_end": len(words[0])}
    ask("POST", "/api/mentions", named)
    ask("POST", "/api/claims", {"text": "Berta wrote it", "entity_ids": [person]})
    corrected = " ".join([f"{words[0]}x", *words[1:]])
    ask("POST", f"/api/segments/{spans[0]['segment_id']}/correct", {"text": corrected})
    ask("POST", "/api/hands", {"label": "Hand A"})
    ask("POST", "/api/search/saved", {"query": words[1]})
    gone = ask("POST", "/api/documents", {"name": "Old notes"})["id"]
    ask("DELETE", f"/api/documents/{gone}")
    ask("POST", "/api/rights", {"target_kind": "document", "target_id": letter, "holders": ["An archive"]})
    return desk


@pytest.mark.slow
def test_no_control_that_a_viewer_is_shown_is_refused(viewer: Page, used: Desk, refused: list[str]) -> None:
    for screen in SCREENS:
        press_all(viewer, f"{used.engine.address}/#/p/{used.project_id}/{screen}", screen)
    (person, *_) = used.engine.ask("GET", "/api/entities")["items"]
    press_all(viewer, f"{used.engine.address}/#/p/{used.project_id}/people/{person['id']}", "person")
    press_all(viewer, f"{used.engine.address}/#{used.place('letter.jpg')}", "page")
    assert "\n".join(sorted(set(refused))) == ""
