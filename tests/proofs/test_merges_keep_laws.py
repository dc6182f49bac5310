"""What a law joins over two tables is joined after a merge as well: names and what is named, signs and what shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.actions import Example
from armarium.api import Conflict, Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_agents.branches.queries import list_changes
from armarium_testing.digest import differences, table_digests
from armarium_testing.sample_pages import sample_page, sample_reading


class Sides:
    """A project with a page, two entities, a sign and a statement, and a branch of it."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        engine.run(None, "library.create", {"path": str(folder / "p.library")}, LOCAL_OWNER)
        self.engine, self.project = engine, engine.libraries.get(folder / "p.library")
        ready = Example(engine, self.project, LOCAL_OWNER, folder)
        self.page = sample_page(ready)
        sample_reading(ready, self.page, "Juan Garcia and Joan")
        self.kept, self.other = (
            self.run(self.project, "entity.create", {"canonical_name": name, "entity_type": "person"})["id"]
            for name in ("Juan Garcia", "Joan Garsia")
        )
        picture = {"picture_segment_id": self.page.segment_ids[0]}
        self.sign = self.run(self.project, "sign.create", {"name": "long s", **picture})["id"]
        self.claim = self.run(self.project, "claim.create", {"text": "He sold the mill"})["id"]
        self.make_branch()

    def make_branch(self) -> None:
        """Go on with a new branch."""
        created = self.run(self.project, "branches.create", {"name": "Names"})
        self.branch = self.engine.libraries.open_only(created["library_path"])
        self.given = {"branch_id": created["id"]}

    def run(self, library: Library, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run an action as the owner; return its result with its step."""
        outcome = self.engine.run(library, name, params, LOCAL_OWNER)
        return {**(outcome.result or {}), "audit_id": outcome.audit_id}

    def merge(self, **decided: str) -> dict[str, Any]:
        """Merge the branch."""
        return self.run(self.project, "branches.merge", {**self.given, **decided})

    def state(self) -> dict[str, str]:
        """Return the digest of each table of the project."""
        return table_digests(self.project.db, self.project.schema)


@pytest.fixture
def sides(make_engine: Callable[..., Engine], tmp_path: Path) -> Sides:
    """Return the two sides, with all families."""
    return Sides(make_engine(), tmp_path)


def mention(sides: Sides) -> None:
    where = {"document_id": sides.page.document_id, "char_start": 0, "char_end": 4}
    sides.run(sides.project, "mention.create", {"entity_id": sides.other, **where})


def naming_by_statement(column: str) -> Callable[[Sides], None]:
    def make(sides: Sides) -> None:
        sides.run(sides.project, "claim.create", {"text": "He sold the mill", column: sides.other})

    return make


@pytest.mark.parametrize(
    "name_it", [mention, naming_by_statement("subject_entity_id"), naming_by_statement("object_entity_id")]
)
def test_an_entity_that_a_branch_merged_is_not_named_by_what_was_made_here_meanwhile(
    sides: Sides, name_it: Callable[[Sides], None]
) -> None:
    sides.run(sides.branch, "entity.merge", {"survivor_id": sides.kept, "ids": [sides.other]})
    name_it(sides)
    before = sides.state()
    with pytest.raises(Conflict) as refused:
        sides.merge()
    assert refused.value.code == "merge_conflict"
    with pytest.raises(Conflict) as refused:
        sides.merge(on_conflict="take_theirs")
    assert refused.value.code == "merged_entity_named"
    assert "merge the two here first" in str(refused.value.detail)
    assert differences(before, sides.state()) == []
    sides.merge(on_conflict="keep_ours")
    # As the refusal says: merged here, both sides have done it.
    sides.run(sides.project, "entity.merge", {"survivor_id": sides.kept, "ids": [sides.other]})


def test_a_sign_that_a_branch_withdrew_is_not_shown_by_what_was_made_here_meanwhile(sides: Sides) -> None:
    sides.run(sides.branch, "sign.withdraw", {"sign_id": sides.sign})
    given = {"sign_id": sides.sign, "segment_id": sides.page.segment_ids[1]}
    sides.run(sides.project, "sign.add_instance", given)
    before = sides.state()
    for decided, code in (({}, "merge_conflict"), ({"on_conflict": "take_theirs"}, "named_still")):
        with pytest.raises(Conflict) as refused:
            sides.merge(**decided)
        assert refused.value.code == code
    assert differences(before, sides.state()) == []


def test_a_statement_that_was_decided_on_is_not_offered_again_because_it_came_to_a_page(sides: Sides) -> None:
    sides.run(sides.branch, "claim.update", {"claim_id": sides.claim, "text": "He sold a mill"})
    sides.run(sides.project, "claim.update", {"claim_id": sides.claim, "text": "He sold two mills"})
    sides.merge(on_conflict="keep_ours")
    anchored = {
        "claim_id": sides.claim,
        "source_type": "document",
        "source_document_id": sides.page.document_id,
    }
    sides.run(sides.branch, "claim.update", anchored)
    sides.merge()
    with sides.project.db.read() as conn:
        texts = conn.exec_driver_sql("SELECT text, source_type FROM claim WHERE id = ?", (sides.claim,)).all()
    assert [tuple(row) for row in texts] == [("He sold two mills", "document")]


@pytest.mark.parametrize("chosen", ["the same", "another"])
def test_a_line_that_both_sides_gave_to_a_campaign_is_in_one_after_the_merge(
    sides: Sides, chosen: str
) -> None:
    one, two = (
        sides.run(sides.project, "campaign.create", {"document_id": sides.page.document_id, "name": name})
        for name in ("Text", "Rubrics")
    )
    line = sides.page.segment_ids[0]
    sides.make_branch()
    sides.run(sides.branch, "campaign.assign", {"segment_id": line, "campaign_id": one["id"]})
    here = one["id"] if chosen == "the same" else two["id"]
    sides.run(sides.project, "campaign.assign", {"segment_id": line, "campaign_id": here})
    if chosen == "another":
        before = sides.state()
        for decided in ({}, {"on_conflict": "keep_both"}):
            with pytest.raises(Conflict) as refused:
                sides.merge(**decided)
            assert refused.value.code == "merge_conflict"
        taken = sides.merge(on_conflict="take_theirs")
        assert (taken["inserted"], taken["updated"], campaigns_of(sides, line)) == (1, 1, [one["id"]])
        sides.engine.undo(sides.project, [taken["audit_id"]], LOCAL_OWNER)
        assert differences(before, sides.state()) == []
    sides.merge(**({} if chosen == "the same" else {"on_conflict": "keep_ours"}))
    assert campaigns_of(sides, line) == [here]


def campaigns_of(sides: Sides, line: str) -> list[str]:
    """Return the campaigns to which a line belongs now."""
    asked = "SELECT campaign_id FROM campaign_member WHERE segment_id = ? AND superseded_at IS NULL"
    with sides.project.db.read() as conn:
        return list(conn.exec_driver_sql(asked, (line,)).scalars())


@pytest.mark.parametrize("ended_in", ["project", "branch"])
def test_what_one_side_said_of_a_line_and_took_back_stands_against_nothing(
    sides: Sides, ended_in: str
) -> None:
    hand = sides.run(sides.project, "hand.create", {"label": "A"})["id"]
    page, line = sides.page.document_id, {"segment_id": sides.page.segment_ids[1]}
    one, two = (
        sides.run(sides.project, "campaign.create", {"document_id": page, "name": name})["id"]
        for name in ("Text", "Rubrics")
    )
    sides.make_branch()
    here, there = (sides.project, sides.branch) if ended_in == "project" else (sides.branch, sides.project)
    sides.run(here, "campaign.assign", {**line, "campaign_id": two})
    sides.run(here, "campaign.assign", {**line, "campaign_id": None})
    sides.run(here, "letterform.set", {**line, "character": "r"})
    sides.run(here, "letterform.clear", line)
    said = sides.run(here, "hand.attribute", {**line, "hand_id": hand, "certainty": 0.5})
    sides.run(here, "hand.attribution_withdraw", {"attribution_id": said["id"]})
    shown = sides.run(here, "sign.add_instance", {**line, "sign_id": sides.sign, "certainty": 0.5})
    sides.run(here, "sign.instance_withdraw", {"instance_id": shown["id"]})
    sides.run(there, "campaign.assign", {**line, "campaign_id": one})
    sides.run(there, "letterform.set", {**line, "character": "s"})
    sides.run(there, "hand.attribute", {**line, "hand_id": hand})
    sides.run(there, "sign.add_instance", {**line, "sign_id": sides.sign})
    sides.merge()
    assert campaigns_of(sides, line["segment_id"]) == [one]


@pytest.mark.parametrize("name", ["letterform.set", "sign.add_instance", "hand.attribute"])
def test_what_both_sides_said_of_a_line_is_said_once_after_the_merge(sides: Sides, name: str) -> None:
    hand = sides.run(sides.project, "hand.create", {"label": "A"})["id"]
    sides.make_branch()
    given = {
        "letterform.set": {"character": "s"},
        "sign.add_instance": {"sign_id": sides.sign},
        "hand.attribute": {"hand_id": hand},
    }[name]
    for library in (sides.branch, sides.project):
        sides.run(library, name, {"segment_id": sides.page.segment_ids[1], **given})
    assert sides.merge()["inserted"] == 0


def turn_down(sides: Sides) -> None:
    """Turn down all that the branch offers."""
    with sides.project.db.read() as conn:
        asked = (sides.engine, sides.project, LOCAL_OWNER, sides.given["branch_id"])
        offered = list_changes(conn, *asked, limit=50, offset=0)["items"]
    turned_down = {"groups": [group["id"] for group in offered], "reason": "He never did"}
    sides.run(sides.project, "branches.reject", {**sides.given, **turned_down})


def statements(sides: Sides) -> dict[str, int]:
    """Return the statements of the project, each with how many entities it names."""
    asked = "SELECT text, (SELECT count(*) FROM claim_entity e WHERE e.claim_id = claim.id) FROM claim ORDER BY text"
    with sides.project.db.read() as conn:
        return {str(row[0]): int(row[1]) for row in conn.exec_driver_sql(asked)}


def test_a_statement_that_was_turned_down_is_not_offered_again_because_it_came_to_another_page(
    sides: Sides, tmp_path: Path
) -> None:
    rests = {"source_document_id": sides.page.document_id}
    created = sides.run(sides.project, "claim.create", {"text": "He was a miller", **rests})
    sides.make_branch()
    sides.run(sides.branch, "claim.update", {"claim_id": created["id"], "text": "He was a millwright"})
    turn_down(sides)
    elsewhere = sample_page(Example(sides.engine, sides.project, LOCAL_OWNER, tmp_path)).document_id
    moved = {"claim_id": created["id"], "source_document_id": elsewhere}
    sides.run(sides.project, "claim.update", moved)
    sides.run(sides.branch, "branches.update", {})
    with pytest.raises(Conflict) as refused:
        sides.merge()
    assert refused.value.code == "nothing_to_merge"


def test_a_statement_that_is_changed_after_it_was_turned_down_is_offered_whole(sides: Sides) -> None:
    created = sides.run(sides.branch, "claim.create", {"text": "He sold a mill", "entity_ids": [sides.kept]})
    turn_down(sides)
    changed = {"claim_id": created["id"], "source_document_id": sides.page.document_id}
    sides.run(sides.branch, "claim.update", changed)
    sides.merge()
    assert statements(sides) == {"He sold a mill": 1, "He sold the mill": 0}
