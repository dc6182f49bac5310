"""Who may not see a page learns nothing of it: two projects that differ only in what withheld pages, and all that hangs on
them, contain answer the same, byte for byte, to every read of the published interface, and to every action, with what
it writes and what can be heard of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from armarium.web import counted_routes
from armarium_testing.samples import today
from proofs.outsiders import ALL, Part, differences, differences_after
from proofs.two_worlds import TwoWorlds

FEWEST = 120
"""Reads that answer something at least: the others need what no example leaves behind."""
PARTS = 6
"""Parts of the routes, and of the actions: there is time for another one each day."""
part_of_all = pytest.mark.parametrize(
    "part",
    [pytest.param((today(PARTS), PARTS), id="part"), pytest.param(ALL, id="all", marks=pytest.mark.slow)],
)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoWorlds]:
    with _worlds(tmp_path_factory.mktemp("worlds"), 1) as new_worlds:
        yield new_worlds


@contextmanager
def _worlds(place: Path, seed: int) -> Iterator[TwoWorlds]:
    two_worlds = TwoWorlds(place, seed)
    try:
        yield two_worlds
    finally:
        two_worlds.close()


@part_of_all
@pytest.mark.timeout(900)
def test_no_read_depends_on_what_is_withheld(worlds: TwoWorlds, part: Part) -> None:
    hanging = {cell.table for cell in worlds.withheld.rows}
    assert len(hanging) > 50, "little hangs on the withheld pages of this project"
    assert sum(map(len, worlds.withheld.words.values())) > 500
    found, good = differences(worlds, 1, 1, part=part)
    assert found == []
    assert sum(number > 0 for number in good.values()) > FEWEST // part[1] // (2 if part != ALL else 1), (
        "few routes answer"
    )


@pytest.mark.timeout(900)
def test_a_count_over_the_rows_of_a_filter_is_caught(
    worlds: TwoWorlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proof notices what it is there for: lists that count what is withheld among the rows a filter leaves."""
    monkeypatch.setattr(counted_routes, "_without_filters", lambda route, given, are_places: dict(given))
    found, _ = differences(worlds, 1, 20, only="/api/entities")
    assert found


@part_of_all
@pytest.mark.timeout(900)
def test_no_write_export_or_event_depends_on_what_is_withheld(worlds: TwoWorlds, part: Part) -> None:
    """A bound agent invokes every action with values generated from its description, also on what it may not see."""
    with worlds.kept_as_they_are():
        found, met = differences_after(worlds, 1, 1, part)
    assert found == []
    assert min(met[200], met[403]) > 20 // part[1], met


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_answer_depends_on_what_is_withheld_for_long(tmp_path: Path, seed: int) -> None:
    with _worlds(tmp_path, seed) as new_worlds:
        found, _ = differences(new_worlds, seed, 40)
        assert found == []
        found, _ = differences_after(new_worlds, seed, 6)
        assert found == []
