"""Other texts that lines may say: kept as readings on request, and the likeliest counts."""

from __future__ import annotations

from typing import Any

import pytest
from training_desk import Desk


@pytest.mark.parametrize("asked", [0, 3])
def test_other_texts_are_kept_beside_the_likeliest_which_counts(desk: Desk, asked: int) -> None:
    page, lines = desk.page(["", ""])
    stated: dict[str, Any] = {"scope_ids": [page], "reader": "hand", "alternatives": asked}
    desk.do("reading.read_lines", stated)
    desk.engine.jobs.run_until_idle(desk.library)
    statement = "SELECT content, confidence FROM content_representation WHERE segment_id = ? ORDER BY id"
    kept = [desk.rows(statement, line) for line in lines]
    assert [len(item) for item in kept] == [1 + asked] * 2
    if asked:
        shares = [share for _, share in kept[0][:-1]]
        assert shares == sorted(shares)
        assert len({text for text, _ in kept[0]}) == 1 + asked
    answer = desk.client.get(f"/api/segments/document/{page}/text").json()
    for line, rows in zip(lines, kept, strict=True):
        counts = next(span for span in answer["spans"] if span["segment_id"] == line)
        assert answer["text"][counts["char_start"] : counts["char_end"]] == rows[-1][0]


def test_more_than_ten_are_refused(desk: Desk) -> None:
    page, _ = desk.page([""])
    body = {"scope_ids": [page], "reader": "hand", "alternatives": 11}
    answer = desk.client.post("/api/actions/invoke", json={"name": "reading.read_lines", "params": body})
    assert answer.status_code == 422, answer.text
    assert "alternatives" in answer.text
