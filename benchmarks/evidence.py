"""Rows 49 and 50: where letters stand, and searchable PDF.

Words placed by alignment against words that people (or tesseract) drew, on pages of `shared/data`; the time of placing against
that of reading; a PDF of `ARMARIUM_BENCH_PAGES` pages against OCRmyPDF's renderer, fed the same pictures and hOCR.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from armarium.api import Engine, Library, new_id
from armarium_formats.api import PageModel, PageSegment, ReadContext
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

DATA = Path(os.environ.get("ARMARIUM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
PAGES = int(os.environ.get("ARMARIUM_BENCH_PAGES", "100"))
DRAWN = {
    "prima-aletheia, drawn by hand": ("page-pairs/prima-aletheia/aletheiaexamplepage.xml", "page-pairs/prima-aletheia/AletheiaExamplePage.jpg"),
    "dinglehopper-119, ground truth": ("page-pairs/dinglehopper-119/00000119.gt.page.xml", "page-pairs/dinglehopper-119/00000119.tif"),
    "dinglehopper-larex, by tesseract": ("page-pairs/dinglehopper-larex/OCR-D-OCR-TESS_0008.xml", "page-pairs/dinglehopper-larex/462875_0008.jpg"),
    "hocr-tools 309515696, by tesseract": ("hocr/309515696-2.html", "hocr/309515696-2.tif.png"),
    "hocr-tools 426117689, by tesseract": ("hocr/426117689_0459.html", "hocr/426117689_0459.jpg"),
}  # fmt: skip
"""Pages whose word boxes others drew, and who did; layout file and picture."""
HAND = "onehand-peraire/D.2.eurasie-3-4_0017"
AIM = 0.75
Box = tuple[float, float, float, float]


def measure(rounds: int) -> list[Result]:
    """Measure overlap of words, seconds of placing and reading, seconds and bytes of PDF."""
    results: list[Result] = []
    if (DATA / f"{HAND}.xml").is_file():
        results += _overlaps()
        results.append(_placing(rounds))
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        results += _pdf(engine, library, folder, min(rounds, 3))
    return results


# ------------------------------------------------------------------------------------------------- letters


def _page(layout: str, picture: str) -> PageModel:
    from PIL import Image

    from armarium_formats.alto.driver import Alto
    from armarium_formats.hocr.driver import Hocr
    from armarium_formats.pagexml.driver import PageXml

    data = (DATA / layout).read_bytes()
    driver = max((Alto(), Hocr(), PageXml()), key=lambda one: one.sniff(data))
    with Image.open(DATA / picture) as image:
        size = image.size
    return driver.read(data, ReadContext(layout, size))[0]


def _shape(line: PageSegment) -> Any:
    from armarium_worker import LineShape

    left, top, right, bottom = _around(line.points)
    return LineShape((left, top, right - left, bottom - top), tuple(line.points), tuple(line.baseline))


def _around(points: Any) -> Box:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _reader() -> Any:
    from armarium_reader_hand.reader import HandReader

    reader = HandReader(threads=2)
    reader.load()
    return reader


def _overlaps() -> Iterator[Result]:
    """Place the words of each page's own text, and compare them with its boxes."""
    from armarium_source_model.api import Frame, LetterPlace, LetterPlaces, frame_of, share_out

    reader = _reader()
    for name, (layout, picture) in DRAWN.items():
        page = reader.open_page(DATA / picture, 10**9)
        lines = [
            line
            for line in _page(layout, picture).lines()
            if line.points
            and len(line.text.split()) == sum(bool(word.text.strip()) for word in line.children)
        ]
        placed = reader.align_lines(page, [_shape(line) for line in lines], [line.text for line in lines])
        ours: list[float] = []
        shares: list[float] = []
        for line, found in zip(lines, placed, strict=True):
            drawn = [_around(word.points) for word in line.children if word.text.strip()]
            if isinstance(found, str):
                ours += [0.0] * len(drawn)
            else:
                places = LetterPlaces(Frame(*found.frame), [LetterPlace(*letter) for letter in found.letters])
                words = [_around(word.corners) for word in places.words(line.text)]
                ours += [_overlap(word, other) for word, other in zip(words, drawn, strict=True)]
            frame = frame_of(line.points, line.baseline)
            if frame is not None:
                spread = [_around(word.corners) for word in share_out(frame, line.text).words(line.text)]
                shares += [_overlap(one, other) for one, other in zip(spread, drawn, strict=True)]
        found_median = float(median(ours))
        yield Result(
            49, f"words placed: median overlap, {name} ({len(ours)} words)", "of 1", found_median, float(median(shares)),
            "shares of the line", found_median / AIM, "at least", 1.0, "ratio to 0.75",
        )  # fmt: skip


def _overlap(one: Box, other: Box) -> float:
    wide, high = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or high <= 0:
        return 0.0
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return float(wide * high / (areas - wide * high))


def _placing(rounds: int) -> Result:
    reader = _reader()
    page = reader.open_page(DATA / f"{HAND}.jpg", 10**9)
    lines = [line for line in _page(f"{HAND}.xml", f"{HAND}.jpg").lines() if line.points and line.text]
    shapes, texts = [_shape(line) for line in lines], [line.text for line in lines]

    def work(what: Any) -> float:
        begun = time.process_time()
        list(what())
        return time.process_time() - begun

    from armarium_reader_hand import model

    def read() -> float:
        # As before readings kept where letters stand.
        says_places, model.LineModel.says_places = model.LineModel.says_places, False
        try:
            return work(lambda: reader.read_lines(page, shapes))
        finally:
            model.LineModel.says_places = says_places

    return compare(
        49,
        f"letters of a page of {len(texts)} lines placed by alignment",
        engine=lambda: work(lambda: reader.align_lines(page, shapes, texts)),
        peer=read,
        peer_name="reading it",
        unit="s of processor time",
        rounds=rounds,
        limit=1.3,
    )


