"""Subtitles become timed lines of a recording; texts of other kinds are refused by their name."""

from __future__ import annotations

import io
import random
import wave
from typing import Any

import pytest
from batch_files import reasons, rows, send

from armarium.api import Engine, Invalid, Library
from armarium_formats import subtitles
from armarium_formats.api import PageModel, ReadContext
from armarium_formats.file_guess import seems
from armarium_formats.plain_text import PlainText
from armarium_formats.subtitles import Subtitles
from armarium_testing.formats import Sample, exercise_format

SRT = """1
00:00:00,000 --> 00:00:02,500
Good morning,
my <i>dear</i>

2
00:00:02,500 --> 00:00:04,000
{\\an8}It was raining
"""

VTT = """WEBVTT - an interview

NOTE made by hand
00:00 is no cue

STYLE
::cue { color: red }

first
00:00.000 --> 00:02.500 align:start
<v Elsa Lund>Good morning,
my <c.loud>dear</c>

01:00:02.500 --> 01:00:04.000
Bread &amp; <00:03.000>butter
"""


def read(text: str) -> PageModel:
    (page,) = Subtitles().read(text.encode(), ReadContext("t.srt", None, {}))
    return page


def recording(seconds: int = 4) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as made:
        made.setnchannels(1)
        made.setsampwidth(1)
        made.setframerate(1000)
        made.writeframes(bytes(1000 * seconds))
    return file.getvalue()


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_subrip_is_read_as_lines_with_their_times(ends: str) -> None:
    page = read("\ufeff" + SRT.replace("\n", ends))
    assert [(line.text, line.seconds) for line in page.segments] == [
        ("Good morning, my dear", (0.0, 2.5)),
        ("It was raining", (2.5, 4.0)),
    ]


def test_webvtt_is_read_without_its_comments_styles_and_tags() -> None:
    page = read(VTT)
    assert [(line.text, line.seconds) for line in page.segments] == [
        ("Good morning, my dear", (0.0, 2.5)),
        ("Bread & butter", (3602.5, 3604.0)),
    ]
    assert any("who speaks in 1 line (Elsa Lund)" in note for note in page.notes)


@pytest.mark.parametrize(
    "text",
    [
        "1\n00:00:00,000 --> 00:00:02,500\nborn in\n1984\n2\n00:00:02,500 --> 00:00:04,000\nwell\n",
        "1\n\n00:00:00,000 --> 00:00:02,500\n\nborn in\n\n1984\n\n2\n\n00:00:02,500 --> 00:00:04,000\n\nwell\n\n",
        "00:00:00,000 --> 00:00:02,500\nborn in\n1984\n\n00:00:02,500 --> 00:00:04,000\nwell",
        "\ufeff1\r\n00:00:00,000 --> 00:00:02,500 X1:40 X2:600\r\nborn in\r\n1984\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000\r\nwell",
    ],
)
def test_blank_lines_and_numbers_of_subtitles_are_where_they_like(text: str) -> None:
    cues = [(segment.texts[0].text, segment.seconds) for segment in read(text).segments]
    assert cues == [("born in 1984", (0.0, 2.5)), ("well", (2.5, 4.0))]


def test_the_driver_passes_the_suite() -> None:
    exercise_format(
        Subtitles,
        [
            Sample("t.srt", SRT.encode(), lines=2, of_recording=True),
            Sample("t.vtt", VTT.encode(), lines=2, of_recording=True),
        ],
    )


@pytest.mark.parametrize("name", ["t.srt", "t.vtt"])
def test_subtitles_beside_a_recording_are_its_timed_lines(
    engine: Engine, library: Library, name: str
) -> None:
    answer = send(engine, library, {"t.wav": recording(), name: (SRT if name == "t.srt" else VTT).encode()})
    assert (len(answer["passes"]), answer["refused"], answer["unpaired"]) == (1, [], [])
    found_rows = rows(
        library,
        "SELECT r.content, json_extract(s.metadata, '$.start_seconds'), s.bbox_y, s.bbox_h, d.name FROM segment s"
        " JOIN content_representation r ON r.segment_id = s.id JOIN document d ON d.id = s.document_id"
        " ORDER BY s.bbox_x",
    )
    assert found_rows[0] == ("Good morning, my dear", 0.0, 0.0, 1.0, "t.wav")
    assert not any("-->" in row[0] for row in found_rows)


