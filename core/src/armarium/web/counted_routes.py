"""Lists that say how many items are withheld: counted for every GET, whoever wrote it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson
from fastapi import Response
from starlette.responses import StreamingResponse

from armarium.errors import ServiceError
from armarium.principals import asking, caller
from armarium.web.checked_routes import all_routes

WITHHELD = "withheld"
_COUNTS = "counts_withheld"


def count_withheld(routes: Iterable[Any]) -> None:
    """Make each GET among *routes* add to a list how many items it left out for its caller.

    Only where rows were left out is the route run once more, for the engine itself, and both results are counted.
    """
    for route in all_routes(routes):
        # The routers of plugins belong to the process: a second engine in it finds their routes wrapped already.
        if getattr(route.endpoint, _COUNTS, False) or inspect.iscoroutinefunction(route.endpoint):
            continue
        if "GET" in (route.methods or ()):
            route.endpoint = route.dependant.call = _counting(route.endpoint)


def _counting(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def call_counted(**given: Any) -> Any:
        answer = call(**given)
        asks = caller()
        if asks is None or not asks.limited or not _is_json(answer):
            return answer
        seen = orjson.loads(answer.body)
        if not _is_list(seen):
            return answer
        with suppress(ServiceError), asking(None):
            there = call(**given)
            if _is_json(there):
                known = seen.pop(WITHHELD, 0)
                seen[WITHHELD] = max(known, _left_out(seen, orjson.loads(there.body)))
                headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
                return Response(orjson.dumps(seen), answer.status_code, headers)
        return answer

    setattr(call_counted, _COUNTS, True)
    return call_counted


def _is_json(answer: Any) -> bool:
    return (
        isinstance(answer, Response)
        and not isinstance(answer, StreamingResponse)
        and bool(getattr(answer, "body", b""))
        and "json" in answer.headers.get("content-type", "")
    )


def _is_list(answer: Any) -> bool:
    return isinstance(answer, dict) and any(isinstance(value, list) for value in answer.values())


def _left_out(seen: Mapping[str, Any], there: Mapping[str, Any]) -> int:
    """Return by how many items an answer is shorter; for a paged list, by how many in all."""
    if isinstance(seen.get("total"), int) and isinstance(there.get("total"), int):
        return max(0, int(there["total"]) - int(seen["total"]))
    lists = sum(
        max(0, len(there[name]) - len(value))
        for name, value in seen.items()
        if isinstance(value, list) and isinstance(there.get(name), list)
    )
    if lists:
        return lists
    # A file states how many segments are in it as a number.
    return sum(
        max(0, there[name][inner] - number)
        for name, value in seen.items()
        if isinstance(value, dict) and isinstance(there.get(name), dict)
        for inner, number in value.items()
        if inner.endswith("_count") and isinstance(number, int) and isinstance(there[name].get(inner), int)
    )
