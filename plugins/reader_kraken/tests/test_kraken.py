"""kraken passes the reader suite in its own runtime, where that is installed; what the engine relies on is
always tested.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from pathlib import Path

import pytest

import armarium_reader_kraken
from armarium.api import Settings
from armarium.runtimes.installer import pinned_versions
from armarium.runtimes.registry import interpreter, read_marker
from armarium_demo.samples import sample_pages
from armarium_reader_kraken.reader import KRAKEN, KrakenReader, letter_places
from armarium_reading.api import Refused, exercise_reader

PACKAGE = Path(armarium_reader_kraken.__file__).parent
RECORD = {
    "metadata": {"title": "A hand of 1742", "license": {"id": "cc-by-4.0"}},
    "files": [
        {"key": "metadata.json", "checksum": "md5:00"},
        {"key": "hand 1742.mlmodel", "checksum": "md5:0123456789abcdef0123456789abcdef"},
    ],
}


def runtime_python() -> Path:
    """Return the interpreter of an installed kraken runtime; skip if there is none.

    ARMARIUM_TEST_RUNTIMES names a folder of runtimes to search instead of the engine's own.
    """
    folder = Path(os.environ.get("ARMARIUM_TEST_RUNTIMES") or Settings().state_dir / "runtimes") / KRAKEN.name
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    for place in places:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The kraken runtime is not installed here (armarium runtime install kraken).")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_it_is_a_reader_that_finds_lines(tmp_path: Path) -> None:
    python = runtime_python()
    page = sample_pages(count=1, scale=0.4)[0]
    path = tmp_path / "page.jpg"
    path.write_bytes(page.jpeg)
    proof = exercise_reader(
        KrakenReader, tmp_path, page=path, python=python, least_lines=len(page.lines) // 2
    )
    assert "find_lines: a page" in proof.checked
    assert list(proof.left_out) == ["reading"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_it_is_a_reader_that_reads_with_a_model_given(tmp_path: Path) -> None:
    """No package contains a recognition model: ARMARIUM_TEST_KRAKEN_MODEL names one, …_PAGE a page it can
    read.
    """
    python = runtime_python()
    model, page = os.environ.get("ARMARIUM_TEST_KRAKEN_MODEL"), os.environ.get("ARMARIUM_TEST_KRAKEN_PAGE")
    if model is None or page is None:
        pytest.skip(
            "No recognition model is here (ARMARIUM_TEST_KRAKEN_MODEL and ARMARIUM_TEST_KRAKEN_PAGE)."
        )
    proof = exercise_reader(KrakenReader, tmp_path, page=Path(page), python=python, model=Path(model))
    assert proof.left_out == {}
    assert "read_lines: a page" in proof.checked


@pytest.mark.slow
def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    python = runtime_python()
    from armarium_worker import WorkerProcess, WorkerRefused

    (tmp_path / "hand.mlmodel").write_bytes(b"not a model")
    (tmp_path / "page.png").write_bytes(b"")
    target = "armarium_reader_kraken.reader:KrakenReader"
    worker = WorkerProcess(target, python=python, packages={"armarium_reader_kraken": PACKAGE})
    try:
        with pytest.raises(WorkerRefused, match=r"hand\.mlmodel is not a kraken model"):
            worker.call("load", {"model": str(tmp_path / "hand.mlmodel")})
    finally:
        worker.kill()


def test_every_package_of_the_runtime_is_pinned_and_no_address_is_named() -> None:
    text = (PACKAGE / KRAKEN.requirements).read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    assert "://" not in text
    pins = pinned_versions(PACKAGE / KRAKEN.requirements)
    assert (pins["kraken"], pins["torch"], pins["torchvision"]) == ("7.1", "2.13.0", "0.28.0")


def test_the_engine_imports_it_without_heavy_packages() -> None:
    tree = ast.parse((PACKAGE / "reader.py").read_text("utf-8"))
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= {"armarium_worker", *sys.stdlib_module_names}


def test_reading_without_a_model_is_refused_before_a_job_is_made(tmp_path: Path) -> None:
    assert KrakenReader.model_for(reading=False, language=None, folder=tmp_path) is None
    with pytest.raises(Refused, match="None is on this machine yet"):
        KrakenReader.model_for(reading=True, language=None, folder=tmp_path)
    (tmp_path / "hand.safetensors").write_bytes(b"model")
    with pytest.raises(Refused, match=r"Here are: hand\.safetensors"):
        KrakenReader.model_for(reading=True, language=None, folder=tmp_path)


def test_the_line_finder_inside_the_runtime_is_listed(tmp_path: Path) -> None:
    shipped = tmp_path / "lib" / "python3.11" / "site-packages" / "kraken" / "blla.mlmodel"
    shipped.parent.mkdir(parents=True)
    shipped.write_bytes(b"model")
    (model,) = KrakenReader.models_here(tmp_path / "models", tmp_path)
    assert (model.model, model.shipped, model.size_bytes) == ("blla", True, 5)


@pytest.mark.parametrize("name", ["10.5281/zenodo.123", "https://doi.org/10.5281/zenodo.123", "123"])
def test_the_download_of_a_published_model_is_resolved(name: str) -> None:
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return json.dumps(RECORD).encode()

    file = KrakenReader.remote(name, fetch)
    assert asked == ["https://zenodo.org/api/records/123"]
    assert file.url == "https://zenodo.org/records/123/files/hand%201742.mlmodel?download=1"
    assert (file.name, file.title, file.licence) == ("zenodo-123.mlmodel", "A hand of 1742", "cc-by-4.0")
    assert (file.algorithm, file.checksum) == ("md5", "0123456789abcdef0123456789abcdef")


def test_kraken_s_open_models_are_offered_by_name_and_found_by_their_record() -> None:
    offers = {offer.model: offer for offer in KrakenReader.offers()}
    assert len(offers) == 3
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return json.dumps({"files": [{"key": "base.safetensors", "checksum": "md5:00"}]}).encode()

    for name, offer in offers.items():
        assert (offer.licence, offer.files, len(offer.languages), len(offer.scripts)) == (
            "Apache-2.0",
            (),
            43,
            10,
        )
        by_name, by_doi = KrakenReader.remote(name, fetch), KrakenReader.remote(offer.doi, fetch)
        assert by_name == by_doi
        assert by_name.name == f"{name}.safetensors"
        assert asked[-1] == offer.page.replace("/records/", "/api/records/")


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        ("hands/1742", b"", "is not a DOI of Zenodo"),
        ("7", b"<html>", "is not as expected"),
        ("7", b'{"files": [{"key": "notes.pdf"}]}', "contains no kraken model"),
        ("7", b'{"message": "not found"}', "is not as expected"),
    ],
)
def test_a_published_record_without_a_model_is_refused(name: str, answer: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        KrakenReader.remote(name, lambda _url: answer)


def test_its_cuts_say_where_the_letters_of_a_tilted_line_stand() -> None:
    """kraken's record as its containers state it: a cut for each code point of the text, on the page."""

    class Record:
        prediction = "e\u0301 b"
        confidences = (0.9, 0.5, 1.0, 0.8)
        baseline = ((0, 0), (40, 30))  # three fifths of the way down
        cuts = tuple(
            ((4 * a, 3 * a), (4 * b, 3 * b), (4 * b - 6, 3 * b + 8), (4 * a - 6, 3 * a + 8))
            for a, b in ((0, 2), (2, 2), (2, 5), (5, 10))
        )

    places = letter_places(Record())
    assert places is not None
    assert places.frame == pytest.approx((0, 0, 40, 30, -6, 8))
    assert [letter[:2] for letter in places.letters] == [
        pytest.approx(one) for one in ((0, 0.2), (0.2, 0.2), (0.5, 1))
    ]
    assert [letter[4] for letter in places.letters] == [0.5, None, 0.8]

    class Degenerate(Record):
        @property
        def cuts(self) -> tuple[object, ...]:  # type: ignore[override]
            raise ValueError("no section")

    assert letter_places(Degenerate()) is None
