"""Routes whose parameters name paths of this machine: checked for the caller before the route's own code runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from armarium.guard.named_paths import holds_paths
from armarium.web.deferred_routes import DeferredRoute
from armarium.web.http import engine_of, principal_of

_REQUEST = "request_of_caller"
_CHECKED = "checks_named_paths"


def check_named_paths(routes: Iterable[Any]) -> None:
    """Make each of *routes*, including those of included routers, check the named paths among its parameters."""
    for route in all_routes(routes):
        call, dependant = route.endpoint, route.dependant
        parameters = (
            *dependant.body_params,
            *dependant.query_params,
            *dependant.path_params,
            *dependant.header_params,
            *dependant.cookie_params,
        )
        names = [parameter.name for parameter in parameters if holds_paths(parameter.field_info.annotation)]
        if not names or hasattr(call, _CHECKED):
            continue
        request_name = dependant.request_param_name or _REQUEST
        route.endpoint = dependant.call = _add_checks(call, names, request_name)
        dependant.request_param_name = request_name


def _add_checks(call: Callable[..., Any], names: list[str], request_name: str) -> Callable[..., Any]:
    def check(arguments: dict[str, Any]) -> dict[str, Any]:
        request = arguments[request_name] if request_name != _REQUEST else arguments.pop(request_name)
        engine_of(request).paths.check([arguments[name] for name in names], principal_of(request))
        return arguments

    @functools.wraps(call)
    async def checked_then_awaited(**given: Any) -> Any:
        return await call(**await run_in_threadpool(check, given))

    @functools.wraps(call)
    def call_checked(**given: Any) -> Any:
        return call(**check(given))

    wrapper: Callable[..., Any] = checked_then_awaited if inspect.iscoroutinefunction(call) else call_checked
    signature = inspect.signature(call)
    if request_name == _REQUEST:
        # FastAPI passes the request to parameters of that type.
        more = inspect.Parameter(_REQUEST, inspect.Parameter.KEYWORD_ONLY, annotation=Request)
        signature = signature.replace(parameters=[*signature.parameters.values(), more])
    setattr(wrapper, "__signature__", signature)  # noqa: B010 (mypy knows no such attribute of a function)
    setattr(wrapper, _CHECKED, True)
    return wrapper


def all_routes(routes: Iterable[Any]) -> Iterator[APIRoute]:
    """Yield each of *routes* that is one of FastAPI, including those of included routers, unless it is not made yet."""
    for route in routes:
        if isinstance(route, APIRoute):
            if not isinstance(route, DeferredRoute) or route.is_made:
                yield route
        else:
            inner = getattr(route, "original_router", route)
            yield from all_routes(getattr(inner, "routes", None) or ())
