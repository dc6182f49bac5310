"""Searchable PDF: pictures as they are, text that poppler and PDFium find where it stands, and what the file says of itself."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from exports_desk import HEIGHT, WIDTH, Desk
from PIL import Image

from armarium.api import new_id
from armarium_exports.rendering.pdf.lettering import InvisibleFont, text_layer
from armarium_exports.rendering.pdf.objects import PdfFile

needs_poppler = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="poppler's pdftotext is not here"
)
needs_qpdf = pytest.mark.skipif(shutil.which("qpdf") is None, reason="qpdf is not here")
SCALE = 72 / 300


def write(desk: Desk, target: str | None, name: str = "out.pdf", **more: Any) -> tuple[dict[str, Any], Path]:
    given = {"output_path": str(desk.folder / name), **more}
    answer = desk.post("/api/export/pdf", **given, **({"target_id": target} if target else {}))
    return answer, Path(answer["output_path"])


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def words_of(path: Path) -> list[tuple[str, tuple[float, ...]]]:
    """Each word with its box in points, as poppler finds them."""
    matches = re.findall(
        r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</word>',
        run("pdftotext", "-bbox", str(path), "-"),
    )
    return [(item[4], tuple(float(value) for value in item[:4])) for item in matches]


def add_picture(
    desk: Desk, box: str, name: str, data: bytes, kind: str, size: tuple[int, int], **more: Any
) -> str:
    page = new_id()
    picture = {
        "checksum": desk.library.objects.put_bytes(data),
        "mime_type": kind,
        "size_bytes": len(data),
        "pixel_width": size[0],
        "pixel_height": size[1],
        **more,
    }
    node = {
        "id": page,
        "parent_id": box,
        "doc_type": "file",
        "file_type": "image",
        "name": name,
        "picture": picture,
    }
    desk.do("document.add_files", {"nodes": [node]})
    return page


def as_file(image: Image.Image, kind: str, **more: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


@needs_poppler
def test_words_are_found_where_their_lines_stand(desk: Desk) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", ["Dear Sir", "I am well"])
    made, path = write(desk, box)
    assert made["pages"] == 1
    assert [(loss["what"], loss["count"]) for loss in made["losses"]] == [("places of words", 5)]
    words = dict(words_of(path))
    assert set(words) == {"Dear", "Sir", "I", "am", "well"}
    left, top, right, bottom = (
        value * SCALE for value in (0.1 * WIDTH, 0.05 * HEIGHT, 0.9 * WIDTH, 0.11 * HEIGHT)
    )
    assert words["Dear"][0] == pytest.approx(left, abs=0.1)
    assert words["Sir"][2] == pytest.approx(right, abs=0.1)
    assert words["Dear"][1] == pytest.approx(top, abs=0.1)
    assert words["Dear"][3] == pytest.approx(bottom, abs=0.1)


def test_pdfium_finds_every_word_in_order_also_one_of_a_single_letter(desk: Desk) -> None:
    import pypdfium2

    box = desk.box("Letters")
    lines = ["Juan y Ana a casa", "y", "a Dios o al rey", "I am"]
    desk.page(box, "1.png", lines)
    _, path = write(desk, box)
    with pypdfium2.PdfDocument(path) as pdf:
        text_page = pdf[0].get_textpage()
        assert [line.strip() for line in text_page.get_text_bounded().splitlines()] == lines
        match = text_page.search("y", match_whole_word=True).get_next()
        left, bottom, right, top = text_page.get_charbox(match[0])
        assert (right - left > 1, top - bottom) == (True, pytest.approx(0.06 * HEIGHT * SCALE, abs=0.3))


@needs_qpdf
def test_the_file_is_sound_and_says_what_it_is(desk: Desk) -> None:
    box = desk.box("Letters (1820) — Briefe")
    inner = desk.box("Box 1", parent_id=box)
    desk.page(inner, "1.png", ["Dear Sir"])
    desk.page(inner, "2.png", ["Farewell"])
    desk.page(box, "cover.png", [])
    _, path = write(desk, box)
    run("qpdf", "--check", str(path))
    import pypdfium2

    with pypdfium2.PdfDocument(path) as pdf:
        assert len(pdf) == 3
        assert pdf.get_metadata_dict()["Title"] == "Letters (1820) — Briefe"
        outline = [(one.level, one.get_title()) for one in pdf.get_toc()]
        assert (0, "Box 1") in outline
        assert (1, "1.png") in outline
        assert (0, "cover.png") in outline
    data = path.read_bytes()
    assert b"<pdfaid:part>2</pdfaid:part>" in data
    assert b"GTS_PDFA1" in data
    assert b"3 lines" not in data
    assert b"Text of 2 lines: 2 made by a person." in data


def test_a_jpeg_goes_in_byte_for_byte_and_a_turned_one_is_turned(desk: Desk) -> None:
    import pypdfium2

    box = desk.box("Letters")
    image = Image.new("RGB", (400, 200), (200, 200, 200))
    image.paste((255, 0, 0), (0, 0, 200, 200))  # its left half is red
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned clockwise: the left half comes to the top
    jpeg = as_file(image, "JPEG", exif=exif, quality=90)
    add_picture(desk, box, "1.jpg", jpeg, "image/jpeg", (200, 400), params={"exif_orientation": 6})
    _, path = write(desk, box)
    assert jpeg in path.read_bytes()
    with pypdfium2.PdfDocument(path) as pdf:
        page = pdf[0]
        assert page.get_width() < page.get_height()
        shown = page.render(scale=1).to_pil().convert("RGB")
    red, green, _ = shown.getpixel((shown.width // 2, shown.height // 4))
    assert red > 200 > 90 > green
    assert min(shown.getpixel((shown.width // 2, 3 * shown.height // 4))) > 150


@pytest.mark.parametrize(
    ("kind", "mode", "mime"),
    [
        ("PNG", "RGB", "image/png"),
        ("PNG", "P", "image/png"),
        ("PNG", "1", "image/png"),
        ("PNG", "RGBA", "image/png"),
        ("PNG", "I;16", "image/png"),
        ("TIFF", "RGB", "image/tiff"),
        ("TIFF", "1", "image/tiff"),
        ("WEBP", "RGB", "image/webp"),
        ("JPEG", "L", "image/jpeg"),
        ("JPEG", "CMYK", "image/jpeg"),
        ("JPEG2000", "RGB", "image/jp2"),
    ],
)
def test_every_kind_of_picture_looks_in_the_pdf_as_it_does_alone(
    desk: Desk, kind: str, mode: str, mime: str
) -> None:
    import pypdfium2

    box = desk.box("Letters")
    source = Image.linear_gradient("L").resize((256, 256))
    image = (
        source
        if mode == "L"
        else source.convert("RGB").convert(mode)
        if mode != "I;16"
        else source.convert("I").point(lambda v: v * 257).convert("I;16")
    )
    more = {"lossless": True} if kind == "WEBP" else {"irreversible": False} if kind == "JPEG2000" else {}
    add_picture(desk, box, f"1.{kind}", as_file(image, kind, **more), mime, (256, 256))
    made, path = write(desk, box)
    assert made["pages"] == 1
    with pypdfium2.PdfDocument(path) as pdf:
        shown = pdf[0].render(scale=300 / 72).to_pil().convert("L")
    expected = source if mode != "1" else source.convert("1").convert("L")
    for at in (10, 128, 245):
        patch, wanted = (
            one.crop((100, at - 8, 156, at + 8)).resize((1, 1), Image.Resampling.BOX).getpixel((0, 0))
            for one in (shown, expected)
        )
        # PDFium imitates ink, Pillow computes: dark CMYK differs.
        assert patch == pytest.approx(wanted, abs=60 if mode == "CMYK" else 14), (kind, mode, at)
    assert (b"<pdfaid:part>" in path.read_bytes()) == (mode != "CMYK")
    if mode == "CMYK":
        assert [loss["what"] for loss in made["losses"]] == ["PDF/A-2b"]


def _sheet(words: list[tuple[str, tuple[float, ...]]], path: Path) -> None:
    """A file of one page of 500 by 800 points with these words: x, y of the lower left corner, width and height."""
    with path.open("wb") as out:
        file = PdfFile(out)
        font = InvisibleFont(file)
        quads = [
            (
                word,
                ((x, y + h), (x + w, y + h), (x + w, y), (x, y))
                if not down
                else ((x + w, y + h), (x + w, y), (x, y), (x, y + h)),
            )
            for word, (x, y, w, h, *rest) in words
            for down in [bool(rest)]
        ]
        contents = file.stream(text_layer(quads, font).encode(), {})
        tree, resources = file.reserve(), font.resources()
        font.write()
        page = file.add(
            f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 500 800] /Contents {contents} 0 R"
            f" /Resources << /Font {resources} >> >>"
        )
        file.add(f"<< /Type /Pages /Kids [{page} 0 R] /Count 1 >>", tree)
        file.finish(file.add(f"<< /Type /Catalog /Pages {tree} 0 R >>"), file.add("<< /Producer (test) >>"))


@needs_poppler
@pytest.mark.parametrize(
    "lines",
    [
        ["Dear Sir 𝔐éte\u0301"],
        ["שלום עולם 123", "עוֹלָם טוב"],
        ["بسم الله الرحمن", "بِسْمِ اللهِ"],
        ["क्षत्रिय नमस्ते", "ភាសា ខ្មែរ", "கொள்கை"],
    ],
    ids=["Latin", "Hebrew", "Arabic", "India"],
)
def test_any_script_is_extracted_in_its_own_order(tmp_path: Path, lines: list[str]) -> None:
    words = []
    for number, line in enumerate(lines):
        rtl = any("\u0590" <= sign <= "\u06ff" for sign in line)
        x = 300.0
        for word in line.split():
            words.append((word, (x, 700 - 50 * number, 60, 20)))
            x += -70 if rtl else 70
    _sheet(words, tmp_path / "a.pdf")
    for more in ((), ("-raw",), ("-layout",)):
        result = run("pdftotext", *more, str(tmp_path / "a.pdf"), "-")
        plain = re.sub("[\u202a-\u202e\u200e\u200f]", "", result)
        for line in lines:
            for word in line.split():
                # In the order of the file poppler leaves a mark at a word's end outside of it.
                ends_in_mark = unicodedata.category(word[-1]) == "Mn"
                assert (word if more != ("-raw",) or not ends_in_mark else word[:-1]) in plain, (more, plain)
    in_order = re.sub(
        "[\u202a-\u202e]", "", run("pdftotext", "-layout", str(tmp_path / "a.pdf"), "-")
    ).split()
    assert in_order == " ".join(lines).split()


@needs_poppler
def test_upright_columns_are_read_from_top_to_bottom(tmp_path: Path) -> None:
    words = [("縦書", (450, 410, 20, 40, 1)), ("文字列", (450, 340, 20, 60, 1))]
    _sheet(words, tmp_path / "a.pdf")
    assert run("pdftotext", str(tmp_path / "a.pdf"), "-").split() == ["縦書", "文字列"]
    (_, first), (_, second) = words_of(tmp_path / "a.pdf")
    assert first == pytest.approx((450, 350, 470, 390), abs=0.1)
    assert second == pytest.approx((450, 400, 470, 460), abs=0.1)


def test_the_same_pages_give_the_same_bytes_and_a_kept_pdf_is_written_once(desk: Desk) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", ["Dear Sir"])
    _, one = write(desk, box, "one.pdf")
    _, other = write(desk, box, "other.pdf")
    assert one.read_bytes() == other.read_bytes()
    folder = desk.folder / "kept"
    folder.mkdir()
    desk.post("/api/export/kept", folder=str(folder), format="pdf", per="folder")
    desk.work()
    (path,) = folder.glob("*.pdf")
    assert path.read_bytes() == one.read_bytes()
    before = path.stat().st_mtime_ns
    desk.post(f"/api/export/kept/{desk.list_kept()[0]['id']}/write")
    desk.work()
    assert path.stat().st_mtime_ns == before


def test_what_is_withheld_is_in_no_pdf(desk: Desk) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", ["Dear Sir"])
    secret = desk.page(box, "2.png", ["Secret"])
    desk.restrict(secret)
    made, path = write(desk, box)
    assert made["pages"] == 1
    assert [entry["document_id"] for entry in made["withheld"]] == [secret]
    assert b"2.png" not in path.read_bytes()


def test_a_pdf_is_saved_from_afar(desk: Desk) -> None:
    box = desk.box("Letters")
    desk.page(box, "1.png", ["Dear Sir"])
    desk.page(box, "2.png", ["Sir"])
    answer = desk.post("/api/export/downloads", what="files", format="pdf", per="folder", scope_ids=[box])
    assert (answer["filename"], answer["media_type"]) == ("Letters.pdf", "application/pdf")
    assert desk.client.get(f"/api/export/downloads/{answer['id']}").content.startswith(b"%PDF-1.7")


def test_a_file_of_another_ending_and_a_folder_without_pages_are_refused(desk: Desk) -> None:
    box = desk.box("Letters")
    refused = desk.post("/api/export/pdf", 422, output_path=str(desk.folder / "a.txt"), target_id=box)
    assert refused["code"] == "wrong_ending"
    refused = desk.post("/api/export/pdf", 422, output_path=str(desk.folder / "a.pdf"), target_id=box)
    assert refused["code"] == "nothing_to_export"


def test_an_outline_of_words_that_have_no_length_is_passed_over() -> None:
    file = PdfFile(io.BytesIO())
    point = (1.0, 1.0)
    assert text_layer([("a", (point, point, point, point))], InvisibleFont(file)) == ""
