"""Calling a tool: its arguments checked, its one request sent, its answer bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from armarium_agents.mcp.declarations import Act, Arguments, Read, Schema, Tool
from armarium_agents.mcp.doors import Answer, Door
from armarium_agents.mcp.refusals import ToolRefused

INVOKE = "/api/actions/invoke"
_PLACE = re.compile(r"{(\w+)}")


def check_arguments(schema: Schema, arguments: Mapping[str, Any], tool: str) -> Arguments:
    """Return *arguments* with the defaults filled in. ToolRefused with a sentence that never repeats a long value."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    field_names = ", ".join(schema["properties"]) or "none"
    unknown = [name for name in arguments if name not in schema["properties"]]
    if unknown:
        raise ToolRefused(f"{tool} has no argument {str(unknown[0])[:60]!r}. Its arguments: {field_names}.")
    fault = best_match(Draft202012Validator(schema).iter_errors(dict(arguments)))
    if fault is not None:
        argument_path = ".".join(str(part) for part in fault.absolute_path) or "the arguments"
        raise ToolRefused(f"{tool}: {argument_path}: {_fault(fault)}.")
    defaults = {
        name: declared["default"] for name, declared in schema["properties"].items() if "default" in declared
    }
    return {**defaults, **arguments}


def _fault(fault: Any) -> str:
    """Return what is wrong, in the words of JSON Schema's keywords and without the value."""
    expected = fault.validator_value
    if fault.validator == "required":
        return str(fault.message)
    words = {
        "type": f"must be of type {expected}",
        "enum": f"must be one of {expected}",
        "pattern": "is not an id: letters, digits and . : @ _ -, at most 128",
        "maxLength": f"is longer than {expected} characters",
        "minItems": f"needs at least {expected}",
        "maxItems": f"takes at most {expected}",
        "minimum": f"must be at least {expected}",
        "maximum": f"must be at most {expected}",
        "additionalProperties": "has a field that is not known there",
    }
    return words.get(str(fault.validator), "is not acceptable")


async def call_tool(tool: Tool, arguments: Mapping[str, Any], door: Door) -> Any:
    """Return what the tool shows: JSON or an Image. ToolRefused with the engine's own sentence."""
    checked = check_arguments(tool.schema, arguments, tool.name)
    params = tool.shown.for_route(dict(checked))
    params = {**tool.does.fixed, **{tool.does.names.get(name, name): value for name, value in params.items()}}
    if tool.settle is not None:
        params = await tool.settle(door, params)
    if isinstance(tool.does, Act):
        answer = await run_action(door, tool.does.name, params)
    else:
        answer = await _read(door, tool.does, params)
    if answer.status >= 400:
        raise ToolRefused(answer.sentence)
    return tool.shown.of(answer.content, checked)


async def run_action(door: Door, name: str, params: Mapping[str, Any]) -> Answer:
    """Run an action; the answer is its result with the audit row by which to undo it."""
    answer = await door.ask("POST", INVOKE, body={"name": name, "params": nest_names(params)})
    if answer.status >= 400:
        return answer
    result = answer.json()
    return Answer(
        answer.status, json.dumps({**(result["result"] or {}), "audit_id": result["audit_id"]}).encode()
    )


async def _read(door: Door, read: Read, params: Mapping[str, Any]) -> Answer:
    places = {name: read.names.get(name, name) for name in _PLACE.findall(read.path)}
    path = _PLACE.sub(lambda match: quote(str(params[places[match[1]]]), safe=""), read.path)
    query = {name: value for name, value in params.items() if name not in places.values()}
    if read.method == "POST":
        return await door.ask("POST", path, body=nest_names(query))
    return await door.ask("GET", path, query=query)


def nest_names(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters whose names have a dot as objects: `filters.parent_id` in `filters`."""
    nested: dict[str, Any] = {}
    for name, value in params.items():
        outer, dot, inner = name.partition(".")
        if dot:
            nested.setdefault(outer, {})[inner] = value
        else:
            nested[name] = value
    return nested
