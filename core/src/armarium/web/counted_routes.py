"""Lists that say how many items are withheld: counted for every GET, whoever wrote it.

An answer must not depend on what is in a row that its caller may not see, and a count over the rows that a filter leaves
would answer any question about them. So it is counted over the whole list, or over that of the documents and parts of
pages that the request names; where the path names something else, of which withheld pages may tell (an entity, a run),
where a filter is required, and where a query says that its number tells what is written, nothing is counted.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson
from fastapi import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.responses import StreamingResponse

from armarium.errors import ServiceError
from armarium.principals import asking, caller
from armarium.projects.libraries import Library
from armarium.web.checked_routes import all_routes
from armarium.web.withheld_requests import is_list

WITHHELD = "withheld"
_COUNTS = "counts_withheld"
_NOTHING = b',"withheld":0}'


def count_withheld(routes: Iterable[Any]) -> None:
    """Make each GET among *routes* that answers a list say how many items of it are withheld from its caller; what has
    lists among other things says so only where something is.

    Only where there may be any is the route run again, without its filters, for the caller and for the engine itself.
    """
    for route in all_routes(routes):
        # The routers of plugins belong to the process: a second engine in it finds their routes wrapped already.
        if not getattr(route.endpoint, "tells_withheld", True):
            continue
        if getattr(route.endpoint, _COUNTS, False) or inspect.iscoroutinefunction(route.endpoint):
            continue
        if "GET" in (route.methods or ()) and _answers_list(route):
            route.endpoint = route.dependant.call = _add_counts(route, route.endpoint)


def _answers_list(route: APIRoute) -> bool:
    fields = _fields(route)
    # A route that does not say what it answers may answer a list.
    return fields is None or any(is_list(field.annotation) for field in fields.values())


def _fields(route: APIRoute) -> Mapping[str, FieldInfo] | None:
    model = route.response_model
    return model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else None


def _add_counts(route: APIRoute, call: Callable[..., Any]) -> Callable[..., Any]:
    is_list_itself = "count" in (_fields(route) or ())

    @functools.wraps(call)
    def call_counted(**given: Any) -> Any:
        answer, asks = call(**given), caller()
        library = next((value for value in given.values() if isinstance(value, Library)), None)
        if library is None or not _is_json(answer):
            return answer
        if asks is None or not asks.limited:
            if not is_list_itself or b'"withheld":' in answer.body:
                return answer
            return _with_body(answer, answer.body[:-1] + _NOTHING)
        visibility = library.db.visibility
        assert visibility is not None
        whole = _without_filters(route, given, visibility.are_places)
        body = orjson.loads(answer.body)
        if not any(isinstance(value, list) for value in body.values()):
            return answer
        body.pop(WITHHELD, None)
        path_values = [given[parameter.name] for parameter in route.dependant.path_params]
        if whole is not None and not visibility.names_elsewhere(path_values):
            with suppress(ServiceError):
                ours = orjson.loads((answer if whole == given else call(**whole)).body)
                with asking(None):
                    everything = orjson.loads(call(**whole).body)
                left_out = max(ours.get(WITHHELD, 0), _left_out(ours, everything))
                if left_out or is_list_itself:
                    body[WITHHELD] = left_out
        return _with_body(answer, orjson.dumps(body))

    setattr(call_counted, _COUNTS, True)
    return call_counted


def _without_filters(
    route: APIRoute, arguments: Mapping[str, Any], are_places: Callable[[list[str]], bool]
) -> dict[str, Any] | None:
    """Return *arguments* with nothing in its query but documents and parts of pages; None where it requires a filter."""
    unfiltered = dict(arguments)
    for parameter in route.dependant.query_params:
        value = arguments[parameter.name]
        items = value if isinstance(value, list) else [value]
        if value is None or (all(isinstance(each, str) for each in items) and are_places(items)):
            continue
        if parameter.field_info.is_required():
            return None
        unfiltered[parameter.name] = parameter.get_default()
    return unfiltered


def _with_body(answer: Response, body: bytes) -> Response:
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    return Response(body, answer.status_code, headers)


def _is_json(answer: Any) -> bool:
    return (
        isinstance(answer, Response)
        and not isinstance(answer, StreamingResponse)
        and getattr(answer, "body", b"")[:1] == b"{"
        and "json" in answer.headers.get("content-type", "")
    )


def _left_out(visible: Mapping[str, Any], everything: Mapping[str, Any]) -> int:
    """Return by how many items an answer is shorter; for a paged list, by how many in all."""
    if isinstance(visible.get("total"), int) and isinstance(everything.get("total"), int):
        return max(0, int(everything["total"]) - int(visible["total"]))
    lists = sum(
        max(0, len(everything[name]) - len(value))
        for name, value in visible.items()
        if isinstance(value, list) and isinstance(everything.get(name), list)
    )
    if lists:
        return lists
    # A file states how many segments are in it as a number.
    return sum(
        max(0, everything[name][inner] - number)
        for name, value in visible.items()
        if isinstance(value, dict) and isinstance(everything.get(name), dict)
        for inner, number in value.items()
        if inner.endswith("_count")
        and isinstance(number, int)
        and isinstance(everything[name].get(inner), int)
    )
