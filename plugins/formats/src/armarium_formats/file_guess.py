"""Guesses what a file that no driver reads is, so that its refusal can name it."""

from __future__ import annotations

import csv
import re
from pathlib import PurePath

from armarium.api import image_kind
from armarium_formats.decoding import decode, head_of, reads_as_text

_MAGIC = (
    (b"\x89PNG", "a damaged picture; import it as a page, not into one"),
    (b"\x1f\x8b", "compressed with gzip; unpack it and import what is in it"),
    (b"BZh", "compressed with bzip2; unpack it and import what is in it"),
    (b"\xfd7zXZ", "compressed with xz; unpack it and import what is in it"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it and import what is in it"),
    (b"Rar!", "a RAR archive; unpack it and import what is in it"),
    (b"PK\x03\x04", "a ZIP archive or an office document; unpack it and import what is in it"),
    (b"{\\rtf", "RTF; save it as plain text"),
    (b"%PDF", "a PDF; import it as a page, not into one"),
    (b"\xd0\xcf\x11\xe0", "an office document; save it as plain text or TEI"),
)
_ROOT = re.compile(rb"<(?![?!])(?:[\w.-]{1,60}:)?([\w.-]{1,60})")
_ROOTS = {
    b"DjVuXML": "XML of DjVu", b"annotation": "labels of Pascal VOC", b"annotations": "labels of CVAT",
    b"OcrResult": "XML of another OCR program", b"html": "HTML without any class of hOCR",
    b"svg": "a drawing (SVG)", b"schema": "an XML schema, not a file that conforms to one",
    b"stylesheet": "an XSLT stylesheet", b"manifest": "a manifest", b"RDF": "RDF",
    b"tt": "timed text (TTML); save it as SRT or VTT",
}  # fmt: skip


_MARKUP_ENDINGS = frozenset({".xml", ".alto", ".hocr", ".html", ".htm", ".page", ".tei", ".mets"})
_TABLE_ENDINGS = frozenset({".csv", ".tsv"})
_GIT_LINK = re.compile(
    r"[^\s<>|*?\"]{0,4000}/[^\s<>|*?\"/]{1,255}\."
    r"(?:xml|alto|hocr|html?|page|tei|mets|txt|json|box|jpe?g|png|tiff?|jp2|webp|pdf)\n?",
    re.IGNORECASE,
)
_OTHER_TEXTS = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"TY {1,2}- ", "RIS (references of literature); they describe a source and are not a page of it"),
        (
            r"(?:%[^\n]*\n\s*)*@[a-z]+\s*[{(]\s*[^\s{}(),]*\s*,",
            "BibTeX (references of literature); they describe a source and are not a page of it",
        ),
        (r"\[Script Info\]", "subtitles of the format ASS; save them as SRT or VTT"),
        (r'File type = "ooTextFile', "annotations of Praat (TextGrid); save them as SRT or VTT"),
        (
            r"\d+:\d\d:\d\d\.\d{3},\d+:\d\d:\d\d\.\d{3}\s",
            "subtitles of the format SBV; save them as SRT or VTT",
        ),
        (r"(?:\[[a-z]+:[^\]\n]*\]\s*)*\[\d+:\d\d\.\d\d", "words with times (LRC); save them as SRT or VTT"),
        (
            r"(?:#CRS[^\n]*\n)?mapX[;\t]mapY[;\t]",
            "control points of QGIS that another program saved with another separator; save them with commas",
        ),
        (
            r"(?:[-+]?\d+\.?\d*(?:E[-+]?\d+)?\s*\n\s*){5}[-+]?\d+\.?\d*(?:E[-+]?\d+)?\s*$",
            "a world file (where a map lies on the ground); save control points in QGIS's georeferencer and import those",
        ),
    )
)
"""What a text of another kind begins with, and what it is."""

_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_QUOTED = re.compile(r'"[^"]*"')
_LOOKED_AT = 262_144
_ROWS = 200
"""Lines that are looked at to see whether a text is a table."""


def seems_no_prose(text: str) -> str | None:
    """Return what characters that look like a plain text really are, in words; None for prose.

    Placeholders of Git, RTF, PDF, and tables: two or more lines with the same number of cells, at least
    three, separated by tabs, or by `;` or `,` without a following space; a comma between digits is a decimal
    one.
    """
    head = text.lstrip("\ufeff \t\r\n")
    if head.startswith("version https://git-lfs.github.com/spec/"):
        return "a placeholder of Git LFS: the file itself was never fetched; run git lfs pull and import it again"
    if head.startswith("{\\rtf"):
        return "RTF; save it as plain text"
    if head.startswith("%PDF-"):
        return "a PDF; import it as a page, not into one"
    if _GIT_LINK.fullmatch(text) and "://" not in text:
        return "what Git stores for a link: only the path of another file; import that file"
    for mark, words in _OTHER_TEXTS:
        if mark.match(head):
            return words
    return "a table (CSV); it contains data and no page" if _is_table(text) else None


def is_marked(data: bytes) -> bool:
    """Return whether a file begins as one that is not text does."""
    return image_kind(data[:32]) is not None or any(data.startswith(mark) for mark, _ in _MAGIC)


def _is_table(text: str) -> bool:
    lines = [line for line in text[:100_000].splitlines() if line.strip()][:_ROWS]
    if len(lines) < 2:
        return False
    for mark in ("\t", ";", ","):
        rows = lines if mark != "," else [_DECIMAL.sub(".", line) for line in lines]
        bare = [_QUOTED.sub("", line) for line in rows]
        if any(mark not in line or (mark != "\t" and f"{mark} " in line) for line in bare):
            continue
        try:
            cells = {len(row) for row in csv.reader(rows, delimiter=mark)}
        except csv.Error:
            continue
        if len(cells) == 1 and cells.pop() >= 3:
            return True
    return False


def find_true_kind(filename: str, data: bytes) -> str | None:
    """Return what a file is, by its name, if not the plain text that its characters suggest; else None."""
    ending = PurePath(filename).suffix.casefold()
    if ending in _MARKUP_ENDINGS and b"<" not in data:
        return seems(data) or f"a placeholder or a truncated file: it ends in {ending} and contains no markup"
    return "a table (CSV); it contains data and no page" if ending in _TABLE_ENDINGS else None


def seems(data: bytes) -> str | None:
    """Return what a file that no driver reads seems to be, in words; None if unknown."""
    if image_kind(data[:32]) is not None:
        return "a picture; import it as a page, not into one"
    kind = next((words for mark, words in _MAGIC if data.startswith(mark)), None)
    if kind is not None:
        return kind
    head = head_of(data).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head:
        return "empty but for white space"
    if head[:1] in (b"{", b"[") and not re.match(rb"\[(?:Script Info\]|[a-z]+:|\d+:)", head):
        if b'"segments"' in head and b'"start"' in head:
            return "JSON of a program that hears speech; save it as SRT or VTT"
        return "JSON (annotations of COCO, Label Studio and IIIF are not layout files)"
    if head[:1] == b"<" and (root := _ROOT.search(head)):
        name = root.group(1)
        return _ROOTS.get(name, f"XML whose root is {name.decode('ascii', 'replace')}")
    if b"\x00" in head:
        return "made of bytes that are not text"
    decoded = decode(data[:_LOOKED_AT])
    if not reads_as_text(decoded):
        return "made of bytes that are not text, or a text in an unknown encoding; save it in UTF-8"
    return seems_no_prose(decoded.text)
