"""What the guard promises: every bomb and broken file gets a sentence, quickly and in little memory."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import threading
import warnings
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from armarium.errors import Invalid
from armarium.guard import (
    MAX_XML_BYTES,
    check_archive,
    image_info,
    names_are_guessed,
    open_image,
    parse_xml,
    read_member,
)

# ------------------------------------------------------------------------------------------------ makers


def png(width: int, height: int, *, depth: int = 8, rows: int | None = None) -> bytes:
    """Return a one-colour grey PNG, written by hand: Pillow would need the memory that the bomb claims."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    row = bytes(1 + (width * depth + 7) // 8)
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row) for _ in range(height if rows is None else rows)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def tiff(width: int, height: int, data: bytes, *, loop: bool = False) -> bytes:
    """Return a one-strip deflate TIFF that claims any size, optionally with itself as the next page."""
    tags = [
        (256, 4, 1, width),
        (257, 4, 1, height),
        (258, 3, 1, 8),
        (259, 3, 1, 8),
        (262, 3, 1, 1),
        (273, 4, 1, 8),
        (277, 3, 1, 1),
        (278, 4, 1, height),
        (279, 4, 1, len(data)),
    ]
    at = 8 + len(data)
    ifd = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0" + struct.pack("<I", at) + data + ifd + struct.pack("<I", at if loop else 0)


def photograph(width: int = 300, height: int = 200, form: str = "JPEG", **options: object) -> bytes:
    image = Image.frombytes("RGB", (width, height), os.urandom(width * height * 3))
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


# --------------------------------------------------------------------------------------------------- XML


def test_duplicate_ids_and_ids_that_begin_with_a_digit_are_accepted() -> None:
    root = parse_xml(b'<a><b xml:id="1"/><b xml:id="1"/></a>')
    assert [child.get("{http://www.w3.org/XML/1998/namespace}id") for child in root] == ["1", "1"]


def test_a_plain_document_is_parsed() -> None:
    root = parse_xml(b'<?xml version="1.0" encoding="ISO-8859-1"?><!-- x --><a><?pi?><b>\xe9</b></a>')
    assert root.tag == "a"
    assert [child.tag for child in root] == ["b"]
    assert root[0].text == "é"


BILLION_LAUGHS = (
    b'<?xml version="1.0"?>\n<!DOCTYPE lolz [\n<!ENTITY lol "lol">\n'
    + b"".join(
        b'<!ENTITY lol%d "%s">\n' % (n, (b"&lol%d;" % (n - 1) if n > 1 else b"&lol;") * 10)
        for n in range(1, 10)
    )
    + b"]>\n<lolz>&lol9;</lolz>"
)
EXTERNAL = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


@pytest.mark.parametrize(
    "data",
    [
        BILLION_LAUGHS,
        EXTERNAL,
        b"\xef\xbb\xbf" + EXTERNAL,
        b"<?xml version='1.0'?><!-- a --><!-- b -->\n" + EXTERNAL,
        EXTERNAL.decode().encode("utf-16"),
        EXTERNAL.decode().encode("utf-16-le"),
        EXTERNAL.decode().encode("utf-32"),
        b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/x.dtd"><html/>',
        b"<?xml version='1.0' encoding='UTF-7'?>+ADw-!DOCTYPE a SYSTEM 'x'+AD4-<a/>",
    ],
    ids=["laughs", "external", "bom", "after comments", "utf-16", "utf-16-le", "utf-32", "public", "utf-7"],
)
def test_a_doctype_is_refused_in_any_encoding(data: bytes) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_xml(data, name="page.xml")
    assert refusal.value.detail.startswith("page.xml ")
    assert "passwd" not in refusal.value.detail
    if not data.startswith(b"<?xml version='1.0' encoding='UTF-7'"):
        assert refusal.value.code == "xml_doctype"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"not xml at all", "not well-formed"),
        (b"<a><b></a>", "not well-formed"),
        (b"<a>cut", "not well-formed"),
        (b"<a/><b/>", "not well-formed"),
        (b"<?xml version='1.0' encoding='utf-8'?><a>\xe9\xe8</a>", "encoding"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "encoding"),
        (b"<a>&unknown;</a>", "not well-formed"),
        (b"<a>" * 257 + b"</a>" * 257, "256 deep"),
        (b"<a>" * 100_000 + b"</a>" * 100_000, "256 deep"),
        (b"<a>" + b"x" * 11_000_000 + b"</a>", "10 MB"),
        (b"<a>" + b"<b/>" * 1_000_000 + b"</a>", "tags and attributes"),
    ],
)
def test_what_is_not_a_page_of_xml_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        parse_xml(data)


