"""If no reader is named, a folder is read by the one that expects to read most of a few lines correctly; pages and lines depart
from it only where another is clearly better, and the answer says so.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from fake_readers import GREY, MIXED, Boastful, Modest
from reading_project import ReadingProject

from armarium.api import Engine, ServiceError
from armarium_documents.api import PageImage
from armarium_reading.cli import choice_words
from armarium_reading.fitting import SAMPLE, doubtful, settle, share, spread, why_chosen
from armarium_reading.jobs.pages import PageJob
from armarium_reading.readers import GROUP, Choice


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
            name for name in names(group) if group != GROUP or name in ("modest", "boastful", "fake")
        ],
    )
    return project


def _texts(project: ReadingProject, pages: list[str]) -> list[list[str]]:
    return [project.readings(page) for page in pages]


def test_a_page_alone_is_read_by_the_reader_that_expects_most_of_it(two_readers: ReadingProject) -> None:
    grey = two_readers.page(GREY, "grey.png")
    two_readers.job("reading.find_lines", scope_ids=[grey])
    _, done = two_readers.job("reading.read_lines", scope_ids=[grey], reader=None)
    assert two_readers.readings(grey) == ["modest"] * 2
    expected = {"boastful": 0.65, "modest": 0.7333}
    assert done["result"]["by_reader"] == {"modest": {"model": "modest", "pages": 1, "expected": expected}}
    assert done["result"]["by_line"] == {}


def test_a_folder_is_read_by_one_reader_and_a_page_departs_only_where_that_is_clear(
    two_readers: ReadingProject,
) -> None:
    # Grey pages are clearly for the modest one (0.73 to 0.65); on white ones the other expects 0.05 more, which is not clear.
    folder = [two_readers.page(GREY, f"{number}.png") for number in range(3)] + [
        two_readers.page(name="9.png")
    ]
    two_readers.folder = None
    elsewhere = [two_readers.page(name=f"{number}.png") for number in range(3)]
    elsewhere.append(two_readers.page(GREY, "9.png"))
    two_readers.job("reading.find_lines", scope_ids=[*folder, *elsewhere])
    _, done = two_readers.job("reading.read_lines", scope_ids=[*folder, *elsewhere], reader=None)
    assert _texts(two_readers, folder) == [["modest"] * 2] * 4
    assert _texts(two_readers, elsewhere) == [["boastful"] * 2] * 3 + [["modest"] * 2]
    assert {name: row["pages"] for name, row in done["result"]["by_reader"].items()} == {
        "modest": 5,
        "boastful": 3,
    }
    produced = two_readers.rows("SELECT DISTINCT producer_tool FROM content_representation ORDER BY 1")
    assert produced == [("boastful",), ("modest",)]


def test_a_folder_read_page_by_page_goes_on_with_what_earlier_jobs_found(two_readers: ReadingProject) -> None:
    pages = [two_readers.page(GREY, "1.png"), two_readers.page(name="2.png")]
    two_readers.job("reading.find_lines", scope_ids=pages)
    for page in pages:
        two_readers.job("reading.read_lines", scope_ids=[page], reader=None)
    assert _texts(two_readers, pages) == [["modest"] * 2] * 2


def test_every_line_is_read_once_by_the_chosen_reader(
    two_readers: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [two_readers.page(GREY, f"{number}.png") for number in range(6)]
    two_readers.job("reading.find_lines", scope_ids=pages)
    counts: Counter[str] = Counter()
    call = PageJob.call

    def count(self: PageJob, choice: Choice, picture: PageImage, more: dict[str, Any]) -> dict[str, Any]:
        counts[choice.reader.name] += len(more["lines"])
        return call(self, choice, picture, more)

    monkeypatch.setattr(PageJob, "call", count)
    two_readers.job("reading.read_lines", scope_ids=pages, reader=None)
    # Pages of two lines: both are tried, and what was read is not read again.
    assert counts == {"modest": 12, "boastful": 12}


def test_lines_of_a_mixed_page_are_decided_one_by_one(two_readers: ReadingProject) -> None:
    page = two_readers.page(MIXED, "form.png")
    two_readers.job("reading.find_lines", scope_ids=[page])
    _, done = two_readers.job("reading.read_lines", scope_ids=[page], reader=None)
    assert sorted(two_readers.readings(page)) == ["boastful", "modest"]
    assert done["result"]["by_line"] == {"boastful": 1}
    produced = two_readers.rows("SELECT content, producer_tool FROM content_representation ORDER BY 1")
    assert produced == [("boastful", "boastful"), ("modest", "modest")]
    # Both are in the ledger, each with what it read.
    episodes = two_readers.rows("SELECT provider, json_extract(exchange, '$.output') FROM episode ORDER BY 1")
    assert [episode for episode in episodes if episode[0] in ("boastful", "modest")] == [
        ("boastful", "boastful"),
        ("modest", "modest"),
    ]


def test_doubtful_lines_are_tried_by_the_others_where_they_are_few_or_the_page_is_mixed() -> None:
    some = {str(number): 0.9 for number in range(9)} | {"low": 0.5}
    assert doubtful(some, is_mixed=False) == ["low"]
    poor = dict.fromkeys(some, 0.5)
    assert doubtful(poor, is_mixed=False) == []
    assert doubtful(poor, is_mixed=True) == list(poor)


def test_of_readers_that_expect_alike_the_one_for_hands_is_taken(two_readers: ReadingProject) -> None:
    modest, boastful = (Choice(one, None, one.name) for one in (Modest, Boastful))
    near, far = {"modest": 0.975, "boastful": 0.984}, {"modest": 0.965, "boastful": 0.984}
    assert settle([boastful, modest], near, near) == modest
    assert settle([boastful, modest], far, far) == boastful


@pytest.mark.parametrize(
    ("page", "folder", "said"),
    [
        ({"hand": 0.9, "print": 0.4}, {"hand": 0.9, "print": 0.4}, "90% of the letters right, print 40%."),
        (
            {"hand": 0.9, "print": 0.93},
            {"hand": 0.9, "print": 0.4},
            "90% of the letters right, print 93%. The difference is not clear, and hand reads its folder.",
        ),
        (
            {"hand": 0.97, "print": 0.98},
            {"hand": 0.97, "print": 0.98},
            "97% of the letters right, print 98%. The difference is not clear, and hand reads hands too.",
        ),
    ],
)
def test_the_reason_is_logged_for_each_page_and_does_not_contradict_the_choice(
    page: dict[str, float], folder: dict[str, float], said: str
) -> None:
    assert why_chosen("hand", page, folder).endswith(said)


def test_the_closing_message_says_in_one_sentence_who_was_chosen_and_why() -> None:
    rows = {
        "rapidocr": {"model": "rapidocr", "pages": 1, "expected": {"hand": 0.9, "rapidocr": 0.98}},
        "hand": {"model": "hand", "pages": 12, "expected": {"hand": 0.81, "rapidocr": 0.4}},
    }
    assert choice_words(rows, {"rapidocr": 2}) == (
        "Chosen by the letters that each reader expects to read right on a few lines: hand for 12 pages (81%, rapidocr 40%) and "
        "rapidocr for 1 page (98%, hand 90%); 2 lines by rapidocr, which was clearly better at them."
    )
    close = {"hand": {"model": "hand", "pages": 1, "expected": {"hand": 0.97, "rapidocr": 0.98}}}
    assert choice_words(close, {}).endswith("hand for 1 page (97%, rapidocr 98%: no clear difference).")


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
    assert spread(3, SAMPLE) == [0, 1, 2]
    drawn = spread(100, SAMPLE)
    assert (len(set(drawn)), drawn[0] < 25, drawn[-1] > 75) == (SAMPLE, True, True)
    assert spread(0, SAMPLE) == []


@pytest.mark.parametrize(
    ("stated", "right"),
    [(0.0, 0.2), (0.25, 0.4), (0.5, 0.6), (0.75, 0.7), (1.0, 0.8), (1.5, 0.8), (-1.0, 0.2)],
)
def test_calibration_tables_are_interpolated_linearly(stated: float, right: float) -> None:
    assert share([(0.0, 0.2), (0.5, 0.6), (1.0, 0.8)], stated) == pytest.approx(right)
