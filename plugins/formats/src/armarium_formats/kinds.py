"""Translates types of regions between formats: ALTO's words into PAGE's, and PAGE's into ALTO's."""

from __future__ import annotations

from typing import Final

_FURNITURE: Final = frozenset({"header", "footer", "page-number", "catch-word", "signature-mark"})
_FOREIGN_FURNITURE: Final = frozenset(
    {"runningtitlezone", "numberingzone", "quiremarkszone", "folio", "pagenumber"}
)

ALTO_BLOCKS: Final = ("TextBlock", "Illustration", "GraphicalElement", "ComposedBlock")

_OF_ALTO: Final = {
    "TextBlock": "TextRegion", "Illustration": "ImageRegion", "GraphicalElement": "SeparatorRegion",
}  # fmt: skip
_TABLES: Final = frozenset({"table", "tableregion"})
_TEXTS: Final = frozenset({"TextRegion", "TableCell"})


_NO_TEXT: Final = {
    "ocr_photo": "ImageRegion", "ocr_image": "ImageRegion", "ocr_linedrawing": "LineDrawingRegion",
    "ocr_separator": "SeparatorRegion", "ocr_table": "TableRegion", "Picture": "ImageRegion",
    "RasterPicture": "ImageRegion", "VectorPicture": "LineDrawingRegion", "Checkmark": "GraphicRegion",
    "CheckmarkGroup": "GraphicRegion", "Figure": "ImageRegion", "Barcode": "GraphicRegion",
    "Separator": "SeparatorRegion", "SeparatorsBox": "SeparatorRegion", "Table": "TableRegion",
}  # fmt: skip
"""Words of formats that are only read (hOCR, FineReader XML, labels) for what is not a block of text, in PAGE's elements."""


def _of_readers(raw: str | None) -> str | None:
    """Return a read-only format's word after PAGE's element for it: `ImageRegion:ocr_photo`."""
    element = _NO_TEXT.get(raw or "")
    return f"{element}:{raw}" if element else raw


def is_furniture(word: str) -> bool:
    """Return whether a region's type is furniture: running heads, page numbers, catchwords.

    PAGE's words, and those of other vocabularies in any case (SegmOnto zones, common tags).
    """
    return word in _FURNITURE or word.casefold() in _FOREIGN_FURNITURE


def split_kind(raw: str | None) -> tuple[str, str]:
    """Split `kind_raw` into element and type: "TextRegion:heading", "TextBlock:MainZone", or a bare word."""
    name, _, kind = (raw or "").partition(":")
    return name, kind


def in_page_words(raw: str | None) -> str | None:
    """Return a region's kind with an ALTO element turned into PAGE's: TextBlock into TextRegion, and so
    on.
    """
    raw = _of_readers(raw)
    name, kind = split_kind(raw)
    if name == "ComposedBlock":
        return "TableRegion" if kind.casefold() in _TABLES else f"TextRegion:{kind or name}"
    if element := _OF_ALTO.get(name):
        return f"{element}:{kind}" if kind else element
    return raw


def in_alto_words(raw: str | None, *, has_regions: bool, has_text: bool) -> tuple[str, str]:
    """Return the ALTO element for a region and its type, which goes into TYPE or into a tag.

    has_regions: it contains regions, which only a ComposedBlock may; has_text: it contains lines.
    """
    raw = _of_readers(raw)
    name, kind = split_kind(raw)
    if name == "TableRegion":
        name, kind = "ComposedBlock", kind or "table"
    elif name == "SeparatorRegion" and not has_regions and not has_text:
        name = "GraphicalElement"
    elif name in _TEXTS:
        name, kind = "TextBlock", raw or "" if name == "TableCell" else kind
    elif name not in ALTO_BLOCKS:
        picture = name.endswith("Region") and name.isascii()
        kind = raw or ""
        name = "Illustration" if picture and not has_text else "TextBlock"
    if has_regions and name != "ComposedBlock":
        return "ComposedBlock", kind if name == "TextBlock" else (raw or "")
    if has_text and name in ("Illustration", "GraphicalElement"):
        return "ComposedBlock", raw or ""
    return name, kind


def of_alto(element: str, kind: str | None) -> str:
    """Return a region's `kind_raw` as in an ALTO file; a TYPE that is PAGE's own word stays alone."""
    if not kind:
        return element
    name = kind.partition(":")[0]
    if name.endswith("Region") and name.isascii() and element != "TextBlock":
        return kind
    if name == "TableCell":
        return kind
    return f"{element}:{kind}"
