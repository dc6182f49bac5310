"""Handwritten pages are told from print by their ink, even if a reader of print was sure of its wrong text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from reading_project import ReadingProject

from armarium_reading.cli import _sure_words, handwriting_hint
from armarium_reading.confidence import Confidence
from armarium_reading.handwriting import page_score
from armarium_reading.jobs import pages as jobs
from armarium_reading.jobs.finding import ReadPage
from armarium_reading.readers import GROUP
from armarium_source_model.api import corners_of


def test_confidences_are_summed_over_lines_that_say_something() -> None:
    total = Confidence()
    total.add([{"text": "Dear Sir", "confidence": 0.9}, {"text": "", "confidence": 0.1}, {"text": "and"}])
    assert total.as_answer() == {"mean": 0.9, "below_half": 0.0, "lines": 1}
    second_confidence = Confidence(**total.as_checkpoint())
    second_confidence.add([{"text": "x", "confidence": 0.3}, {"text": "y", "confidence": 0.49}])
    assert second_confidence.as_answer() == {
        "mean": round((0.9 + 0.3 + 0.49) / 3, 4),
        "below_half": round(2 / 3, 4),
        "lines": 3,
    }
    assert Confidence().as_answer() is None


def test_blank_paper_and_two_lines_get_no_score() -> None:
    blank = Image.new("L", (400, 400), 230)
    boxes = [corners_of([10, 40 * n, 300, 30]) for n in range(8)]
    assert page_score(blank, boxes) is None
    assert page_score(blank, []) is None


def test_a_job_tells_how_sure_the_reader_was_and_which_pages_look_handwritten(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fake_readers import FakeReader

    monkeypatch.setattr(FakeReader, "writing", frozenset({"print"}))
    looks = iter([4.0, -4.0, None])
    monkeypatch.setattr(jobs, "page_score", lambda picture, outlines: next(looks))
    pages = [project.page() for _ in range(3)]
    _, done = project.job("reading.read_pages", scope_ids=pages, reader="fake")
    result = done["result"]
    assert (result["reader"], result["confidence"]) == ("fake", {"mean": 0.75, "below_half": 0.0, "lines": 6})
    assert result["by_hand_count"] == 1
    assert [one["document_id"] for one in result["by_hand"]] == pages[:1]


@pytest.mark.parametrize(("confidence", "told"), [(0.94, 1), (0.96, 0), (None, 1)])
def test_pages_look_handwritten_only_if_the_reader_was_unsure(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch, confidence: float | None, told: int
) -> None:
    from fake_readers import FakeReader

    monkeypatch.setattr(FakeReader, "writing", frozenset({"print"}))
    monkeypatch.setattr(jobs, "page_score", lambda picture, outlines: 4.0)
    readings = [{"text": "Dear Sir", "confidence": confidence}]
    monkeypatch.setattr(ReadPage, "readings", lambda self, answer: readings)
    _, done = project.job("reading.read_pages", scope_ids=[project.page()], reader="fake")
    assert done["result"]["by_hand_count"] == told


def test_the_hint_names_readers_of_handwriting_and_how_to_install_them() -> None:
    outcome: dict[str, Any] = {
        "reader": "rapidocr",
        "by_hand_count": 5,
        "by_hand": [{"name": f"{n}.jpg", "document_id": str(n)} for n in range(5)],
    }
    kraken = {
        "name": "kraken", "label": "kraken", "can": ["read_lines"], "writing": ["hand", "print"], "runtime": "kraken",
        "installed": False, "reading_needs_model": True, "model_kind": "linereader",
    }  # fmt: skip
    printed = {**kraken, "name": "rapidocr", "writing": ["print"]}
    said = handwriting_hint(outcome, [printed, kraken])
    assert said is not None
    assert said.startswith("0.jpg, 1.jpg, 2.jpg and 2 more look handwritten, and rapidocr is made for print")
    assert "armarium runtime install kraken" in said
    assert "--model FILE" in said
    assert "No reader for handwriting is installed" in (handwriting_hint(outcome, [printed]) or "")
    assert handwriting_hint({**outcome, "by_hand_count": 0}, [kraken]) is None
    assert "do not trust these readings" in said


def test_pages_are_not_judged_by_their_ink_where_a_reader_for_hands_was_tried(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fake_readers import Boastful, Modest

    for reader in (Modest, Boastful):
        project.engine.drivers.give(GROUP, reader.name, reader)
    monkeypatch.setattr("armarium_reading.fitting.readers", lambda _engine: [Modest, Boastful])
    monkeypatch.setattr(jobs, "page_score", lambda picture, outlines: 4.0)
    page = project.page()
    project.job("reading.find_lines", scope_ids=[page])
    _, done = project.job("reading.read_lines", scope_ids=[page], reader=None)
    assert done["result"]["reader"] == "boastful"
    assert done["result"]["by_hand_count"] == 0


def test_a_reader_whose_model_has_its_name_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    sure = {"mean": 0.92, "below_half": 0.0}
    for model, told in (("hand", "read by hand;"), ("abbot", "read by hand, abbot;")):
        _sure_words({"reader": "hand", "model": model, "confidence": sure})
        assert told in capsys.readouterr().out


def test_where_readers_were_chosen_the_command_that_says_why_is_named_with_its_job(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_reader = {"hand": {"model": "hand", "pages": 1, "expected": {"hand": 0.9, "print": 0.4}}}
    _sure_words({"reader": "hand", "job_id": "01a2", "confidence": None, "by_reader": by_reader})
    assert "armarium jobs log 01a2 says why for each page." in capsys.readouterr().out


def _shared_folder() -> Path:
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = Path(answer) if answer else Path(__file__).resolve().parents[4] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("The real pages are not here (shared/data beside the checkout).")
    return folder


def _score(page: Path) -> float | None:
    """Return the score of a real page, from the line outlines in the PAGE or ALTO file beside it."""
    import re

    beside = page.with_suffix(".xml")
    layout = (beside if beside.exists() else page.parent / "page" / beside.name).read_text("utf-8")
    outlines = [
        [tuple(map(float, point.split(","))) for point in points.split()]
        for points in re.findall(r'<TextLine\b[^>]*>\s*<Coords points="([^"]+)"', layout)
    ]
    for line in re.findall(r"<TextLine\b[^>]*>\s*<Shape>\s*<Polygon POINTS=\"([^\"]+)\"", layout):
        numbers = [float(n) for n in re.split(r"[ ,]+", line.strip())]
        outlines.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    with Image.open(page) as picture:
        return page_score(picture, outlines)


@pytest.mark.parametrize("folder", ["page-pairs/bronod", "onehand-peraire"])
def test_real_manuscript_pages_look_handwritten(folder: str) -> None:
    pages = sorted((_shared_folder() / folder).glob("*.jpg"))
    found = [_score(page) for page in pages]
    assert sum(score is not None and score > 0 for score in found) >= 0.9 * len(pages), found
