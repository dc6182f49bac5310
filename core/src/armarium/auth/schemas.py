"""Request and answer models of pairing, tokens and sandbox grants."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.actions import Params, SourceText
from armarium.auth.budgets import Budget, Spent
from armarium.guard.named_paths import FolderToOpen, MaterialPath, PackagePath
from armarium.messages import Message
from armarium.names.proper import ShortName
from armarium.principals import AgentRole, Role
from armarium.store.rows import paged

WritesTo = Literal["branch", "project"]
"""Where what an agent does over MCP goes: a branch that a person looks through, or the project itself."""

LibraryScope = Literal["all"] | list[str]

WantedScope = Literal["all"] | Annotated[list[PackagePath], Field(min_length=1, max_length=1000)]
"""An empty list is refused: a token that reaches nothing is a mistake."""

GrantedFolders = Annotated[list[MaterialPath], Field(max_length=100)]
"""Folders of this machine, by their full paths."""


class EnrollmentRequest(Params):
    """The owner's synced enrollment secret, exchanged for a token for this device."""

    enrollment_secret: SourceText = Field(min_length=1, max_length=500)
    device_name: ShortName = "device"


class PairRequest(Params):
    """A one-time code (two groups of four letters), exchanged for a token for this device."""

    code: SourceText = Field(min_length=1, max_length=40)
    device_name: ShortName = "device"


class PairResponse(Message):
    """A new device token, shown only once."""

    device_id: str
    device_token: str
    expires_at: str


class PairCodeParams(Params):
    """What the device that uses the code may do.

    With `browser` the code pairs no device: it opens one session of the caller's own token, as a link for the caller's
    browser does.
    """

    role: Role = "editor"
    libraries: WantedScope = "all"
    browser: bool = False


class PairCode(Message):
    """A pairing code, valid once, for ten minutes."""

    code: str
    role: Role
    libraries: LibraryScope
    expires_at: str


class EnrollmentSecret(Message):
    """The secret with which a further device of the owner enrolls."""

    enrollment_secret: str


class RotatedSecret(Message):
    """The enrollment secret was replaced; read the new one from GET /api/pair/enrollment."""

    rotated: bool = True


class TokenCreateParams(Params):
    """A token for an agent, a machine caller."""

    name: ShortName
    role: AgentRole = "editor"
    libraries: WantedScope = "all"
    folders: GrantedFolders = Field(default_factory=list)
    """Folders of this machine in which it may read and write files; without any it can only upload."""
    model: ShortName | None = None
    """The model that it runs on; the history says so of each of its steps."""
    writes_to: WritesTo = "branch"
    budget: Budget | None = None


class TokenUpdateParams(Params):
    """The name of a token and the folders it is granted, and the terms of an agent; absent fields stay as they are."""

    token_id: str = Field(min_length=1, max_length=64)
    name: ShortName | None = None
    folders: GrantedFolders | None = None
    model: ShortName | None = None
    writes_to: WritesTo | None = None
    budget: Budget | None = None
    """Replaces the whole budget; null: not limited."""


class TokenId(Params):
    """Names a token."""

    token_id: str = Field(min_length=1, max_length=64)


class TokenRow(Message):
    """A token as the owner sees it; never its secret."""

    id: str
    kind: Literal["device", "session", "agent"]
    name: str
    role: Role
    libraries: LibraryScope
    folders: list[str] | None = Field(default_factory=list)
    """Folders of this machine in which it may read and write files; null: all that the engine may use."""
    created_at: str
    created_by: str | None = None
    last_seen: str | None = None
    expires_at: str | None = None
    revoked: bool = False
    model: str | None = None
    """The model that an agent runs on."""
    writes_to: WritesTo | None = None
    budget: Budget | None = None
    spent: Spent | None = None
    """What an agent has used so far."""


class TokenCreated(TokenRow):
    """A new token row with its secret, shown only once."""

    token: str


TokenList = paged(TokenRow, "TokenList", "A page of devices, sessions and agents, newest first.")


class TokenRenewed(Message):
    """A device token with its new expiry."""

    token_id: str
    expires_at: str


class TokenRevoked(Message):
    """A revoked token, and the sessions that were made from it."""

    status: Literal["deleted"] = "deleted"
    id: str
    sessions_ended: int = 0


class SessionParams(Params):
    """A browser session: from the request's token, else from a pairing code."""

    code: SourceText | None = Field(default=None, min_length=1, max_length=40)
    name: ShortName = "browser"


class SessionRequest(SessionParams):
    """As SessionParams; `token` replaces the Authorization header where a page cannot set it."""

    token: SourceText | None = Field(default=None, min_length=1, max_length=500)


class SessionMade(Message):
    """A session token; over HTTP it is sent only in the cookie."""

    token_id: str
    role: Role
    expires_at: str
    session_token: str


class SessionResponse(Message):
    """A session; its token is in the HttpOnly cookie `service_session`."""

    token_id: str
    role: Role
    expires_at: str


class SessionStanding(Message):
    """Whose token or session the request carries. `libraries`: the projects it reaches; `expires_at` null: never."""

    token_id: str | None
    kind: str
    name: str
    role: Role
    libraries: LibraryScope
    expires_at: str | None
    model: str | None = None
    writes_to: WritesTo | None = None
    budget: Budget | None = None
    spent: Spent | None = None


class SessionEnded(Message):
    """The session of the cookie is over; the browser is told to forget it."""

    status: Literal["ended"] = "ended"


class SandboxGrantParams(Params):
    """A folder the owner chose, with the system's bookmark for it (base64)."""

    path: FolderToOpen
    bookmark: SourceText = Field(max_length=1_000_000)


class SandboxGranted(Message):
    """Whether the folder is granted to the engine now, and whether it was before."""

    path: str
    granted: bool
    already_held: bool
