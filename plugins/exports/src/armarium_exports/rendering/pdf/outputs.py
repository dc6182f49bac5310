"""What a PDF says of itself beside its pages: bookmarks, page labels, metadata, and what makes it PDF/A-2b."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape

from armarium_exports.rendering.pdf.objects import PdfFile, text

PRODUCER = "Armarium"


@dataclass
class Bookmark:
    """An entry of the outline: the object of the page it leads to, and what lies below it."""

    title: str
    page: int = 0
    below: list[Bookmark] = field(default_factory=list)

    def count(self) -> int:
        """Return the entries below it."""
        return sum(1 + bookmark.count() for bookmark in self.below)


def write_outline(file: PdfFile, bookmarks: Sequence[Bookmark]) -> int:
    """Write bookmarks (12.3.3); return the number of the outline."""
    root = file.reserve()
    first, last = _write_level(file, bookmarks, root)
    file.add(f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(bookmarks)} >>", root)
    return root


def _write_level(file: PdfFile, level: Sequence[Bookmark], parent: int) -> tuple[int, int]:
    numbers = [file.reserve() for _ in level]
    for at, (bookmark, own) in enumerate(zip(level, numbers, strict=True)):
        entries = [
            f"/Title {text(bookmark.title)}",
            f"/Parent {parent} 0 R",
            f"/Dest [{bookmark.page} 0 R /Fit]",
        ]
        if at:
            entries.append(f"/Prev {numbers[at - 1]} 0 R")
        if at + 1 < len(level):
            entries.append(f"/Next {numbers[at + 1]} 0 R")
        if bookmark.below:
            first, last = _write_level(file, bookmark.below, own)
            # Negative: closed when the file is opened.
            entries.append(f"/First {first} 0 R /Last {last} 0 R /Count {-len(bookmark.below)}")
        file.add(f"<< {' '.join(entries)} >>", own)
    return numbers[0], numbers[-1]


def write_information(file: PdfFile, facts: Mapping[str, str], creator: str) -> int:
    """Write the information dictionary: the title and author among *facts*, and the program."""
    fields = {
        "Title": facts.get("title", ""),
        "Author": facts.get("creator", ""),
        "Creator": creator,
        "Producer": PRODUCER,
    }
    return file.add(
        "<< " + " ".join(f"/{name} {text(value)}" for name, value in fields.items() if value) + " >>"
    )


def write_metadata(file: PdfFile, facts: Mapping[str, str], creator: str, *, archival: bool) -> int:
    """Write the XMP packet: *facts* by the names of Dublin Core, and PDF/A-2b where it is."""
    elements = []
    for name, value in facts.items():
        inside = escape(value, quote=False)
        if name in ("title", "description", "rights"):
            inside = f'<rdf:Alt><rdf:li xml:lang="x-default">{inside}</rdf:li></rdf:Alt>'
        elif name in ("creator", "date", "language", "publisher", "subject"):
            kind = "Seq" if name in ("creator", "date") else "Bag"
            inside = f"<rdf:{kind}><rdf:li>{inside}</rdf:li></rdf:{kind}>"
        elements.append(f"<dc:{name}>{inside}</dc:{name}>")
    claim = "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>" if archival else ""
    packet = (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/">'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"'
        ' xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">'
        f"{''.join(elements)}<xmp:CreatorTool>{escape(creator, quote=False)}</xmp:CreatorTool><pdf:Producer>{PRODUCER}</pdf:Producer>{claim}"
        '</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end="w"?>'
    )
    # Unpacked, so that programs which do not know PDF find it.
    data = packet.encode("utf-8", "replace")
    return file.stream(iter((data,)), {"Type": "/Metadata", "Subtype": "/XML"}, length=len(data))


def write_intent(file: PdfFile) -> int:
    """Write what the colours without a profile mean: sRGB."""
    profile = file.stream(_srgb(), {"N": "3"})
    return file.add(
        "<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB) /Info (sRGB IEC61966-2.1)"
        f" /DestOutputProfile {profile} 0 R >>"
    )


@cache
def _srgb() -> bytes:
    """Return LittleCMS's profile of sRGB, with a date that does not change."""
    from PIL import ImageCms

    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[24:36] = bytes((7, 0xE9, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0))
    return bytes(profile)
