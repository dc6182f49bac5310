"""Hostile arguments: whatever a model or a page makes of a tool's arguments, the answer is a sentence or a bounded answer."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from agent_fixtures import Place
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp import Client

from armarium_agents.mcp import reach
from armarium_agents.mcp.bounds import MOST_CHARACTERS
from armarium_agents.mcp.tools import TOOLS
from armarium_testing.sample_pages import sample_page

EXAMPLES = int(os.environ.get("ARMARIUM_FUZZ_EXAMPLES", "8"))
SCHEMAS = {tool.name: tool.schema for tool in TOOLS} | {name: one[2] for name, one in reach.ABOUT.items()}

HOSTILE: tuple[Any, ...] = (
    *(
        "",
        " ",
        ".",
        "..",
        "../../tokens",
        "%2e%2e%2f",
        "a/b",
        "x" * 5000,
        "\x00",
        "';DROP TABLE segment;--",
    ),
    *(None, True, -1, 0, 2**70, 1e308, [], {}, [[]], {"$ref": "#"}, ["x"] * 300),
    *("{page_id}", "${HOME}", "__proto__", "{0.__class__}", "armarium://page/x", "\u202e", "🜚" * 100),
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that fit a schema of ours."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        properties = {name: fitting(one) for name, one in schema.get("properties", {}).items()}
        required = set(schema.get("required", ()))
        return st.fixed_dictionaries(
            {name: attribute for name, attribute in properties.items() if name in required},
            optional={name: attribute for name, attribute in properties.items() if name not in required},
        )
    if schema["type"] == "array":
        return st.lists(fitting(schema["items"]), min_size=schema.get("minItems", 0), max_size=3)
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    if schema["type"] == "number":
        return st.floats(schema["minimum"], schema["maximum"])
    if schema["type"] == "boolean":
        return st.booleans()
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True)
    return st.text(max_size=min(schema["maxLength"], 60))


def wild(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that fit a tool's schema, or do not: one hostile value in place of one, or one that is not asked for."""
    right = fitting(schema)
    names = st.sampled_from([*schema["properties"], "library", "token", "__class__"])
    spoilt = st.builds(
        lambda given, name, value: {**given, name: value}, right, names, st.sampled_from(HOSTILE)
    )
    return st.one_of(
        right, spoilt, st.dictionaries(st.text(max_size=20), st.sampled_from(HOSTILE), max_size=4)
    )


def samples(schema: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return *count* arguments, the same each time."""
    found: list[dict[str, Any]] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(wild(schema))
    def collect(one: dict[str, Any]) -> None:
        found.append(one)

    collect()
    return found


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_no_arguments_of_a_tool_break_it(place: Place, name: str) -> None:
    page = sample_page(place.example, ["Dear Sir", "your servant"])
    ids = (page.document_id, page.segment_ids[0], page.reading_ids[0])
    cases = samples(SCHEMAS[name], EXAMPLES)
    # Some that reach something: what looks like an id is one.
    cases += [_fill(case, SCHEMAS[name], ids[number % 3]) for number, case in enumerate(cases)]

    async def script(client: Client) -> None:
        for arguments in cases:
            answer = await client.call_tool(name, arguments)
            for content in answer.content:
                if content.type != "text":
                    continue
                assert len(content.text) <= MOST_CHARACTERS * 1.5, arguments
                if answer.is_error:
                    assert "internal_error" not in content.text
                    assert "Something went wrong" not in content.text, (arguments, content.text)
                    assert "Traceback" not in content.text
        assert not (await client.call_tool("find_pages", {})).is_error

    place.agent().run(script)


def _fill(arguments: dict[str, Any], schema: dict[str, Any], one: str) -> dict[str, Any]:
    """Return *arguments* with an existing id wherever an id is asked for."""
    ids = {name for name, of in schema["properties"].items() if "pattern" in of}
    return {name: one if name in ids else value for name, value in arguments.items()}


def test_messages_that_are_no_protocol_are_refused_and_the_endpoint_goes_on(place: Place) -> None:
    agent = place.agent()

    async def script() -> None:
        async with agent.http() as http:
            accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
            for body in (
                *(b"", b"[]", b"{}", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b"[" * 10_000, b'"' * 50),
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":[],"arguments":7}}',
                _call("search", b'{"query":"\\ud800"}'),
                _call("find_pages", b'{"limit":NaN}'),
                _call("find_pages", b'{"limit":1e999}'),
                b'{"jsonrpc":"2.0","id":{},"method":"initialize"}',
                b'{"jsonrpc":"2.0","id":1,"method":"' + b"m" * 100_000 + b'"}',
            ):
                answer = await http.post("/mcp", content=body, headers=accept)
                assert answer.status_code < 500, (body[:80], answer.text[:200])
            for header in (
                {"Mcp-Session-Id": "nothing"},
                {"Mcp-Protocol-Version": "1999-01-01"},
                {"Accept": "text/plain"},
                {"Content-Type": "text/plain"},
            ):
                body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
                answer = await http.post("/mcp", content=body, headers={**accept, **header})
                assert 400 <= answer.status_code < 500, header

    asyncio.run(script())
    assert not agent.call("find_pages").is_error


def _call(tool: str, arguments: bytes) -> bytes:
    """Return a call as no client of the SDK would send it."""
    head = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'
    return head + tool.encode() + b'","arguments":' + arguments + b"}}"
