"""What a file that no driver reads seems to be, so that its refusal can name it."""

from __future__ import annotations

import re

from armarium_formats.decoding import head_of

_PICTURES = (
    *(b"\xff\xd8\xff", b"\x89PNG", b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+", b"GIF8"),
    *(b"BM", b"RIFF", b"\x00\x00\x00\x0cjP  ", b"\xff\x4f\xff\x51"),
)
"""JPEG, PNG, TIFF of both kinds and orders, GIF, BMP, WebP, JPEG 2000."""

_MAGIC = (
    (b"\x1f\x8b", "compressed with gzip; unpack it and import what is in it"),
    (b"BZh", "compressed with bzip2; unpack it and import what is in it"),
    (b"\xfd7zXZ", "compressed with xz; unpack it and import what is in it"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it and import what is in it"),
    (b"Rar!", "a RAR archive; unpack it and import what is in it"),
    (b"PK\x03\x04", "a ZIP archive or an office document; unpack it and import what is in it"),
    (b"%PDF", "a PDF; import it as a page, not into one"),
    *((mark, "a picture; import it as a page, not into one") for mark in _PICTURES),
    (b"\xd0\xcf\x11\xe0", "an office document; save it as plain text or TEI"),
)
_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]{1,60}:)?([\w.-]{1,60})")
_ROOTS = {
    b"DjVuXML": "XML of DjVu",
    b"annotation": "labels of Pascal VOC",
    b"annotations": "labels of CVAT",
    b"OcrResult": "XML of another OCR program",
    b"html": "HTML without any class of hOCR",
    b"svg": "a drawing (SVG)",
    b"schema": "an XML schema, not a file that obeys one",
    b"stylesheet": "an XSLT stylesheet",
    b"manifest": "a manifest",
    b"RDF": "RDF",
}


def seems(data: bytes) -> str | None:
    """What a file that no driver reads seems to be, in words for a sentence; None where nothing tells."""
    found = next((words for mark, words in _MAGIC if data.startswith(mark)), None)
    if found is not None:
        return found
    head = head_of(data).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        return "empty but for white space"
    if head[:1] in (b"{", b"["):
        return "JSON (annotations of COCO, Label Studio and IIIF are not layout files)"
    if head[:1] == b"<" and (root := _ROOT.search(head)):
        name = root.group(1)
        return _ROOTS.get(name, f"XML whose root is {name.decode('ascii', 'replace')}")
    return "made of bytes that are no text" if b"\x00" in head else None
