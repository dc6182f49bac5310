"""Broken files for format drivers: real and generated ones, mutated by bytes and by structure; run in a process of its
own.

`python format_mutations.py DRIVER FIRST COUNT SECONDS MEGABYTES` reads COUNT mutations from number FIRST on and prints
JSON lines: one for each input that broke the driver or took more CPU seconds or memory than allowed, and a last one
with the totals. Number and driver reproduce an input: nothing else seeds the generator.
"""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from armarium.errors import ServiceError
from armarium_formats.api import FormatDriver, ReadContext
from armarium_testing.formats import HOSTILE_XML, NOT_IT, NOW, _pages, sound

SIZE = (1000, 1400)
COMPANIONS = {"classes.txt": b"line\nregion\nword\n"}
TAG = re.compile(rb"<[^<>]{1,400}>")
VALUE = re.compile(rb"""=\s*(?:"[^"<>]*"|'[^'<>]*')|[-+]?\d+(?:\.\d+)?""")
WORDS = [
    *(b"-1", b"0", b"1e999", b"nan", b"inf", b"-0.0001", b"99999999999999999999", b"1,2", b"1 2", b"", b" ", b"\x00", b"\xff\xfe"),
    *(b"\xef\xbb\xbf", b"<", b">", b"</", b"/>", b"&", b"&#0;", b"&#x110000;", b"&nbsp;", b"]]>", b"<![CDATA[", b"<!--", b"<?xml?>"),
    *(b'"', b"'", b";", b"#", b"\t", b"\r", b"\n\n", b"\xc3", b"\xed\xa0\x80", "\u202e\u0301\U0001d510".encode(), b"id", b"xml:id='a'"),
    *(b"bbox 1 2", b"bbox 9 9 1 1", b"baseline 1 2 3 4", b"points", b"structure {type:", b"rotate(90)", b"x_wconf 300", b"A" * 3000),
    *(b"<a><b></a></b>", b"<TextLine>", b"<Page>", b"<String/>", b"<zone/>", b"<lb/>", b"<pb/>", b"<charParams>", b"<span class='ocr_line'>"),
]  # fmt: skip

SEEDS: dict[str, list[bytes]] = {
    "hocr": [
        b"<html><head><meta name='ocr-system' content='x'></head><body><div class='ocr_page' title='image \"a.png\"; bbox 0 0 1000 1400; ppageno 0'>"
        b"<div class='ocr_carea' title='bbox 1 1 900 900'><p class='ocr_par' lang='deu_frak' dir='ltr' title='bbox 1 1 900 900'>"
        b"<span class='ocr_line' id='l1' title='bbox 10 10 500 50; baseline 0.01 -5; x_size 30; textangle 0'>"
        b"<span class='ocrx_word' id='w1' title='bbox 10 10 90 50; x_wconf 90'><strong>Dear</strong></span> "
        b"<span class='ocrx_word' title='bbox 90 10 190 50; x_wconf 41'><span class='ocrx_cinfo' title='x_bboxes 1 2 3 4'>S</span>"
        b"<span class='ocrx_cinfo'>ir</span></span> <span class='alternatives'><ins>a</ins><del title='nlp 1'>b</del></span></span></p></div>"
        b"<div class='ocr_photo' title='bbox 1 1 9 9; poly 1 1 9 1 9 9'></div></div></body></html>",
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><div class="ocr_page" title="bbox 0 0 9 9">'
        b'<span class="ocr_line" title="bbox 1 1 8 8">x&nbsp;y</span></div><div class="ocr_page"/></body></html>',
    ],
    "abbyy": [
        b'<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml" version="1" producer="ABBYY" mainLanguage="Latin">'
        b'<page width="1000" height="1400" resolution="300"><block blockType="Text" l="1" t="1" r="900" b="900"><region><rect l="1" t="1" r="9" b="9"/>'
        b'<rect l="1" t="9" r="19" b="19"/></region><text orientation="Normal"><par align="Left"><line baseline="40" l="1" t="10" r="90" b="50">'
        b'<formatting lang="Latin" ff="Arial"><wordRecVariants><wordRecVariant><variantText>at</variantText></wordRecVariant></wordRecVariants>'
        b'<charParams l="1" t="10" r="9" b="50" wordStart="1" charConfidence="90" suspicious="1">a<charRecVariants><charRecVariant>o</charRecVariant>'
        b'</charRecVariants></charParams><charParams l="9" t="10" r="19" b="50"> </charParams></formatting></line></par></text></block>'
        b'<block blockType="Table" l="1" t="1" r="9" b="9"><row><cell colSpan="2" rowSpan="2"><text><par/></text></cell><cell/></row><row><cell/></row></block>'
        b'<block blockType="Separator"><separator thickness="2"><start x="1" y="1"/><end x="9" y="1"/></separator></block></page></document>'
    ],
    "yolo": [
        b"0 0.5 0.5 0.1 0.1\n1 0.25 0.25 0.1 0.1 0.93\n",
        b"2 0.1 0.1 0.2 0.1 0.2 0.2\n0 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2 0.5\n",
    ],
    "tesseract-box": [
        b"D 10 100 20 130 0\ne 22 100 30 120 0\n  30 100 40 130 0\nS 40 100 50 130 0\n\t 50 100 51 130 0\n",
        b"WordStr 10 100 500 130 0 #Dear Sir\n\t 501 100 505 130 0\na 1 2 3 4 1\n",
    ],
    "qgis-points": [
        b'#CRS: GEOGCRS["WGS 84",ID["EPSG",4326]]\nmapX,mapY,sourceX,sourceY,enable,dX,dY,residual\n10.5,52.25,100.5,-200.25,1,0.1,-0.2,0.22\n'
    ],
    "plain-text": [
        b"Dear Sir,\nI write\n\nto you.\n\x0csecond page\n",
        "caf\u00e9 \u05db\u05ea\u05d1\r\n".encode("utf-16"),
    ],
}


