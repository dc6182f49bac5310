"""Who is asking: a person or a machine, with a role and the projects it reaches; always set by the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Literal, get_args

Role = Literal["owner", "editor", "viewer"]
"""What a caller may do: each may also do what the roles after it may."""

AgentRole = Literal["editor", "viewer"]
"""The roles that a token of an agent may have."""

PrincipalKind = Literal["person", "machine"]

_RANK: dict[str, int] = {role: -place for place, role in enumerate(get_args(Role))}


BRANCHES = ".branches"
"""How the name of the folder ends in which the branches of a project lie, beside it."""


def project_of_branch(path: str) -> str:
    """Return the path of the project beside whose folder of branches the package at *path* lies; else *path* itself."""
    folder = path.rpartition("/")[0]
    return f"{folder.removesuffix(BRANCHES)}.library" if folder.endswith(BRANCHES) else path


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request or the starter of a job, according to its token."""

    kind: PrincipalKind
    name: str
    role: Role
    token_id: str | None = None
    token_kind: Literal["owner", "device", "session", "agent", "run", "panel", "none"] = "none"
    libraries: frozenset[str] | None = None
    """Paths of the projects the token is bound to; None for every project."""
    folders: frozenset[str] | None = frozenset()
    """Folders of this machine in which it may read and write; None for all that the engine may use."""
    run_id: str | None = None
    client: str | None = None
    origin_window: str | None = None
    transport: Literal["uds", "tcp", "in-process"] = "in-process"
    for_person: bool = False
    """A job that a person started: still a machine, but it may restate what that person made without taking authorship.
    """

    device_id: str | None = None
    """The token with which a browser session was opened."""

    routes: tuple[str, ...] | None = None
    """The only routes it may ask, as `GET /api/documents/{doc_id}`; None for all that its role permits."""

    @property
    def reader_ids(self) -> frozenset[str]:
        """The ids under which it may be named among the readers of something restricted."""
        return frozenset(identity for identity in (self.token_id, self.device_id) if identity is not None)

    @property
    def restates_persons(self) -> bool:
        """Whether this caller may rewrite, as a person's, what a person is recorded to have made."""
        return self.kind == "person" or self.for_person

    def may(self, role: Role) -> bool:
        """Return whether this caller's role is at least *role*."""
        return _RANK[self.role] >= _RANK[role]

    def reaches(self, library_path: str) -> bool:
        """Return whether the token reaches the project, or branch of a project, at *library_path*."""
        return self.libraries is None or not self.libraries.isdisjoint(
            (library_path, project_of_branch(library_path))
        )

    @property
    def granted_folders(self) -> frozenset[str] | None:
        """The only folders whose files it may name; None for all that the engine may use. Never None for a bound token."""
        return frozenset() if self.folders is None and self.libraries is not None else self.folders

    def with_owner_name(self, owner_name: str | None) -> Principal:
        """Return the same caller; the person at this machine, also in a browser, is called *owner_name* where one is given."""
        in_browser = self.token_kind == "session" and self.role == "owner"
        is_here = self.kind == "person" and (self.name == LOCAL_OWNER.name or in_browser)
        return replace(self, name=owner_name) if owner_name and is_here else self

    @property
    def provenance_kind(self) -> str:
        """The author kind in rows this caller makes: human, agent or workflow."""
        if self.kind == "person":
            return "human"
        return "workflow" if self.run_id is not None else "agent"


LOCAL_OWNER = Principal("person", "owner", "owner", token_kind="owner", folders=None)
"""The person at this machine, where code runs in the engine's own process (command line, tests)."""


@dataclass
class Caller:
    """Who is asking, in this request or job."""

    principal: Principal
    limited: bool = False
    """Whether rows were left out of something that was read for this caller."""


_caller: ContextVar[Caller | None] = ContextVar("armarium_caller", default=None)


def caller() -> Caller | None:
    """Return who is asking; None where the engine works for itself."""
    return _caller.get()


@contextmanager
def asking(principal: Principal | None) -> Iterator[Caller | None]:
    """Within the block, whatever is read is read for *principal* (None: for the engine itself)."""
    current = None if principal is None else Caller(principal)
    token = _caller.set(current)
    try:
        yield current
    finally:
        _caller.reset(token)
