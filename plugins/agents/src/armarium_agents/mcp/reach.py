"""The three tools that reach everything: find an action or query, describe it, call it; with the token's rights only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from armarium_agents.mcp.bounds import fit
from armarium_agents.mcp.calls import run_action
from armarium_agents.mcp.declarations import DATA, Arguments, Schema, choice, whole, words
from armarium_agents.mcp.doors import Answer, Door
from armarium_agents.mcp.refusals import ToolRefused

READING_POSTS = frozenset({"/api/search", "/api/documents/dataset/query", "/api/formats/check"})
"""Questions too long for an address; they write nothing."""

_SHOWN = 25
_DEPTH = 6

NAME = words("An action or a query, by the name that find_operation gives", 300)

FIND = "find_operation"
DESCRIBE = "describe_operation"
CALL = "call_operation"

ABOUT: Mapping[str, tuple[str, str, Schema]] = {
    FIND: (
        "Find an action or query",
        "Searches everything that the engine can do, where no other tool fits. Then describe_operation and call_operation.",
        {
            "type": "object",
            "properties": {
                "words": words("What you want to do, in a few words", 300),
                "kind": choice("Only these", "action", "query"),
                "limit": whole("How many at most", 1, 100, _SHOWN),
            },
            "required": ["words"],
            "additionalProperties": False,
        },
    ),
    DESCRIBE: (
        "Describe an action or query",
        "What an action or query takes and who may use it.",
        {"type": "object", "properties": {"name": NAME}, "required": ["name"], "additionalProperties": False},
    ),
    CALL: (
        "Call an action or query",
        f"Runs an action, or asks a query, with the rights of your token. {DATA}",
        {
            "type": "object",
            "properties": {
                "name": NAME,
                "arguments": {"type": "object", "description": "As describe_operation says"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ),
}


class Operations:
    """What the engine can do, read once: its actions, and its queries that answer JSON."""

    def __init__(self, actions: Mapping[str, dict[str, Any]]) -> None:
        self.actions = actions
        self._queries: dict[str, dict[str, Any]] | None = None
        self._schemas: dict[str, Any] = {}

    async def queries(self, door: Door) -> dict[str, dict[str, Any]]:
        """Return the queries by name, `GET /api/documents`."""
        if self._queries is None:
            answer = await door.ask("GET", "/openapi.json")
            if answer.status >= 400:
                raise ToolRefused(answer.sentence)
            published = answer.json()
            self._schemas = published["components"]["schemas"]
            self._queries = {
                f"{method.upper()} {path}": operation
                for path, operations in published["paths"].items()
                for method, operation in operations.items()
                if (method == "get" or path in READING_POSTS) and _answers_json(operation)
            }
        return self._queries

    async def find(self, door: Door, arguments: Arguments) -> Any:
        """Return what fits the words best, by name and summary."""
        sought = re.findall(r"\w{2,}", arguments["words"].lower())
        operations = []
        if arguments.get("kind") != "query":
            operations += [("action", name, entry["summary"]) for name, entry in self.actions.items()]
        if arguments.get("kind") != "action":
            queries = await self.queries(door)
            operations += [("query", name, query.get("summary", "")) for name, query in queries.items()]
        ranked = [
            (score, kind, name, summary)
            for kind, name, summary in operations
            if (score := sum(_weight(word, name, summary) for word in sought))
        ]
        ranked.sort(key=lambda entry: (-entry[0], entry[2]))
        items = [
            {"kind": kind, "name": name, "summary": summary}
            for _, kind, name, summary in ranked[: arguments.get("limit", _SHOWN)]
        ]
        return {"items": items, "total": len(ranked)}

    async def describe(self, door: Door, arguments: Arguments) -> Any:
        """Return what it takes. ToolRefused for what there is not."""
        name = arguments["name"]
        if name in self.actions:
            answer = await door.ask("GET", "/api/actions/registry", query={"name": name})
            if answer.status >= 400:
                raise ToolRefused(answer.sentence)
            entry = answer.json()["items"][0]
            del entry["result"]
            return fit(entry)
        operation = await self._query(door, name)
        parameters = [
            {
                "name": parameter["name"],
                "required": parameter.get("required", False),
                "schema": parameter["schema"],
                "description": parameter.get("description", ""),
            }
            for parameter in operation.get("parameters", ())
            if parameter["in"] in ("path", "query") and parameter["name"] != "library"
        ]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        described = {
            "name": name,
            "summary": operation.get("summary"),
            "description": operation.get("description"),
            "arguments": parameters,
        }
        return fit({**described, "body": self._resolve(body, 0)} if body else described)

    async def call(self, door: Door, arguments: Arguments) -> Any:
        """Run the action or ask the query. ToolRefused with the engine's own sentence."""
        name, values = arguments["name"], arguments.get("arguments", {})
        if name in self.actions:
            answer = await run_action(door, name, values)
        else:
            answer = await self._ask(door, name, await self._query(door, name), values)
        if answer.status >= 400:
            raise ToolRefused(answer.sentence)
        return fit(answer.json())

    async def _ask(
        self, door: Door, name: str, operation: Mapping[str, Any], values: Mapping[str, Any]
    ) -> Answer:
        method, _, path = name.partition(" ")
        places = [
            parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "path"
        ]
        for place in places:
            value = values.get(place)
            if not isinstance(value, str) or not value or "/" in value or value in (".", ".."):
                raise ToolRefused(f"{name} needs {place}: one word of the path, without a slash.")
            path = path.replace(f"{{{place}}}", quote(value, safe=""))
        body = {key: value for key, value in values.items() if key not in places}
        if method == "POST":
            return await door.ask("POST", path, body=body)
        if "library" in body:
            raise ToolRefused("The project is that of your session; a call cannot name another.")
        return await door.ask("GET", path, query=body)

    async def _query(self, door: Door, name: str) -> dict[str, Any]:
        operation = (await self.queries(door)).get(name)
        if operation is None:
            raise ToolRefused(
                f"There is no action or query {name[:80]!r}; find_operation searches those there are."
            )
        return operation

    def _resolve(self, schema: Any, depth: int) -> Any:
        """Return a schema with what it refers to in place."""
        if isinstance(schema, list):
            return [self._resolve(part, depth) for part in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema and depth < _DEPTH:
            return self._resolve(self._schemas[schema["$ref"].rpartition("/")[2]], depth + 1)
        return {key: self._resolve(value, depth) for key, value in schema.items()}


def action_of(name: str, arguments: Mapping[str, Any], actions: Mapping[str, Any]) -> str | None:
    """Return the action that this call of one of the three runs; None where it only asks."""
    action = arguments.get("name") if name == CALL else None
    return action if action in actions else None


def _weight(word: str, name: str, summary: str) -> int:
    return 2 * (word in name.lower()) + (word in summary.lower())


def _answers_json(operation: Mapping[str, Any]) -> bool:
    return "application/json" in operation["responses"].get("200", {}).get("content", {})
