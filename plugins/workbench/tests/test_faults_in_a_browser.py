"""What a person sees at the workbench of a provider that misbehaves: why, in plain words, and a way on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conftest import Desk, Shot
from test_the_project import check, show

from armarium_testing.model_provider import Answer, LoopbackProvider

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("Box", "Caja")


def add_provider(desk: Desk, provider: LoopbackProvider, name: str) -> None:
    """Make a server on this machine a provider of the engine, with one model."""
    ask = desk.engine.ask
    about = {"name": name, "provider_type": "openai-compatible", "api_base": f"{provider.url}/v1"}
    identity = ask("POST", "/api/providers", about)["id"]
    tiny = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
    ask("PUT", f"/api/providers/{identity}/models", {"models": [tiny]})


def read_pages(desk: Desk, provider: str, count: int) -> str:
    """Begin to read the lines of so many pages anew with a provider; return the id of the job."""
    # The letter and the page with the same lines under another name.
    pages = [identity for name, identity in sorted(desk.pages.items()) if not name.startswith("deed")]
    asked = {"scope_ids": pages[:count], "provider": provider}
    return str(desk.engine.ask("POST", "/api/reading/read", asked)["job_id"])


def test_a_job_tells_for_whom_it_waits_why_it_stopped_and_what_it_could_not_do(
    page: Page, desk: Desk, shot: Shot
) -> None:
    from playwright.sync_api import expect

    lines = len(desk.texts["letter.jpg"])
    with LoopbackProvider() as provider:
        add_provider(desk, provider, NAMES[0])
        show(page, desk, "work")
        provider.answers = [
            Answer("slow", seconds=25),
            *["read"] * (lines - 1),
            Answer(status=401, body=b"{}"),
        ]
        read_pages(desk, NAMES[0], 2)
        expect(page.get_by_text(re.compile("Has been waiting for an answer from Box for"))).to_be_visible()
        stopped = page.get_by_text(re.compile(r"Box refused the key \(401\).*page 2 of 2.*retry it to go on"))
        expect(stopped).to_be_visible()
        check(page, "work-stopped", shot)

        provider.answers = [*["read"] * lines, Answer(body=b"<html>")]
        page.get_by_role("button", name=re.compile("^Try again: ")).first.click()
        expect(stopped).to_have_count(0)
        read_pages(desk, NAMES[0], 2)
        expect(
            page.get_by_text(re.compile("No page could be done. The first: .*not with JSON"))
        ).to_be_visible()
        page.get_by_role("button", name=re.compile("^Details and log of")).first.click()
        log = page.get_by_role("dialog")
        expect(log.get_by_role("link", name="To the page").first).to_be_visible()


def test_the_same_is_said_in_spanish(chromium: Browser, desk: Desk) -> None:
    from playwright.sync_api import expect

    with LoopbackProvider() as provider:
        add_provider(desk, provider, NAMES[1])
        context = chromium.new_context(locale="es-ES")
        page = context.new_page()
        show(page, desk, "work")
        for answer, words in (
            (Answer(status=402, body=b"{}"), "Caja quiere cobrar antes (402)."),
            (Answer(body=b"<html>"), "Caja respondió, pero no con JSON"),
            (
                Answer(status=503, body=b"", headers={"retry-after": "900"}),
                "Caja está fuera de servicio ahora (503)",
            ),
        ):
            provider.answers = [answer]
            read_pages(desk, NAMES[1], 1)
            expect(page.get_by_text(words).first).to_be_visible()
        context.close()
