"""The agent of rules on twelve pages: it corrects what it should, nothing else, and proposes where that can be done."""

from __future__ import annotations

import asyncio
import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from armarium.api import ActionContext, Engine, Example, Library, Params, Plugin, action
from armarium.principals import LOCAL_OWNER
from armarium.web.app import create_app
from armarium_source_model.api import page_text, sample_page

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


class Summary(Params):
    """What a proposal says."""

    summary: str


def proposing(heard: list[str]) -> Plugin:
    """Return a plugin with the action by which a branch is proposed, that only hears the summary."""

    @action(
        "branches.propose", params=Summary, summary="Propose a branch", example=lambda ex: {"summary": "x"}
    )
    def propose(ctx: ActionContext, p: Summary) -> dict[str, Any]:
        heard.append(p.summary)
        return {}

    return Plugin(name="branches", summary="Hears proposals", actions=(propose,))


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
        misread += sum(one != " ".join(line) for one, line in zip(read, lines, strict=True))
        page = sample_page(example, read, reader="pretend")
        example.run("document.move", {"ids": [page.document_id], "parent_id": box})
        truth[page.document_id] = [" ".join(line) for line in lines]
    return box, truth, misread


def run_agent(engine: Engine, library: Library, box: str) -> Any:
    made = engine.run(
        None, "token.create", {"name": "agent of rules", "libraries": [str(library.path)]}, LOCAL_OWNER
    )
    token = (made.result or {})["token"]

    async def run() -> Any:
        transport = httpx2.ASGITransport(create_app(engine=engine), client=("127.0.0.1", 50000))
        async with (
            httpx2.AsyncClient(transport=transport, headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client("http://127.0.0.1/mcp", http_client=http)) as client,
        ):
            return await load_script().work(client, box)

    return asyncio.run(run())


def texts(library: Library, pages: Any) -> dict[str, list[str]]:
    with library.db.read() as conn:
        return {page: page_text(conn, page).text.split("\n") for page in pages}


@pytest.mark.parametrize("branches", [False, True])
def test_twelve_pages_are_corrected_and_only_where_the_reader_was_wrong(
    make_engine: Callable[..., Engine], tmp_path: Path, branches: bool
) -> None:
    heard: list[str] = []
    engine = make_engine()
    if branches:
        for one in proposing(heard).actions:
            engine.actions.add(one, "branches")
    path = tmp_path / "Box.library"
    engine.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    library = engine.libraries.get(path)
    box, truth, misread = make_pages(engine, library, tmp_path)
    done = run_agent(engine, library, box)
    assert (done.pages, done.lines) == (12, misread)
    assert texts(library, truth) == truth
    assert done.proposed is branches
    assert heard == ([done.summary] if branches else [])
    engine.undo(library, done.steps, LOCAL_OWNER)
    assert texts(library, truth) != truth
