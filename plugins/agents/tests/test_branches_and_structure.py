"""What was split, joined or withdrawn on one side, and corrected on the other, is a conflict and never two unrelated rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from branch_pair import OTHER, Pair

from armarium.api import Conflict, Library, raw_of
from armarium_agents.plugin import armarium_plugin as agents
from armarium_documents.plugin import armarium_plugin as documents
from armarium_reading.api import episodes, list_episodes
from armarium_reading.ledger import episode_row
from armarium_reading.plugin import armarium_plugin as reading
from armarium_source_model.api import follow_segment
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.digest import differences


def version_of(library: Library, segment_id: str) -> int:
    with library.db.read() as conn:
        row = raw_of(conn).execute("SELECT version FROM segment WHERE id = ?", (segment_id,)).fetchone()
    return int(row[0])


def split(pair: Pair, library: Library, texts: tuple[str | None, str | None] = (None, None)) -> list[str]:
    line = pair.page.segment_ids[0]
    parts = [
        {"anchor": {"rect": [0.1, 0.1, 0.3, 0.05]}, "text": texts[0]},
        {"anchor": {"rect": [0.4, 0.1, 0.5, 0.05]}, "text": texts[1]},
    ]
    given = {"segment_id": line, "expected_version": version_of(library, line), "parts": parts}
    return list(pair.run(library, "segment.split", given)["segment_ids"])


def split_off(
    pair: Pair, library: Library, texts: tuple[str | None, str | None] = ("Dear", "Madam")
) -> list[str]:
    """Cut a part off, and leave the line its outline."""
    line = pair.page.segment_ids[0]
    with library.db.read() as conn:
        row = raw_of(conn).execute("SELECT anchor, baseline FROM segment WHERE id = ?", (line,)).fetchone()
    whole = {"anchor": json.loads(row[0]), "baseline": json.loads(row[1] or "null"), "text": texts[0]}
    parts = [whole, {"anchor": {"rect": [0.4, 0.1, 0.5, 0.05]}, "text": texts[1]}]
    given = {"segment_id": line, "expected_version": version_of(library, line), "parts": parts}
    return list(pair.run(library, "segment.split", given)["segment_ids"])


def join(pair: Pair, library: Library) -> None:
    first, second = pair.page.segment_ids[:2]
    pair.run(library, "segment.merge", {"segment_ids": [first, second], "keep_id": second})


def withdraw(pair: Pair, library: Library) -> None:
    line = pair.page.segment_ids[0]
    given = {"segment_ids": [line], "expected_versions": [version_of(library, line)]}
    pair.run(library, "segment.delete", given)


def trash(pair: Pair, library: Library) -> None:
    pair.run(library, "document.delete", {"ids": [pair.page.document_id]})


CHANGES = pytest.mark.parametrize("restructure", [split, join, withdraw, trash])


def live(pair: Pair) -> tuple[set[str], str]:
    with pair.project.db.read() as conn:
        rows = raw_of(conn).execute("SELECT id FROM segment WHERE deleted_at IS NULL").fetchall()
    return {row[0] for row in rows}, pair.counting(pair.project)


def conflicts(found: dict[str, Any]) -> set[tuple[str, str]]:
    return {
        (row["table"], row["why"])
        for group in found["items"]
        for row in group["rows"]
        if row["status"] == "conflict"
    }


@CHANGES
def test_a_correction_meets_a_change_of_structure_here(pair: Pair, restructure: Any) -> None:
    pair.correct(pair.branch, "Dear Sir", who=OTHER)
    restructure(pair, pair.project)
    why = "remade" if restructure in (split, join) else "restructured"
    assert conflicts(pair.changes()) == {("content_representation", why)}
    before, shown = pair.state(), live(pair)
    with pytest.raises(Conflict) as refused:
        pair.merge()
    assert refused.value.code == "merge_conflict"
    pair.merge(on_conflict="keep_ours")
    assert live(pair) == shown
    assert set(differences(before, pair.state())) == {"branch_settled"}
    assert pair.changes()["total"] == 0


@CHANGES
def test_a_change_of_structure_meets_a_correction_here(pair: Pair, restructure: Any) -> None:
    restructure(pair, pair.branch)
    pair.correct(pair.project, "Dear Sir")
    assert ("segment" if restructure is not trash else "document", "restructured") in conflicts(
        pair.changes()
    )
    shown = live(pair)
    with pytest.raises(Conflict):
        pair.merge()
    merged = pair.merge(on_conflict="keep_ours")
    assert live(pair) == shown
    pair.engine.undo(pair.project, [merged["audit_id"]], OTHER)
    pair.merge(on_conflict="take_theirs")
    with pair.branch.db.read() as conn:
        there = raw_of(conn).execute("SELECT id FROM segment WHERE deleted_at IS NULL").fetchall()
    assert live(pair)[0] == {row[0] for row in there}


def test_a_split_here_and_another_there_leave_the_parts_of_one(pair: Pair) -> None:
    before = live(pair)[0]
    split(pair, pair.branch)
    ours = split(pair, pair.project)
    pair.merge(on_conflict="keep_ours")
    assert live(pair)[0] == before | {*ours}


@pytest.mark.parametrize("theirs", [split, Pair.correct])
@pytest.mark.parametrize("ours", [split, split_off, join])
def test_what_was_split_or_joined_here_is_not_doubled_by_what_the_branch_made_of_it(
    pair: Pair, ours: Any, theirs: Any
) -> None:
    if theirs is split:
        split(pair, pair.branch, ("Dear", "Sirs"))
    else:
        pair.correct(pair.branch, "Dear Sirs")
    if ours is not join:
        ours(pair, pair.project, ("Dear", "Madam"))
    else:
        join(pair, pair.project)
    before = pair.state()
    with pytest.raises(Conflict, match="split or joined on one side only"):
        pair.merge(on_conflict="take_theirs")
    assert differences(before, pair.state()) == []
    with pair.project.db.read() as conn:
        (step,) = (
            raw_of(conn)
            .execute("SELECT id FROM audit WHERE action_name GLOB 'segment.[sm]*' ORDER BY seq DESC LIMIT 1")
            .fetchone()
        )
    pair.engine.undo(pair.project, [step], OTHER)
    pair.merge(on_conflict="take_theirs")
    assert live(pair)[1].split() == ["Dear", "Sirs"]


def test_a_correction_of_one_line_is_no_conflict_with_a_split_of_another(pair: Pair) -> None:
    split(pair, pair.branch, ("Deer", "Sir"))
    pair.correct(pair.project, "Your letter", line=1)
    assert pair.changes()["conflict"] == 0
    pair.merge()
    assert live(pair)[1].split("\n") == ["Deer", "Sir", "Your letter"]


def test_a_merged_split_is_no_conflict_with_what_the_branch_corrects_in_its_parts(pair: Pair) -> None:
    parts = split(pair, pair.branch, ("Deer", "Sir"))
    pair.merge()
    text = {"segment_id": parts[1], "text": "Madam"}
    pair.run(pair.branch, "representation.create", text)
    assert pair.changes()["conflict"] == 0
    pair.merge()
    assert live(pair)[1].split("\n")[:2] == ["Deer", "Madam"]


def leads(pair: Pair, segment_id: str) -> list[str]:
    """Return the lines that a citation of a line of the project leads to."""
    with pair.project.db.read() as conn:
        return follow_segment(conn, segment_id)


def test_citations_of_lines_that_a_branch_joined_resolve_where_it_is_merged_and_where_that_is_undone(
    pair: Pair,
) -> None:
    first, second = pair.page.segment_ids[:2]
    join(pair, pair.branch)
    assert leads(pair, first) == [first]
    for _ in range(2):
        merged = pair.merge()
        assert leads(pair, first) == [second]
        (taken_back,) = pair.engine.undo(pair.project, [merged["audit_id"]], OTHER)["audit_ids"]
        assert leads(pair, first) == [first]
    pair.engine.undo(pair.project, [taken_back], OTHER)
    assert leads(pair, first) == [second]


def test_what_a_model_was_asked_in_a_branch_is_in_the_ledger_of_the_project_once_it_is_merged(
    make_engine: Any, tmp_path: Path
) -> None:
    families = [documents(), source_model(), reading(), agents()]
    engine = make_engine(plugins=families)
    engine.run(None, "library.create", {"path": str(tmp_path / "Read.library")}, OTHER)
    pair = Pair(engine, engine.libraries.get(tmp_path / "Read.library"), tmp_path)
    call = episode_row("model_call", pair.page.document_id, "a reader") | {
        "use_case": "read", "provider": "here", "model": "tiny"
    }  # fmt: skip
    with pair.branch.db.write() as conn:
        conn.execute(episodes.insert(), [call])
    for text in ("Dear Sir", "Dear Sirs"):
        pair.correct(pair.branch, text)
        pair.merge()
        with pair.project.db.read() as conn:
            assert [
                episode["episode_id"] for episode in list_episodes(conn, document_id=pair.page.document_id)
            ] == [call["id"]]
