"""Tesseract passes the reader suite: line finding always, reading if this machine has language data."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from armarium_demo.samples import sample_pages
from armarium_reader_tesseract import language_data
from armarium_reader_tesseract.language_data import list_installed, names_for
from armarium_reader_tesseract.reader import TesseractReader
from armarium_reading.api import LineShape, Refused, exercise_reader
from armarium_testing.drawn_lines import draw_line, save

WANTED = ("spa", "eng", "lat", "fra", "deu", "ita", "por")


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small sample page."""
    path = tmp_path_factory.mktemp("page") / "page.jpg"
    path.write_bytes(sample_pages(count=1, scale=0.6)[0].jpeg)
    return path


class FinderOnly(TesseractReader):
    """Tesseract without language data, which can still find lines."""

    can = frozenset({"find_lines"})


def test_it_finds_lines_without_any_language_data(picture: Path, tmp_path: Path) -> None:
    page = sample_pages(count=1, scale=0.6)[0]
    reader = TesseractReader()
    reader.load()
    lines = list(reader.find_lines(reader.open_page(picture, 10**9)))
    assert len(lines) >= len(page.lines) // 2
    assert all(line.baseline for line in lines)


def test_it_is_a_reader_where_a_language_is_installed(picture: Path, tmp_path: Path) -> None:
    here = list_installed(tmp_path / "models")
    name = next((name for name in WANTED if name in here), None)
    if name is None:
        pytest.skip("This machine has no Tesseract language data (Debian: apt install tesseract-ocr-spa).")
    proof = exercise_reader(TesseractReader, tmp_path, page=picture, model=here[name], least_lines=5)
    assert proof.left_out == {}
    assert any(proof.texts)


def test_without_tesseract_itself_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TesseractReader.why_not("es") is None
    monkeypatch.setitem(sys.modules, "tesserocr", None)
    assert "armarium-reader-tesseract[tesserocr]" in str(TesseractReader.why_not("es"))


def test_missing_language_data_is_reported_with_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_data, "USUAL_PLACES", ())
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    with pytest.raises(Refused, match=r"no data for the language 'la'.*tesseract-ocr-lat.*lat\.traineddata"):
        TesseractReader.model_for(reading=True, language="la", folder=tmp_path)
    with pytest.raises(Refused, match="one language at a time"):
        TesseractReader.model_for(reading=True, language=None, folder=tmp_path)
    assert TesseractReader.model_for(reading=False, language=None, folder=tmp_path) is None


def test_language_data_is_found_in_the_usual_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_data, "USUAL_PLACES", (str(tmp_path / "usr"),))
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path / "prefix"))
    for place, name in (("usr", "spa"), ("usr", "osd"), ("usr/script", "Latin"), ("prefix/tessdata", "frk")):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.traineddata").write_bytes(b"data")
    ours = tmp_path / "models"
    ours.mkdir()
    (ours / "spa.traineddata").write_bytes(b"better data")
    here = list_installed(ours)
    assert sorted(here) == ["frk", "script/Latin", "spa"]
    assert here["spa"].parent == ours
    assert TesseractReader.model_for(reading=True, language="de-Latf", folder=ours) == here["frk"]
    assert [model.model for model in TesseractReader.models_here(ours, None)] == sorted(here)


def test_data_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spa.traineddata").write_bytes(b"not language data")
    with pytest.raises(Refused, match=r"cannot use spa\.traineddata"):
        TesseractReader(model=str(tmp_path / "spa.traineddata")).load()


def test_reading_without_data_is_refused(picture: Path) -> None:
    reader = TesseractReader()
    reader.load()
    with pytest.raises(Refused, match="name the language"):
        list(reader.read_page(reader.open_page(picture, 10**9)))


@pytest.mark.parametrize(
    ("tag", "name"),
    [("es", "spa"), ("la", "lat"), ("de-Latf", "deu_latf"), ("grc", "grc"), ("spa", "spa"), ("es_MX", "spa")],
)
def test_languages_have_the_names_tesseract_gives_them(tag: str, name: str) -> None:
    assert names_for(tag)[0] == name


def test_where_language_data_is_published() -> None:
    file = TesseractReader.remote("la", lambda _url: b"")
    assert file.name == "lat.traineddata"
    assert file.url.endswith("/lat.traineddata")
    with pytest.raises(Refused, match="publish no language data called"):
        TesseractReader.remote("../x", lambda _url: b"")


def test_its_letters_stand_where_they_were_drawn(tmp_path: Path) -> None:
    data = list_installed(tmp_path / "models").get("eng")
    if data is None:
        pytest.skip("This machine has no Tesseract language data for English (Debian: tesseract-ocr-eng).")
    words = ["Letters", "stand", "upon", "the", "page"]
    picture, boxes = draw_line(words)
    reader = TesseractReader(model=str(data))
    reader.load()
    page = reader.open_page(save(picture, tmp_path), 10**9)
    whole = [one.reading for one in reader.read_page(page)]
    (line,) = reader.read_lines(page, [LineShape((boxes[0][0], 195, boxes[-1][2] - boxes[0][0], 75))])
    for reading in (*whole, line):
        assert reading.text.split() == words
        assert reading.places is not None
        x, _, along, *_ = reading.places.frame
        stands: list[list[float]] = [[]]
        for letter, (start, end, *_) in zip(reading.text, reading.places.letters, strict=True):
            if letter.isspace():
                stands.append([])
            else:
                stands[-1] += [x + along * start, x + along * end]
        for word, box in zip(stands, boxes, strict=True):
            assert (min(word), max(word)) == pytest.approx((box[0], box[2]), abs=6)
