"""`armarium mcp` as a program that runs agents starts it: the SDK's own client, a process, and the engine over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from armarium_testing.command_line import Machine


def talk(
    machine: Machine,
    script: Callable[[Client], Awaitable[Any]],
    *options: str,
    mode: str = "legacy",
    **env: str,
) -> Any:
    """Start the command in the machine's folder, do what *script* says, and end it."""
    params = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from armarium_cli import main; main()", *options],
        env={**os.environ, **env},
        cwd=str(machine.home),
    )

    async def connect() -> Any:
        async with Client(params, mode=mode) as client:
            return await script(client)

    return asyncio.run(connect())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_client_works_over_stdio(read_pages: Machine, mode: str) -> None:
    async def script(client: Client) -> tuple[Any, Any, Any]:
        tools = await client.list_tools()
        found = await client.call_tool("search", {"query": "linea"})
        wrong = await client.call_tool("read_page", {"page_id": "nothing"})
        return tools.tools, json.loads(found.content[0].text), wrong

    tools, found, wrong = talk(read_pages, script, "mcp", mode=mode)
    assert {"read_page", "correct_lines", "call_operation"} <= {tool.name for tool in tools}
    assert len(found["items"]) == 2
    assert wrong.is_error
    assert "nothing" in wrong.content[0].text


def test_the_agent_is_a_machine_with_a_token_that_ends_with_the_connection(read_pages: Machine) -> None:
    async def script(client: Client) -> Any:
        made = await client.call_tool("make_group", {"name": "From an agent", "kind": "folder"})
        return json.loads(made.content[0].text)

    made = talk(read_pages, script, "mcp", "--name", "copyist", "--model", "tiny-7b")
    (branch,) = read_pages.succeed("branch", "list", "--json").json["items"]
    assert branch["made_for"] == "copyist"
    history = read_pages.succeed("--library", branch["library_path"], "history", "--json").json["items"]
    (step,) = [one for one in history if one["id"] == made["audit_id"]]
    assert step["actor"] == {"kind": "machine", "name": "copyist"}
    assert step["client"].endswith("(tiny-7b)")
    tokens = read_pages.succeed("token", "list", "--json").json["items"]
    (token,) = [token for token in tokens if token["name"] == "copyist"]
    assert token["revoked"]
    assert token["libraries"] != "all"
    assert token["spent"]["writes"] == 2, "its branch and its folder"


def test_what_an_agent_does_over_stdio_is_looked_through_and_merged_by_a_person(read_pages: Machine) -> None:
    async def script(client: Client) -> None:
        items = json.loads((await client.call_tool("search", {"query": "linea"})).content[0].text)["items"]
        page = {"id": items[0]["document_id"]}
        lines = json.loads((await client.call_tool("read_lines", {"page_id": page["id"]})).content[0].text)
        line = lines["items"][0]
        one = {
            "segment_id": line["segment_id"],
            "text": "corrected over stdio",
            "expected_counting_id": line["representation_id"],
        }
        for tool, arguments in (
            ("correct_lines", {"corrections": [one]}),
            ("propose_branch", {"summary": "One line"}),
        ):
            told = await client.call_tool(tool, arguments)
            assert not told.is_error, told.content

    talk(read_pages, script, "mcp", "--name", "copyist")
    (branch,) = read_pages.succeed("branch", "list", "--json").json["items"]
    assert branch["summary"] == "One line"
    assert "over stdio" not in read_pages.succeed("search", "corrected").out
    assert "1 page, 1 line changed" in read_pages.succeed("branch", "changes", branch["name"]).out
    read_pages.succeed("branch", "merge", branch["name"])
    assert "over stdio" in read_pages.succeed("search", "corrected").out


def test_a_token_of_its_own_decides_what_it_may_do(read_pages: Machine) -> None:
    token = read_pages.succeed("token", "create", "reader", "--role", "viewer", "--calls", "1000").out.strip()

    async def script(client: Client) -> Any:
        names = {tool.name for tool in (await client.list_tools()).tools}
        return names, await client.call_tool("make_group", {"name": "x", "kind": "folder"})

    names, refused = talk(read_pages, script, "mcp", ARMARIUM_AGENT_TOKEN=token)
    assert "correct_lines" not in names
    assert refused.is_error
    tokens = read_pages.succeed("token", "list", "--json").json["items"]
    (row,) = [token for token in tokens if token["name"] == "reader"]
    assert not row["revoked"]
    assert 0 < row["spent"]["calls"] <= 10


def test_a_token_that_is_not_known_is_a_sentence(read_pages: Machine) -> None:
    async def script(client: Client) -> Any:
        return await client.call_tool("find_pages", {})

    told = talk(read_pages, script, "mcp", ARMARIUM_AGENT_TOKEN="no-token-of-this-engine")
    assert told.is_error
    assert "not known here" in told.content[0].text


def test_a_budget_is_set_shown_and_lifted_from_the_command_line(desk: Machine) -> None:
    desk.succeed("token", "create", "spender", "--writes", "5", "--dollars", "2.5", "--model", "m")
    (row,) = [
        item for item in desk.succeed("token", "list", "--json").json["items"] if item["name"] == "spender"
    ]
    assert row["budget"] == {"calls": None, "writes": 5, "pages": None, "minutes": None, "cost_usd": 2.5}
    assert "writes" in desk.succeed("token", "budget", row["id"]).out
    raised = desk.succeed("token", "budget", row["id"], "--writes", "9", "--json").json
    assert raised["budget"]["writes"] == 9
    assert raised["budget"]["cost_usd"] is None
    assert desk.succeed("token", "budget", row["id"], "--none", "--json").json["budget"] is None
