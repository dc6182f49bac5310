"""Puts pictures into a PDF: JPEG, JPEG 2000 and PNG byte for byte as far as PDF allows, any other without loss."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from armarium.api import open_image
from armarium_documents.api import PageImage
from armarium_exports.rendering.pdf.objects import PdfFile, dictionary

PER_INCH = 300
"""Pixels per inch of a picture that states none, or a number that no scanner or camera means."""
_LIKELY = (100, 2400)
LONGEST = 14_400
"""Points: no side of a page may be longer (ISO 32000-1, annex C)."""
_CHUNK = 1 << 20
_GREY, _RGB, _CMYK = "/DeviceGray", "/DeviceRGB", "/DeviceCMYK"
_SPACES = {1: _GREY, 3: _RGB, 4: _CMYK}
_LARGEST_PROFILE = 4 << 20


class PlacedPicture(NamedTuple):
    """A picture in the file: its object, how it is turned (EXIF), its upright size in pixels and in points."""

    number: int
    orientation: int
    pixels: tuple[int, int]
    points: tuple[float, float]
    why_not_archival: str | None
    """Why PDF/A-2b does not allow it; None if it does."""

    def matrix(self) -> tuple[float, ...]:
        """Return where the unit square of the picture goes on its page, turned as its orientation says."""
        w, h = self.points
        return {
            1: (w, 0, 0, h, 0, 0), 2: (-w, 0, 0, h, w, 0), 3: (-w, 0, 0, -h, w, h), 4: (w, 0, 0, -h, 0, h),
            5: (0, -h, -w, 0, w, h), 6: (0, -h, w, 0, 0, h), 7: (0, h, w, 0, 0, 0), 8: (0, h, -w, 0, w, 0),
        }[self.orientation]  # fmt: skip


class _PictureHead(NamedTuple):
    """What is said of a picture's bytes: entries of its dictionary, and its resolution, if stated."""

    size: tuple[int, int]
    entries: dict[str, str]
    per_inch: float | None
    profile: bytes | None = None
    components: int = 3
    parts: tuple[tuple[int, int], ...] = ()
    """Start and length of the bytes to take from the file; none: all of it."""
    table: bytes = b""
    """The colours of a palette."""


def place_picture(file: PdfFile, picture: PageImage, original: tuple[Path, str, int] | None) -> PlacedPicture:
    """Write the picture of a page. *original*: its file as stored, media type and EXIF orientation, if it is only turned."""
    path, kind, orientation = original or (picture.path, picture.mime_type, 1)
    head: _PictureHead | None = None
    with path.open("rb") as source:
        if kind == "image/jpeg":
            head = _jpeg(source)
        elif kind == "image/jp2":
            head = _jpeg_2000(source)
        elif kind == "image/png":
            head = _png(source)
        if head is not None:
            number = _write(file, source, head)
    if head is None:
        orientation = 1
        with io.BytesIO(_as_png(picture.path)) as source:
            head = _png(source)
            assert head is not None
            number = _write(file, source, head)
    # The project's own measure of the picture: shapes are fractions of it.
    width, height = picture.width, picture.height
    per_inch = head.per_inch if head.per_inch and _LIKELY[0] <= head.per_inch <= _LIKELY[1] else PER_INCH
    scale = min(72 / per_inch, LONGEST / max(width, height))
    why = None
    if head.components == 4 and head.profile is None:
        why = "its colours are CMYK without a profile"
    return PlacedPicture(number, orientation, (width, height), (width * scale, height * scale), why)


def _write(file: PdfFile, source: BinaryIO, head: _PictureHead) -> int:
    entries = {
        "Type": "/XObject",
        "Subtype": "/Image",
        "Width": str(head.size[0]),
        "Height": str(head.size[1]),
        **head.entries,
    }
    base = entries.get("ColorSpace")
    if base is not None and head.profile is not None:
        profile = file.stream(
            head.profile, {"N": str(head.components), "Alternate": _SPACES[head.components]}
        )
        base = f"[/ICCBased {profile} 0 R]"
        entries["ColorSpace"] = base
    if head.table:
        entries["ColorSpace"] = f"[/Indexed {base} {len(head.table) // 3 - 1} <{head.table.hex()}>]"
    if not head.parts:
        length = source.seek(0, 2)
        return file.stream(_pieces(source, ((0, length),)), entries, length=length)
    return file.stream(_pieces(source, head.parts), entries, length=sum(length for _, length in head.parts))


def _pieces(source: BinaryIO, parts: tuple[tuple[int, int], ...]) -> Iterator[bytes]:
    for start, length in parts:
        source.seek(start)
        while length > 0:
            piece = source.read(min(_CHUNK, length))
            if not piece:
                raise EOFError("the picture ends before its end")
            length -= len(piece)
            yield piece


