"""The shipped weights: they pass the reader suite, and read unseen lines far better than chance."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import armarium_reader_hand
from armarium_demo.samples import sample_pages
from armarium_reader_hand.reader import HandReader
from armarium_reading.api import LineShape, exercise_reader

LOOSE = 0.4
"""An upper limit of the CER that the shipped weights stay far below; the model card has the figure."""
LINES = 60


SESSION = """
import sys
from armarium.engine import Engine
from armarium.settings import Settings
engine = Engine(Settings(state_dir=sys.argv[2]), plugins=[])
engine.start(jobs=False)
engine.close()
import onnxruntime
onnxruntime.InferenceSession(sys.argv[1])
"""


def test_what_runs_the_networks_reports_nothing_to_its_makers(tmp_path: Path) -> None:
    """It does from native code, out of reach of the guard of the network; before it does, it numbers this machine."""
    home = tmp_path / "home"
    home.mkdir()
    given = {"HOME": str(home), "PATH": os.environ["PATH"]}
    network = Path(armarium_reader_hand.__file__).parent / "lines" / "finder.onnx"
    words = [sys.executable, "-c", SESSION, network, tmp_path / "state"]
    subprocess.run(words, env=given, check=True)
    assert list(home.rglob("*")) == []


@pytest.fixture(scope="module")
def reader() -> HandReader:
    """The reader with its weights loaded."""
    if why := HandReader.why_not(None):
        pytest.skip(why)
    new_reader = HandReader(threads=2)
    new_reader.load()
    return new_reader


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """Handwritten lines of the corpus's test documents."""
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = (
        Path(answer) if answer else Path(__file__).resolve().parents[4] / "shared" / "data"
    ) / "hand-lines"
    if not folder.is_dir():
        pytest.skip("The corpus of lines is not here (shared/data/hand-lines beside the checkout).")
    import polars

    found = polars.read_parquet(folder / "test-000.parquet").filter(polars.col("kind") == "hand")
    return found.gather_every(len(found) // LINES).to_dicts()


def test_it_is_a_reader(reader: HandReader, tmp_path: Path) -> None:
    (sample,) = sample_pages(count=1, scale=0.6)
    page, kit = tmp_path / "page.jpg", tmp_path / "kit"
    page.write_bytes(sample.jpeg)
    kit.mkdir()
    proof = exercise_reader(HandReader, kit, page=page)
    assert "find_lines" not in HandReader.can
    assert proof.checked


def test_lines_of_unseen_documents_are_read(
    reader: HandReader, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    from rapidfuzz.distance import Levenshtein

    wrong = letters = 0
    for row in lines:
        path = tmp_path / "line.png"
        Image.open(io.BytesIO(row["image"])).convert("RGB").save(path)
        page = reader.open_page(path, 10**9)
        (read,) = reader.read_lines(page, [LineShape((0, 0, page.width, page.height))])
        wrong += Levenshtein.distance(row["text"], read.text)
        letters += len(row["text"])
        assert 0 <= (read.confidence or 0) <= 1
    assert wrong / letters < LOOSE


def test_a_line_is_read_alike_alone_and_in_a_batch(reader: HandReader, lines: list[dict[str, Any]]) -> None:
    from armarium_reader_hand.picture import line_picture

    greys = [np.asarray(Image.open(io.BytesIO(row["image"])).convert("L")) for row in lines[:8]]
    pictures = [line_picture(grey) for grey in greys]
    together = [read.text for read in reader.lines.read(pictures)]
    assert together == [reader.lines.read([picture])[0].text for picture in pictures]
