"""Requests that name a row which their caller may not see, or a page of which the caller sees only a part."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from fastapi import Request
from fastapi.routing import APIRoute

from armarium.errors import Forbidden, ServiceError
from armarium.history.visibility import texts_in

if TYPE_CHECKING:
    from armarium.history.visibility import Visibility
    from armarium.principals import Principal

PARTIAL = "armarium.partial"


def refuse_withheld_request(request: Request, visibility: Visibility, principal: Principal) -> None:
    """Raise 403 rights_restricted for a request whose path or query names what *principal* may not see.

    Each id of a list is checked by itself: those withheld are left out of the answer, and counted there.
    """
    lists = _lists_of(request.scope.get("route"))
    single = [value for name, value in request.query_params.multi_items() if name not in lists]
    texts = set(texts_in([request.path_params, single]))
    visibility.refuse(principal, texts)
    request.scope[PARTIAL] = visibility.shows_part(principal, texts)


def explain_partial(request: Request, refusal: ServiceError) -> ServiceError:
    """Return *refusal*, or instead of it why a page's picture is not available to a caller who may not see all of the
    page.
    """
    if refusal.status not in (404, 422) or request.method != "GET" or not request.scope.get(PARTIAL):
        return refusal
    return Forbidden(
        "A part of this page is restricted, and what was asked for shows the page as a whole. "
        "Ask the owner to be named among the readers of that part.",
        code="rights_restricted",
    )


def _lists_of(route: Any) -> frozenset[str]:
    """Return the names of the query parameters of *route* that may be given several times."""
    parameters = route.dependant.query_params if isinstance(route, APIRoute) else ()
    return frozenset(parameter.alias for parameter in parameters if is_list(parameter.field_info.annotation))


def is_list(annotation: Any) -> bool:
    """Return whether a parameter of that type takes several values; `list[str] | None` does."""
    origin = get_origin(annotation) or annotation
    if origin in (Union, UnionType, Annotated):
        return any(is_list(part) for part in get_args(annotation))
    return origin in (list, tuple, set, frozenset)
