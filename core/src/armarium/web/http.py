"""The building blocks of routes: who is asking, which project, running an action, JSON answers and refusals."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

import orjson
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from armarium.engine import Engine
from armarium.errors import BadRequest, Forbidden, Invalid, ServiceError, Unauthorized
from armarium.messages import plain_fault, sentence_of_faults
from armarium.principals import Principal
from armarium.projects.libraries import Library
from armarium.web import reference, routing
from armarium.web.deferred_routes import DeferredRoute
from armarium.web.early_answers import refusal_headers
from armarium.web.gate import CREDENTIAL_PATH, LIBRARY, OPEN_PATHS, PRINCIPAL, Gate
from armarium.web.openapi import describe
from armarium.web.request_counts import REFUSED, RequestCounts
from armarium.web.request_limits import RequestLimits
from armarium.web.routing import routes_of
from armarium.web.unknown_ids import unknown_id
from armarium.web.withheld_requests import explain_partial, refuse_withheld_request

if TYPE_CHECKING:
    from armarium.actions import Outcome

AUDIT_HEADER = "X-Service-Audit-Id"
LIBRARY_HEADER = "X-Service-Library-Path"

F = TypeVar("F", bound=Callable[..., Any])

_WORDS = {
    400: "The request cannot be understood as it stands.",
    401: "No token, or one that is no longer valid.",
    403: "The caller is known and may not do this.",
    404: "An id or a path names nothing here.",
    409: "The request clashes with the state of things.",
    412: "Something the request needs is not configured.",
    413: "More bytes or ids than one request may carry.",
    422: "The values are not acceptable.",
    429: "Too many failed attempts; Retry-After says when to try again.",
    500: "Something went wrong inside the engine.",
    503: "It cannot be done now; nothing was changed.",
}

_ALWAYS = (400, 401, 403, 413, 422, 429, 503)
"""Any route may answer these: host, origin, token, rights, size, values, attempts, a disk that refuses."""


def REFUSALS(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return `responses=` of a route: the refusals of every route, and *statuses*."""
    return {status: _refusal(status) for status in sorted({*_ALWAYS, *statuses})}


@cache
def _refusal(status: int) -> dict[str, Any]:
    """Return how the answer *status* is described, the same for every route."""
    return {
        "description": _WORDS.get(status) or f"{HTTPStatus(status).phrase}.",
        # A reference, not `model`: FastAPI would build a validator for each status of each route, thousands in all.
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}},
    }


def json_bytes(value: Any) -> bytes:
    """Return *value* as JSON. Keys made by SQLAlchemy (a subclass of str, in `row._mapping`) become plain text."""
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # A refusal may repeat a number of more than 64 bits, which orjson does not write.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return *value* as a JSON response (orjson), without a model. Bytes are taken as finished JSON."""
    content = value if isinstance(value, bytes) else json_bytes(value)
    return Response(content, status, dict(headers) if headers else None, "application/json")


def takes_upload(endpoint: F) -> F:
    """Mark a route whose body is raw bytes, not JSON: it may be as large as an upload."""
    endpoint.takes_upload = True  # type: ignore[attr-defined]
    return endpoint


def engine_of(request: Request) -> Engine:
    """Return the engine behind *request*."""
    engine = request.app.state.engine
    assert isinstance(engine, Engine)
    return engine


def principal_of(request: Request) -> Principal:
    """Return who is asking; raises Unauthorized where the gate let a request in without a token."""
    principal = request.scope.get(PRINCIPAL)
    if not isinstance(principal, Principal):
        raise Unauthorized(
            "This route needs a token: send Authorization: Bearer <token>.", code="missing_token"
        )
    return principal


def owner_of(request: Request) -> Principal:
    """Return who is asking; raises 403 owner_only unless it is the owner."""
    principal = principal_of(request)
    if principal.role != "owner":
        raise Forbidden("Only the owner may see or change this.", code="owner_only")
    return principal


@lru_cache(maxsize=1024)
def _decode_path(header: bytes) -> str:
    """Return the header's percent-encoded path as text, NFC; cached for the paths in use."""
    try:
        return unicodedata.normalize("NFC", unquote_to_bytes(header).decode("utf-8"))
    except UnicodeDecodeError:
        raise BadRequest(
            f"{LIBRARY_HEADER} is not percent-encoded UTF-8; encode the package's full path.",
            code="library_required",
        ) from None


