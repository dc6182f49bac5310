"""`armarium open` and the link that it and `armarium serve` print."""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest
from conftest import APP, Desk
from served_engine import ARMARIUM, ServedEngine

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.skipif(
    not (APP / "index.html").is_file(),
    reason="the workbench is not built here; make base builds it where npm reaches a registry",
)


def open_(engine: ServedEngine, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SERVICE_STATE_DIR": str(engine.state)}
    command = [str(ARMARIUM), "open", "--no-browser", *words]
    return subprocess.run(command, cwd=engine.folder, env=environment, capture_output=True, text=True)


def sign_in(engine: ServedEngine, link: str) -> tuple[int, dict[str, Any]]:
    """Use a link as the application does."""
    (code,) = parse_qs(link.partition("#")[2])["code"]
    body, headers = json.dumps({"code": code}).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{engine.address}/api/auth/session", body, headers, method="POST")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_a_served_engine_prints_a_link_that_opens_one_session(desk: Desk) -> None:
    assert re.fullmatch(rf"{desk.engine.address}/#code=[A-Z]{{4}}-[A-Z]{{4}}", desk.engine.link)
    status, made = sign_in(desk.engine, desk.engine.link)
    assert (status, made["role"]) == (200, "owner")
    status, refused = sign_in(desk.engine, desk.engine.link)
    assert (status, refused["code"]) == (403, "wrong_code")


def test_open_prints_a_link_to_the_project_of_this_folder(desk: Desk) -> None:
    said = open_(desk.engine)
    assert said.returncode == 0, said.stderr
    link = said.stdout.split()[-1]
    assert parse_qs(link.partition("#")[2])["to"] == [f"/p/{desk.project_id}"]
    assert sign_in(desk.engine, link)[0] == 200


def test_open_names_a_page_by_its_name_and_answers_programs(desk: Desk) -> None:
    said = open_(desk.engine, "letter.jpg", "--json")
    assert said.returncode == 0, said.stderr
    link = json.loads(said.stdout)["link"]
    assert parse_qs(link.partition("#")[2])["to"] == [desk.place("letter.jpg")]


def test_open_shows_a_branch_which_no_list_of_projects_has(desk: Desk, context: BrowserContext) -> None:
    from playwright.sync_api import expect

    answer = desk.engine.ask("POST", "/api/branches", {"name": "Corrections", "made_for": "Ana"})
    said = open_(desk.engine, "letter.jpg", "--library", answer["library_path"])
    assert said.returncode == 0, said.stderr
    page = context.new_page()
    page.goto(said.stdout.split()[-1])
    expect(page.get_by_role("heading", name="letter.jpg")).to_be_visible()
    expect(page.get_by_role("link", name="Corrections", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="letter.jpg")).to_be_visible()
    page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/proposals/{answer['id']}")
    page.get_by_role("link", name="Open the branch and look around in it").click()
    expect(page.get_by_role("list", name="Contents")).to_be_visible()
    expect(page.get_by_role("link", name="Corrections", exact=True)).to_be_visible()


def test_open_refuses_a_page_that_is_not_there(desk: Desk) -> None:
    said = open_(desk.engine, "nowhere.jpg")
    assert said.returncode != 0
    assert "nowhere.jpg" in said.stderr
