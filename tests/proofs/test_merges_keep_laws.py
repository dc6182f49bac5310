"""What a law joins over two tables is joined after a merge as well: names and what is named, signs and what shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.actions import Example
from armarium.api import Conflict, Engine, Library
from armarium.principals import LOCAL_OWNER
from armarium_source_model.samples import sample_page, sample_reading
from armarium_testing.digest import differences, table_digests


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
        branches = self.run(self.project, "branches.create", {"name": "Names"})
        self.branch = engine.libraries.open_only(branches["library_path"])
        self.given = {"branch_id": branches["id"]}

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
