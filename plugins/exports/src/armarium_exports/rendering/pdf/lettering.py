"""The invisible letters of a PDF: a font of one glyph that stands for every letter, and the text of a page in it.

The glyph is a box, as high and wide as a letter's place, because PDFium takes a word of one letter without extent for none, and
marks what was found by it. It is not drawn (text rendering mode 3), so that any script can be searched and copied
without a font of that script in the file. Each letter (grapheme cluster) has a code of its own, which `ToUnicode` turns into its characters.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache

from armarium.api import graphemes, letters_from_left
from armarium_exports.rendering.pdf.objects import PdfFile, dictionary, number

ASCENT, DESCENT = 0.8, 0.2
"""Of the height of a word: what lies above and below the line on which its letters stand."""
ADVANCE = 0.5
"""Width of the glyph, of its height."""
WIDEST = 2.5
"""How wide a letter is at most, of its height: PDFium sorts by their place along the line what stands less than half a letter lower."""
_CODES = 60_000
"""Letters of one font; further ones get another."""
XY = tuple[float, float]


class InvisibleFont:
    """Codes for letters, given as they are met, in as many fonts as that takes."""

    def __init__(self, file: PdfFile) -> None:
        self._file = file
        self._codes: dict[str, int] = {}
        self._numbers: list[int] = []

    def code_of(self, letter: str) -> tuple[int, int]:
        """Return the number of a font, from 0, and the code of a letter in it."""
        code = self._codes.setdefault(letter, len(self._codes))
        font, within = divmod(code, _CODES)
        if font == len(self._numbers):
            self._numbers.append(self._file.reserve())
        return font, within + 1

    def resources(self) -> str:
        """Return the fonts met so far, as a dictionary of resources."""
        return dictionary({f"F{at}": f"{reference} 0 R" for at, reference in enumerate(self._numbers)})

    def write(self) -> None:
        """Write the fonts, once all letters are known."""
        if not self._numbers:
            return
        program = _font_program()
        embedded = self._file.stream(program, {"Length1": str(len(program))})
        top, bottom = round(1000 * ASCENT), -round(1000 * DESCENT)
        descriptor = self._file.add(
            f"<< /Type /FontDescriptor /FontName /{_NAME} /Flags 4 /FontBBox [0 {bottom} {round(1000 * ADVANCE)} {top}]"
            f" /ItalicAngle 0 /Ascent {top} /Descent {bottom} /CapHeight {top} /StemV 80 /FontFile2 {embedded} 0 R >>"
        )
        letters = list(self._codes)
        for at, font in enumerate(self._numbers):
            batch = letters[at * _CODES : (at + 1) * _CODES]
            glyphs = self._file.stream(b"\0\0" + b"\0\1" * len(batch), {})
            unicode = self._file.stream(_to_unicode(batch).encode(), {})
            below = self._file.add(
                f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{_NAME} /DW {round(1000 * ADVANCE)}"
                f" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
                f" /CIDToGIDMap {glyphs} 0 R /FontDescriptor {descriptor} 0 R >>"
            )
            self._file.add(
                f"<< /Type /Font /Subtype /Type0 /BaseFont /{_NAME} /Encoding /Identity-H"
                f" /DescendantFonts [{below} 0 R] /ToUnicode {unicode} 0 R >>",
                font,
            )


_NAME = "AAAAAA+Invisible"


def text_layer(words: Iterable[tuple[str, Sequence[XY]]], font: InvisibleFont) -> str:
    """Return the operators that set words, each with its corners in points (y upward): along the line first, from its top left.

    In the order in which they are read. Letters of a word from right to left are set from left to right, as they stand.
    """
    parts: list[str] = []
    for word, (start, end, _, below) in words:
        length = ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5
        height = ((below[0] - start[0]) ** 2 + (below[1] - start[1]) ** 2) ** 0.5
        letters = graphemes(word)
        if not letters or length <= 0 or height <= 0:
            continue
        if abs(end[0] - start[0]) >= abs(end[1] - start[1]):
            letters = [_as_it_stands(letters[place]) for place in letters_from_left(letters)]
        codes = [font.code_of(letter) for letter in letters]
        along = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        up = (start[0] - below[0]) / height, (start[1] - below[1]) / height
        x, y = below[0] + DESCENT * (start[0] - below[0]), below[1] + DESCENT * (start[1] - below[1])
        width = min(length / len(codes), WIDEST * height)
        if _runs_from_right(word[0]):
            blank = length - width * len(codes)
            x, y = x + blank * along[0], y + blank * along[1]
        stretch = number(100 * width / (ADVANCE * height))
        matrix = " ".join(number(value) for value in (*along, *up, x, y))
        parts.append(f"{stretch} Tz {matrix} Tm")
        for at in sorted({index for index, _ in codes}):
            parts.append(f"/F{at} {number(height)} Tf")
            # Of several fonts in one word, which only a file with 60,000 different letters has, each is set apart.
            parts.append("<" + "".join(f"{code:04x}" for index, code in codes if index == at) + "> Tj")
        # A blank of hardly any width, or words whose boxes touch would be taken for one.
        at, code = font.code_of(" ")
        if at != max(index for index, _ in codes):
            parts.append(f"/F{at} {number(height)} Tf")
        parts.append(f"1 Tz <{code:04x}> Tj")
    return "BT 3 Tr\n" + "\n".join(parts) + "\nET" if parts else ""


def _as_it_stands(letter: str) -> str:
    """Return a letter that runs from right to left with its marks first: programs turn the signs of a word around, one by one."""
    return letter[::-1] if _runs_from_right(letter[0]) else letter


def _runs_from_right(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def _to_unicode(letters: Sequence[str]) -> str:
    """Return the map from codes to characters (9.10.3), a hundred at a time as the standard has it."""
    parts = [
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange"
    ]
    for first in range(0, len(letters), 100):
        batch = letters[first : first + 100]
        parts.append(f"{len(batch)} beginbfchar")
        parts += [
            f"<{first + at:04x}> <{letter.encode('utf-16-be', 'replace').hex()}>"
            for at, letter in enumerate(batch, 1)
        ]
        parts.append("endbfchar")
    parts.append("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend")
    return "\n".join(parts)


@cache
def _font_program() -> bytes:
    """Return a TrueType font of two glyphs: an empty one that is never used, and the box of a letter (OpenType 1.9)."""
    units, ascent, descent, advance = (
        1000,
        round(1000 * ASCENT),
        -round(1000 * DESCENT),
        round(1000 * ADVANCE),
    )
    head = struct.pack(
        ">IIIIHHqqhhhhHHhhh",
        0x00010000, 0x00010000, 0, 0x5F0F3CF5, 0b11, units, 0, 0, 0, descent, advance, ascent, 0, 8, 2, 0, 0,
    )  # fmt: skip
    # One contour of four points on it, as differences from corner to corner: from the bottom left upwards.
    glyph = struct.pack(">hhhhhHH4B", 1, 0, descent, advance, ascent, 3, 0, 1, 1, 1, 1)
    glyph += struct.pack(">8h", 0, 0, advance, 0, descent, ascent - descent, 0, descent - ascent)
    glyph += bytes(-len(glyph) % 4)
    tables = {
        b"cmap": struct.pack(">HHHHI", 0, 1, 3, 1, 12)
        + struct.pack(">HHHHHHH", 4, 24, 0, 2, 2, 0, 0)
        + struct.pack(">HHHHH", 0xFFFF, 0, 0xFFFF, 1, 0),
        b"glyf": glyph,
        b"head": head,
        b"hhea": struct.pack(
            ">IhhhHhhhhhhhhhhhH", 0x00010000, ascent, descent, 0, advance, 0, 0, advance, 1, *[0] * 7, 2
        ),
        b"hmtx": struct.pack(">HhHh", advance, 0, advance, 0),
        b"loca": struct.pack(">HHH", 0, 0, len(glyph) // 2),
        b"maxp": struct.pack(">IH13H", 0x00010000, 2, 4, 1, 0, 0, 2, *[0] * 8),
        b"post": struct.pack(">IIhhIIIII", 0x00030000, 0, 0, 0, 0, 0, 0, 0, 0),
    }
    directory, body = b"", b""
    at = 12 + 16 * len(tables)
    for name, data in tables.items():
        directory += struct.pack(">4sIII", name, _checksum(data), at + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    program = (
        struct.pack(">IHHHH", 0x00010000, len(tables), 128, 3, 16 * len(tables) - 128) + directory + body
    )
    place = program.index(head) + 8
    return (
        program[:place]
        + struct.pack(">I", (0xB1B0AFBA - _checksum(program)) & 0xFFFFFFFF)
        + program[place + 4 :]
    )


def _checksum(data: bytes) -> int:
    padded = data + bytes(-len(data) % 4)
    words: tuple[int, ...] = struct.unpack(f">{len(padded) // 4}I", padded)
    return sum(words) & 0xFFFFFFFF
