"""Small files that would expand to large ones are refused with a sentence, each in a process of its own.

The soak checks the figures: under a second and 300 MB. `make test` has generous factors, for busy machines.
"""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.web.app import create_app
from armarium_testing.fixtures import OWNER_TOKEN

CHILD = Path(__file__).with_name("bomb_child.py")


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int = 1, colour: int = 0) -> bytes:
    """Return a PNG of one colour: 144 million pixels in 17 kilobytes."""
    row = b"\0" + bytes((width * depth * (3 if colour == 2 else 1) + 7) // 8)
    squeeze = zlib.compressobj(9)
    data = b"".join(squeeze.compress(row * 200) for _ in range(height // 200)) + squeeze.flush()
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def tiff(width: int, height: int, pages: int = 1) -> bytes:
    """Return a TIFF that claims so many pixels, deflated, on each of its pages; or whose pages refer back to the first."""
    data = zlib.compress(bytes(20_000_000))
    out = bytearray(b"II*\0" + struct.pack("<I", 8))
    for number in range(pages):
        tags = [
            (256, 4, width),
            (257, 4, height),
            (258, 3, 8),
            (259, 3, 8),
            (262, 3, 1),
            (277, 3, 1),
            (278, 4, height),
        ]
        at = 8 + number * (2 + 9 * 12 + 4)
        tags += [(273, 4, 8 + pages * (2 + 9 * 12 + 4)), (279, 4, len(data))]
        out += struct.pack("<H", 9)
        for tag, kind, value in sorted(tags):
            out += struct.pack("<HHII", tag, kind, 1, value)
        out += struct.pack("<I", at + 2 + 9 * 12 + 4 if number + 1 < pages else 0)
    return bytes(out) + data


def pdf(*objects: bytes) -> bytes:
    """Return a PDF of these objects, the first its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, target in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, target)
    at = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, at))


def stream(head: bytes, data: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (head, len(data), data)


def pdf_of_picture(width: int, height: int) -> bytes:
    """Return a PDF page with a picture of one colour, deflated a thousandfold, as scanners' PDFs contain theirs."""
    squeeze = zlib.compressobj(9)
    data = b"".join(squeeze.compress(bytes(width * 100)) for _ in range(height // 100)) + squeeze.flush()
    image = b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode"
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>",
        stream(b"", b"600 0 0 800 0 0 cm /I Do"),
        stream(image % (width, height), data),
    )


def pdf_of_sheet(points: int) -> bytes:
    """Return a PDF page that states a square sheet of so many points, with a coloured patch, so that no row of it is
    grey throughout.
    """
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents 4 0 R>>" % (points, points),
        stream(b"", b"1 0 0 rg 0 0 %d %d re f" % (points // 2, points)),
    )


def pdf_of_many(count: int) -> bytes:
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count %d>>" % count,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 60 80]>>",
    )


def pdf_within_itself() -> bytes:
    """Return a PDF page with a form that contains itself twice: PDFium follows that into a depth of dozens."""
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</A 5 0 R>>>>"
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 60 80]/Contents 4 0 R/Resources<</XObject<</A 5 0 R>>>>>>",
        stream(b"", b"/A Do"),
        stream(form, b"/A Do /A Do"),
    )


def pdf_numbered_by_itself() -> bytes:
    """Return a PDF whose tree of page numbers is a branch of itself, on which PDFium crashes."""
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R/PageLabels<</Kids[4 0 R]>>>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 60 80]>>",
        b"<</Kids[4 0 R]/Limits[0 9]>>",
    )


def pdf_without_its_last_page() -> bytes:
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 9 0 R]/Count 2>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 60 80]>>",
    )


def zip_bomb(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


LAUGHS = b'<!DOCTYPE a [<!ENTITY a "' + b"ha" * 50 + b'">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 100) for n in range(8)
) + b"]><a>&i;</a>"  # fmt: skip

PAGE = (
    b'<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Page imageFilename="a"'
    b' imageWidth="9" imageHeight="9"><TextRegion id="r"><Coords points="%s"></Coords></TextRegion></Page></PcGts>'
)
ALTO = (
    b'<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="9" HEIGHT="9"><PrintSpace><TextBlock>'
    b'<Shape><Polygon POINTS="%s"/></Shape></TextBlock></PrintSpace></Page></Layout></alto>'
)
TEI = b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p><lb facs="%s"/>x</p></body></text></TEI>'
HOCR = (
    b'<html><body><div class="ocr_page" title="bbox 0 0 9 9"><span class="ocr_line" title="bbox 0 0 9 9; poly %s">x</span>'
    b"</div></body></html>"
)
ABBYY = (
    b'<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml"><page width="9" height="9">'
    b'<block blockType="Text"><region>%s</region></block></page></document>'
)

BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "144-megapixels.png": ("picture", lambda: png(12_000, 12_000)),
    "900-megapixels.png": ("picture", lambda: png(30_000, 30_000)),
    "900-megapixels.tif": ("picture", lambda: tiff(30_000, 30_000)),
    "pages-of-100-megapixels.tif": ("picture", lambda: tiff(10_000, 10_000, 40)),
    "400-megapixels.pdf": ("picture", lambda: pdf_of_picture(20_000, 20_000)),
    "a-billion-pages.pdf": ("picture", lambda: pdf_of_many(10**9)),
    "a-sheet-of-5-metres.pdf": ("picture", lambda: pdf_of_sheet(14_400)),
    "a-sheet-of-50-metres.pdf": ("picture", lambda: pdf_of_sheet(144_000)),
    "a-sheet-of-7-kilometres.pdf": ("picture", lambda: pdf_of_sheet(20_000_000)),
    "a-form-within-itself.pdf": ("picture", pdf_within_itself),
    "numbers-of-themselves.pdf": ("picture", pdf_numbered_by_itself),
    "a-page-that-is-not-there.pdf": ("picture", pdf_without_its_last_page),
    "laughs.xml": ("xml", lambda: LAUGHS),
    "other-file.xml": ("xml", lambda: b'<!DOCTYPE a SYSTEM "file:///dev/zero"><a/>'),
    "plain-doctype.xml": ("xml", lambda: b"<!DOCTYPE a><a/>"),
    "late-doctype.xml": (
        "xml",
        lambda: b"<?xml version='1.0'?>" + b"<!-- x -->" * 9999 + b"<!DOCTYPE a><a/>",
    ),
    "utf-16-doctype.xml": ("xml", lambda: "\ufeff<!DOCTYPE a><a/>".encode("utf-16-le")),
    "utf-7-doctype.xml": (
        "xml",
        lambda: b"<?xml version='1.0' encoding='utf-7'?>+ADwAIQ-DOCTYPE a+AD4APA-a/+AD4-",
    ),
    "deep.xml": ("xml", lambda: b"<a>" * 200_000),
    "spaces.xml": ("xml", lambda: b"<a>" + b" " * (65 << 20) + b"</a>"),
    "tags.xml": ("xml", lambda: b"<a>" + b"<b/>" * 10_000_000 + b"</a>"),
    "attributes.xml": ("xml", lambda: b"<a " + b" ".join(b'a%d="x"' % n for n in range(1_000_001)) + b"/>"),
    "many-attributes.xml": (
        "xml",
        lambda: b"<a>" + b"<b %s/>" % b" ".join(b'a%d="x"' % n for n in range(100)) * 8_900 + b"</a>",
    ),
    "2-million-points.page.xml": ("pagexml", lambda: PAGE % (b"1,1 " * 2_000_000)),
    "250-thousand-points.page.xml": (
        "pagexml",
        lambda: PAGE.replace(b' points="%s"', b"").replace(
            b"</Coords>", b'<Point x="1" y="1"/>' * 250_000 + b"</Coords>"
        ),
    ),
    "2-million-points.alto.xml": ("alto", lambda: ALTO % (b"1\t1\t" * 2_000_000)),
    "2-million-points.tei.xml": ("tei", lambda: TEI % (b"1,1 " * 2_000_000)),
    "2-million-points.hocr": ("hocr", lambda: HOCR % (b"1 1 " * 2_000_000)),
    "700-thousand-points.abbyy.xml": (
        "abbyy",
        lambda: ABBYY % (b'<rect l="1" t="1" r="2" b="2"/>' * 179_000),
    ),
    "8-million-points.txt": ("yolo", lambda: b"0 " + b".1 .1 " * 5_000_000),
    "no-points.page.xml": ("pagexml", lambda: PAGE % (b"x " * 4_900_000)),
    "declares.html": ("html", lambda: b'<!DOCTYPE html [<!ENTITY a "b">]><p>&a;</p>'),
    "deep.html": ("html", lambda: b"<div>" * 200_000),
    "attributes.html": ("html", lambda: b"<p " + b" ".join(b"a%d=x" % n for n in range(100_000)) + b">"),
    "zeros.zip": ("zip", lambda: zip_bomb(("big.xml", bytes(60_000_000)))),
    "many-zeros.zip": ("zip", lambda: zip_bomb(*((f"{n}.xml", bytes(2_000_000)) for n in range(20)))),
}


HARMLESS = {
    "400-megapixels.pdf": "PDFium renders the page row by row, at the size of the page",
    "a-billion-pages.pdf": "PDFium counts the existing pages",
    "numbers-of-themselves.pdf": "its pages have no numbers then",
    "many-attributes.xml": "it has just as many tags and attributes as are allowed",
    "a-sheet-of-5-metres.pdf": "a large sheet is pictured coarser",
    "a-sheet-of-50-metres.pdf": "a large sheet is pictured coarser",
}
"""Bombs that do no harm, and why: they are accepted, within the same time and memory."""

