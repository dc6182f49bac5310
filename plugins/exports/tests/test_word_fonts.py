"""Words in letters that a machine may lack are set in our fonts in a Word file, which carries them."""

from __future__ import annotations

import io
import shutil
import subprocess
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest
import uharfbuzz
from lxml import etree

from armarium.api import bundled_fonts
from armarium_exports.pages import Block, Line, ReadablePage
from armarium_exports.rendering.word import word

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
TEXTS = ["In ꝓncipio ⁊ erat", "قال الملك", "漢字 and more", "Plain, née"]


def write(texts: list[str], **more: Any) -> bytes:
    return word("A page", [ReadablePage("d", "A page", [Block([Line(text) for text in texts])], **more)])


def runs_of(data: bytes) -> list[tuple[str, str | None]]:
    """The text of each run with the font it names for all kinds of letters."""
    tree = etree.fromstring(zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml"))
    found = []
    for run in tree.iter(f"{W}r"):
        named = run.find(f"{W}rPr/{W}rFonts")
        kinds = (
            {named.get(f"{W}{kind}") for kind in ("ascii", "hAnsi", "eastAsia", "cs")}
            if named is not None
            else {None}
        )
        assert len(kinds) == 1
        found.append(("".join(text.text or "" for text in run.iter(f"{W}t")), kinds.pop()))
    return found


def test_words_are_set_in_the_font_that_has_their_letters() -> None:
    runs = runs_of(write(TEXTS))
    assert runs[-11:] == [
        ("In ", None), ("ꝓncipio", "Cardo"), (" ", None), ("⁊", "Cardo"), (" erat", None),
        ("قال", "Amiri"), (" ", None), ("الملك", "Amiri"),
        ("漢字", "Noto Sans CJK JP"), (" and more", None), ("Plain, née", None),
    ]  # fmt: skip


def test_the_file_carries_the_fonts_hidden_by_their_keys_of_the_large_one_a_part() -> None:
    """As ECMA-376 says (part 4, font embedding): the first 32 bytes combined with the key, read from its end."""
    data = write(TEXTS)
    assert data == write(TEXTS)
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert b"embedTrueTypeFonts" in archive.read("word/settings.xml")
    table = etree.fromstring(archive.read("word/fontTable.xml"))
    links = etree.fromstring(archive.read("word/_rels/fontTable.xml.rels"))
    targets = {link.get("Id"): link.get("Target") for link in links}
    files = {font.family: font.path.read_bytes() for font in bundled_fonts()}
    carried = {}
    for font in table.iter(f"{W}font"):
        entry = font.find(f"{W}embedRegular")
        if entry is not None:
            hidden = archive.read(f"word/{targets[entry.get(f'{R}id')]}")
            key = uuid.UUID(str(entry.get(f"{W}fontKey")).strip("{}")).bytes[::-1]
            shown = bytes(one ^ key[place % 16] for place, one in enumerate(hidden[:32])) + hidden[32:]
            carried[font.get(f"{W}name")] = shown
    part = carried.pop("Noto Sans CJK JP")
    assert carried == {family: files[family] for family in ("Cardo", "Amiri")}
    face = uharfbuzz.Face(uharfbuzz.Blob(part))
    assert {*"漢字"} <= {chr(unicode) for unicode in face.unicodes}
    assert len(part) < 100_000
    # By this name a run asks for it.
    assert face.get_name(1) == "Noto Sans CJK JP"
    plain = zipfile.ZipFile(io.BytesIO(write(["Plain, née"])))
    assert not [name for name in plain.namelist() if "odttf" in name]


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice is missing: install the package libreoffice-writer"
)
def test_libreoffice_draws_with_the_fonts_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(write(TEXTS))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [
        "soffice",
        profile,
        "--headless",
        "--convert-to",
        "pdf",
        "--outdir",
        str(tmp_path),
        str(tmp_path / "a.docx"),
    ]
    process = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert b"+Cardo" in pdf
    assert b"+Amiri" in pdf
    assert b"+NotoSansCJKjp" in pdf
