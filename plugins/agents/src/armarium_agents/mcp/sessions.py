"""One agent at work: from when its client connects until it goes, in memory only."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

KEPT = 1000


@dataclass
class AgentSession:
    """What is known of a session, besides the token that each of its requests carries."""

    id: str
    standing: dict[str, Any] = field(default_factory=dict)
    """What its token is, as the engine says (`GET /api/auth/session`); empty until it was asked."""
    branch: str | None = None
    """The path of the branch that its writes go to, once one was opened."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while one is opened or removed: of two writes at once, one opens it."""
    opened: str | None = None
    """The id of the branch that it opened, until a write stands there."""
    writing: int = 0
    """How many of its writes are under way."""

    @property
    def agent(self) -> str:
        """The name of its token."""
        return str(self.standing.get("name", "agent"))

    @property
    def works_in_project(self) -> bool:
        """Whether its token lets it write to the project itself."""
        return self.standing.get("writes_to") == "project"


class Sessions:
    """The sessions of one server by token and id, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], AgentSession] = OrderedDict()

    @property
    def branches(self) -> set[str | None]:
        """The branches that sessions work in."""
        return {session.branch for session in self._known.values()}

    def find(self, holder: str, identity: str) -> AgentSession:
        """Return the session with this id of this token, a new one where there is none."""
        session = self._known.setdefault((holder, identity), AgentSession(identity))
        self._known.move_to_end((holder, identity))
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return session
