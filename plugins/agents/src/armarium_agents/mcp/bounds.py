"""How an answer is kept small enough for a model: texts cut with a cursor, lists paged, long values cut."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from armarium_agents.mcp.refusals import ToolRefused

MOST_CHARACTERS = 24_000
"""Of one answer, as JSON."""
TEXT_CHARACTERS = 12_000
"""Of a text that is cut with a cursor."""
ITEMS = 50
"""Of a list, unless the agent asks for fewer or more."""
MOST_ITEMS = 200
PICTURE_SIDE = 1568
"""Pixels of the long side of a picture: what the models of today look at without shrinking it again."""

_STEPS = ((4000, 200), (1000, 100), (400, 50), (200, 20), (80, 10), (40, 4))
"""How long texts and lists in an answer may be, from generous to narrow."""


@dataclass(frozen=True)
class Image:
    """A picture among what a tool answers."""

    data: bytes

    @property
    def media_type(self) -> str:
        """Return its type by its first bytes."""
        return "image/png" if self.data.startswith(b"\x89PNG") else "image/jpeg"


class View(Protocol):
    """What of a route's answer is shown, and how it is bounded."""

    @property
    def pages(self) -> bool:
        """Whether the rest is fetched with a cursor."""
        ...

    def for_route(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return *arguments* as the route takes them: the cursor as its offset where it pages."""
        ...

    def of(self, answer: bytes, arguments: Mapping[str, Any]) -> Any:
        """Return what is shown: JSON, or an Image."""
        ...


def start_of(arguments: Mapping[str, Any]) -> int:
    """Return the place that the cursor stands for. ToolRefused."""
    cursor = arguments.get("cursor")
    if cursor in (None, ""):
        return 0
    text = str(cursor)
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ToolRefused(
            "The cursor is not one of this tool: pass next_cursor of the answer before, or none."
        )
    return int(text)


@dataclass(frozen=True)
class Whole:
    """An object, or some of its fields; long texts and lists in it are cut."""

    fields: tuple[str, ...] = ()
    pages: bool = False

    def for_route(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return them unchanged."""
        return arguments

    def of(self, answer: bytes, arguments: Mapping[str, Any]) -> Any:
        """Return the fields that are there."""
        result = json.loads(answer)
        return fit(pick_fields(result, self.fields) if self.fields else result)


@dataclass(frozen=True)
class Text:
    """A long text in one field, given piece by piece, and other fields with the first piece."""

    field: str = "text"
    beside: tuple[str, ...] = ()
    pages: bool = True

    def for_route(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return them without the cursor, which the route does not know."""
        return {name: value for name, value in arguments.items() if name != "cursor"}

    def of(self, answer: bytes, arguments: Mapping[str, Any]) -> Any:
        """Return the piece at the cursor, ended at a line's end where there is one."""
        result = json.loads(answer)
        text, start = result.get(self.field) or "", start_of(arguments)
        end = start + TEXT_CHARACTERS
        if end < len(text):
            end = max(text.rfind("\n", start + 1, end) + 1, 0) or end
        piece = {} if start else fit(pick_fields(result, self.beside))
        piece |= {self.field: text[start:end], "characters": len(text)}
        return {**piece, "next_cursor": str(end)} if end < len(text) else piece


@dataclass(frozen=True)
class Rows:
    """A list, page by page: by the route's own limit and offset where it has them, else cut here."""

    items: str = "items"
    fields: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    paged: bool = True
    """Whether the route takes limit and offset."""
    most: int = MOST_ITEMS
    pages: bool = True

    def for_route(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return them with limit and offset in place of the cursor."""
        filters = {name: value for name, value in arguments.items() if name not in ("cursor", "limit")}
        if self.paged:
            filters |= {"limit": self._limit(arguments), "offset": start_of(arguments)}
        return filters

    def _limit(self, arguments: Mapping[str, Any]) -> int:
        return min(int(arguments.get("limit") or ITEMS), self.most)

    def of(self, answer: bytes, arguments: Mapping[str, Any]) -> Any:
        """Return the rows at the cursor, how many there are, and where to go on."""
        result = json.loads(answer)
        start, limit = start_of(arguments), self._limit(arguments)
        all_items = result.get(self.items) or []
        rows = all_items if self.paged else all_items[start : start + limit]
        items = [fit(pick_fields(row, self.fields or tuple(row)), MOST_CHARACTERS // 4) for row in rows]
        while len(items) > 1 and len(json.dumps(items, ensure_ascii=False)) > MOST_CHARACTERS:
            items = items[: len(items) // 2]
        after = start + len(items)
        stated_total = result.get("total", result.get("total_results"))
        total = (
            stated_total
            if self.paged and stated_total is not None
            else start + len(all_items)
            if self.paged
            else len(all_items)
        )
        answered: dict[str, Any] = {**fit(pick_fields(result, self.beside)), "items": items, "total": total}
        if after < total and items:
            answered["next_cursor"] = str(after)
        if result.get("withheld"):
            answered["withheld"] = result["withheld"]
        return answered


@dataclass(frozen=True)
class Picture:
    """A picture, asked for in the size in which it is shown."""

    pages: bool = False

    def for_route(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return them with the size, which never exceeds PICTURE_SIDE."""
        return {**arguments, "size": min(int(arguments.get("size") or PICTURE_SIDE), PICTURE_SIDE)}

    def of(self, answer: bytes, arguments: Mapping[str, Any]) -> Any:
        """Return the picture."""
        return Image(answer)


def pick_fields(source: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """Return those of the fields of an object that say something."""
    return {name: source[name] for name in fields if source.get(name) not in (None, [], {}, "")}


def fit(value: Any, most: int = MOST_CHARACTERS) -> Any:
    """Return *value* with texts and lists cut until it has at most *most* characters as JSON; what was cut says so."""
    for text, items in _STEPS:
        if len(json.dumps(value, ensure_ascii=False)) <= most:
            return value
        value = _cut(value, text, items)
    if len(value_text := json.dumps(value, ensure_ascii=False)) > most:
        return {"cut": value_text[: most - 100], "note": "The answer is too long to be shown whole."}
    return value


def _cut(value: Any, text: int, items: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= text else f"{value[:text]}… ({len(value) - text:,} more characters)"
    if isinstance(value, list):
        members = [_cut(member, text, items) for member in value[:items]]
        return [*members, f"… ({len(value) - items:,} more)"] if len(value) > items else members
    if isinstance(value, dict):
        kept_fields = {name: _cut(member, text, items) for name, member in list(value.items())[: items * 4]}
        if len(value) > items * 4:
            kept_fields["…"] = f"{len(value) - items * 4:,} more fields"
        return kept_fields
    return value
