"""Pages with far more lines than anybody draws by hand are accepted, listed, read, withdrawn and restored completely."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import RUN

from armarium.api import Invalid
from armarium_source_model.queries.readings import readings_of
from armarium_source_model.queries.segments import list_segments
from armarium_source_model.queries.text import page_text


def found_lines(count: int) -> list[dict[str, Any]]:
    """Return *count* lines in 100 columns."""
    rows = -(-count // 100)
    return [
        {
            "key": str(n),
            "rect": [(n // rows) / 101, (n % rows) / (rows + 1), 0.008, 0.5 / (rows + 1)],
            "text": f"line {n}",
        }
        for n in range(count)
    ]


@pytest.mark.slow
def test_fifty_thousand_segments_on_a_page(desk: Any) -> None:
    page = desk.page()
    outcome = desk.as_(RUN).run(
        "segment.take_lines", document_id=page, name="Dust", provider="reader", lines=found_lines(50_000)
    )
    with desk.library.db.read() as conn:
        assert len(list_segments(conn, page)) == 50_000
        assert len(list_segments(conn, page, area=(0.5, 0.5, 0.01, 0.01))) < 200
        text = page_text(conn, page)
    assert len(text.assembled.spans) == 50_000
    assert text.text.startswith("line 0\nline 1\n")
    ids = outcome["segment_ids"][:10_000]
    desk.run("segment.delete", segment_ids=ids, expected_versions=[1] * len(ids))
    undone = desk.undo()
    desk.undo(undone)
    desk.run("segment.undelete", segment_ids=ids)
    desk.run("segment.merge", segment_ids=ids, keep_id=ids[0])
    with desk.library.db.read() as conn:
        assert len(list_segments(conn, page)) == 40_001
    desk.undo()
    with pytest.raises(Invalid):
        desk.run(
            "segment.delete", segment_ids=outcome["segment_ids"][:10_001], expected_versions=[1] * 10_001
        )
    with pytest.raises(Invalid):
        desk.run(
            "segment.take_lines", document_id=page, name="x", provider="reader", lines=found_lines(50_001)
        )


@pytest.mark.slow
def test_ten_thousand_alternatives_of_one_line(desk: Any) -> None:
    page = desk.page()
    reading = desk.machine_lines(page, [None])
    (segment_id,) = reading["segment_ids"]
    read = [{"segment_id": segment_id, "text": f"guess {n}"} for n in range(10_000)]
    desk.as_(RUN).run(
        "reading.take", document_id=page, pass_id=reading["pass_id"], provider="reader", readings=read
    )
    with desk.library.db.read() as conn:
        readings = readings_of(conn, segment_id)
    assert readings["count"] == 10_000
    assert sum(item["counting"] for item in readings["items"]) == 1
    result = desk.run("representation.create", segment_id=segment_id, text="what it says")
    assert result["counting"]
    with desk.library.db.read() as conn:
        assert page_text(conn, page).text == "what it says"


@pytest.mark.slow
def test_twenty_thousand_segments_in_one_call_and_no_more(client: Any, desk: Any) -> None:
    page = desk.page()
    pass_id = desk.new_pass(page)
    one = {"document_id": page, "pass_id": pass_id, "kind": "word", "anchor": {"rect": [0.1, 0.1, 0.1, 0.1]}}
    response = client.post("/api/segments/bulk", json={"segments": [one] * 20_000})
    assert (response.status_code, response.json()["count"]) == (200, 20_000)
    refused = client.post("/api/segments/bulk", json={"segments": [one] * 20_001})
    assert refused.status_code == 422
