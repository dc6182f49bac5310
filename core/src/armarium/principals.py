"""Who is asking: a person or a machine, with a role and the projects it reaches; always set by the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["owner", "editor", "viewer"]
PrincipalKind = Literal["person", "machine"]

_RANK: dict[str, int] = {"viewer": 0, "editor": 1, "owner": 2}


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request or the runner of a job, as its token says."""

    kind: PrincipalKind
    name: str
    role: Role
    token_id: str | None = None
    token_kind: Literal["owner", "device", "session", "agent", "run", "none"] = "none"
    libraries: frozenset[str] | None = None
    """Paths of the projects the token is bound to; None for every project."""
    folders: frozenset[str] | None = frozenset()
    """Folders of this machine beneath which it may read and write; None for all that the engine may use."""
    run_id: str | None = None
    client: str | None = None
    origin_window: str | None = None
    transport: Literal["uds", "tcp", "in-process"] = "in-process"
    for_person: bool = False
    """A job's body that a person started: still a machine, but what that person may restate stays a person's."""

    @property
    def restates_persons(self) -> bool:
        """Whether this caller may write down anew, as a person's, what a person is recorded to have made."""
        return self.kind == "person" or self.for_person

    def may(self, role: Role) -> bool:
        """Whether this caller's role is at least *role*."""
        return _RANK[self.role] >= _RANK[role]

    def reaches(self, library_path: str) -> bool:
        """Whether the token is good for the project at *library_path*."""
        return self.libraries is None or library_path in self.libraries

    @property
    def granted_folders(self) -> frozenset[str] | None:
        """The only folders whose files it may name; None for all that the engine may use. Never None for a bound token."""
        return frozenset() if self.folders is None and self.libraries is not None else self.folders

    @property
    def provenance_kind(self) -> str:
        """The word that rows this caller makes carry (A 1): human, agent or workflow."""
        if self.kind == "person":
            return "human"
        return "workflow" if self.run_id is not None else "agent"


LOCAL_OWNER = Principal("person", "owner", "owner", token_kind="owner", folders=None)
"""The person at this machine, where code runs in the engine's own process (command line, tests)."""
