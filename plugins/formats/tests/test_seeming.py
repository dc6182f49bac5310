"""A file that no driver reads is refused by the name of what it seems to be."""

from __future__ import annotations

import gzip

import pytest

from armarium.api import Engine
from armarium.errors import Invalid
from armarium_formats.opening import open_layout
from armarium_formats.seeming import seems

FILES: list[tuple[bytes, str]] = [
    (gzip.compress(b"<alto/>", mtime=0), "compressed with gzip"),
    (b"BZh91AY&SY\x00\x01", "compressed with bzip2"),
    (b"PK\x03\x04\x14\x00", "a ZIP archive or an office document"),
    (b"%PDF-1.7\n\x00", "a PDF"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "a picture; import it as a page"),
    (b"II*\x00\x08\x00\x00\x00", "a picture; import it as a page"),
    (b'{"images": [], "annotations": []}', "JSON"),
    (b"[1, 2]", "JSON"),
    (b"<?xml version='1.0'?><!DOCTYPE DjVuXML><DjVuXML><BODY/></DjVuXML>", "XML of DjVu"),
    (b"<annotation><folder>a</folder></annotation>", "labels of Pascal VOC"),
    ("<a:mods xmlns:a='x'/>".encode("utf-16"), "XML whose root is mods"),
    (b"<html><body>words</body></html>", "HTML without any class of hOCR"),
    (b" \n\t\n", "empty but for white space"),
    (b"\x00\x01\x02\x03" * 9, "made of bytes that are no text"),
]


@pytest.mark.parametrize(
    ("data", "words"), FILES, ids=[f"{words} {at}" for at, (_, words) in enumerate(FILES)]
)
def test_the_refusal_names_what_the_file_seems_to_be(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=f"no format that can be read here: it seems to be {words}") as refusal:
        open_layout(Engine(), data, "a.xml")
    assert refusal.value.detail.endswith("Name the format if it is one of them.")


def test_what_nothing_tells_is_not_named() -> None:
    assert seems(b"\xff\x01" * 40) is None
