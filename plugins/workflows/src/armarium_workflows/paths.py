"""The path language of workflows: where a value comes from, and the pipes it passes through. Values are plain JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from armarium_workflows.errors import PathFault

ROOTS = ("nodes", "inputs", "files", "config")
PIPES = ("upper", "lower", "trim", "join", "json_extract")
DEEPEST = 16

_KEY = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
_START = re.compile(
    rf"\$\.(?:(nodes)\.({_KEY})\.({_KEY})|(inputs|config)\.({_KEY})|(files)\[([0-9]{{1,6}})\])"
)
_MORE = re.compile(rf"\.({_KEY})|\[([0-9]{{1,6}})\]")
_PIPE = re.compile(r"\s*([a-z_]+)\s*(?:\(\s*(\"(?:[^\"\\]|\\.)*\")\s*\))?\s*")


@dataclass(frozen=True)
class Pipe:
    """One transformation of a value: its name, and the text in its parentheses."""

    name: str
    argument: str | None = None


@dataclass(frozen=True)
class Path:
    """A parsed path: its root, the keys and indexes below it, and the pipes."""

    root: str
    keys: tuple[str | int, ...]
    pipes: tuple[Pipe, ...] = ()

    @property
    def node(self) -> str | None:
        """Return the node whose output it reads, if any."""
        return str(self.keys[0]) if self.root == "nodes" else None


def parse_path(text: str) -> Path:
    """Parse *text* such as `$.nodes.read.text | trim`. Raises PathFault with what is wrong."""
    head, pipe, tail = text.partition("|")
    head = head.strip()
    begun = _START.match(head)
    if begun is None:
        raise PathFault(
            f"{text[:120]!r} is not a path. Write $.nodes.<id>.<key>, $.inputs.<key>, $.files[n] or "
            f"$.config.<key>, and pipes after it: | {', | '.join(PIPES)}."
        )
    parts = begun.groups()
    keys: list[str | int] = []
    if parts[0]:
        root, keys = "nodes", [parts[1], parts[2]]
    elif parts[3]:
        root, keys = parts[3], [parts[4]]
    else:
        root, keys = "files", [int(parts[6])]
    at = begun.end()
    while at < len(head):
        more = _MORE.match(head, at)
        if more is None:
            raise PathFault(
                f"{text[:120]!r} is not a path from its character {at + 1} on; continue with .<key> or [n]."
            )
        keys.append(more.group(1) if more.group(1) is not None else int(more.group(2)))
        at = more.end()
    if len(keys) > DEEPEST:
        raise PathFault(f"{text[:120]!r} is {len(keys)} levels deep; a path may have {DEEPEST} at most.")
    return Path(root, tuple(keys), parse_pipes(tail) if pipe else ())


def parse_pipes(text: str) -> tuple[Pipe, ...]:
    """Parse *text* such as `trim | join(", ")`. Raises PathFault naming the pipes there are."""
    pipes: list[Pipe] = []
    at = 0
    while True:
        match = _PIPE.match(text, at)
        if match is None or match.group(1) not in PIPES:
            raise PathFault(f"{text.strip()[:80]!r} is not a pipe; there are {', '.join(PIPES)}.")
        try:
            argument = orjson.loads(match.group(2)) if match.group(2) else None
        except orjson.JSONDecodeError:
            raise PathFault(
                f"{match.group(2)[:80]} is not a text as JSON writes it; write a backslash as \\\\ and a line break as \\n."
            ) from None
        pipes.append(Pipe(match.group(1), argument))
        at = match.end()
        if at >= len(text):
            return tuple(pipes)
        if text[at] != "|":
            raise PathFault(
                f"{text.strip()[:80]!r} has something after a pipe that is not one; put | between two pipes."
            )
        at += 1


def read_mapped(path: str, transform: str | None, roots: Mapping[str, Any]) -> Any:
    """Return what a mapping gives: the value at *path*, after the pipes of *transform*."""
    value = read(parse_path(path), roots)
    return apply_pipes(value, parse_pipes(transform)) if transform else value


def read(path: Path, roots: Mapping[str, Any]) -> Any:
    """Return the value at *path* under *roots* (a mapping of the four roots), after its pipes; None if there
    is none.
    """
    value: Any = roots.get(path.root)
    for key in path.keys:
        value = _value_below(value, key)
    return apply_pipes(value, path.pipes)


def apply_pipes(value: Any, pipes: Sequence[Pipe]) -> Any:
    """Return *value* after *pipes*. Raises PathFault if one cannot be applied to it."""
    for pipe in pipes:
        value = _apply_pipe(value, pipe)
    return value


def _value_below(value: Any, key: str | int) -> Any:
    if isinstance(key, str):
        return value.get(key) if isinstance(value, Mapping) else None
    return (
        value[key]
        if isinstance(value, Sequence) and not isinstance(value, str) and key < len(value)
        else None
    )


def _apply_pipe(value: Any, pipe: Pipe) -> Any:
    if value is None:
        return None
    if pipe.name == "join":
        if not isinstance(value, list):
            raise PathFault(f"join takes a list, not {_kind(value)}.")
        return ("" if pipe.argument is None else pipe.argument).join(_text(item) for item in value)
    if pipe.name == "json_extract":
        return _extract_value(value, pipe.argument)
    if not isinstance(value, str):
        raise PathFault(f"{pipe.name} takes a text, not {_kind(value)}.")
    return {"upper": value.upper, "lower": value.lower, "trim": value.strip}[pipe.name]()


def _extract_value(value: Any, argument: str | None) -> Any:
    """Parse a JSON text and return what is in it at a path such as `people[0].name`."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise PathFault("json_extract takes a JSON text, and this is not valid JSON.") from None
    suffix = f".{argument}" if argument and not argument.startswith("[") else argument or ""
    at = 0
    while at < len(suffix):
        more = _MORE.match(suffix, at)
        if more is None:
            raise PathFault(f"json_extract takes a path such as people[0].name, not {argument!r}.")
        value = _value_below(value, more.group(1) if more.group(1) is not None else int(more.group(2)))
        at = more.end()
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _kind(value: Any) -> str:
    kinds = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        str: "a text",
    }
    return kinds.get(type(value), "something else")
