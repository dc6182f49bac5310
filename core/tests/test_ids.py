"""Identifiers: what is listed by a time that two rows share is listed by their ids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from armarium.ids import new_id


def test_ids_of_one_process_sort_as_they_were_made_also_within_a_millisecond() -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: [new_id() for _ in range(5_000)], range(4)))
    assert all(ids == sorted(ids) for ids in made)
    assert len({identity for ids in made for identity in ids}) == 20_000
