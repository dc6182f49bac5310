"""Where no finder is named, a folder's lines are found by ours, unless it is not sure of a few pages and another leaves out less."""

from __future__ import annotations

from collections import Counter

import pytest
from fake_readers import GREY, OtherFinder, OurFinder
from reading_project import ReadingProject

from armarium.api import Engine
from armarium_documents.api import PageImage
from armarium_reading.finders import FinderTrial, left_out, settle_finder, sureness
from armarium_reading.jobs.pages import PageJob
from armarium_reading.readers import GROUP, Choice


def test_each_folder_has_its_finder_and_no_page_is_given_to_one_twice(
    engine: Engine, project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reader in (OurFinder, OtherFinder):
        engine.drivers.give(GROUP, reader.name, reader)
    counts: Counter[tuple[str, str]] = Counter()
    call = PageJob.call

    def count(
        self: PageJob, choice: Choice, picture: PageImage, more: dict[str, object]
    ) -> dict[str, object]:
        counts[choice.reader.name, picture.rendition_id] += 1
        return call(self, choice, picture, more)

    monkeypatch.setattr(PageJob, "call", count)
    sure = [project.page(GREY, f"{number}.png") for number in range(4)]
    project.folder = None
    unsure = [project.page(name=f"{number}.png") for number in range(5)]
    job_id, done = project.job("reading.find_lines", scope_ids=[*sure, *unsure], reader=None)
    assert done["result"]["by_finder"] == {"lines": 4, "rapidocr": 5}
    assert set(counts.values()) == {1}
    # On three sample pages of the second folder both were asked, on its others one.
    assert Counter(name for name, _ in counts) == {"lines": 4 + 3, "rapidocr": 5}
    said = [row[0] for row in project.rows("SELECT message FROM job_log WHERE row_id = ?", job_id)]
    assert "Ours finds the lines: it is sure of what it found on 3 sample pages." in said
    told = "The other finds the lines: on 3 sample pages Ours left out or cut up 50.0% of the writing, The other 0.0%."
    assert told in said
    # A later job over a page of this folder goes on with what was found, and tries nothing.
    counts.clear()
    _, again = project.job("reading.find_lines", scope_ids=unsure[:1], reader=None)
    assert again["result"]["by_finder"] == {"rapidocr": 1}
    assert sum(counts.values()) == 1


def test_a_finder_leaves_out_what_the_other_found_elsewhere() -> None:
    def line(x: float, y: float, w: float, kind: str = "line") -> dict[str, object]:
        return {"kind": kind, "rect": [x, y, w, 10]}

    mine = [line(0, 0, 100), line(0, 20, 100), line(0, 0, 100, "region")]
    pieces = [line(0, 0, 30), line(40, 0, 60), line(0, 60, 50)]
    assert left_out(mine, pieces) == (50 / 200, 100 / 200)
    assert left_out([], mine) == (1.0, 0.0)
    number, said = settle_finder([FinderTrial(0.7, (0.012, 0.008))], ["Ours", "The other"])
    assert (number, said.endswith("which is not a clear difference.")) == (0, True)


def test_a_finder_that_takes_letters_for_lines_is_not_sure_and_loses_to_one_that_finds_lines() -> None:
    def letters(*, down: bool) -> list[dict[str, object]]:
        places = [(20 * at, 50 * line) for line in range(4) for at in range(10)]
        return [
            {"kind": "line", "confidence": 0.9, "rect": [y if down else x, x if down else y, 18, 20]}
            for x, y in places
        ]

    across = [{"kind": "line", "rect": [0, 50 * line, 200, 22]} for line in range(4)]
    downward = [{"kind": "line", "rect": [50 * line, 0, 22, 200]} for line in range(4)]
    for lines, whole in ((letters(down=False), across), (letters(down=True), downward)):
        assert sureness(lines) == 0
        assert left_out(lines, whole)[0] == 1
        assert settle_finder([FinderTrial(0, left_out(lines, whole))], ["Ours", "The other"])[0] == 1
        assert sureness(whole) == 1