OFTEN = (
    *("144-megapixels.png", "pages-of-100-megapixels.tif", "400-megapixels.pdf", "a-sheet-of-5-metres.pdf"),
    *("a-form-within-itself.pdf", "numbers-of-themselves.pdf", "a-page-that-is-not-there.pdf"),
    *("laughs.xml", "2-million-points.hocr", "700-thousand-points.abbyy.xml", "zeros.zip"),
)


def measure_refusal(tmp_path: Path, name: str) -> dict[str, Any]:
    kind, make = BOMBS[name]
    path = tmp_path / name
    path.write_bytes(make())
    ran = subprocess.run(
        [sys.executable, str(CHILD), kind, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize(
    "name", [bomb if bomb in OFTEN else pytest.param(bomb, marks=pytest.mark.slow) for bomb in BOMBS]
)
def test_a_bomb_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    refusal = measure_refusal(tmp_path, name)
    assert refusal["said"] or name in HARMLESS, f"{name} was let through: {refusal}"
    assert refusal["mb"] < 450, refusal


@pytest.mark.soak
@pytest.mark.parametrize("name", list(BOMBS))
def test_a_bomb_is_refused_in_a_second_and_300_mb(tmp_path: Path, name: str) -> None:
    refusal = measure_refusal(tmp_path, name)
    assert refusal["said"] or name in HARMLESS, f"{name} was let through: {refusal}"
    print(f"{name}: {refusal['seconds']:.2f} s, {refusal['mb']:.0f} MB; {refusal['said']}")
    assert (refusal["seconds"] < 1, refusal["mb"] < 300) == (True, True), refusal


def test_what_is_no_bomb_is_let_through(tmp_path: Path) -> None:
    """The same makers with honest sizes: a test in which everything is refused would prove nothing."""
    for name, data in (
        ("small.png", png(400, 400)),
        ("small.tif", tiff(4_000, 4_000)),
        ("small.pdf", pdf_of_picture(2_000, 2_000)),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        ran = subprocess.run(
            [sys.executable, str(CHILD), "picture", str(path)],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert json.loads(ran.stdout)["said"] is None, ran.stdout


def test_a_body_without_end_is_not_read(make_engine: Callable[..., Engine]) -> None:
    """Every route that takes a body stops reading at its limit, whatever length was stated."""
    import anyio

    engine = make_engine(max_body_bytes=1 << 18)
    app = create_app(engine=engine)
    settings = engine.settings
    document = app.openapi()
    wrong: list[str] = []

    async def send_to(method: str, path: str, kind: str, length: bytes | None) -> tuple[int, int]:
        read, status = 0, 0

        async def receive() -> dict[str, Any]:
            nonlocal read
            read += 1 << 16
            return {"type": "http.request", "body": b" " * (1 << 16), "more_body": read < 1 << 24}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)

        headers = [
            (b"host", b"127.0.0.1"),
            (b"content-type", kind.encode()),
            (b"authorization", b"Bearer " + OWNER_TOKEN.encode()),
        ]
        headers.append((b"transfer-encoding", b"chunked") if length is None else (b"content-length", length))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
            "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", 80), "state": {},
        }  # fmt: skip
        await app(scope, receive, send)
        return status, read

    async def ask() -> None:
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                for kind in operation.get("requestBody", {}).get("content", {}):
                    if kind != "application/json":
                        continue
                    at = path.replace("{", "").replace("}", "")
                    for length in (None, b"9999999999999"):
                        status, read = await send_to(method.upper(), at, kind, length)
                        limit = settings.max_body_bytes
                        if status < 400 or read > limit + (2 << 16) or (length is not None and read):
                            wrong.append(f"{method} {path} said {length!r}: {status} after {read:,} bytes")

    anyio.run(ask)
    assert wrong == []


# ---------------------------------------------------------------------------- faults that the proof must notice


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("144-megapixels.png", "import armarium.guard.images as g; g.MAX_PIXELS_A_BYTE = 10**9"),
        (
            "zeros.zip",
            "import armarium.guard.archives as g; g.check_archive.__kwdefaults__['max_ratio'] = 10**9",
        ),
    ],
)
@pytest.mark.slow
def test_a_limit_that_is_gone_is_caught(tmp_path: Path, name: str, without: str) -> None:
    kind, make = BOMBS[name]
    path = tmp_path / name
    path.write_bytes(make())
    script = f"{without}\nimport runpy, sys\nsys.argv = ['x', {kind!r}, {str(path)!r}]\nrunpy.run_path({str(CHILD)!r}, run_name='__main__')"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert json.loads(ran.stdout)["said"] is None