def named_library(request: Request) -> str | None:
    """Return the path of the project a request names by header or `?library=`; BadRequest when both differ."""
    header: bytes | None = request.scope.get(LIBRARY)
    by_header = _decode_path(header) if header else None
    query: bytes = request.scope["query_string"]
    if b"library=" not in query:
        return by_header
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise BadRequest("?library= is not percent-encoded UTF-8; encode the package's full path.") from None
    values = {unicodedata.normalize("NFC", value) for name, value in pairs if name == "library" and value}
    # A value that a client percent-encoded twice, as for the header, is the same value.
    values = {_decode_path(value.encode()) if "%" in value else value for value in values}
    if by_header is not None:
        values.add(by_header)
    if len(values) > 1:
        raise BadRequest(
            f"The request names two projects, by {LIBRARY_HEADER} and by ?library=; name one.",
            code="library_required",
        )
    return values.pop() if values else None


def _open_project(request: Request) -> tuple[Library | None, str | None]:
    """Return (the open project a request names, its path); None instead of the project where it must be opened first."""
    path = named_library(request)
    return (None if path is None else engine_of(request).libraries.open_at(path)), path


def _check_reach(request: Request, library: Library) -> Library:
    principal = principal_of(request)
    if not principal.reaches(str(library.path)):
        raise Forbidden(
            f"This token does not reach the project {library.path.name}. Ask the owner for one that does.",
            code="library_access_denied",
            library_path=str(library.path),
            required="read" if request.method in ("GET", "HEAD") else "write",
            role=principal.role,
        )
    return library


def _open(request: Request, path: str) -> Library:
    """Open a package, unless the caller may not reach it: then it is not even looked for."""
    engine = engine_of(request)
    reading = request.method in ("GET", "HEAD")
    place = engine.paths.package(path, principal_of(request), required="read" if reading else "write")
    return engine.libraries.get(place)


def library_required() -> BadRequest:
    """Return the refusal of a request that names no project where one is needed."""
    return BadRequest(
        f"This route works in a project: name it with the header {LIBRARY_HEADER} (its full path, percent-encoded) "
        "or with ?library=.",
        code="library_required",
    )


def library_of(request: Request) -> Library:
    """Return the project a request names, opened if necessary. Blocks: for plain `def` routes."""
    library, path = _open_project(request)
    if library is not None:
        return _check_reach(request, library)
    if path is None:
        raise library_required()
    return _open(request, path)


def library_if_named(request: Request) -> Library | None:
    """Like `library_of`, but None when the request names none."""
    return None if named_library(request) is None else library_of(request)


async def current_engine(request: Request) -> Engine:
    """Dependency: the engine."""
    return engine_of(request)


async def current_principal(request: Request) -> Principal:
    """Dependency: who is asking."""
    return principal_of(request)


async def current_owner(request: Request) -> Principal:
    """Dependency: who is asking, who must be the owner."""
    return owner_of(request)


async def current_library(request: Request) -> Library:
    """Dependency: the project the request names. A dictionary lookup; opening one happens in a thread.

    A request that names a row which its caller may not see is refused here (403 rights_restricted).
    """
    library, path = _open_project(request)
    if library is not None:
        _check_reach(request, library)
    elif path is None:
        raise library_required()
    else:
        library = await run_in_threadpool(_open, request, path)
    visibility = library.db.visibility
    if visibility is not None and not visibility.surely_all(principal_of(request)):
        await run_in_threadpool(refuse_withheld_request, request, visibility, principal_of(request))
    return library


async def optional_library(request: Request) -> Library | None:
    """Dependency: the project the request names, or None where it names none."""
    return None if named_library(request) is None else await current_library(request)


CurrentEngine = Annotated[Engine, Depends(current_engine)]
CurrentPrincipal = Annotated[Principal, Depends(current_principal)]
CurrentOwner = Annotated[Principal, Depends(current_owner)]
CurrentLibrary = Annotated[Library, Depends(current_library)]
OptionalLibrary = Annotated[Library | None, Depends(optional_library)]


def act(
    request: Request,
    name: str,
    params: Mapping[str, Any] | BaseModel,
    *,
    status: int = 200,
    principal: Principal | None = None,
) -> Response:
    """Run the action *name* for the caller and the project of *request*; return its result with `audit_id`.

    Blocks (the one writer, the disk): call it from a plain `def` route. *principal* replaces the caller where the route
    itself authenticated it (pairing). A write answers `audit_id` at top level and in a header.
    """
    outcome = run(request, name, params, principal=principal)
    return json_response(
        {**(outcome.result or {}), "audit_id": outcome.audit_id}, status, audit_header(outcome.audit_id)
    )