# ----------------------------------------------------------------------------------------------------- PDF

RENDER = """
import json, sys, time
from pathlib import Path
import pikepdf
from ocrmypdf.hocrtransform import HocrTransform
pages, out = json.loads(sys.argv[1]), Path(sys.argv[2])
begun = time.perf_counter()
with pikepdf.new() as whole:
    for number, (hocr, picture) in enumerate(pages):
        part = out.with_name(f"{number}.pdf")
        HocrTransform(hocr_filename=hocr, dpi=300).to_pdf(out_filename=part, image_filename=picture, invisible_text=True)
        with pikepdf.open(part) as one:
            whole.pages.extend(one.pages)
    whole.save(out)
print(time.perf_counter() - begun)
"""
"""OCRmyPDF 14's own renderer of hOCR, as its users call it, each page joined to the file; with the interpreter it is installed for."""


def _pdf(engine: Engine, library: Library, folder: Path, rounds: int) -> list[Result]:
    from armarium_exports.pdf_file import write_pdf_file
    from armarium_exports.records import PdfParams
    from armarium_formats.api import export_page

    python = _python_of_ocrmypdf()
    box = _fill(engine, library)
    path = folder / "ours.pdf"

    def ours() -> float:
        path.unlink(missing_ok=True)
        asked = PdfParams.model_validate({"output_path": str(path), "target_id": box})
        engine.paths.check(asked, OWNER)
        return seconds(lambda: write_pdf_file(engine, library, OWNER, asked))

    if python is None:
        spent = ours()
        nothing = "nothing (OCRmyPDF is not here)"
        return [Result(50, f"PDF of {PAGES} pages", "s", spent, spent, nothing, 1.0)]
    from armarium_documents.api import page_image, pages_under

    with library.db.read() as conn:
        pages = pages_under(conn, [box])
        pictures = [page_image(library, conn, page).path for page in pages]
    given = []
    for page, picture in zip(pages, pictures, strict=True):
        hocr, jpeg = folder / f"{page}.hocr", folder / f"{page}.jpg"
        hocr.write_text(export_page(engine, library, page, "hocr")["content"], "utf-8")
        shutil.copyfile(picture, jpeg)
        given.append((str(hocr), str(jpeg)))
    theirs = folder / "theirs.pdf"

    def peer() -> float:
        process = subprocess.run(
            [python, "-c", RENDER, json.dumps(given), str(theirs)], check=True, capture_output=True, text=True
        )
        return float(process.stdout)

    name = "OCRmyPDF's renderer"
    timed = compare(
        50,
        f"searchable PDF of {PAGES} pages",
        engine=ours,
        peer=peer,
        peer_name=name,
        unit="s",
        rounds=rounds,
        limit=1.0,
    )
    sizes = path.stat().st_size / 1e6, theirs.stat().st_size / 1e6
    return [timed, Result(50, "its size", "MB", *sizes, name, sizes[0] / sizes[1], "at most", 1.05)]


def _python_of_ocrmypdf() -> str | None:
    for python in ("/usr/bin/python3",):
        if Path(python).is_file():
            tried = subprocess.run(
                [python, "-c", "import ocrmypdf.hocrtransform, pikepdf"], capture_output=True, check=False
            )
            if tried.returncode == 0:
                return python
    return None


def _fill(engine: Engine, library: Library) -> str:
    """Create PAGES pages, each a JPEG of 1,600 by 2,200 pixels with forty lines that somebody read."""
    from PIL import Image, ImageDraw

    box = engine.run(library, "document.create", {"name": "Box", "doc_type": "folder"}, OWNER).result or {}
    words = ["Querida", "hermana", "te", "escribo", "desde", "la", "Habana", "donde", "llueve"]
    for number in range(PAGES):
        image = Image.effect_noise((1600, 2200), 12).convert("L")
        draw = ImageDraw.Draw(image)
        for line in range(40):
            draw.text((120, 60 + 52 * line), " ".join(words), fill=30, font_size=34)
        file = io.BytesIO()
        image.save(file, "JPEG", quality=80)
        page = new_id()
        picture = {
            "checksum": library.objects.put_bytes(file.getvalue()),
            "mime_type": "image/jpeg",
            "size_bytes": file.tell(),
            "pixel_width": 1600,
            "pixel_height": 2200,
        }
        node = {
            "id": page,
            "parent_id": box["id"],
            "doc_type": "file",
            "file_type": "image",
            "name": f"{number}.jpg",
        }
        engine.run(library, "document.add_files", {"nodes": [{**node, "picture": picture}]}, OWNER)
        lines = [
            {"key": str(n), "rect": [0.07, (60 + 52 * n) / 2200, 0.6, 0.02], "text": " ".join(words)}
            for n in range(40)
        ]
        given = {"document_id": page, "name": "Lines", "provider": "sample", "lines": lines}
        engine.run(library, "segment.take_lines", given, OWNER)
    return str(box["id"])
