"""Real pages read by RapidOCR: handwriting is detected as such, print never is, even if one of the two signs
is wrong.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PIL import Image

from armarium_demo.samples import sample_pages
from armarium_reader_rapidocr.reader import RapidOcrReader
from armarium_reading.confidence import Confidence
from armarium_reading.handwriting import page_score


def _looks_handwritten(reader: RapidOcrReader, path: Path) -> bool:
    lines = [line for line in reader.read_page(reader.open_page(path, 200_000_000)) if line.reading.text]
    sure = Confidence()
    sure.add([{"text": line.reading.text, "confidence": line.reading.confidence} for line in lines])
    with Image.open(path) as picture:
        score = page_score(picture, [line.line.polygon or [] for line in lines])
    return score is not None and score > 0 and not sure.is_sure


@pytest.fixture(scope="module")
def reader() -> RapidOcrReader:
    new_reader = RapidOcrReader(threads=2)
    new_reader.load()
    return new_reader


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "by_hand"),
    [
        ("onehand-peraire/D.3.eurasie-5-6_0017.jpg", True),
        ("series-wills/0001.jpg", True),
        ("page-pairs/bronod/0003.jpg", True),
        ("hocr/309515696-2.tif.png", False),
        ("page-pairs/prima-regiontypes/RegionTypes.tif", False),
        ("page-pairs/dinglehopper-larex/462875_0008.jpg", False),
    ],
)
def test_handwriting_on_real_pages_is_detected_by_ink_and_confidence(
    reader: RapidOcrReader, page: str, by_hand: bool
) -> None:
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = Path(answer) if answer else Path(__file__).resolve().parents[4] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("The real pages are not here (shared/data beside the checkout).")
    assert _looks_handwritten(reader, folder / page) is by_hand


def test_a_typed_page_of_the_demonstration_is_not_called_handwritten(
    reader: RapidOcrReader, tmp_path: Path
) -> None:
    (sample,) = sample_pages(count=1)
    sample.picture.save(tmp_path / "page.png")
    assert not _looks_handwritten(reader, tmp_path / "page.png")
