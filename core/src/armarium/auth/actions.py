"""The engine-wide writes of access: pairing, tokens and sessions. Secrets are shown once and never stored."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Row, insert, select, update

from armarium.actions import ActionContext, NoParams, Route, action
from armarium.auth.budgets import Budget, Spent
from armarium.auth.models import tokens
from armarium.auth.pairing import keep_code, new_code, use_code
from armarium.auth.presence import moment
from armarium.auth.schemas import (
    EnrollmentRequest,
    LibraryScope,
    PairCode,
    PairCodeParams,
    PairRequest,
    PairResponse,
    RotatedSecret,
    SessionEnded,
    SessionMade,
    SessionParams,
    TokenCreated,
    TokenCreateParams,
    TokenId,
    TokenRenewed,
    TokenRevoked,
    TokenRow,
    TokenUpdateParams,
    WantedScope,
)
from armarium.auth.secret_files import digest_of, new_secret, rotate_enrollment_secret
from armarium.auth.tokens import LIFETIMES, shown_budget, shown_token
from armarium.errors import Conflict, Forbidden, Invalid, NotFound
from armarium.guard.named_paths import MaterialPath
from armarium.ids import new_id


def scope_of(libraries: list[str] | None) -> LibraryScope:
    """Return the projects a token is bound to, in the API's form."""
    return "all" if libraries is None else libraries


def _normalise_projects(libraries: WantedScope) -> list[str] | None:
    """Return the projects a token is bound to, each in its canonical spelling."""
    if libraries == "all":
        return None
    return sorted({str(path.real) for path in libraries})


def _make(
    ctx: ActionContext,
    kind: Literal["device", "session", "agent"],
    name: str,
    role: str,
    libraries: list[str] | None,
    *,
    parent_id: str | None = None,
    created_by: str | None = None,
    folders: list[str] | None = None,
    terms: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], str]:
    """Insert a token row; return the row and the secret, which is stored nowhere."""
    secret = new_secret()
    auth = ctx.engine.auth
    row = {
        "id": new_id(),
        "kind": kind,
        "name": name,
        "role": role,
        "libraries": libraries,
        "folders": folders or [],
        "digest": digest_of(secret),
        "parent_id": parent_id,
        "created_at": ctx.now,
        "created_by": created_by or ctx.principal.name,
        "expires_at": moment(auth.clock() + LIFETIMES[kind]),
        "revoked": False,
        "revoked_at": None,
        "model": None,
        "writes_to": None,
        "budget": None,
        **(terms or {}),
    }
    ctx.conn.execute(insert(tokens).values(**row))
    ctx.target(str(row["id"]))
    ctx.on_commit(auth.book.reload)
    return row, secret


def _resolve_folders(folders: list[MaterialPath]) -> list[str]:
    """Return folders as a token records them, with links resolved; raises Invalid for what is not a folder."""
    for folder in folders:
        if not folder.real.is_dir():
            raise Invalid(f"There is no folder {folder}: choose one that exists.", code="not_a_folder")
    return sorted({str(folder.real) for folder in folders})


def _require_live(ctx: ActionContext, token_id: str) -> Row[Any]:
    row = ctx.conn.execute(select(tokens).where(tokens.c.id == token_id)).first()
    if row is None:
        raise NotFound(
            f"There is no token {token_id[:64]}; the list of tokens shows their ids.", code="unknown_token"
        )
    return row


