"""The rules of each receiver, with the address of their documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from armarium_exports.errors import unknown_receiver


@dataclass(frozen=True)
class Profile:
    """How a program expects its files. Folders are relative to the one written."""

    name: str
    label: str
    rules: tuple[str, ...]
    source: str
    images: str
    """The folder of the pictures; "" for the one written itself."""
    layouts: str = ""
    """The folder of the layout files."""
    format: Literal["pagexml", "alto", "plain-text"] = "pagexml"
    image_path: Literal["name", "from-root"] = "name"
    """How a layout file refers to its picture: by its name only, or by its path from the folder written."""
    mets: Literal["ocr-d", "viewer"] | None = None
    needs_baselines: bool = False
    zipped: bool = False
    states_order: bool = False
    """Whether each region, line and word says its place among its siblings in `custom`."""
    table: str = ""
    """The one file about all items, for a program that takes items and no layout files."""

    @property
    def answer(self) -> dict[str, Any]:
        """Return it as answered."""
        return {
            "name": self.name,
            "label": self.label,
            "format": self.format,
            "layout": f"{self.table} and pictures in {self.images}/"
            if self.table
            else f"pictures in {self.images or '.'}/, layout files in {self.layouts or '.'}/"
            + (", a mets.xml" if self.mets else "")
            + (", and a zip of the layout files" if self.zipped else ""),
            "rules": list(self.rules),
            "source": self.source,
        }


_SAME_STEM = "A layout file has the name of its picture, except for the extension."
_PIXELS = "Coordinates are pixels of the upright picture written next to it."

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "escriptorium",
            "eScriptorium",
            rules=(
                "Pictures are imported first, then a zip of PAGE or ALTO files; each is matched by the file "
                "name of its picture.",
                "No two pictures have the same name.",
                _SAME_STEM,
                _PIXELS,
            ),
            source="eScriptorium documentation, Import: https://escriptorium.readthedocs.io/en/latest/import/",
            images="images",
            zipped=True,
        ),
        Profile(
            "transkribus",
            "Transkribus",
            rules=(
                "Pictures are in the folder itself, PAGE files in its folder page.",
                _SAME_STEM,
                "A line has an outline and a baseline; the text belongs to the line.",
                "Regions, lines and words state their place in custom: readingOrder {index:0;}.",
                _PIXELS,
            ),
            source="Transkribus help, Import PAGE XML: https://help.transkribus.org/uploading-files",
            images="",
            layouts="page",
            states_order=True,
        ),
        Profile(
            "ocr-d",
            "OCR-D",
            rules=(
                "A workspace has a mets.xml; each of its files is in a folder named after its file group.",
                "Ids of files begin with the name of their group; a page has one physical div PHYS_n.",
                "imageFilename is the path from the workspace.",
                _PIXELS,
            ),
            source="OCR-D specification, METS and PAGE: https://ocr-d.de/en/spec/mets, https://ocr-d.de/en/spec/page",
            images="OCR-D-IMG",
            layouts="OCR-D-OCR",
            image_path="from-root",
            mets="ocr-d",
        ),
        Profile(
            "kraken",
            "kraken",
            rules=(
                "Pictures and PAGE files are in one folder, and imageFilename names the picture next to it.",
                "A line without a baseline is ignored in training.",
                _SAME_STEM,
                _PIXELS,
            ),
            source="kraken documentation, Training: https://kraken.re/main/ketos.html",
            images="",
            needs_baselines=True,
        ),
        Profile(
            "mets-viewer",
            "a METS viewer",
            rules=(
                "mets.xml has a descriptive section in MODS, a logical and a physical structure, and links between both.",
                "Pictures are in the file group DEFAULT, full texts as ALTO in FULLTEXT.",
                "Coordinates in ALTO are pixels of the picture.",
                _PIXELS,
            ),
            source="DFG Viewer, METS application profile: https://dfg-viewer.de/en/structural-data-set",
            format="alto",
            images="DEFAULT",
            layouts="FULLTEXT",
            mets="viewer",
        ),
        Profile(
            "tropy",
            "Tropy",
            rules=(
                "tropy.json is JSON-LD with the terms of Tropy: a document is an item, its pages are photos.",
                "Paths of photos lead from the folder of tropy.json, and each states the MD5 of its file.",
                "Selections are boxes in pixels of the photo; a transcription has the text and ALTO.",
            ),
            source="The export of Tropy, as its source code writes it: https://github.com/tropy/tropy",
            format="alto",
            images="photos",
            table="tropy.json",
        ),
        Profile(
            "zotero",
            "Zotero",
            rules=(
                "items.rdf is Zotero RDF: a document is an item, its pictures are attachments, texts and notes are notes.",
                "Paths of attachments lead from the folder of items.rdf.",
                "Zotero adds what is imported and updates nothing.",
            ),
            source="Zotero's translators Zotero RDF and RDF: https://github.com/zotero/translators",
            format="plain-text",
            images="files",
            table="items.rdf",
        ),
        Profile(
            "omeka-s",
            "Omeka S",
            rules=(
                "items.csv has a row a document in UTF-8; columns are properties such as dcterms:title, and the text is bibo:content.",
                "Several values of a cell are divided by |, which CSV Import must be told.",
                "The column sideload names the pictures for the module File Sideload.",
            ),
            source="CSV Import, a module of Omeka S: https://github.com/omeka-s-modules/CSVImport",
            format="plain-text",
            images="files",
            table="items.csv",
        ),
    )
}


def profile_named(name: str) -> Profile:
    """Return the profile of a receiver; Invalid lists the existing ones."""
    if name not in PROFILES:
        raise unknown_receiver(name, PROFILES)
    return PROFILES[name]
