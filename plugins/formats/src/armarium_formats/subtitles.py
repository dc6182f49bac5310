"""Subtitles of a recording (SubRip and WebVTT): timed lines; read only.

The frame of a recording is its duration, from left to right, as for transcribed speech.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import ClassVar, Final, NamedTuple

from armarium.api import Invalid
from armarium_formats.decoding import decode
from armarium_formats.driver import Format, ReadContext
from armarium_formats.numbers import count_noun
from armarium_formats.page_model import PageModel, PageSegment, PageText
from armarium_formats.shapes import corners

MAX_CUES: Final = 100_000
_HEIGHT: Final = 1000
"""Of the frame, in units of its own; each line is as high as it is."""

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_FIRST = re.compile(rf"\s*(?:\d+\s*\n)?\s*{_TIME}\s*-->")
_TAG = re.compile(r"</?[^<>]*>|\{\\[^{}]*\}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]+)>")


class _Cue(NamedTuple):
    start: int
    end: int
    text: str
    """With its tags."""


class Subtitles(Format):
    """Lines of a recording with the times at which they are heard: SRT and VTT."""

    name = "subtitles"
    label = "Subtitles"
    extensions: ClassVar[tuple[str, ...]] = (".srt", ".vtt")
    reads = True
    aliases: ClassVar[tuple[str, ...]] = ("srt", "vtt", "webvtt", "subrip")

    def sniff(self, data: bytes) -> float:
        head = decode(data[:65_536]).text.lstrip("\ufeff")
        if re.match(r"WEBVTT(?:[ \t][^\n]*)?(?:\r?\n|$)", head):
            return 1.0
        return 0.95 if _FIRST.match(head.replace("\r\n", "\n").lstrip()) else 0.0

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        """Read each cue as a line. Raises Invalid for a file without cues, and for a page that is a picture."""
        if context.page_size is not None:
            raise Invalid(
                f"{context.filename} contains subtitles: lines with times, which belong to a recording. Import it into the "
                "recording, or beside it under the same name.",
                code="subtitles_without_recording",
            )
        decoded = decode(data)
        cues = list(_cues(decoded.text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")))
        if not cues:
            raise Invalid(
                f"{context.filename} contains no line with times such as 00:00:01,000 --> 00:00:02,500.",
                code="no_subtitles",
            )
        if len(cues) > MAX_CUES:
            raise Invalid(
                f"{context.filename} has more than {MAX_CUES:,} lines; split it with its recording.",
                code="too_many_lines",
            )
        page = PageModel(max(1, *(cue.end for cue in cues)), _HEIGHT)
        page.notes += [f"{decoded.note}."] if decoded.note else []
        page.notes.append("The end of the last line is taken for the end of the recording.")
        voices: dict[str, int] = {}
        backwards = empty = 0
        for cue in cues:
            for voice in _VOICE.findall(cue.text):
                voices[voice.strip()] = voices.get(voice.strip(), 0) + 1
            text = " ".join(html.unescape(_TAG.sub("", cue.text)).split())
            empty += not text
            backwards += cue.end <= cue.start
            if not text:
                continue
            end = max(cue.end, cue.start + 1)
            page.segments.append(
                PageSegment(
                    f"cue-{len(page.segments) + 1}",
                    "line",
                    points=corners((float(cue.start), 0.0, float(end), float(_HEIGHT))),
                    texts=[PageText(text)],
                    seconds=(cue.start / 1000, cue.end / 1000),
                )
            )
        if empty:
            page.notes.append(f"{count_noun(empty, 'line')} without words left out.")
        if backwards:
            page.notes.append(
                f"{count_noun(backwards, 'line ends before it begins', 'lines end before they begin')}; "
                "the times are kept as stated."
            )
        if voices:
            named = ", ".join(list(voices)[:10])
            page.notes.append(
                f"The file says who speaks in {count_noun(sum(voices.values()), 'line')} ({named}), which is left out."
            )
        return [page]


def _cues(text: str) -> Iterator[_Cue]:
    """Yield the cues of a file, whether blank lines stand between and in them or not: the words of a cue go on until the
    next one, without its number. In WebVTT a blank line ends them, and identifiers, comments and styles are passed over.
    """
    rows = [row.strip() for row in text.split("\n")]
    web = rows[0].startswith("WEBVTT")
    timed = [(number, times) for number, row in enumerate(rows) if (times := _TIMES.fullmatch(row))]
    numbered = bool(timed) and any(row.isdecimal() for row in rows[: timed[0][0]])
    # A file without any time has no cue, so the two are not always of one length.
    for (at, match), (after, _) in zip(timed, [*timed[1:], (len(rows), None)], strict=False):
        words = rows[at + 1 : after]
        if web:
            words = words[: words.index("")] if "" in words else words
        else:
            words = [row for row in words if row]
            if numbered and words and after < len(rows) and words[-1].isdecimal():
                words.pop()
        start, end = (_milliseconds(*match.groups()[first : first + 4]) for first in (0, 4))
        yield _Cue(start, end, "\n".join(words))


def _milliseconds(hours: str | None, minutes: str, seconds: str, rest: str) -> int:
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1000 + int(rest.ljust(3, "0"))