def all_drivers() -> dict[str, FormatDriver]:
    """Return an instance of each installed format driver, first-party and third-party, by name."""
    found: dict[str, FormatDriver] = {}
    for entry in entry_points(group="armarium.formats"):
        driver: FormatDriver = entry.load()()
        found[driver.name] = driver
    return found


def shared_data() -> Path | None:
    """Return the real files beside the checkout, where there are any."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "data"
    return folder if folder.is_dir() else None


def seeds(driver: FormatDriver, longest: int = 60_000, most: int = 24) -> list[bytes]:
    """Return the files to mutate: some written by the driver itself, our examples of its format, real ones that it
    recognises, and a few others.
    """
    found = list(SEEDS.get(driver.name, []))
    if driver.writes:
        found += [driver.write(page, NOW).content.encode() for page in _pages().values()]
    folder = shared_data()
    if folder is not None:
        real = sorted(
            (
                path
                for path in folder.rglob("*")
                if path.suffix.lower() in {*driver.extensions, ".xml", ".alto", ".txt", ".html", ".hocr"}
            ),
            key=lambda path: (path.stat().st_size, path.name),
        )
        known = [
            data
            for path in real
            if path.stat().st_size <= longest and driver.sniff(data := path.read_bytes()) >= 0.1
        ]
        found += known[:: max(1, len(known) // most)][:most]
    found += [sample for name, samples in SEEDS.items() if name != driver.name for sample in samples[:1]]
    return [item for item in found if item] + [
        data for data in (*NOT_IT.values(), *HOSTILE_XML.values()) if 0 < len(data) < 5000
    ]


# ---------------------------------------------------------------------------------------- mutations


def _flip(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 8)):
        data[dice.randrange(len(data))] = dice.randrange(256)


def _cut(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data))
    del data[at : at + dice.choice((1, 7, 60, 600, len(data)))]


def _repeat(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data))
    part = bytes(data[at : at + dice.choice((1, 20, 300, 3000))])
    data[at:at] = part * dice.choice((1, 2, 10, 100))


def _insert(data: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(data) + 1)
    data[at:at] = dice.choice(WORDS) * dice.choice((1, 1, 1, 3, 40))


def _value(data: bytearray, dice: random.Random) -> None:
    """Replace an attribute or a number by another value."""
    places = [found.span() for found in VALUE.finditer(data)]
    if not places:
        return
    for start, end in sorted(dice.sample(places, min(len(places), dice.choice((1, 1, 3, 30)))), reverse=True):
        word = dice.choice(WORDS).replace(b'"', b"")
        data[start:end] = b'="' + word + b'"' if data[start : start + 1] == b"=" else word


def _tag(data: bytearray, dice: random.Random) -> None:
    """Drop, double, exchange, empty or move tags, for unclosed, misnested and repeated elements."""
    places = [found.span() for found in TAG.finditer(data)]
    if not places:
        return
    start, end = dice.choice(places)
    other = dice.choice(places)
    taken = bytes(data[other[0] : other[1]])
    match dice.randrange(6):
        case 0:
            del data[start:end]
        case 1:
            data[end:end] = bytes(data[start:end]) * dice.choice((1, 5, 300))
        case 2:
            data[start:end] = taken
        case 3:
            data[start:start] = taken
        case 4:
            data[start:end] = b"<!-- " + bytes(data[start:end]) + b" -->"
        case _:
            data[start:end] = re.sub(
                rb"^</?[\w:.-]+", lambda found: found.group() + b"x", bytes(data[start:end])
            )


def _rows(data: bytearray, dice: random.Random) -> None:
    """Reorder lines or elements."""
    mark = b"\n" if data.count(b"\n") > 2 else b">"
    rows = bytes(data).split(mark)
    first, second = dice.randrange(len(rows)), dice.randrange(len(rows))
    rows[first], rows[second] = rows[second], rows[first]
    data[:] = mark.join(rows)


def _encoding(data: bytearray, dice: random.Random) -> None:
    text = bytes(data).decode("utf-8", "replace")
    data[:] = text.encode(
        dice.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-8-sig")), "replace"
    )


def _declare(data: bytearray, dice: random.Random) -> None:
    name = dice.choice((b"utf-16", b"latin-1", b"utf-7", b"klingon", b"hex", b"EBCDIC-CP-BE", b"\xff"))
    data[:] = re.sub(rb"^\s*<\?xml[^>]*\?>", b"", bytes(data))
    data[:0] = b'<?xml version="1.0" encoding="' + name + b'"?>'


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    *(_flip, _cut, _repeat, _insert, _insert, _value, _value, _value, _tag, _tag, _tag, _rows, _encoding, _declare)
]  # fmt: skip


def mutate(files: list[bytes], name: str, number: int) -> bytes:
    """Return the mutation of this number for the driver of this name."""
    dice = random.Random(f"{name}/{number}")
    data = bytearray(dice.choice(files))
    for _ in range(dice.choice((1, 1, 2, 4, 9))):
        if data and len(data) < 4_000_000:
            dice.choice(MUTATIONS)(data, dice)
    return bytes(data)


# -------------------------------------------------------------------------------------------- running


def find_fault(driver: FormatDriver, data: bytes) -> str | None:
    """Return how a driver mishandles *data*; None when it returns valid pages or refuses with a sentence."""
    try:
        sure = driver.sniff(data)
        if not 0 <= sure <= 1:
            return f"is {sure} sure"
        for page in driver.read(data, ReadContext("fuzzed", SIZE, COMPANIONS)):
            sound(page, "a mutation")
    except ServiceError as refusal:
        if not 400 <= refusal.status < 500 or not refusal.detail.strip().endswith("."):
            return f"refuses with {refusal.status} {refusal.detail[:200]!r}"
    except TooSlow:
        raise
    except BaseException as fault:
        return f"breaks: {type(fault).__name__}: {str(fault)[:300]}"
    return None


class TooSlow(BaseException):
    """The time limit of one input is exceeded."""


def run(name: str, first: int, count: int, seconds: float, megabytes: int) -> Iterator[dict[str, Any]]:
    """Read the mutations of these numbers; print each that fails, and the totals."""
    driver = all_drivers()[name]
    files = seeds(driver)

    def late(signum: int, frame: object) -> None:
        raise TooSlow

    signal.signal(signal.SIGVTALRM, late)
    for data in files[:2]:
        find_fault(driver, data)  # what is imported on first use is not an input's memory
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
    slowest, failed = 0.0, 0
    for number in range(first, first + count):
        data = mutate(files, name, number)
        start = time.process_time()
        wrong: str | None
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            wrong = find_fault(driver, data)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except TooSlow:
            wrong = f"takes more than {seconds:g} seconds of CPU time"
        slowest = max(slowest, time.process_time() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
        if wrong is None and peak - before > megabytes:
            wrong = f"takes {peak - before} MB of memory"
            before = peak
        if wrong is not None:
            failed += 1
            yield {"driver": name, "number": number, "bytes": len(data), "wrong": wrong}
            if failed >= 20:
                break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
    yield {"driver": name, "inputs": count, "slowest": round(slowest, 3), "megabytes": peak - before}


if __name__ == "__main__":
    for found in run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])):
        print(json.dumps(found), flush=True)