@pytest.mark.parametrize("name", ["t.en.srt", "t.pt-BR.srt", "t.wav.srt", "t.wav.en.srt"])
def test_subtitles_are_paired_without_the_language_in_their_name(
    engine: Engine, library: Library, name: str
) -> None:
    answer = send(engine, library, {"t.wav": recording(), name: SRT.encode()})
    assert [page_pass["paired_by"] for page_pass in answer["passes"]] == ["name"]


def test_subtitles_without_a_time_or_with_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid, match=r"t\.srt contains no line with times") as refused:
        read("WEBVTT\n\nno cue\n")
    assert (refused.value.status, refused.value.code) == (422, "no_subtitles")
    monkeypatch.setattr(subtitles, "MAX_CUES", 1)
    with pytest.raises(Invalid, match=r"t\.srt has more than 1 lines; split it") as refused:
        read(SRT)
    assert (refused.value.status, refused.value.code) == (422, "too_many_lines")


def test_subtitles_for_a_picture_are_refused() -> None:
    with pytest.raises(Invalid, match="belong to a recording"):
        Subtitles().read(SRT.encode(), ReadContext("t.srt", (10, 10), {}))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"TY  - JOUR\nAU  - Lund, Elsa\nER  - \n", "RIS"),
        (b"% my books\n@book{lund1900,\n  title = {Letters},\n}\n", "BibTeX"),
        (b"@article(lund,\n title={x})\n", "BibTeX"),
        (
            b"[Script Info]\nTitle: x\n[Events]\nDialogue: 0,0:00:00.00,0:00:02.00,Default,,0,0,0,,Hello\n",
            "ASS",
        ),
        (b'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\n', "TextGrid"),
        (b'File type = "ooTextFile"\nObject class = "TextGrid"\n'.decode().encode("utf-16"), "TextGrid"),
        (b"0:00:00.000,0:00:02.500\nGood morning\n\n0:00:02.500,0:00:04.000\nwell\n", "SBV"),
        (b"[ti:Letters]\n[00:00.00]Good morning\n[00:02.50]well\n", "LRC"),
        (
            b'{"text": "Good", "segments": [{"id": 0, "start": 0.0, "end": 2.5, "text": " Good"}]}',
            "hears speech",
        ),
        (b"#CRS: EPSG:4326\nmapX;mapY;sourceX;sourceY;enable\n-77,1;-12;100;-100;1\n", "control points"),
        (b"0.0001\r\n0.0\r\n0.0\r\n-1.0E-4\r\n-77.1\r\n-12.0\r\n", "world file"),
        (b"<tt xmlns='http://www.w3.org/ns/ttml'><body/></tt>", "TTML"),
    ],
)
def test_texts_of_other_kinds_are_refused_by_name(
    engine: Engine, library: Library, data: bytes, words: str
) -> None:
    assert PlainText().sniff(data) == 0.0
    assert words in str(seems(data))
    answer = send(engine, library, {"t.wav": recording(), "t.txt": data})
    assert words in reasons(answer, "refused")["t.txt"]


@pytest.mark.parametrize(("length", "most"), [(8, 0.06), (20, 0.01), (200, 0), (2000, 0)])
def test_random_bytes_are_hardly_ever_plain_text(length: int, most: float) -> None:
    taken = sum(PlainText().sniff(random.Random(seed).randbytes(length)) > 0 for seed in range(500))
    assert taken <= 500 * most


def test_the_first_bytes_of_a_picture_are_no_text() -> None:
    assert PlainText().sniff(b"\x89PNGxxxx") == 0.0
    assert "picture" in str(seems(b"\x89PNGxxxx"))


@pytest.mark.parametrize("text", ["Señor", "Ñandú", "Übel", "É", "Dear Sir", "année"])
def test_a_short_line_in_windows_1252_is_text(text: str) -> None:
    assert PlainText().sniff(text.encode("cp1252")) > 0


def test_a_line_that_begins_with_an_at_sign_or_letters_is_prose() -> None:
    for text in ("@ the mill, 3 o'clock", "TY was here", "[Script] of the letter"):
        found: Any = PlainText().sniff(text.encode())
        assert found > 0
