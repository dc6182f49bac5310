"""The seam to branches: the first write of a session opens one, and what follows goes there; without branches, nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from armarium_agents.mcp.branches import CREATE, open_branch, place_of
from armarium_agents.mcp.doors import Answer, Door
from armarium_agents.mcp.refusals import ToolRefused
from armarium_agents.mcp.sessions import AgentSession, Sessions

ACTIONS = {CREATE: {"name": CREATE}}


@dataclass
class RecordedDoor:
    """A door that answers as told and remembers what it was asked."""

    status: int = 200
    library: str | None = None
    asked: list[tuple[str, str, Any]] = field(default_factory=list)

    def within(self, library: str) -> Door:
        return RecordedDoor(self.status, library, self.asked)

    async def ask(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Answer:
        self.asked.append((method, path, body))
        said = (
            {"detail": "The disk is full."}
            if self.status >= 400
            else {"result": {"id": "b1", "library_path": "/there/Branch.library"}}
        )
        return Answer(self.status, json.dumps(said).encode())


def session(**standing: Any) -> AgentSession:
    return AgentSession("0123456789", {"name": "copyist", **standing})


def test_the_first_write_opens_a_branch_and_later_ones_use_it() -> None:
    door, working = RecordedDoor(), session()
    assert place_of(door, working) is door
    for _ in range(3):
        asyncio.run(open_branch(door, working, ACTIONS))
    ((_, path, body),) = door.asked
    assert path == "/api/actions/invoke"
    assert body == {"name": CREATE, "params": {"name": "copyist, 01234567"}}
    there = place_of(door, working)
    assert isinstance(there, RecordedDoor)
    assert there.library == "/there/Branch.library"
    assert working.branch_id == "b1"


def test_where_no_branch_can_be_opened_nothing_is_written() -> None:
    working = session()
    with pytest.raises(ToolRefused, match="nothing was written"):
        asyncio.run(open_branch(RecordedDoor(507), working, ACTIONS))
    assert working.branch is None


@pytest.mark.parametrize(("standing", "actions"), [({"writes_to": "project"}, ACTIONS), ({}, {})])
def test_a_token_that_writes_to_the_project_and_an_engine_without_branches_open_none(
    standing: dict[str, Any], actions: dict[str, Any]
) -> None:
    door, working = RecordedDoor(), session(**standing)
    asyncio.run(open_branch(door, working, actions))
    assert door.asked == []
    assert place_of(door, working) is door


def test_sessions_of_two_tokens_are_two_though_they_have_one_id() -> None:
    known = Sessions()
    assert known.find("a", "1") is known.find("a", "1")
    assert known.find("a", "1") is not known.find("b", "1")