def _jpeg(source: BinaryIO) -> _PictureHead | None:
    """Read the head of a JPEG; None for one that PDF does not show (more than eight bits, lossless, arithmetic)."""
    profile: dict[int, bytes] = {}
    per_inch, adobe = None, False
    source.seek(2)
    while True:
        head = source.read(4)
        if len(head) < 4 or head[0] != 0xFF:
            return None
        marker, length = head[1], int.from_bytes(head[2:]) - 2
        if marker == 0xFF:
            source.seek(-3, 1)
            continue
        if marker in (0xC0, 0xC1, 0xC2):
            bits, height, width, components = struct.unpack(">BHHB", source.read(6))
            break
        if marker == 0xDA or (0xC3 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC)):
            return None
        data = source.read(length)
        if marker == 0xE0 and data[:5] == b"JFIF\0" and len(data) >= 12:
            unit, across = data[7], int.from_bytes(data[8:10])
            per_inch = {1: float(across), 2: across * 2.54}.get(unit, per_inch)
        elif marker == 0xE2 and data[:12] == b"ICC_PROFILE\0" and len(data) > 14:
            profile[data[12]] = data[14:]
        elif marker == 0xEE and data[:5] == b"Adobe":
            adobe = True
    if bits != 8 or components not in _SPACES:
        return None
    entries = {"ColorSpace": _SPACES[components], "BitsPerComponent": "8", "Filter": "/DCTDecode"}
    if components == 4 and adobe:
        # Adobe's programs store CMYK inverted.
        entries["Decode"] = "[1 0 1 0 1 0 1 0]"
    joined = b"".join(profile[number] for number in sorted(profile))
    return _PictureHead((width, height), entries, per_inch, _check_profile(joined, components), components)


def _jpeg_2000(source: BinaryIO) -> _PictureHead | None:
    """Read the head of a JPEG 2000, whose own colours count."""
    source.seek(0)
    head = source.read(4096)
    at = head.find(b"ihdr")
    if at < 0:
        return None
    height, width, components, bits = struct.unpack(">IIHB", head[at + 4 : at + 15])
    if components not in (1, 3) or bits != 7:
        return None
    return _PictureHead((width, height), {"Filter": "/JPXDecode"}, None, None, components)


def _png(source: BinaryIO) -> _PictureHead | None:
    """Find the packed rows of a PNG, which PDF takes as they are; None if they are interlaced or transparent."""
    source.seek(8)
    parts: list[tuple[int, int]] = []
    table = b""
    per_inch, profile, head = None, None, b""
    while len(start := source.read(8)) == 8:
        length, name = int.from_bytes(start[:4]), start[4:]
        at = source.tell()
        if name == b"IHDR":
            head = source.read(13)
        elif name == b"PLTE":
            table = source.read(length)
        elif name == b"tRNS":
            return None
        elif name == b"pHYs":
            data = source.read(9)
            per_inch = int.from_bytes(data[:4]) * 0.0254 if data[8] == 1 else None
        elif name == b"iCCP" and length < _LARGEST_PROFILE:
            data = source.read(length)
            unpack = zlib.decompressobj()
            profile = unpack.decompress(data.partition(b"\0")[2][1:], _LARGEST_PROFILE)
        elif name == b"IDAT":
            parts.append((at, length))
        source.seek(at + length + 4)
    width, height, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", head)
    components = {0: 1, 2: 3, 3: 1}.get(kind)
    if components is None or interlaced or not parts:
        return None
    parameters = dictionary(
        {"Predictor": "15", "Colors": str(components), "BitsPerComponent": str(bits), "Columns": str(width)}
    )
    entries = {
        "ColorSpace": _RGB if kind == 3 else _SPACES[components],
        "BitsPerComponent": str(bits),
        "Filter": "/FlateDecode",
        "DecodeParms": parameters,
    }
    colours = 3 if kind == 3 else components
    return _PictureHead(
        (width, height),
        entries,
        per_inch,
        _check_profile(profile or b"", colours),
        colours,
        tuple(parts),
        table,
    )


def _check_profile(profile: bytes, components: int) -> bytes | None:
    """Return a colour profile if it is one, and of as many components."""
    kinds = {b"GRAY": 1, b"RGB ": 3, b"CMYK": 4}
    if len(profile) < 128 or profile[36:40] != b"acsp" or kinds.get(profile[16:20]) != components:
        return None
    return profile if profile[8] < 5 and len(profile) <= _LARGEST_PROFILE else None


def _as_png(path: Path) -> bytes:
    """Return a picture as a PNG that PDF takes as it is: nothing is lost but transparency, laid on white."""
    from PIL import Image

    image = open_image(path)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", over.size, "white"), over).convert("RGB")
    elif image.mode.startswith("I"):
        image = image.convert("I").point(lambda value: value * (1 / 256) + 0).convert("L")
    elif image.mode not in ("1", "L", "P", "RGB"):
        image = image.convert("RGB")
    file = io.BytesIO()
    image.save(file, "PNG", dpi=image.info.get("dpi"), icc_profile=image.info.get("icc_profile"))
    return file.getvalue()
