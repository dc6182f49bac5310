"""The refusal of a file that no driver reads names what the file seems to be."""

from __future__ import annotations

import gzip
import random

import pytest

from armarium.api import Engine
from armarium.errors import Invalid
from armarium_formats.file_guess import seems
from armarium_formats.opening import open_layout

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
    (b"\x00\x01\x02\x03" * 9, "made of bytes that are not text"),
]


@pytest.mark.parametrize(
    ("data", "words"), FILES, ids=[f"{words} {at}" for at, (_, words) in enumerate(FILES)]
)
def test_the_refusal_names_what_the_file_seems_to_be(data: bytes, words: str) -> None:
    with pytest.raises(
        Invalid, match=f"not in a format that can be read here: it seems to be {words}"
    ) as refusal:
        open_layout(Engine(), data, "a.xml")
    assert refusal.value.detail.endswith("Name the format if it is one of them.")


LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
PLACEHOLDERS: list[tuple[str, bytes, str]] = [
    ("0001.xml", LFS, "a placeholder of Git LFS"),
    ("0001.gt.txt", LFS, "a placeholder of Git LFS"),
    ("0001.xml", b"../page/0001.xml", "what Git stores for a link"),
    ("0001.txt", b"../../gt/0001.gt.txt\n", "what Git stores for a link"),
    ("0001.xml", b"0002.xml", "a placeholder or a truncated file: it ends in .xml and contains no markup"),
    ("0001.hocr", b"Dear Sir", "a placeholder or a truncated file: it ends in .hocr"),
    ("0001.HTML", b"Dear Sir,\nI write", "a placeholder or a truncated file"),
    ("0001.alto", b"Dear Sir", "a placeholder or a truncated file"),
    ("a.rtf", b"{\\rtf1\\ansi\\deff0 Dear Sir\\par I write}", "RTF; save it as plain text"),
    ("a.txt", b"\n%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n", "a PDF"),
    ("a.txt", b'file,line,text\n0001.jpg,1,Dear Sir\n0001.jpg,2,"I write, to you"\n', "a table"),
    ("a.txt", b"a;b;c\n1;2;3\n", "a table"),
    ("a.txt", b"a\tb\tc\n1\t2\t3\n", "a table"),
    ("a.csv", b"words\nDear Sir\n", "a table"),
    ("a.txt", random.Random(7).randbytes(2000), "made of bytes that are not text"),
    (
        "a.txt",
        bytes(range(0xA1, 0x100)) * 20,
        "made of bytes that are not text, or a text in an unknown encoding",
    ),
]


@pytest.mark.parametrize(("name", "data", "words"), PLACEHOLDERS)
def test_what_is_no_prose_becomes_no_transcription(name: str, data: bytes, words: str) -> None:
    with pytest.raises(Invalid) as refusal:
        open_layout(Engine(), data, name)
    assert refusal.value.code == "not_recognised"
    assert f"it seems to be {words}" in refusal.value.detail


PROSE: list[tuple[str, bytes]] = [
    ("a.txt", b"Dear Sir,\nI write to you, as promised, today,\nand send, with this, a book.\n"),
    ("a.txt", b"Pan 12,50\nVino 3,25\nAceite 8,00\n"),
    ("a.txt", b"Pan 12,50 1,20 13,70\nVino 3,25 0,75 4,00\n"),
    ("a.txt", b"Item\tone\nItem\ttwo\n"),
    ("a.txt", b"1/2 of a pound, see p. 3/4.b"),
    ("a", "Señor mío: ¿cómo está?".encode("latin-1")),
    ("a.txt", "Привет".encode()),
    ("a.gt.txt", b"a < b"),
]


@pytest.mark.parametrize(("name", "data"), PROSE)
def test_prose_is_read_as_plain_text(name: str, data: bytes) -> None:
    assert open_layout(Engine(), data, name).driver.name == "plain-text"


def test_a_format_that_is_named_is_taken_at_its_word() -> None:
    assert open_layout(Engine(), b"a;b;c\n1;2;3\n", "a.xml", asked="plain-text").driver.name == "plain-text"


def test_an_unrecognisable_file_is_refused_without_a_name() -> None:
    assert seems(b"neither one nor other") is None
