"""The kit for format drivers, ours or others': properties, recognition, reading, writing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from armarium.api import ServiceError
from armarium_formats.api import (
    FormatDriver,
    PageModel,
    PageOrder,
    PageSegment,
    PageText,
    ReadContext,
    WriteContext,
    WrittenPage,
)

NOW = WriteContext(created="2026-01-02T03:04:05.678Z", creator="exercise_format")
SIZE = (1000, 1400)


@dataclass(frozen=True, slots=True)
class Sample:
    """A file of the format with its contents, counted independently; None is not checked."""

    name: str
    data: bytes
    lines: int | None = None
    words: int | None = None
    text: str | None = None
    """A text that some segment has."""
    companions: Mapping[str, bytes] | None = None
    of_recording: bool = False
    """The page has no picture but a recording."""


NOT_IT: Mapping[str, bytes] = {
    "nothing": b"",
    "zero bytes": bytes(64),
    "a letter": b"Querida hermana, te escribo desde la Habana.\n",
    "other XML": b'<?xml version="1.0"?><recipe><title>Soup</title></recipe>',
    "a JPEG": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)),
    "half a UTF-16 file": "<?xml".encode("utf-16")[:-1],
    "noise": bytes((index * 197 + 41) % 256 for index in range(4096)),
}

HOSTILE_XML: Mapping[str, bytes] = {
    "external entity": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>',
    "entity bomb": b'<!DOCTYPE a [<!ENTITY a "'
    + b"x" * 999
    + b'"><!ENTITY b "'
    + b"&a;" * 999
    + b'">]><a>&b;</a>',
    "deep": b"<a>" * 100_000,
}


def exercise_format(
    driver_class: type[FormatDriver], samples: Iterable[Sample] = (), *, text_only: bool = False
) -> None:
    """Check a driver: raises AssertionError with a sentence about the first violation.

    text_only: the format is bare text, which any text file is: it may be less certain of its own than 0.5,
    and gives back only the text of lines.

    The driver must declare itself properly; recognise its own samples and nothing else; read them with valid
    shapes, unique ids and the stated counts; refuse broken and hostile bytes in words; write every kind of
    page (empty, one line, right to left, markup in texts) deterministically and valid by its own check; and,
    if it both reads and writes, give back text, ids, order and baselines.
    """
    driver = driver_class()
    files = list(samples)
    _states_itself(driver)
    _claims_nothing_foreign(driver)
    if driver.reads:
        assert files, f"{driver.name} reads: give at least one sample file to test it with."
        for sample in files:
            _check_reading(driver, sample, text_only)
            _refuses_broken(driver, sample)
    if driver.writes:
        for name, page in _pages().items():
            _writes(driver, page, name)
    if driver.reads and driver.writes:
        for sample in files:
            page = driver.read(sample.data, _context(sample))[0]
            _gives_back(driver, page, sample.name, text_only)
        for name, page in _pages().items():
            _gives_back(driver, page, name, text_only)


def _context(sample: Sample) -> ReadContext:
    return ReadContext(sample.name, None if sample.of_recording else SIZE, sample.companions or {})


def _states_itself(driver: FormatDriver) -> None:
    assert isinstance(driver, FormatDriver), (
        f"{type(driver).__name__} lacks part of the FormatDriver contract."
    )
    assert driver.name.strip(), f"{type(driver).__name__} has no name."
    assert not re.search(r"[^a-z0-9._-]", driver.name), (
        f"The driver's name {driver.name!r} must be lower case without spaces: it is part of paths."
    )
    assert driver.label, f"{driver.name} has no label to show a person."
    assert driver.reads or driver.writes, f"{driver.name} neither reads nor writes."
    assert driver.extensions, f"{driver.name} names no file extension."
    assert all(re.fullmatch(r"\.[a-z0-9.]+", extension) for extension in driver.extensions), (
        f"{driver.name} needs extensions in lower case, each with its dot."
    )


def _claims_nothing_foreign(driver: FormatDriver) -> None:
    for description, data in {**NOT_IT, **HOSTILE_XML}.items():
        sure = driver.sniff(data)
        assert isinstance(sure, float | int), f"{driver.name} is {sure!r} sure; say 0 to 1."
        assert 0 <= sure <= 1, f"{driver.name} is {sure!r} sure; say 0 to 1."
        assert sure < 0.5, f"{driver.name} recognises {description} as its own ({sure})."
    if not driver.reads:
        return
    for description, data in {**NOT_IT, **HOSTILE_XML}.items():
        try:
            driver.read(data, ReadContext("strange", SIZE))
        except ServiceError as refusal:
            _sentence(driver, refusal)
        except Exception as fault:
            raise AssertionError(
                f"{driver.name} breaks on {description} with {fault!r}; refuse it with a sentence."
            ) from fault


def _check_reading(driver: FormatDriver, sample: Sample, text_only: bool = False) -> None:
    sure = driver.sniff(sample.data)
    assert sure >= (0.01 if text_only else 0.5), (
        f"{driver.name} does not recognise its own {sample.name} ({sure})."
    )
    pages = driver.read(sample.data, _context(sample))
    assert pages, f"{driver.name} reads no page from {sample.name}."
    for page in pages:
        sound(page, f"{sample.name} as {driver.name} reads it")
    lines = sum(len(page.of_kind("line")) for page in pages)
    words = sum(len(page.of_kind("word")) for page in pages)
    assert sample.lines is None or lines == sample.lines, (
        f"{sample.name} has {sample.lines} lines, {lines} were read."
    )
    assert sample.words is None or words == sample.words, (
        f"{sample.name} has {sample.words} words, {words} were read."
    )
    texts = {text.text for page in pages for segment in page.walk() for text in segment.texts}
    assert sample.text is None or sample.text in texts, (
        f"{sample.name} says {sample.text!r}; that was not read."
    )
    second = driver.read(sample.data, _context(sample))
    assert _facts(pages[0]) == _facts(second[0]), (
        f"{driver.name} reads {sample.name} differently the second time."
    )


def sound(page: PageModel, where: str) -> None:
    """Assert that a page model is valid: unique ids, finite shapes, an order that names existing segments."""
    ids = [segment.id for segment in page.walk()]
    assert all(ids), f"A segment of {where} has no id."
    assert len(set(ids)) == len(ids), f"Two segments of {where} share an id."
    for segment in page.walk():
        assert segment.kind in ("region", "line", "word"), f"{segment.id} of {where} is a {segment.kind!r}."
        numbers = [number for point in (*segment.points, *segment.baseline) for number in point]
        assert all(isinstance(number, int) or math.isfinite(number) for number in numbers), (
            f"{segment.id} of {where} has an endless coordinate."
        )
        for text in segment.texts:
            assert text.confidence is None or 0 <= text.confidence <= 1, (
                f"{segment.id} of {where}: confidence."
            )
    if page.order is not None:
        strange = {node.segment_id for node in page.order.walk()} - {None, *ids}
        assert not strange, f"The order of {where} names {strange}, which do not exist."
    assert len(page.in_order()) == len(ids), f"The order of {where} loses or repeats segments."


def _refuses_broken(driver: FormatDriver, sample: Sample) -> None:
    data = sample.data
    broken = {
        "cut in half": data[: len(data) // 2],
        "cut at the end": data[:-3],
        "with zeros in it": data[: len(data) // 3] + bytes(16) + data[len(data) // 3 :],
        "with noise in it": data[: len(data) // 2] + b"\xff\xfe\x80<&" + data[len(data) // 2 :],
        "doubled": data + data,
    }
    for damage, bytes_ in broken.items():
        try:
            for page in driver.read(bytes_, _context(sample)):
                sound(page, f"{sample.name} {damage}")
        except ServiceError as refusal:
            _sentence(driver, refusal)
        except AssertionError:
            raise
        except Exception as fault:
            raise AssertionError(f"{driver.name} breaks on {sample.name} {damage}: {fault!r}.") from fault


def _sentence(driver: FormatDriver, refusal: ServiceError) -> None:
    words = refusal.detail
    assert re.search(r"\w+\W+\w+\W+\w+.*\.\s*$", words, re.DOTALL), (
        f"{driver.name} refuses with {words!r}; say a sentence."
    )
    assert "Traceback" not in words, f"{driver.name} refuses with a traceback."
    assert 400 <= refusal.status < 500, (
        f"{driver.name} reports a bad file as a fault of the engine ({refusal.status})."
    )


def _writes(driver: FormatDriver, page: PageModel, name: str) -> WrittenPage:
    before = _facts(page)
    file = driver.write(page, NOW)
    assert _facts(page) == before, f"{driver.name} changes the page ({name}) that it writes."
    assert isinstance(file.content, str), f"{driver.name} wrote no text for {name}."
    for loss in file.losses:
        is_full = bool(loss.what) and bool(loss.why) and loss.count > 0
        assert is_full, f"{driver.name} reports an empty loss for {name}: {loss}."
    problems = driver.validate(file.content)
    assert not problems, f"{driver.name} writes {name} and finds it invalid: {problems[:3]}."
    assert driver.write(page, NOW).content == file.content, f"{driver.name} writes {name} differently twice."
    file.content.encode()
    return file


def _gives_back(driver: FormatDriver, page: PageModel, name: str, text_only: bool = False) -> None:
    file = _writes(driver, page, name)
    data = file.content.encode()
    if text_only:
        if file.content.strip():
            back = driver.read(data, ReadContext(name, SIZE))[0]
            sound(back, f"{name}, written and read again")
            rewritten = driver.write(back, NOW).content
            assert rewritten == file.content, f"{driver.name} is not stable over {name}."
        return
    assert driver.sniff(data) >= 0.5, f"{driver.name} does not recognise what it wrote for {name}."
    back = driver.read(data, ReadContext(name, SIZE))[0]
    sound(back, f"{name}, written and read again")
    segments, segments_back = page.in_order(), back.in_order()
    assert _texts(segments) == _texts(segments_back), (
        f"{driver.name} does not return the texts of {name} in order."
    )
    segments_by_id = {segment.id: segment for segment in segments_back}
    for segment in segments:
        other = segments_by_id.get(segment.id)
        assert other is not None, (
            f"{driver.name} loses the id {segment.id} of {name}: what it writes and reads again has the same ids. "
            "A format of bare text that has none is tried with text_only=True."
        )
        if len(segment.baseline) > 1:
            pixels = [(max(0, round(x)), max(0, round(y))) for x, y in segment.baseline]
            assert other.baseline == pixels, f"{driver.name} moves the baseline of {segment.id} of {name}."
    assert driver.write(back, NOW).content == file.content, f"{driver.name} is not stable over {name}."


def _texts(segments: Iterable[PageSegment]) -> list[tuple[str, str]]:
    return [(segment.kind, segment.text) for segment in segments if segment.text]


def _facts(page: PageModel) -> list[tuple[object, ...]]:
    return [
        (
            segment.id,
            segment.kind,
            segment.kind_raw,
            tuple(segment.points),
            tuple(segment.baseline),
            tuple(text.text for text in segment.texts),
        )
        for segment in page.walk()
    ]


def _box(x: int, y: int, w: int, h: int) -> list[tuple[float, float]]:
    return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]


def _pages() -> dict[str, PageModel]:
    """Return pages that every writer must accept, each named by its difficulty."""

    def line(number: int, text: str, **more: object) -> PageSegment:
        y = 100 + 60 * number
        segment = PageSegment(
            f"l{number}", "line", points=_box(100, y, 700, 40), texts=[PageText(text)] if text else []
        )
        segment.baseline = [(100, y + 35), (800, y + 36)]
        for key, value in more.items():
            setattr(segment, key, value)
        return segment

    def region(identity: str, *lines: PageSegment, **more: object) -> PageSegment:
        segment = PageSegment(
            identity, "region", "TextRegion", points=_box(80, 80, 760, 1200), children=list(lines)
        )
        for key, value in more.items():
            setattr(segment, key, value)
        return segment

    def page(*segments: PageSegment, **more: object) -> PageModel:
        model = PageModel(*SIZE, image="0001.jpg", segments=list(segments))
        for key, value in more.items():
            setattr(model, key, value)
        return model

    words = line(1, "two words")
    words.children = [
        PageSegment("w1", "word", points=_box(100, 160, 300, 40), texts=[PageText("two", 0.5)]),
        PageSegment("w2", "word", points=_box(450, 160, 300, 40), texts=[PageText("words", 1.0)]),
    ]
    return {
        "an empty page": page(),
        "one line": page(region("r1", line(1, "Dear Sir"))),
        "a page without texts": page(region("r1", line(1, ""), line(2, ""))),
        "markup in texts": page(
            region("r1", line(1, "a < b & \"c\" > 'd' ]]> <x/>"), line(2, "&amp; &#65;"))
        ),
        "scripts": page(
            region(
                "r1",
                line(1, "כתב יד", direction="rtl"),
                line(2, "بسم الله"),
                line(3, "縦書き"),
                line(4, "e\u0301 \U0001d510"),
            )
        ),
        "two columns": page(
            region("left", line(3, "third"), line(4, "fourth")),
            region("right", line(1, "first"), line(2, "second")),
            order=PageOrder(items=[PageOrder("right"), PageOrder("left")]),
        ),
        "words": page(region("r1", words)),
    }
