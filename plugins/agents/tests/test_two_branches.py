"""Two branches merged in either order leave the same readings, or the merge that came second reported them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from branch_pair import MACHINE, OTHER, Pair

from armarium.api import Conflict, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_source_model.api import counting_of_segments, reading_rule
from armarium_testing.digest import differences
from armarium_testing.merges import Rows, ThreeVersions, read_rows

TEXTS = ("Dear Sir", "Dear Madam", "Your letter")


def readings(library: Library) -> dict[str, str | None]:
    """Return the text that counts of every live line."""
    with library.db.read() as conn:
        live = [row[0] for row in raw_of(conn).execute("SELECT id FROM segment WHERE deleted_at IS NULL")]
        found = counting_of_segments(conn, live, rule=reading_rule(conn))
    return {item: found[item].text if item in found else None for item in live}


class Two:
    """Two branches of one state of a project, with random work in each."""

    def __init__(self, pair: Pair, chance: random.Random) -> None:
        self.pair, self.chance = pair, chance
        self.lines = list(readings(pair.project))
        self.made = [pair.run(pair.project, "branches.create", {"name": str(one)}) for one in range(2)]
        self.bases: list[Rows] = []
        for made in self.made:
            branch = self.branch(made)
            self.bases.append(read_rows(branch))
            for _ in range(chance.randrange(1, 4)):
                self.work(branch)

    def branch(self, made: dict[str, Any]) -> Library:
        return self.pair.engine.libraries.open_only(Path(made["library_path"]))

    def work(self, library: Library) -> None:
        line, chance = self.chance.choice(self.lines), self.chance
        with library.db.read() as conn:
            asked = "SELECT version, deleted_at FROM segment WHERE id = ?"
            version, deleted = raw_of(conn).execute(asked, (line,)).fetchone()
        if deleted:
            return
        what = chance.choice(("correct", "correct", "correct", "split", "withdraw"))
        if what == "correct":
            given = {"segment_id": line, "text": chance.choice(TEXTS)}
            self.pair.run(
                library, "representation.create", given, chance.choice((LOCAL_OWNER, OTHER, MACHINE))
            )
        elif what == "split":
            parts = [{"anchor": {"rect": [left, 0.1, 0.3, 0.05]}} for left in (0.1, 0.5)]
            given = {"segment_id": line, "expected_version": version, "parts": parts}
            self.pair.run(library, "segment.split", given)
        else:
            self.pair.run(library, "segment.delete", {"segment_ids": [line], "expected_versions": [version]})

    def merge(self, order: tuple[int, int], decided: Any) -> tuple[dict[str, str | None], set[str]]:
        """Merge both; return the readings then, and the lines that the oracle reports at the second. It is undone."""
        before, steps = self.pair.state(), []
        for number in order:
            branch = self.branch(self.made[number])
            versions = ThreeVersions(
                branch.schema, self.bases[number], read_rows(branch), read_rows(self.pair.project)
            )
            given = {"branch_id": self.made[number]["id"], "on_conflict": decided}
            if versions.conflicts:
                with pytest.raises(Conflict):
                    self.pair.run(self.pair.project, "branches.merge", {**given, "on_conflict": "refuse"})
            if versions.merge(decided) is None:
                # What the first split or joined, the second cannot bring beside it; it was told.
                with pytest.raises(Conflict, match="split or joined on one side only"):
                    self.pair.run(self.pair.project, "branches.merge", given)
                continue
            steps.append(self.pair.run(self.pair.project, "branches.merge", given)["audit_id"])
        found_readings = readings(self.pair.project)
        for step in reversed(steps):
            self.pair.engine.undo(self.pair.project, [step], LOCAL_OWNER)
        assert differences(before, self.pair.state()) == []
        rows = [(place, versions.theirs.get(place) or versions.base[place]) for place in versions.conflicts]
        return found_readings, {str(row.get("segment_id") or place[1][0]) for place, row in rows}


def test_readings_of_two_branches_are_the_same_in_either_order_or_reported(pair: Pair) -> None:
    reported = 0
    for seed in range(6):
        two = Two(pair, random.Random(seed))
        decided = ("keep_ours", "take_theirs")[seed % 2]
        (one, told_one), (other, told_other) = two.merge((0, 1), decided), two.merge((1, 0), decided)
        for line in one.keys() | other.keys():
            if (line in one, one.get(line)) != (line in other, other.get(line)):
                reported += 1
                both = told_one & told_other if line in two.lines else told_one | told_other
                assert line in both, f"seed {seed}, {decided}: {line} {one.get(line)!r} {other.get(line)!r}"
    assert reported