def run(
    request: Request, name: str, params: Mapping[str, Any] | BaseModel, *, principal: Principal | None = None
) -> Outcome:
    """Like `act`, returning the outcome: for routes that build their own answer."""
    engine = engine_of(request)
    scope = engine.actions.get(name).scope
    library = (
        None
        if scope == "engine"
        else library_of(request)
        if scope == "library"
        else library_if_named(request)
    )
    try:
        return engine.run(library, name, params, principal or principal_of(request))
    except Invalid as refusal:
        unknown = unknown_id(request.path_params, params, refusal)
        if unknown is None:
            raise
        raise unknown from refusal


def audit_header(audit_id: str) -> dict[str, str]:
    """Return the response header that names the audit row of a write."""
    return {AUDIT_HEADER: audit_id}


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return _answer_with(request, explain_partial(request, error))


def _answer_with(request: Request, refusal: ServiceError) -> Response:
    request.scope[REFUSED] = refusal.code
    return json_response(refusal.body(), refusal.status, refusal_headers(refusal))


async def _invalid(request: Request, error: Exception) -> Response:
    """Answer a request that does not fit its model: one sentence and the faults, never the values sent."""
    assert isinstance(error, RequestValidationError | ValidationError)
    faults = [
        {
            "loc": [str(part) if not isinstance(part, int | str) else part for part in fault["loc"]],
            "msg": plain_fault(fault["msg"]),
            "type": fault["type"],
        }
        for fault in error.errors()
    ]
    sentence = sentence_of_faults(faults or [{"loc": [], "msg": "not valid"}], "request")
    refusal = Invalid(sentence, code="invalid_request", errors=faults)
    return _answer_with(request, refusal)


_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_DETAILS: dict[int | str, str] = {
    404: "There is no such route; GET /openapi.json lists all of them.",
    405: "This route does not take that method; GET /openapi.json says which it takes.",
    400: "The body cannot be read; send JSON in UTF-8.",
    "multipart/form-data": "The body is not valid multipart/form-data; send each file and field as a part of its own.",
}


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    code: int | str = kind if error.status_code == 400 and kind in _DETAILS else error.status_code
    body: dict[str, Any] = {"detail": _DETAILS.get(code) or str(error.detail)}
    if error.status_code == 404 and (refused := engine_of(request).plugins.refused):
        missing = ", ".join(dict.fromkeys(refusal.name for refusal in refused))
        body["detail"] += f" Those of refused plugins are missing ({missing}); the list of plugins says why."
    if error.status_code in _CODES:
        body["code"] = request.scope[REFUSED] = _CODES[error.status_code]
    return json_response(body, error.status_code, error.headers)


async def _not_storable(request: Request, error: Exception) -> Response:
    """Answer a value that JSON can carry and a database cannot: half a surrogate pair, a number beyond 64 bits."""
    # orjson reports both as a plain TypeError.
    number = isinstance(error, OverflowError) or "64-bit" in str(error)
    if isinstance(error, TypeError) and not number and "surrogates" not in str(error):
        raise error
    words = "A text holds half a surrogate pair: send valid Unicode."
    words = "A number is larger than 64 bits hold." if number else words
    fault = {"loc": ["body"], "msg": words, "type": "not_storable"}
    return _answer_with(request, Invalid(words, code="invalid_request", errors=[fault]))


def install(app: FastAPI, engine: Engine) -> None:
    """Put the gate before *app*, its refusals behind every route, and the security scheme into its description."""
    # Behind the gate: a refused request takes no slot.
    app.add_middleware(RequestLimits)
    app.state.counts = RequestCounts()
    app.add_middleware(Gate, engine=engine, uploads=_Uploads(app), counts=app.state.counts)
    app.add_exception_handler(ServiceError, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    for unstorable in (UnicodeEncodeError, OverflowError, TypeError):
        app.add_exception_handler(unstorable, _not_storable)
    reference.install(app)
    routing.install(app)
    describe(app, open_paths=OPEN_PATHS | {CREDENTIAL_PATH}, in_project=(current_library, optional_library))


class _Uploads:
    """The paths that take an upload, determined when the first body larger than the JSON limit arrives."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._found: list[re.Pattern[str]] | None = None

    def __call__(self) -> list[re.Pattern[str]]:
        if self._found is None:
            self._found = [route.path_regex for route in routes_of(self._app.routes) if _takes_file(route)]
        return self._found


def _takes_file(route: APIRoute) -> bool:
    if route.methods == {"GET"} or (isinstance(route, DeferredRoute) and "endpoint" not in vars(route)):
        return False  # what a query or an action declares takes JSON
    form = type(getattr(route.body_field, "field_info", None)).__name__ in ("Form", "File")
    return form or getattr(route.endpoint, "takes_upload", False)
