"""Pairing, tokens and sessions over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import create_model
from sqlalchemy import func, select

from armarium.actions.rights import refuse_bound
from armarium.auth.actions import scope_of
from armarium.auth.authenticate import COOKIE, PAIRING
from armarium.auth.models import tokens
from armarium.auth.presence import moment
from armarium.auth.schemas import (
    EnrollmentRequest,
    EnrollmentSecret,
    PairCode,
    PairCodeParams,
    PairRequest,
    PairResponse,
    SessionEnded,
    SessionParams,
    SessionRequest,
    SessionResponse,
    SessionStanding,
    TokenCreated,
    TokenCreateParams,
    TokenList,
)
from armarium.auth.secret_files import enrollment_secret
from armarium.auth.tokens import shown_terms, shown_token
from armarium.engine import Engine
from armarium.errors import Forbidden, Unauthorized
from armarium.principals import Principal
from armarium.web.gate import CALLER, CLIENT, LOCAL, PRINCIPAL, PROXIED
from armarium.web.http import (
    REFUSALS,
    CurrentEngine,
    CurrentOwner,
    CurrentPrincipal,
    act,
    audit_header,
    engine_of,
    json_response,
    run,
)
from armarium.web.routers import Router

COOKIE_KEPT = 400 * 86_400
"""Seconds a browser keeps the cookie: the maximum browsers allow. The session ends 30 days after its last use, which is
not known when the cookie is set.
"""

router = Router(prefix="/api", tags=["access"])

Paired = create_model("PairedDevice", __base__=PairResponse, audit_id=(str, ...))
CodeMade = create_model("PairCodeMade", __base__=PairCode, audit_id=(str, ...))
TokenMade = create_model("TokenMade", __base__=TokenCreated, audit_id=(str, ...))
SessionOver = create_model("SessionOver", __base__=SessionEnded, audit_id=(str, ...))
SessionOpened = create_model("SessionOpened", __base__=SessionResponse, audit_id=(str, ...))

NO_STORE = {"Cache-Control": "no-store"}


@contextmanager
def _one_attempt(request: Request) -> Iterator[None]:
    """Count a wrong code or secret against the caller; raise 429 after five within a minute."""
    attempts = engine_of(request).auth.attempts
    caller = request.scope[CALLER]
    attempts.check(caller)
    try:
        yield
    except Forbidden as refusal:
        if refusal.code in ("wrong_code", "wrong_secret"):
            attempts.note_failure(caller)
        raise


def _pairing(request: Request) -> Principal:
    """Return the principal of a caller who identifies by a code or a secret, under the names it gives."""
    client, window, transport = request.scope[CLIENT]
    return Principal(
        PAIRING.kind, PAIRING.name, PAIRING.role, client=client, origin_window=window, transport=transport
    )


def _secret_answer(response: Response) -> Response:
    """Return an answer that shows a secret, marked so that no cache stores it."""
    response.headers.update(NO_STORE)
    return response


@router.post(
    "/pair/enroll", response_model=Paired, responses=REFUSALS(), summary="Enroll a device (pair.enroll)"
)
def enroll(request: Request, body: EnrollmentRequest) -> Response:
    """Exchanges the owner's synced enrollment secret for a token for this device; a wrong secret is 403."""
    with _one_attempt(request):
        return _secret_answer(act(request, "pair.enroll", body, principal=_pairing(request)))


@router.post(
    "/pair", response_model=Paired, responses=REFUSALS(), summary="Pair a device by code (pair.device)"
)
def pair(request: Request, body: PairRequest) -> Response:
    """Exchanges a one-time code for a token for this device; a wrong, used or expired code is 403."""
    with _one_attempt(request):
        return _secret_answer(act(request, "pair.device", body, principal=_pairing(request)))


@router.post(
    "/pair/code", response_model=CodeMade, responses=REFUSALS(), summary="Make a pairing code (pair.code)"
)
def make_code(request: Request, _: CurrentOwner, body: PairCodeParams | None = None) -> Response:
    """Two groups of four letters, valid once, for ten minutes."""
    return _secret_answer(act(request, "pair.code", body or PairCodeParams()))


