"""The routes that actions and queries declare: endpoint, body and answer generated from the declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from inspect import Parameter
from typing import Any, get_type_hints

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, create_model

from armarium.actions import Action, Params
from armarium.actions.query import query_of
from armarium.engine import Engine
from armarium.messages import written
from armarium.plugin import Plugin
from armarium.principals import Principal
from armarium.projects.libraries import Library
from armarium.web.deferred_routes import DeferredRoute
from armarium.web.http import (
    REFUSALS,
    CurrentEngine,
    CurrentLibrary,
    CurrentOwner,
    CurrentPrincipal,
    OptionalLibrary,
    act,
    json_response,
)
from armarium.web.openapi import operation_id
from armarium.web.past_answers import AskedAsOf, past_answer
from armarium.web.routers import watch_route


def body_of(action: Action[Any]) -> type[BaseModel] | None:
    """Return the model of the body: the parameters that are not in the path; None where all of them are.

    Validators over several fields are not applied to the body, but when the action parses all its parameters.
    """
    assert action.route is not None
    placed = set(action.route.path_fields.values())
    body_fields = {name: field for name, field in action.params.model_fields.items() if name not in placed}
    if not body_fields or not placed:
        return action.params if body_fields else None
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in body_fields.items()}
    return create_model(
        f"{action.params.__name__.removesuffix('Params')}Body",
        __base__=Params,
        __module__=action.params.__module__,
        __doc__=action.params.__doc__,
        **fields,
    )


def routers_of(plugin: Plugin) -> Iterator[APIRouter]:
    """Return all the routes of *plugin*: the handwritten ones, and those that its queries and actions declare."""
    yield from plugin.routers
    yield _build_router(tuple(plugin.queries), tuple(plugin.actions))


@lru_cache(maxsize=256)
def _build_router(queries: tuple[Callable[..., Any], ...], actions: tuple[Action[Any], ...]) -> APIRouter:
    """Build the router of the declared routes, once per process like handwritten ones."""
    router = APIRouter()
    for function in queries:
        declared = query_of(function)
        assert declared is not None
        _add_route(router, declared.path, declared.method, declared.name, partial(_describe_query, function))
    for action in actions:
        if action.route is not None:
            name = action.route.name or action.name.rpartition(".")[2]
            _add_route(
                router, action.route.path, action.route.method, name, partial(_describe_action, action)
            )
    return router


def _add_route(
    router: APIRouter, path: str, method: str, name: str, describe: Callable[[], Mapping[str, Any]]
) -> None:
    def describe_route() -> dict[str, Any]:
        tag = path.removeprefix("/api/").partition("/")[0].replace("-", " ")
        return {"tags": [tag], "generate_unique_id_function": operation_id, **describe()}

    router.routes.append(DeferredRoute(path, (method,), name, describe_route, watch_route))


def _describe_query(function: Callable[..., Any]) -> dict[str, Any]:
    declared = query_of(function)
    assert declared is not None
    return {
        "endpoint": _query_endpoint(function),
        "summary": declared.summary,
        "description": inspect.getdoc(function) or "",
        "response_model": declared.answer,
        "responses": REFUSALS(*declared.refusals),
    }


def _describe_action(action: Action[Any]) -> dict[str, Any]:
    assert action.route is not None
    return {
        "endpoint": _action_endpoint(action, body_of(action)),
        "summary": action.summary.rstrip("."),
        "description": inspect.getdoc(action.perform) or "",
        "status_code": action.route.status,
        "response_model": written(action.result, action.route.answer),
        "responses": REFUSALS(*action.route.refusals),
    }


INJECTED: dict[str, Any] = {"library": CurrentLibrary, "engine": CurrentEngine, "principal": CurrentPrincipal}
"""What a query's `prepare` may name besides the query's own parameters."""


def _query_endpoint(function: Callable[..., Any]) -> Any:
    query = query_of(function)
    prepare = None if query is None else query.prepare
    prepared = () if prepare is None else tuple(inspect.signature(prepare).parameters)
    hints = get_type_hints(function, include_extras=True)
    _, *own_parameters = inspect.signature(function).parameters.values()
    injected_types = {Library: CurrentLibrary, Engine: CurrentEngine, Principal: CurrentPrincipal}
    own = {parameter.name for parameter in own_parameters}

    def endpoint(**arguments: Any) -> Response:
        library = arguments["library"]
        params = {name: value for name, value in arguments.items() if name in own}
        if prepare is not None:
            params |= prepare(**{name: arguments[name] for name in prepared}) or {}
        as_of = arguments.get("as_of")
        if query is None or query.as_of is None or as_of is None:
            with library.db.read() as conn:
                return json_response(function(conn, **params))
        with past_answer(library, as_of, query.as_of, params) as headers, library.db.read() as conn:
            return json_response(function(conn, **params), headers=headers)

    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=INJECTED[name])
        for name in dict.fromkeys(["library", *(injected for injected in prepared if injected in INJECTED)])
        if name not in own
    ]
    parameters += [
        parameter.replace(
            kind=Parameter.KEYWORD_ONLY,
            annotation=injected_types.get(hints[parameter.name], hints[parameter.name]),
        )
        for parameter in own_parameters
    ]
    if query is not None and query.as_of is not None:
        parameters.append(Parameter("as_of", Parameter.KEYWORD_ONLY, annotation=AskedAsOf, default=None))
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.tells_withheld = query is None or query.counts_withheld  # type: ignore[attr-defined]
    return endpoint


def _action_endpoint(action: Action[Any], body: type[BaseModel] | None) -> Any:
    """Return a function that FastAPI treats like a handwritten endpoint."""
    assert action.route is not None
    name, status, placed = action.name, action.route.status, action.route.path_fields

    def endpoint(**arguments: Any) -> Response:
        body = arguments.get("body")
        params: Any = body
        if placed or body is None:
            # Only what was sent, so that an absent field keeps the value it has.
            params = {} if body is None else body.model_dump(exclude_unset=True)
            params |= {field: arguments[place] for place, field in placed.items()}
        return act(arguments["request"], name, params, status=status)

    library_dependency: Any = OptionalLibrary
    if action.scope == "library":
        library_dependency = CurrentLibrary
    elif action.scope == "engine":
        library_dependency = CurrentOwner if action.role == "owner" else CurrentPrincipal
    kinds: dict[str, Any] = {"request": Request, "_": library_dependency, **dict.fromkeys(placed, str)}
    if body is not None:
        kinds["body"] = body
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [Parameter(field, Parameter.KEYWORD_ONLY, annotation=kind) for field, kind in kinds.items()]
    )
    endpoint.action = name  # type: ignore[attr-defined]
    return endpoint