def test_more_than_64_mib_is_refused_before_parsing() -> None:
    with pytest.raises(Invalid, match="at most 67 MB"):
        parse_xml(b"<a>" + b" " * MAX_XML_BYTES + b"</a>")


def test_a_deep_but_lawful_document_passes() -> None:
    assert parse_xml(b"<a>" * 250 + b"</a>" * 250).tag == "a"


# ------------------------------------------------------------------------------------------------ images


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "WEBP", "GIF", "BMP", "JPEG2000", "AVIF"])
def test_every_taken_format_opens(form: str, tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_bytes(photograph(64, 48, form))
    info = image_info(path)
    assert (info.format, info.width, info.height, info.frames, info.orientation) == (form, 64, 48, 1, 1)
    assert info.mime_type.startswith("image/")
    image = open_image(path)
    assert image.size == (64, 48)
    image.convert("RGB").getpixel((63, 47))


def test_the_orientation_is_read_without_decoding(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "turned.jpg"
    path.write_bytes(photograph(80, 40, exif=exif))
    info = image_info(path)
    assert info.orientation == 6
    assert info.upright_size == (40, 80)


def test_pages_of_a_tiff_are_counted_and_opened(tmp_path: Path) -> None:
    pages = [Image.new("L", (20 + n, 10), n) for n in range(4)]
    path = tmp_path / "book.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:])
    assert image_info(path).frames == 4
    third = open_image(path, frame=2)
    assert third.size == (22, 10)
    assert third.getpixel((0, 0)) == 2
    with pytest.raises(Invalid, match="has 4 pages; page 9"):
        open_image(path, frame=8)


def tiff_of(path: Path, *images: tuple[int, int]) -> Path:
    """Write a TIFF of grey images: (width, NewSubfileType) each, in 4:3."""
    made = []
    for number, (width, kind) in enumerate(images):
        image = Image.new("L", (width, width * 3 // 4), number)
        image.encoderinfo = {"tiffinfo": {254: kind}}
        made.append(image)
    made[0].save(path, tiffinfo={254: images[0][1]}, save_all=True, append_images=made[1:])
    return path


@pytest.mark.parametrize(
    ("images", "pages", "alike"),
    [
        (((800, 0), (400, 1), (200, 1)), [(0, 800)], True),
        (((160, 1), (800, 0)), [(1, 800)], False),
        (((800, 0), (800, 4)), [(0, 800)], True),
        (((800, 2), (100, 1), (600, 2), (100, 1), (600, 6)), [(0, 800), (2, 600)], True),
        (((160, 1), (80, 1)), [(0, 160), (1, 80)], True),
        (((800, 0), (400, 0), (200, 0)), [(0, 800)], True),
        (((800, 0), (400, 0), (300, 0)), [(0, 800), (1, 400), (2, 300)], True),
        (((800, 0), (400, 0)), [(0, 800), (1, 400)], True),
    ],
    ids=[
        "a pyramid",
        "the thumbnail first",
        "a mask",
        "pages with thumbnails",
        "nothing but copies",
        "a pyramid that does not say so",
        "three pages",
        "two pages",
    ],
)
def test_smaller_copies_and_masks_of_a_tiff_are_no_pages(
    images: tuple[tuple[int, int], ...], pages: list[tuple[int, int]], alike: bool, tmp_path: Path
) -> None:
    path = tiff_of(tmp_path / "leaf.tif", *images)
    info = image_info(path)
    assert (info.width, info.frames) == (pages[0][1], len(pages))
    assert info.passed_over == len(images) - len(pages)
    assert info.opens_alike is alike
    for number, (grey, width) in enumerate(pages):
        page = open_image(path, frame=number)
        assert (page.width, page.getpixel((0, 0))) == (width, grey)


@pytest.mark.parametrize(("tag", "copy"), [(254, 1), (255, 2)])
def test_a_big_endian_tiff_may_state_its_smaller_copy_in_a_short(tag: int, copy: int, tmp_path: Path) -> None:
    def directory(at: int, width: int, kind: int, following: int) -> bytes:
        tags = [(tag, 3, kind << 16), (256, 4, width), (257, 4, 1), (258, 3, 8 << 16), (259, 3, 1 << 16),
                (262, 3, 1 << 16), (273, 4, 8), (277, 3, 1 << 16), (278, 4, 1), (279, 4, width)]  # fmt: skip
        entries = b"".join(struct.pack(">HHII", tag, form, 1, value) for tag, form, value in tags)
        return struct.pack(">H", len(tags)) + entries + struct.pack(">I", following)

    length = len(directory(0, 8, 0, 0))
    data = b"MM\0*" + struct.pack(">I", 16) + bytes(8)
    data += directory(16, 8, 0, 16 + length) + directory(16 + length, 4, copy, 0)
    path = tmp_path / "leaf.tif"
    path.write_bytes(data)
    assert (image_info(path).frames, image_info(path).passed_over) == (1, 1)


def test_a_heic_photograph_is_opened_by_the_decoder_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def decoder(file: io.BytesIO, name: str) -> Image.Image:
        return Image.open(io.BytesIO(photograph(40, 30)))

    monkeypatch.setitem(sys.modules, "pi_heif", SimpleNamespace(HeifImageFile=decoder))
    data = b"\0\0\0\x18ftypheic" + bytes(4) + b"mif1heic"
    info = image_info(data)
    assert (info.format, info.mime_type, info.upright_size) == ("HEIC", "image/heic", (40, 30))
    assert not info.opens_alike
    assert open_image(data).size == (40, 30)


@pytest.mark.parametrize(
    ("module", "brand", "words"),
    [
        ("pi_heif", b"heic", r"HEIC photograph.*Export it as JPEG.*armarium-core\[heic\]"),
        ("pi_heif", b"mif1", "HEIC photograph"),
        ("PIL.AvifImagePlugin", b"avif", "AVIF picture.*Export it as JPEG"),
    ],
)
def test_a_picture_without_its_decoder_is_refused_with_what_to_do(
    module: str, brand: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Invalid, match=words) as refused:
        open_image(b"\0\0\0\x18ftyp" + brand + bytes(4) + brand + b"miaf", name="IMG_0001")
    assert refused.value.code == "image_decoder_missing"


def test_a_jpeg_may_be_decoded_small() -> None:
    assert open_image(photograph(800, 600), shrink_to=(100, 75)).size == (100, 75)


@pytest.mark.parametrize(
    ("form", "how"),
    [
        ("JPEG", {"subsampling": "4:2:0"}),
        ("JPEG", {"subsampling": "4:2:2", "optimize": True}),
        ("JPEG", {"subsampling": "4:4:4", "restart_marker_rows": 1}),
        ("JPEG", {"progressive": True}),
        ("PNG", {}),
        ("TIFF", {}),
    ],
)
@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
def test_a_part_of_an_image_is_that_of_the_whole(mode: str, form: str, how: dict[str, Any]) -> None:
    if (mode, form) == ("CMYK", "PNG"):
        return  # PNG has no such colours
    file = io.BytesIO()
    Image.effect_noise((700, 2000), 90).convert(mode).save(file, form, **how)
    whole = open_image(file.getvalue())
    for left, top, right, bottom in (
        (0, 0, 700, 1),
        (31, 100, 333, 307),
        (699, 0, 700, 1969),
        (0, 1900, 700, 2500),
        (900, 5000, 950, 6000),
        (-5, -5, 10, 10),
    ):
        low, high = max(0, min(top, 1999)), max(1, min(bottom, 2000))
        near, far = max(0, min(left, 699)), max(1, min(right, 700))
        image = open_image(file.getvalue(), box=(left, top, right, bottom))
        assert image.mode == whole.mode
        assert image.tobytes() == whole.crop((near, low, far, high)).tobytes()


def test_a_black_part_of_a_black_image_is_decoded_too() -> None:
    file = io.BytesIO()
    Image.new("RGB", (700, 2000)).save(file, "JPEG")
    image = open_image(file.getvalue(), box=(10, 20, 30, 50))
    assert (image.size, image.getextrema()) == ((20, 30), ((0, 0), (0, 0), (0, 0)))


def test_an_image_is_decoded_no_further_than_the_requested_part() -> None:
    file = io.BytesIO()
    Image.effect_noise((700, 2000), 90).save(file, "JPEG")
    broken = file.getvalue()[: len(file.getvalue()) // 2]
    assert open_image(broken, box=(0, 0, 700, 200)).size == (700, 200)
    with pytest.raises(Invalid, match="damaged JPEG"):
        open_image(broken, box=(0, 1500, 700, 1600))
    with pytest.raises(Invalid, match="damaged JPEG"):
        open_image(broken)


def test_a_part_of_a_bomb_or_of_an_invalid_image_is_refused_too() -> None:
    with pytest.raises(Invalid, match="bomb"):
        open_image(png(12_000, 12_000, depth=1, rows=10), box=(0, 0, 10, 10))
    file = io.BytesIO()
    Image.effect_noise((700, 2000), 90).save(file, "JPEG")
    data = file.getvalue()
    at = data.index(b"\xff\xc0")
    huge = data[: at + 5] + b"\xff\xff\xff\xff" + data[at + 9 :]
    with pytest.raises(Invalid, match="at most 200,000,000"):
        open_image(huge, box=(0, 0, 10, 10))
    # A duplicate size and padded segments: decoded like the whole image or refused, but never as another picture.
    frame = data[at : at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")]
    with pytest.raises(Invalid):
        open_image(data[:at] + frame + data[at:], box=(0, 0, 700, 10))
    # A truncated embedded JPEG does not make a truncated file whole.
    thumbnail = b"\xff\xe1\x00\x08Exif\xff\xd9"
    with pytest.raises(Invalid, match="damaged JPEG"):
        open_image(data[:2] + thumbnail + data[2 : len(data) // 2], box=(0, 1500, 700, 1600))
    # A misplaced marker ends the image data early: without a refusal the rest would be grey.
    broken = data[: len(data) // 4] + b"\xff\xc0\x00\x02" + data[len(data) // 4 :]
    for top in (0, 1500):
        with pytest.raises(Invalid, match="damaged JPEG"):
            open_image(broken, box=(0, top, 700, top + 100))
    padded = data[:at] + b"\xff\xff" + data[at:]
    whole = open_image(data).crop((0, 40, 700, 90))
    assert open_image(padded, box=(0, 40, 700, 90)).tobytes() == whole.tobytes()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"This is a letter, not a picture.\n" * 3, "is a text"),
        (b"<?xml version='1.0'?><a/>", "XML or HTML"),
        (b"%PDF-1.7\n", "is a PDF"),
        (b"PK\3\4" + bytes(40), "ZIP"),
        (bytes(range(256)), "not an image"),
        (b"\xff\xd8\xff", "header cannot be read"),
        (b"\x89PNG\r\n\x1a\n", "header cannot be read"),
        (b"II*\0\x08\0\0\0", "header cannot be read"),
        (b"GIF89a", "header cannot be read"),
        (photograph()[: len(photograph()) // 2], "damaged JPEG"),
        (photograph(form="PNG")[:5000], "damaged PNG"),
        (photograph(form="TIFF", compression="tiff_lzw")[:9000], "TIFF"),
        (png(12_000, 12_000, depth=1, rows=10), "bomb"),
        (png(40_000, 40_000, rows=10), "at most 200,000,000"),
        (tiff(60_000, 60_000, zlib.compress(bytes(1000))), "at most 200,000,000"),
        (tiff(13_000, 13_000, zlib.compress(bytes(1_000_000))), "bomb"),
        (tiff(900, 900, zlib.compress(bytes(1000))), "damaged TIFF"),
        (tiff(10, 10, zlib.compress(bytes(100)), loop=True), "point back"),
    ],
)
def test_what_is_no_whole_image_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        open_image(data, name="0001.jpg")


def test_a_file_that_vanished_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"gone\.jpg is not there any more"):
        open_image(tmp_path / "gone.jpg")
    with pytest.raises(Invalid, match="is a folder"):
        image_info(tmp_path)


def test_the_limit_can_be_set() -> None:
    with pytest.raises(Invalid, match="SERVICE_MAX_IMAGE_PIXELS"):
        open_image(photograph(300, 200), max_pixels=59_999)
    assert open_image(photograph(300, 200), max_pixels=60_000).size == (300, 200)


def test_a_page_between_pillows_limit_and_ours_opens_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "map.tif"
    path.write_bytes(png(13_500, 7_000))  # 94 million pixels, all white paper: 1,000 pixels per byte
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_image(path).size == (13_500, 7_000)


def test_threads_do_not_disturb_each_other() -> None:
    good, cut = photograph(), photograph()[:20_000]
    outcomes: list[str] = []

    def work(data: bytes, expected: str) -> None:
        for _ in range(20):
            try:
                open_image(data)
                outcomes.append("whole" if expected == "whole" else "wrong")
            except Invalid:
                outcomes.append("cut" if expected == "cut" else "wrong")

    threads = [threading.Thread(target=work, args=pair) for pair in [(good, "whole"), (cut, "cut")] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("whole") == outcomes.count("cut") == 80


_MEASURE = """
import json, resource, sys
from armarium.guard import image_info, open_image, parse_xml
from armarium.errors import Invalid
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
import PIL.Image, lxml.etree

def peak():
    # A process is born with its parent's peak in ru_maxrss; the kernel's own mark for this one is not.
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except OSError:
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used // 1024 if sys.platform == "darwin" else used

data = open(sys.argv[1], "rb").read()
try:
    (parse_xml if sys.argv[2] == "xml" else open_image)(data)
    said = None
except Invalid as refusal:
    said = refusal.detail
print(json.dumps({"said": said, "mb": peak() / 1024}))
"""


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("144-megapixel.png", lambda: png(12_000, 12_000, depth=1)),
        ("one-colour-40000.png", lambda: png(40_000, 40_000, rows=400)),
        ("zip-bomb.tif", lambda: tiff(30_000, 30_000, zlib.compress(bytes(50_000_000)))),
        ("laughs.xml", lambda: BILLION_LAUGHS),
        ("deep.xml", lambda: b"<a>" * 100_000 + b"</a>" * 100_000),
        ("spaces.xml", lambda: b"<a>" + b" " * (MAX_XML_BYTES + 1) + b"</a>"),
        ("tags.xml", lambda: b"<a>" + b"<b/>" * 10_000_000 + b"</a>"),
    ],
)
def test_a_bomb_is_refused_within_300_mb(name: str, make: object, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(make())  # type: ignore[operator]
    kind = "xml" if name.endswith(".xml") else "image"
    ran = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(path), kind],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(ran.stdout)
    assert found["said"], f"{name} was let through"
    assert found["mb"] < 300


# ---------------------------------------------------------------------------------------------- archives


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(out, "w", method) as made:
            for name, data in members:
                made.writestr(name, data)
    return out.getvalue()


def test_an_archive_lists_its_files() -> None:
    data = archive(("page/0001.xml", b"<a/>"), ("page/", b""), ("0001.jpg", b"x"))
    assert [member.filename for member in check_archive(data)] == ["page/0001.xml", "0001.jpg"]
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        assert read_member(opened, check_archive(data)[0]) == b"<a/>"


def test_a_backslash_separates_the_folders_of_an_archive() -> None:
    data = archive(("Akten\\Band 1\\b.jpg", b"x"), ("Akten\\Band 1\\", b""))
    assert [member.filename for member in check_archive(data)] == ["Akten/Band 1/b.jpg"]


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (("Bücher.jpg", "Ñuflo é.jpg"), "cp437"), (("Bücher.jpg", "Ñuflo é ß.jpg"), "cp1252"), (("Письмо.jpg",), "cp866"),
        (("写真一.jpg", "表.jpg"), "cp932"), (("照片一.jpg",), "gbk"), (("Bücher/é.jpg",), "utf-8"),
    ],
)  # fmt: skip
def test_the_encoding_of_an_archives_names_is_found_by_their_letters(
    names: tuple[str, ...], encoding: str
) -> None:
    # `zipfile` cannot write such names: letters of the same number stand for them until they are replaced.
    raw = [name.encode(encoding) for name in names]
    holders = [chr(ord("a") + number) * len(one) for number, one in enumerate(raw)]
    data = archive(*((holder, b"x") for holder in holders))
    for holder, one in zip(holders, raw, strict=True):
        data = data.replace(holder.encode(), one)
    members = check_archive(data)
    assert [member.filename for member in members] == list(names)
    assert {names_are_guessed(member) for member in members} == {encoding != "utf-8"}


def test_names_of_an_archive_may_differ_in_case_or_unicode_form() -> None:
    data = archive(("12a.jpg", b"1"), ("12A.jpg", b"2"), ("\u00e9.xml", b"3"), ("e\u0301.xml", b"4"))
    assert len(check_archive(data)) == 4


def _link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        made.writestr(info, "/etc/passwd")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\3\4 nothing", "not a readable ZIP"),
        (archive(("../out.xml", b"x")), "leave its folder"),
        (archive(("/etc/x", b"x")), "leave its folder"),
        (archive(("C:evil", b"x")), "leave its folder"),
        (archive(("a\\..\\b", b"x")), "leave its folder"),
        (archive(("a\\C:\\..\\..\\b", b"x")), "leave its folder"),
        (archive(("\\\\server\\share\\b", b"x")), "leave its folder"),
        (_link(), "a link or a device"),
        (archive(("A.xml", b"x"), ("A.xml", b"y")), "twice"),
        (archive(("a/A.xml", b"x"), ("a\\A.xml", b"y")), "twice"),
        (archive(("zeros", bytes(5_000_000))), "bomb"),
        (archive(*[(f"{n}", b"") for n in range(10_001)]), "at most 10,000"),
    ],
)
def test_a_dangerous_archive_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        check_archive(data, name="pages.zip")


def test_an_archive_too_large_to_unpack_is_refused() -> None:
    with pytest.raises(Invalid, match="unpacks to"):
        check_archive(archive(("a", os.urandom(2000)), ("b", os.urandom(2000))), max_bytes=3000)


def test_a_member_that_lies_about_its_size_is_refused() -> None:
    data = archive(("a", b"abcdef"), method=zipfile.ZIP_STORED)
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        member = opened.infolist()[0]
        member.file_size = 3
        with pytest.raises(Invalid):
            read_member(opened, member)