@router.get(
    "/pair/enrollment", response_model=EnrollmentSecret, responses=REFUSALS(), summary="The enrollment secret"
)
def read_secret(engine: CurrentEngine, principal: CurrentOwner) -> Response:
    """For the owner, to be stored where the owner's other devices find it."""
    refuse_bound(principal, required="read")
    if principal.kind != "person":
        raise Forbidden("Only a person may read the enrollment secret.", code="person_only")
    return _secret_answer(json_response({"enrollment_secret": enrollment_secret(engine.settings.state_dir)}))


@router.get("/tokens", response_model=TokenList, responses=REFUSALS(), summary="Devices, sessions and agents")
def list_tokens(
    engine: CurrentEngine,
    principal: CurrentOwner,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> Response:
    """Newest first; never a secret."""
    refuse_bound(principal, required="read")
    items, total = token_rows(engine, limit=limit, offset=offset)
    return json_response(
        {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}
    )


def token_rows(engine: Engine, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the token rows of `GET /api/tokens`, and the total."""
    newest_first = tokens.select().order_by(tokens.c.created_at.desc(), tokens.c.id.desc())
    with engine.state.read() as conn:
        total = conn.execute(select(func.count()).select_from(tokens)).scalar_one()
        rows = conn.execute(newest_first.limit(limit).offset(offset)).all()
    items = [shown_token(engine.auth.book, {**row._mapping}) for row in rows]
    return items, int(total)


@router.post(
    "/tokens", response_model=TokenMade, responses=REFUSALS(), summary="Make an agent token (token.create)"
)
def create_token(request: Request, body: TokenCreateParams, _: CurrentOwner) -> Response:
    """A token for a machine caller, editor or viewer, valid for 90 days; the secret is shown only once."""
    return _secret_answer(act(request, "token.create", body))


@router.post(
    "/auth/session",
    response_model=SessionOpened,
    responses=REFUSALS(),
    summary="Open a browser session (token.session)",
)
def open_session(request: Request, body: SessionRequest | None = None) -> Response:
    """The session's token is sent only in the HttpOnly cookie `service_session`.

    Made from the token in the Authorization header or the body, else from a pairing code; 401 where there is none.
    """
    session_request = body or SessionRequest()
    params = (
        SessionParams(code=session_request.code, name=session_request.name)
        if session_request.code
        else SessionParams(name=session_request.name)
    )
    with _one_attempt(request):
        outcome = run(
            request, "token.session", params, principal=_session_principal(request, session_request)
        )
    result = dict(outcome.result or {})
    secret = result.pop("session_token")
    answer = _secret_answer(
        json_response({**result, "audit_id": outcome.audit_id}, headers=audit_header(outcome.audit_id))
    )
    safe = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE, secret, max_age=COOKIE_KEPT, path="/", httponly=True, samesite="strict", secure=safe
    )
    return answer


@router.get("/auth/session", response_model=SessionStanding, responses=REFUSALS(), summary="Who is signed in")
def read_session(engine: CurrentEngine, principal: CurrentPrincipal) -> Response:
    """Whose token or cookie the request carries, and what it may do; 401 where there is none."""
    entry = engine.auth.book.by_id(principal.token_id or "")
    return _secret_answer(
        json_response(
            {
                "token_id": principal.token_id,
                "kind": principal.token_kind,
                "name": principal.name,
                "role": principal.role,
                "libraries": scope_of(None if principal.libraries is None else sorted(principal.libraries)),
                "expires_at": None if entry is None or entry.expires is None else moment(entry.expires),
                **shown_terms(entry),
            }
        )
    )


@router.delete(
    "/auth/session", response_model=SessionOver, responses=REFUSALS(), summary="Sign out (session.end)"
)
def close_session(request: Request, _: CurrentPrincipal) -> Response:
    """Ends the session of the cookie at once, and tells the browser to forget it."""
    answer = act(request, "session.end", {})
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return answer


def _session_principal(request: Request, session_request: SessionRequest) -> Principal:
    present = request.scope.get(PRINCIPAL)
    if session_request.code is not None:
        return _pairing(request)
    if session_request.token is not None:
        client, window, transport = request.scope[CLIENT]
        return engine_of(request).auth.authenticate(
            session_request.token,
            caller=request.scope[CALLER],
            local=request.scope[LOCAL],
            proxied=request.scope[PROXIED],
            transport=transport,
            client=client,
            window=window,
        )
    if not isinstance(present, Principal):
        raise Unauthorized(
            "A session needs a token (Authorization header or `token`) or a pairing code (`code`).",
            code="missing_token",
        )
    return present
