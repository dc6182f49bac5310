"""The agent of rules on twelve pages, until a person has merged what it proposes: it corrects what it should, nothing else."""

from __future__ import annotations

import asyncio
import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from armarium.api import Engine, Example, Library
from armarium.principals import LOCAL_OWNER
from armarium.web.app import create_app
from armarium_source_model.api import page_text
from armarium_testing.digest import differences, table_digests
from armarium_testing.fixtures import OWNER_TOKEN
from armarium_testing.sample_pages import sample_page

SCRIPT = Path(__file__).parents[1] / "agent_of_rules.py"
RIGHT = [
    "That",
    "which",
    "she",
    "hath",
    "this",
    "day",
    "sold",
    "with",
    "the",
    "house",
    "that",
    "is",
    "the",
    "bailiff's,",
    "whichever",
    "the",
    "better",
    "be",
]
MISREAD = {
    "That": "Tbat",
    "which": "wbicb",
    "she": "sbe",
    "hath": "batb",
    "this": "tbis",
    "with": "witb",
    "the": "tbe",
    "that": "tbat",
}


def load_script() -> Any:
    spec = importlib.util.spec_from_file_location("agent_of_rules", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["agent_of_rules"] = module
    spec.loader.exec_module(module)
    return module


def make_pages(engine: Engine, library: Library, folder: Path) -> tuple[str, dict[str, list[str]], int]:
    """Make twelve pages as a reader that mistakes h for b in every fourth line read them.

    Return the folder, what stands on each page, and how many lines were misread.
    """
    example, chance = Example(engine, library, LOCAL_OWNER, folder), random.Random(48)
    box = str(example.run("document.create", {"name": "Box", "doc_type": "folder"})["id"])
    truth: dict[str, list[str]] = {}
    misread = 0
    for _ in range(12):
        lines = [chance.sample(RIGHT, 6) for _ in range(8)]
        read = [
            " ".join(MISREAD.get(word, word) if number % 4 == 0 else word for word in line)
            for number, line in enumerate(lines)
        ]
        misread += sum(reading != " ".join(line) for reading, line in zip(read, lines, strict=True))
        page = sample_page(example, read, reader="pretend")
        example.run("document.move", {"ids": [page.document_id], "parent_id": box})
        truth[page.document_id] = [" ".join(line) for line in lines]
    return box, truth, misread


def run_agent(engine: Engine, library: Library, box: str, **terms: Any) -> Any:
    bound = {"name": "agent of rules", "libraries": [str(library.path)], **terms}
    token = (engine.run(None, "token.create", bound, LOCAL_OWNER).result or {})["token"]

    async def run() -> Any:
        transport = httpx2.ASGITransport(create_app(engine=engine), client=("127.0.0.1", 50000))
        async with (
            httpx2.AsyncClient(transport=transport, headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client("http://127.0.0.1/mcp", http_client=http)) as client,
        ):
            return await load_script().work(client, box)

    return asyncio.run(run())


def ask(engine: Engine, library: Library, path: str) -> Any:
    client = TestClient(create_app(engine=engine), base_url="http://127.0.0.1", client=("127.0.0.1", 50000))
    named = {"X-Service-Library-Path": quote(str(library.path))}
    answer = client.get(path, headers={"Authorization": f"Bearer {OWNER_TOKEN}", **named})
    assert answer.status_code == 200, answer.text
    return answer.json()


def texts(library: Library, pages: Any) -> dict[str, list[str]]:
    with library.db.read() as conn:
        return {page: page_text(conn, page).text.split("\n") for page in pages}


@pytest.fixture
def project(make_engine: Callable[..., Engine], tmp_path: Path) -> tuple[Engine, Library]:
    engine, path = make_engine(), tmp_path / "Box.library"
    engine.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    return engine, engine.libraries.get(path)


def test_twelve_pages_are_corrected_on_a_branch_that_a_person_looks_through_and_merges(
    project: tuple[Engine, Library], tmp_path: Path
) -> None:
    engine, library = project
    box, truth, misread = make_pages(engine, library, tmp_path)
    as_read, before = texts(library, truth), table_digests(library.db, library.schema)
    agent = run_agent(engine, library, box)
    assert (agent.pages, agent.lines, agent.proposed) == (12, misread, True)
    assert texts(library, truth) == as_read, "an agent wrote to the project"

    (branch,) = ask(engine, library, "/api/branches")["items"]
    assert (branch["made_for"], branch["summary"]) == ("agent of rules", agent.summary)
    assert texts(engine.libraries.open_only(branch["library_path"]), truth) == truth
    changes = ask(engine, library, f"/api/branches/{branch['id']}/changes")
    assert (changes["pages"], changes["lines"]) == (len(agent.changed_pages), misread)
    assert (changes["clean"], changes["conflict"]) == (changes["total"], 0)
    assert changes["kinds"] == {"readings": len(agent.changed_pages)}
    rows = [row for group in changes["items"] for row in group["rows"]]
    assert {maker["name"] for row in rows for maker in row["theirs_by"]} == {"agent of rules"}
    words = [word["text"] for row in rows for word in row["words"] or () if word["change"] == "removed"]
    assert set(" ".join(words).split()) <= set(MISREAD.values())

    merged = engine.run(library, "branches.merge", {"branch_id": branch["id"]}, LOCAL_OWNER)
    assert texts(library, truth) == truth
    with library.db.read() as conn:
        new_rows = conn.exec_driver_sql(
            "SELECT provenance_kind, created_by, count(*) FROM content_representation"
            " WHERE corrects_representation_id IS NOT NULL GROUP BY 1, 2"
        ).all()
        accepted = conn.exec_driver_sql(
            "SELECT actor_kind, actor_name FROM audit WHERE id = ?", (merged.audit_id,)
        ).one()
    assert new_rows == [("agent", "agent of rules", misread)]
    assert accepted == ("person", "owner")
    assert ask(engine, library, f"/api/branches/{branch['id']}/changes")["total"] == 0

    engine.undo(library, [merged.audit_id], LOCAL_OWNER)
    assert texts(library, truth) == as_read
    assert set(differences(before, table_digests(library.db, library.schema))) <= {"branch"}


def test_a_token_that_writes_to_the_project_corrects_there_and_each_step_is_undone(
    project: tuple[Engine, Library], tmp_path: Path
) -> None:
    engine, library = project
    box, truth, misread = make_pages(engine, library, tmp_path)
    agent = run_agent(engine, library, box, writes_to="project")
    assert (agent.lines, agent.proposed) == (misread, False)
    assert texts(library, truth) == truth
    engine.undo(library, agent.steps, LOCAL_OWNER)
    assert texts(library, truth) != truth
