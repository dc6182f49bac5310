"""Several editors at one page, and many simultaneous merges and splits: nothing is lost, nobody's work is overwritten."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_model_fixtures import AGENT, PERSON, Desk, anchor

from armarium.api import Conflict, Invalid, NotFound, ServiceError
from armarium_source_model.errors import StaleSegment
from armarium_source_model.queries.forwarding import follow
from armarium_source_model.queries.readings import readings_of
from armarium_source_model.queries.segments import get_segment, segment_versions
from armarium_testing.digest import differences, table_digests


def run_together(*work: Callable[[], None]) -> None:
    """Run all of *work* in threads that begin together; raise the first error of any."""
    gate = threading.Barrier(len(work))
    errors: list[BaseException] = []

    def run(one: Callable[[], None]) -> None:
        gate.wait()
        try:
            one()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_editors_of_one_segment_never_overwrite_each_other(desk: Desk) -> None:
    """Each appends its sign to what it read, and tries again when it was too late: in the end every sign is there."""
    page = desk.page()
    (segment_id,) = desk.lines(page, desk.new_pass(page), 1)
    late: list[StaleSegment] = []

    def editor(sign: str, mine: Desk) -> Callable[[], None]:
        def work() -> None:
            for n in range(5):
                while True:
                    with mine.library.db.read() as conn:
                        row = get_segment(conn, segment_id)
                    said = f"{row.kind_raw or ''} {sign}{n}"
                    try:
                        mine.run(
                            "segment.update",
                            segment_id=segment_id,
                            expected_version=row.version,
                            kind_raw=said,
                        )
                    except StaleSegment as refusal:
                        late.append(refusal)
                        continue
                    break

        return work

    signs = "abcdef"
    run_together(*(editor(sign, desk.as_(AGENT if n % 2 else PERSON)) for n, sign in enumerate(signs)))
    with desk.library.db.read() as conn:
        row = get_segment(conn, segment_id)
        versions = segment_versions(conn, segment_id)
    assert sorted(row.kind_raw.split()) == sorted(f"{sign}{n}" for sign in signs for n in range(5))
    assert row.version == 31
    assert [version["version"] for version in versions] == list(range(1, 32))
    assert all(one.fields["changed"] == ["kind_raw"] for one in late)


EDITS: dict[str, list[Any]] = {
    "kind": ["region", "word"],
    "kind_raw": ["heading"],
    "anchor": [{"rect": [0.2, 0.2, 0.2, 0.2]}],
    "baseline": [[[0.1, 0.1], [0.2, 0.1]]],
    "is_furniture": [True],
    "language": ["la"],
    "script": ["Latn"],
    "direction": ["rtl"],
    "cell": [{"row": 1, "column": 2}],
}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sets(st.sampled_from(sorted(EDITS)), min_size=1), min_size=1, max_size=3))
def test_a_late_editor_learns_exactly_what_changed(desk: Desk, rounds: list[set[str]]) -> None:
    page = desk.page()
    (segment_id,) = desk.lines(page, desk.new_pass(page), 1)
    moved: set[str] = set()
    version = 1
    for names in rounds:
        sent = {name: EDITS[name][0] for name in names}
        # Sending the same words again changes nothing and makes no version.
        result = desk.run("segment.update", segment_id=segment_id, expected_version=version, **sent)
        assert result["version"] == version + bool(names - moved)
        version = result["version"]
        moved |= names
    with pytest.raises(StaleSegment) as late:
        desk.run("segment.update", segment_id=segment_id, expected_version=1, kind_raw="mine")
    assert set(late.value.fields["changed"]) == moved
    assert late.value.fields["current_version"] == version
    desk.run("segment.delete", segment_ids=[segment_id], expected_versions=[version])
    with pytest.raises(Conflict) as gone:
        desk.run("segment.update", segment_id=segment_id, expected_version=1, kind_raw="mine")
    assert gone.value.code == "segment_deleted"


def test_of_two_simultaneous_corrections_one_is_refused(desk: Desk) -> None:
    page = desk.page()
    (segment_id,) = desk.lines(page, desk.new_pass(page), 1)
    first = desk.correct(segment_id, "as it was")
    refused: list[Conflict] = []

    def corrector(words: str) -> Callable[[], None]:
        def work() -> None:
            try:
                desk.as_(PERSON).run(
                    "representation.create", segment_id=segment_id, text=words, expected_counting_id=first
                )
            except Conflict as refusal:
                refused.append(refusal)

        return work

    run_together(*(corrector(f"reading {n}") for n in range(6)))
    with desk.library.db.read() as conn:
        readings = readings_of(conn, segment_id)
    assert readings["count"] == 2
    assert len(refused) == 5
    (counting,) = [item for item in readings["items"] if item["counting"]]
    assert {refusal.fields["counting_id"] for refusal in refused} == {counting["id"]}
    assert {refusal.fields["counting_text"] for refusal in refused} == {counting["content"]}


@pytest.mark.slow
def test_simultaneous_merges_and_splits(desk: Desk) -> None:
    """Four editors merge and split sixty lines: each citation leads somewhere, no reading is lost, and all can be
    undone.
    """
    page = desk.page()
    pass_id = desk.new_pass(page)
    cited = []
    for n in range(60):
        result = desk.run(
            "segment.create",
            document_id=page,
            pass_id=pass_id,
            kind="line",
            anchor={"rect": [0.1, n / 70, 0.6, 0.01]},
        )
        cited.append(result["id"])
        desk.correct(result["id"], f"line {n}")
    before = table_digests(desk.library.db, desk.engine.library_schema)
    lock = threading.Lock()
    steps: list[str] = []

    def editor(seed: int) -> Callable[[], None]:
        mine, chance = desk.as_(PERSON), random.Random(seed)

        def work() -> None:
            for _ in range(40):
                one, other = chance.sample(cited, 2)
                try:
                    if chance.random() < 0.5:
                        mine.run("segment.merge", segment_ids=[one, other], keep_id=one)
                    else:
                        with mine.library.db.read() as conn:
                            version = get_segment(conn, one).version
                        parts = [
                            {"anchor": anchor(chance.randrange(9)), "text": f"part {chance.random()}"},
                            {"anchor": anchor(chance.randrange(9))},
                        ]
                        outcome = mine.run(
                            "segment.split", segment_id=one, expected_version=version, parts=parts
                        )
                        with lock:
                            cited.extend(outcome["segment_ids"][1:])
                except (Conflict, Invalid, NotFound):
                    continue
                with lock:
                    steps.append(mine.audit_id)

        return work

    run_together(*(editor(seed) for seed in range(4)))
    assert len(steps) > 40
    with desk.library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT id, deleted_at FROM segment WHERE pass_id = ?", (pass_id,))
        standing = {row[0]: row[1] for row in rows}
        for segment_id in cited:
            _, live = follow(conn, segment_id)
            assert live, "what is merged or split is never gone"
            assert all(standing[item] is None for item in live)
        noted = list(
            conn.exec_driver_sql(
                "SELECT a.seq FROM segment_forwarding f JOIN audit a ON a.id = f.audit_id ORDER BY f.sequence"
            ).scalars()
        )
        assert noted == sorted(noted), "the sequence of the notes is the sequence of the steps"
        kept = list(conn.exec_driver_sql("SELECT content FROM content_representation").scalars())
        assert {f"line {n}" for n in range(60)} <= set(kept)
        for segment_id in standing:
            counting = [item for item in readings_of(conn, segment_id)["items"] if item["counting"]]
            assert len(counting) <= 1
    desk.undo(*steps)
    after = table_digests(desk.library.db, desk.engine.library_schema)
    assert differences(before, after) == []
    with desk.library.db.read() as conn:
        for segment_id in cited:
            trail, live = follow(conn, segment_id)
            assert live or trail, "after all is taken back a citation still says what became of it"


def test_a_refused_step_among_many_changes_nothing(desk: Desk) -> None:
    page = desk.page()
    one, other, third = desk.lines(page, desk.new_pass(page), 3)
    desk.run("segment.merge", segment_ids=[one, other], keep_id=one)
    before = table_digests(desk.library.db, desk.engine.library_schema)
    for name, params in (
        ("segment.merge", {"segment_ids": [other, third], "keep_id": third}),
        ("segment.merge", {"segment_ids": [one, other], "keep_id": other}),
        (
            "segment.split",
            {
                "segment_id": other,
                "expected_version": 2,
                "parts": [{"anchor": anchor(1)}, {"anchor": anchor(2)}],
            },
        ),
        ("segment.update", {"segment_id": other, "expected_version": 2, "kind_raw": "x"}),
    ):
        with pytest.raises(ServiceError):
            desk.run(name, **params)
    assert differences(before, table_digests(desk.library.db, desk.engine.library_schema)) == []