@action(
    "pair.enroll",
    result=PairResponse,
    summary="Exchange the owner's enrollment secret for a token for this device",
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def enroll(ctx: ActionContext, p: EnrollmentRequest) -> dict[str, Any]:
    """A device enrolled with the owner's secret becomes the owner's."""
    ctx.engine.auth.check_enrollment_secret(p.enrollment_secret)
    row, secret = _make(ctx, "device", p.device_name, "owner", None, created_by="enrollment")
    return {"device_id": row["id"], "device_token": secret, "expires_at": row["expires_at"]}


@action(
    "pair.code",
    result=PairCode,
    summary="Make a one-time pairing code with a role",
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def make_code(ctx: ActionContext, p: PairCodeParams) -> dict[str, Any]:
    """The code is shown in the answer and stored as a digest."""
    code = new_code()
    libraries = _normalise_projects(p.libraries)
    source = _source_of_session(ctx) if p.browser else None
    expires_at = keep_code(
        ctx.conn, code, role=p.role, libraries=libraries, by=ctx.principal.name, session_of=source
    )
    return {"code": code, "role": p.role, "libraries": scope_of(libraries), "expires_at": expires_at}


@action(
    "pair.device",
    result=PairResponse,
    summary="Exchange a one-time code for a token for this device",
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def pair_device(ctx: ActionContext, p: PairRequest) -> dict[str, Any]:
    """The device receives the role and projects of the code; the code is then used up."""
    code: Any = use_code(ctx.conn, p.code)
    row, secret = _make(ctx, "device", p.device_name, code.role, code.libraries, created_by=code.created_by)
    return {"device_id": row["id"], "device_token": secret, "expires_at": row["expires_at"]}


@action(
    "pair.rotate_secret",
    result=RotatedSecret,
    summary="Replace the enrollment secret; tokens made with the old one stay valid",
    route=Route("POST", "/api/pair/enrollment/rotate", refusals=()),
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def rotate_secret(ctx: ActionContext, p: NoParams) -> dict[str, Any]:
    """Replace the file within the step, before the commit; if that fails, the old secret is gone all the same."""
    rotate_enrollment_secret(ctx.engine.settings.state_dir)
    return {"rotated": True}


@action(
    "token.create",
    result=TokenCreated,
    summary="Make a token for an agent (a machine caller, editor or viewer)",
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def create_token(ctx: ActionContext, p: TokenCreateParams) -> dict[str, Any]:
    """The answer is the only place where the secret appears."""
    budget = None if p.budget is None else p.budget.model_dump(exclude_none=True)
    row, secret = _make(
        ctx,
        "agent",
        p.name,
        p.role,
        _normalise_projects(p.libraries),
        folders=_resolve_folders(p.folders),
        terms={"model": p.model, "writes_to": p.writes_to, "budget": budget},
    )
    fields = {
        key: row[key]
        for key in (
            *("id", "kind", "name", "role", "folders", "created_at", "created_by", "expires_at"),
            *("model", "writes_to"),
        )
    }
    return {
        **fields,
        "libraries": scope_of(row["libraries"]),
        "last_seen": None,
        "revoked": False,
        "budget": shown_budget(budget),
        "spent": Spent().model_dump(),
        "token": secret,
    }


@action(
    "token.update",
    result=TokenRow,
    summary="Rename a token, set the folders of this machine in which it may read and write, and an agent's terms",
    route=Route("PATCH", "/api/tokens/{token_id}"),
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def update_token(ctx: ActionContext, p: TokenUpdateParams) -> dict[str, Any]:
    """Sessions made from the token get the same folders at once."""
    row = _require_live(ctx, p.token_id)
    changes: dict[str, Any] = {}
    if p.name is not None:
        changes["name"] = p.name
    if p.folders is not None:
        if row.parent_id is not None:
            raise Conflict(
                "A session has the folders of the token it came from; change those.", code="session_folders"
            )
        changes["folders"] = _resolve_folders(p.folders)
    terms = {"model", "writes_to", "budget"} & p.model_fields_set
    if terms and row.kind != "agent":
        raise Conflict(
            f"Only an agent has a model and a budget, and this is {_a(row.kind)} token.", code="agents_only"
        )
    for name in terms:
        value = getattr(p, name)
        changes[name] = value.model_dump(exclude_none=True) if isinstance(value, Budget) else value
    if not changes:
        raise Invalid("Nothing to change was named; send name, folders or terms.", code="invalid_request")
    ctx.conn.execute(update(tokens).where(tokens.c.id == p.token_id).values(**changes))
    ctx.target(p.token_id)
    auth = ctx.engine.auth
    ctx.on_commit(auth.book.reload)
    answer = shown_token(auth.book, {**row._mapping, **changes})
    answer |= {name: changes[name] for name in terms}
    return {**answer, "budget": shown_budget(answer.get("budget"))}


@action(
    "token.renew",
    result=TokenRenewed,
    summary="Extend a device token by a year from today",
    route=Route("POST", "/api/tokens/{token_id}/renew"),
    role="owner",
    person_only=True,
    undoable=False,
    scope="engine",
)
def renew_token(ctx: ActionContext, p: TokenId) -> dict[str, Any]:
    """Also revives an expired device; a revoked one stays revoked."""
    row = _require_live(ctx, p.token_id)
    if row.kind != "device":
        raise Conflict(f"Only device tokens are renewed, and this is {_a(row.kind)} token: make a new one.")
    if row.revoked:
        raise Conflict(
            "This token was revoked and cannot be renewed: pair the device again.", code="token_revoked"
        )
    expires_at = moment(ctx.engine.auth.clock() + LIFETIMES["device"])
    ctx.conn.execute(update(tokens).where(tokens.c.id == p.token_id).values(expires_at=expires_at))
    ctx.target(p.token_id)
    ctx.on_commit(ctx.engine.auth.book.reload)
    return {"token_id": p.token_id, "expires_at": expires_at}


@action(
    "token.revoke",
    result=TokenRevoked,
    summary="Revoke a token, and the sessions that came from it",
    route=Route("DELETE", "/api/tokens/{token_id}", refusals=(404,)),
    role="owner",
    undoable=False,
    scope="engine",
)
def revoke_token(ctx: ActionContext, p: TokenId) -> dict[str, Any]:
    """Revoking a revoked token changes nothing and is not an error."""
    _require_live(ctx, p.token_id)
    marked = {"revoked": True, "revoked_at": ctx.now}
    open_ = tokens.c.revoked.is_(False)
    ctx.conn.execute(update(tokens).where(tokens.c.id == p.token_id, open_).values(**marked))
    ended = ctx.conn.execute(update(tokens).where(tokens.c.parent_id == p.token_id, open_).values(**marked))
    ctx.target(p.token_id)
    ctx.on_commit(ctx.engine.auth.book.reload)
    return {"status": "deleted", "id": p.token_id, "sessions_ended": ended.rowcount}


@action(
    "token.session",
    result=SessionMade,
    summary="Make a browser session from the caller's token or from a pairing code",
    role="viewer",
    person_only=True,
    undoable=False,
    scope="engine",
    bound=True,
)
def make_session(ctx: ActionContext, p: SessionParams) -> dict[str, Any]:
    """A session has the role and projects of its source, and ends when that is revoked."""
    if p.code is not None:
        code: Any = use_code(ctx.conn, p.code, by_browser=True)
        parent = code.session_of
        if parent not in (None, "owner") and _require_live(ctx, parent).revoked:
            raise Forbidden(
                "The device that made this link was revoked in the meantime; make another link with `armarium open`.",
                code="wrong_code",
            )
        row, secret = _make(
            ctx, "session", p.name, code.role, code.libraries, parent_id=parent, created_by=code.created_by
        )
    else:
        caller = ctx.principal
        if caller.token_kind == "none":
            raise Forbidden("A session is made from a token or a pairing code; send one.", code="person_only")
        libraries = None if caller.libraries is None else sorted(caller.libraries)
        row, secret = _make(ctx, "session", p.name, caller.role, libraries, parent_id=_source_of_session(ctx))
    return {
        "token_id": row["id"],
        "role": row["role"],
        "expires_at": row["expires_at"],
        "session_token": secret,
    }


@action(
    "session.end",
    result=SessionEnded,
    summary="End the browser session that the request carries",
    role="viewer",
    person_only=True,
    undoable=False,
    scope="engine",
    bound=True,
)
def end_session(ctx: ActionContext, p: NoParams) -> dict[str, Any]:
    """Whoever holds another token keeps it: that one the owner revokes."""
    if ctx.principal.token_kind == "session" and ctx.principal.token_id is not None:
        marked = {"revoked": True, "revoked_at": ctx.now}
        ctx.conn.execute(update(tokens).where(tokens.c.id == ctx.principal.token_id).values(**marked))
        ctx.target(ctx.principal.token_id)
        ctx.on_commit(ctx.engine.auth.book.reload)
    return {"status": "ended"}


def _source_of_session(ctx: ActionContext) -> str | None:
    """Return the token with which a session of the caller ends: its own, or the one that its own session came from."""
    caller = ctx.principal
    if caller.token_kind != "session":
        return caller.token_id or "owner"
    row = ctx.conn.execute(select(tokens.c.parent_id).where(tokens.c.id == caller.token_id)).first()
    return row.parent_id if row is not None else None


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
