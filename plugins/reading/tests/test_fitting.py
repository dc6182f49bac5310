"""If no reader is named, each page is read by the one that expects to read most of a sample correctly, and
the answer says so.
"""

from __future__ import annotations

import pytest
from fake_readers import GREY, Boastful, Modest
from reading_project import ReadingProject

from armarium.api import Engine, ServiceError
from armarium_reading.cli import _why_each
from armarium_reading.fitting import SAMPLE, sample, share
from armarium_reading.readers import GROUP


@pytest.fixture
def two_readers(engine: Engine, project: ReadingProject, monkeypatch: pytest.MonkeyPatch) -> ReadingProject:
    """A project in which only two readers may be chosen automatically."""
    for reader in (Modest, Boastful):
        engine.drivers.give(GROUP, reader.name, reader)
    names = engine.drivers.names
    monkeypatch.setattr(
        engine.drivers,
        "names",
        lambda group: [
            one for one in names(group) if group != GROUP or one in ("modest", "boastful", "fake")
        ],
    )
    return project


def test_each_page_is_read_by_the_reader_that_expects_most_of_it(two_readers: ReadingProject) -> None:
    grey, white = two_readers.page(GREY, "grey.png"), two_readers.page(name="white.png")
    two_readers.job("reading.find_lines", scope_ids=[grey, white])
    _, done = two_readers.job("reading.read_lines", scope_ids=[grey, white], reader=None)
    assert two_readers.readings(grey) == ["modest"] * 2
    assert two_readers.readings(white) == ["boastful"] * 2
    assert done["result"]["by_reader"] == {
        "modest": {"model": "modest", "pages": 1, "expected": {"boastful": 0.65, "modest": 0.7333}},
        "boastful": {"model": "boastful", "pages": 1, "expected": {"boastful": 0.65, "modest": 0.6}},
    }
    produced = two_readers.rows("SELECT DISTINCT producer_tool FROM content_representation ORDER BY 1")
    assert produced == [("boastful",), ("modest",)]


def test_the_closing_message_says_which_reader_was_chosen_and_why() -> None:
    rows = {"hand": {"model": "hand", "pages": 2, "expected": {"hand": 0.81, "rapidocr": 0.4}}}
    said = "2 pages by hand: on a sample of lines it expected to read 81% of the letters right, rapidocr 40%"
    assert _why_each(rows) == [said]


def test_a_language_that_no_reader_reads_is_refused_with_each_ones_reason(
    two_readers: ReadingProject,
) -> None:
    page = two_readers.page()
    two_readers.job("reading.find_lines", scope_ids=[page])
    with pytest.raises(ServiceError) as caught:
        two_readers.run("reading.read_lines", {"scope_ids": [page], "language": "ar"})
    assert caught.value.code == "no_reader_fits"
    assert "Modest does not read the language 'ar'" in caught.value.detail
    assert "Boastful does not read the language 'ar'" in caught.value.detail


def test_a_model_without_its_reader_is_refused(two_readers: ReadingProject) -> None:
    with pytest.raises(ServiceError) as caught:
        two_readers.run("reading.read_lines", {"scope_ids": [two_readers.page()], "model": "some.fake"})
    assert caught.value.code == "reader_not_named"


def test_the_sample_is_spread_over_the_page() -> None:
    assert sample([{"at": number} for number in range(3)]) == [{"at": 0}, {"at": 1}, {"at": 2}]
    drawn = [int(line["at"]) for line in sample([{"at": number} for number in range(100)])]
    assert len(drawn) == SAMPLE
    assert drawn[0] < 13
    assert drawn[-1] > 86
    assert len(set(drawn)) == SAMPLE


@pytest.mark.parametrize(
    ("stated", "right"),
    [(0.0, 0.2), (0.25, 0.4), (0.5, 0.6), (0.75, 0.7), (1.0, 0.8), (1.5, 0.8), (-1.0, 0.2)],
)
def test_calibration_tables_are_interpolated_linearly(stated: float, right: float) -> None:
    assert share([(0.0, 0.2), (0.5, 0.6), (1.0, 0.8)], stated) == pytest.approx(right)
