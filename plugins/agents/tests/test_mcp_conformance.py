"""What the protocol demands of a server, asked with the SDK's own client and with messages that it would not send."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agent_fixtures import Agent, Place
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

from armarium_agents.mcp.doors import Answer
from armarium_agents.mcp.server import AgentServer

INVALID_PARAMS = -32602


def post(agent: Agent, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Send messages one after another, in the session that the first answer names; return the answers."""

    async def send() -> list[dict[str, Any]]:
        told, headers = [], {"Accept": "application/json, text/event-stream"}
        async with agent.http() as http:
            for number, message in enumerate(messages):
                body = {"jsonrpc": "2.0", "id": number, **message}
                answer = await http.post("/mcp", json=body, headers=headers)
                if "mcp-session-id" in answer.headers:
                    headers["mcp-session-id"] = answer.headers["mcp-session-id"]
                told.append({"status": answer.status_code, **answer.json()})
        return told

    return asyncio.run(send())


def begin(version: str) -> dict[str, Any]:
    about = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return {"method": "initialize", "params": about}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_lists_say_all_that_a_client_needs_and_refuse_cursors_that_are_not_theirs(
    place: Place, mode: str
) -> None:
    agent = place.agent()
    agent.mode = mode

    async def script(client: Client) -> None:
        tools = (await client.list_tools()).tools
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
            assert tool.input_schema["type"] == "object"
            assert tool.title
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is not None
            assert tool.annotations.destructive_hint is not None
            assert not (tool.annotations.read_only_hint and tool.annotations.destructive_hint), tool.name
        templates = (await client.list_resource_templates()).resource_templates
        assert {"armarium://page/{id}"} < {template.uri_template for template in templates}
        prompts = (await client.list_prompts()).prompts
        for prompt in prompts:
            assert prompt.title
            named = {argument.name: "p1" for argument in prompt.arguments or ()}
            assert "p1" in str((await client.get_prompt(prompt.name, named)).messages)
            with pytest.raises(MCPError, match="needs"):
                await client.get_prompt(prompt.name, {})
        for ask in (
            client.list_tools,
            client.list_resources,
            client.list_resource_templates,
            client.list_prompts,
        ):
            with pytest.raises(MCPError) as refused:
                await ask(cursor="of another server")
            assert refused.value.error.code == INVALID_PARAMS
        for name, arguments in (("no_such_tool", {}), ("read_page", {}), ("read_page", {"page_id": 7})):
            assert (await client.call_tool(name, arguments)).is_error

    agent.run(script)


def test_a_version_that_nobody_knows_and_a_second_beginning_are_answered(place: Place) -> None:
    first, second, listed = post(
        place.agent(), begin("1999-01-01"), begin("2025-06-18"), {"method": "tools/list"}
    )
    assert first["result"]["protocolVersion"] >= "2025-06-18"
    assert second["status"] < 500
    assert listed["result"]["tools"]


class HalfDone:
    """A transport and a door to an engine in which a job has read three of seven pages."""

    def holder(self, ctx: Any) -> str:
        return "token"

    def session_id(self, ctx: Any) -> str:
        return "session"

    def door(self, ctx: Any, names: Any) -> Any:
        return self

    async def ask(self, method: str, path: str, **asked: Any) -> Answer:
        told = {
            "/api/auth/session": {"role": "viewer"},
            "/api/actions/names": {"items": []},
            "/api/activity/jobs/j1": {"id": "j1", "title": "Read pages", "done": 3, "total": 7},
        }[path]
        return Answer(200, json.dumps(told).encode())


def test_work_that_is_followed_tells_its_progress_to_whoever_asks_for_it() -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def follow() -> None:
        async with Client(AgentServer(HalfDone()).build("1")) as client:
            for asked in ({}, {"progress_callback": note}):
                assert not (await client.call_tool("follow_work", {"job_id": "j1"}, **asked)).is_error

    asyncio.run(follow())
    assert told == [(3, 7, "Read pages")]
