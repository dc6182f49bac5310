"""Where an agent's session writes: its first write opens a branch, and what follows goes there, until a person merges it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_fixtures import Agent, Place
from mcp import Client

from armarium.api import Library
from armarium.principals import LOCAL_OWNER
from armarium.web.app import create_app
from armarium_agents.mcp.sessions import Sessions
from armarium_testing.digest import differences, table_digests
from armarium_testing.sample_pages import sample_page

GROUP = ("make_group", {"name": "Found", "kind": "folder"})


def branches(place: Place) -> list[Library]:
    listed = place.do_read("/api/branches")["items"]
    return [place.engine.libraries.open_only(item["library_path"]) for item in listed]


def folders(library: Library) -> list[str]:
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT name FROM document WHERE doc_type = 'folder' AND name <> 'Sources' ORDER BY name"
        )
        return list(rows.scalars())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_first_write_opens_a_branch_and_the_session_works_and_reads_there(
    place: Place, mode: str
) -> None:
    agent = place.agent(mode, writes_to="branch")
    listed = ("find_pages", {})
    before, made, after, _ = agent.call_all(
        listed, GROUP, listed, ("make_group", {"name": "Two", "kind": "folder"})
    )
    names = [{item["name"] for item in told.json["items"]} for told in (before, after)]
    assert names[1] - names[0] == {"Found"}
    (branch,) = branches(place)
    assert folders(place.library) == []
    assert folders(branch) == ["Found", "Two"]
    assert made.json["audit_id"]


def test_two_first_writes_at_once_open_one_branch(place: Place) -> None:
    async def script(client: Client) -> Any:
        return await asyncio.gather(*(client.call_tool(*GROUP) for _ in range(3)))

    told = place.agent(writes_to="branch").run(script)
    assert not any(item.is_error for item in told)
    (branch,) = branches(place)
    assert folders(branch) == ["Found"] * 3


def test_where_no_branch_can_be_opened_nothing_is_written(place: Place) -> None:
    place.library.path.with_name("Letters.branches").write_text("in the way")
    told = place.agent(writes_to="branch").call(*GROUP[:1], **GROUP[1])
    assert told.is_error
    assert "nothing was written" in told.text
    assert folders(place.library) == []


REFUSED = ("make_group", {"name": "Found", "kind": "folder", "folder_id": "nowhere"})


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_first_write_that_is_refused_leaves_no_branch_and_the_next_one_opens_one(
    place: Place, mode: str
) -> None:
    agent = place.agent(mode, writes_to="branch", budget={"writes": 3})
    refused, made, again = agent.call_all(REFUSED, GROUP, REFUSED)
    assert refused.is_error
    assert "nowhere" in refused.text
    assert not made.is_error
    assert again.is_error
    (branch,) = branches(place)
    assert folders(branch) == ["Found"]
    assert [path.resolve() for path in branch.path.parent.glob("*.library")] == [branch.path.resolve()]


def test_a_refused_first_write_that_took_the_last_of_the_budget_leaves_no_branch(place: Place) -> None:
    agent = place.agent(writes_to="branch", budget={"writes": 1})
    told = agent.call(*GROUP[:1], **GROUP[1])
    assert "used up" in told.text
    assert branches(place) == []


def test_of_two_first_writes_at_once_one_refused_takes_nothing_from_the_other(place: Place) -> None:
    async def script(client: Client) -> Any:
        calls = (REFUSED, GROUP, REFUSED, GROUP)
        return await asyncio.gather(*(client.call_tool(*call) for call in calls))

    told = place.agent(writes_to="branch").run(script)
    assert [item.is_error for item in told] == [True, False, True, False]
    assert sorted(name for branch in branches(place) for name in folders(branch)) == ["Found"] * 2


def test_a_machine_deletes_no_branch_but_its_own_in_which_nothing_was_done(place: Place) -> None:
    token = place.token(writes_to="project")["token"]
    agent = Agent(place.app, token)
    own = agent.call("call_operation", name="branches.create", arguments={"name": "Own"}).json
    other = place.do("branches.create", {"name": "Other"})
    worked_on = agent.call("call_operation", name="branches.create", arguments={"name": "Begun"}).json
    branch = place.engine.libraries.open_only(worked_on["library_path"])
    place.engine.run(branch, "document.create", {"name": "New", "doc_type": "folder"}, LOCAL_OWNER)
    for branch_id, deleted in ((own["id"], True), (other["id"], False), (worked_on["id"], False)):
        told = agent.call("call_operation", name="branches.delete", arguments={"branch_id": branch_id})
        assert told.is_error is not deleted, told.text
    assert {item["id"] for item in place.do_read("/api/branches")["items"]} == {other["id"], worked_on["id"]}


def test_a_token_that_writes_to_the_project_opens_none(place: Place) -> None:
    assert not place.agent(writes_to="project").call(GROUP[0], **GROUP[1]).is_error
    assert branches(place) == []
    assert folders(place.library) == ["Found"]


def test_a_session_on_a_branch_changes_neither_its_project_nor_the_engine_from_there(place: Place) -> None:
    project = str(place.library.path)
    page = sample_page(place.example).document_id
    before = table_digests(place.library.db, place.library.schema)
    agent = place.agent(writes_to="branch")
    moved = {"source_library": project, "items": [page], "mode": "move"}
    made, *refused = agent.call_all(
        GROUP,
        *(
            ("call_operation", {"name": name, "arguments": arguments})
            for name, arguments in (
                ("library.release", {"path": project}),
                ("library.unregister", {"path": project}),
                ("background.pause", {}),
                ("document.transfer", moved),
            )
        ),
    )
    assert not made.is_error
    assert all("writes to its branch alone" in one.text for one in refused[:3])
    assert "Transfer copies into it instead" in refused[3].text
    (branch,) = place.do_read("/api/branches")["items"]
    assert branch["id"]
    after = table_digests(place.library.db, place.library.schema)
    assert differences(before, after) == ["branch"]
    assert place.engine.libraries.open_at(project) is place.library


def test_an_agent_proposes_its_branch_and_can_neither_merge_it_nor_delete_it(place: Place) -> None:
    asked = place.agent(writes_to="branch")
    proposed, *refused = asked.call_all(GROUP, ("propose_branch", {"summary": "One folder"}))
    assert not proposed.is_error
    assert not refused[0].is_error, refused[0].text
    (row,) = place.do_read("/api/branches")["items"]
    assert row["summary"] == "One folder"
    assert row["proposed_at"] is not None
    for name in ("branches.merge", "branches.delete"):
        arguments = {"name": name, "arguments": {"branch_id": row["id"]}}
        for agent in (asked, Agent(place.app, place.token(name="other")["token"])):
            told = agent.call("call_operation", **arguments)
            assert told.is_error
            # The session that asks from a branch finds none there.
            assert "person" in told.text or "There is no branch" in told.text, told.text
    assert [item["id"] for item in place.do_read("/api/branches")["items"]] == [row["id"]]
    assert folders(place.library) == []


def test_an_agent_that_the_engine_forgot_goes_on_with_its_open_branch_until_that_is_proposed(
    place: Place,
) -> None:
    """A new application knows no session, as an engine does that was started again."""
    token = place.token(writes_to="branch")["token"]

    def begin(*calls: tuple[str, dict[str, Any]], of: str = token) -> None:
        second_agent = Agent(create_app(engine=place.engine), of, str(place.library.path))
        for answer in second_agent.call_all(*calls):
            assert not answer.is_error, answer.text

    begin(GROUP)
    begin(GROUP)
    (branch,) = branches(place)
    assert folders(branch) == ["Found", "Found"]
    begin(GROUP, of=place.token(name="night reader", writes_to="branch")["token"])
    assert len(branches(place)) == 2
    begin(GROUP, ("propose_branch", {"summary": "Folders"}))
    begin(GROUP)
    assert [len(folders(branch)) for branch in branches(place)] == [3, 1, 1]
    (*_, last) = place.do_read("/api/branches")["items"]
    place.do("branches.merge", {"branch_id": last["id"]})
    begin(GROUP)
    assert len(branches(place)) == 4


def test_a_new_session_of_an_engine_that_knows_the_old_one_opens_a_branch_of_its_own(place: Place) -> None:
    agent = place.agent(writes_to="branch")
    for _ in range(2):
        assert not agent.call(GROUP[0], **GROUP[1]).is_error
    assert [folders(branch) for branch in branches(place)] == [["Found"], ["Found"]]


def test_a_session_that_wrote_nothing_has_nothing_to_propose(place: Place) -> None:
    told = place.agent(writes_to="branch").call("propose_branch", summary="Nothing")
    assert told.is_error
    assert "not a branch" in told.text
    assert branches(place) == []


def test_sessions_of_two_tokens_are_two_though_they_have_one_id() -> None:
    sessions = Sessions()
    assert sessions.find("a", "1") is sessions.find("a", "1")
    assert sessions.find("a", "1") is not sessions.find("b", "1")
