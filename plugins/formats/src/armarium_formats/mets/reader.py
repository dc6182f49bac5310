"""Reads METS 1 and 2: the pages of the physical structure with their image and layout files, in order.

Knows the habits of OCR-D, DFG, Gallica and newspapers (METS/ALTO): groups by USE, several groups per page,
files referenced from below a page (`par`, `seq`, `area`), pages without a physical structure but with
GROUPIDs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from armarium.api import Invalid, parse_xml
from armarium_formats.batches.names import (
    called_picture,
    last_part,
    layout_stems,
    picture_keys,
    plain,
    spelled_alike,
)
from armarium_formats.decoding import head_of
from armarium_formats.markup.fragments import local_name
from armarium_formats.markup.noting import Notes
from armarium_formats.mets.describing import Description, describe
from armarium_formats.mets.hrefs import RefusedHref, list_fewer, local_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

_ROOT = re.compile(rb"<(?:[\w.-]+:)?mets[\s>/]")
_IMAGE = re.compile(r"\.(?:jpe?g|tiff?|png|jp2|j2k|jpx|webp|gif|bmp|pdf)$", re.IGNORECASE)
_LAYOUT = re.compile(r"\.(?:xml|alto|page|hocr|html?|tei)$", re.IGNORECASE)
_LAYOUT_TYPES = re.compile(r"xml|html|hocr|alto|prima", re.IGNORECASE)
_BEST = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"original|^(?:ocr-d-)?(?:img|images?)$",
        r"default",
        r"presentation",
        r"max",
        r"master|archive",
    )
)
"""What the fileGrps of a page's picture are called, the one to show first; those of no such name come after them."""

_LAST = re.compile(
    r"thumb|^min$|preview|teaser|download|[-_ ](?:bin|crop|desp|deskew|denois|dewarp|seg|cut)", re.IGNORECASE
)

MAX_LABEL = 2000
"""Characters of a page's label, as a document takes them."""

_PAGE_TYPES = frozenset({"page", "folio", "leaf", "side", "scan", "image", "surface"})


@dataclass(frozen=True, slots=True)
class MetsPage:
    """A page of a METS file: paths relative to it. `images` has the best first; `order` counts from 1; `label` is its
    ORDERLABEL, else its LABEL; `groups` are the USE of the fileGrp of each of its layouts; `elsewhere` names the pictures at
    refused addresses: one of the same name may be here."""

    images: tuple[str, ...]
    layouts: tuple[str, ...]
    label: str
    order: int
    groups: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()

    @property
    def image(self) -> str | None:
        """The image to show, None when the page has no local one."""
        return self.images[0] if self.images else None


@dataclass(slots=True)
class Mets:
    """What a METS file states about its pages. `unplaced` are local images and layouts that no page names."""

    pages: list[MetsPage] = field(default_factory=list)
    refused: list[RefusedHref] = field(default_factory=list)
    elsewhere: int = 0
    """How many files were refused; many of one reason stand in `refused` as one."""
    unplaced: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    description: Description = field(default_factory=Description)


@dataclass(slots=True)
class _File:
    identity: str
    path: str
    role: str
    use: str
    group: str
    place: int
    used: bool = False


@dataclass(slots=True)
class _Page:
    files: list[_File]
    label: str = ""
    identity: str = ""
    elsewhere: list[str] = field(default_factory=list)
    """The names of files that are not taken."""


def sniff_mets(data: bytes) -> bool:
    """Return whether the bytes begin like a METS file (or an OAI answer that contains one)."""
    head = head_of(data)
    return _ROOT.search(head) is not None and b"loc.gov/METS" in head


def read_mets(data: bytes, name: str = "mets.xml") -> Mets:
    """Return the pages of a METS file in order; `Invalid` naming *name*. Nothing is opened or fetched."""
    root = parse_xml(data, name=name)
    notes: list[str] = []
    if _name(root) != "mets":
        inside = next((element for element in root.iter("{*}mets")), None)
        if inside is None:
            raise Invalid(
                f"{name} is not METS: its root element is {_name(root)}, not mets.", code="not_mets"
            )
        notes.append(f"The METS is inside a {_name(root)} element.")
        if (more := sum(1 for _ in root.iter("{*}mets")) - 1) > 0:
            notes.append(f"{more} more METS are in the same file; only the first was read.")
        root = inside
    return _Reading(root, name, notes).read()


class _Reading:
    def __init__(self, root: etree._Element, name: str, notes: list[str]) -> None:
        self.root = root
        self.name = name
        self.mets = Mets(notes=notes)
        self.files: dict[str, _File | None] = {}
        self.refused_names: dict[str, str] = {}
        """By the ID of a file whose address is refused."""
        self.strange = Notes()

    def read(self) -> Mets:
        mets = self.mets
        self._files()
        if not self.files:
            raise Invalid(
                f"{self.name} names no files (it has no fileSec, or an empty one), so it cannot be used for "
                "pairing.",
                code="no_files",
            )
        pages = self._from_structure() or self._from_group_ids() or self._from_names()
        of_div: dict[str, int] = {}
        of_file: dict[str, int] = {}
        for page in pages:
            for file in page.files:
                file.used = True
            images = sorted((file for file in page.files if file.role == "image"), key=_rank)
            layouts = {file.path: file.use.strip() for file in page.files if file.role == "layout"}
            if images or layouts or page.elsewhere:
                number = len(mets.pages) + 1
                of_div[page.identity] = number
                of_file |= {file.identity: number for file in page.files}
                mets.pages.append(
                    MetsPage(
                        tuple(dict.fromkeys(image.path for image in images)),
                        tuple(layouts),
                        page.label,
                        number,
                        tuple(layouts.values()),
                        tuple(filter(called_picture, page.elsewhere)),
                    )
                )
        mets.description = describe(self.root, of_div, of_file)
        mets.elsewhere = len(mets.refused)
        mets.refused = list_fewer(mets.refused)
        mets.unplaced = [
            file.path
            for file in self.files.values()
            if file is not None and not file.used and file.role != "other"
        ]
        mets.notes += self.strange.sentences()
        return mets

    # ----------------------------------------------------------------------------------------- files

    def _files(self) -> None:
        for group in self.root.iterfind("{*}fileSec/{*}fileGrp"):
            self._group(group, "")
        for _ in self.root.iter("{*}FContent"):
            self.strange.note("A file is embedded in the METS file itself; it is not extracted")
        for _ in self.root.iter("{*}mptr"):
            self.strange.note("A part points to another METS file, which is not followed")

    def _group(self, group: etree._Element, use: str) -> None:
        stack = [(group, use)]
        while stack:
            element, above = stack.pop()
            own = element.get("USE") or above or (element.get("ID") or "")
            for child in element:
                if _name(child) == "file":
                    self._file(child, own)
                    stack += [(child, own)] if any(_name(element) == "file" for element in child) else []
            stack += [(child, own) for child in reversed(element) if _name(child) == "fileGrp"]

    def _file(self, element: etree._Element, use: str) -> None:
        hrefs = [_href(location) for location in element.iterchildren("{*}FLocat")]
        if not hrefs:
            return
        identity = element.get("ID") or f"file without ID {len(self.files) + 1}"
        if identity in self.files:
            self.strange.note(f"The file ID {identity} occurs more than once; the first counts")
            return
        refused: list[RefusedHref] = []
        for href in hrefs:
            path, why = local_path(href)
            if why is None:
                own = element.get("USE") or use
                self.files[identity] = _File(
                    identity,
                    path,
                    _role(element.get("MIMETYPE") or "", path),
                    own,
                    element.get("GROUPID") or "",
                    len(self.files),
                )
                return
            refused.append(RefusedHref(href.strip(), why))
        self.files[identity] = None
        self.refused_names[identity] = unquote(last_part(refused[0].href))
        self.mets.refused += refused

    # ----------------------------------------------------------------------------------------- pages

    def _from_structure(self) -> list[_Page]:
        maps = self.root.findall("{*}structMap") or self.root.findall("{*}structSec/{*}structMap")
        physical = [element for element in maps if (element.get("TYPE") or "").casefold().startswith("phys")]
        logical = [element for element in maps if (element.get("TYPE") or "").casefold().startswith("log")]
        others = [element for element in maps if element not in physical and element not in logical]
        for group in (physical, others, logical):
            pages = [page for element in group for page in self._pages(element)]
            if pages:
                if group is logical:
                    self.strange.note("There is no physical structure; the order is that of the logical one")
                return pages
        return []

    def _pages(self, struct: etree._Element) -> list[_Page]:
        divs = list(self._order_divs(struct))
        chosen = [element for element in divs if (element.get("TYPE") or "").casefold() in _PAGE_TYPES]
        outermost = set(chosen)
        chosen = [
            element for element in chosen if not any(above in outermost for above in element.iterancestors())
        ]
        if not chosen:
            chosen = [element for element in divs if any(_name(child) == "fptr" for child in element)]
            holding = set(chosen)
            # A volume's own fptr names whole-volume files (a PDF, a cover) when pages stand below it.
            above_others = {up for element in chosen for up in element.iterancestors() if up in holding}
            chosen = [element for element in chosen if element not in above_others]
        pages = []
        for element in chosen:
            files: dict[int, _File] = {}
            elsewhere: list[str] = []
            for identity in _pointers(element):
                if identity not in self.files:
                    self.strange.note(f"A page points to the file {identity}, which does not exist")
                elif (file := self.files[identity]) is not None:
                    files.setdefault(file.place, file)
                else:
                    elsewhere.append(self.refused_names[identity])
            labels = [" ".join((element.get(name) or "").split()) for name in ("ORDERLABEL", "LABEL")]
            # A page that has no number of its own has a dash for one in many libraries' files.
            label = next((label for label in labels if label.strip("-–—")), "")
            pages.append(_Page(list(files.values()), label[:MAX_LABEL], element.get("ID") or "", elsewhere))
        return pages

    def _order_divs(self, struct: etree._Element) -> Iterator[etree._Element]:
        """Order divs, siblings by their ORDER if each states a distinct one."""
        stack = self._brothers(struct)[::-1]
        while stack:
            div = stack.pop()
            yield div
            stack += self._brothers(div)[::-1]

    def _brothers(self, parent: etree._Element) -> list[etree._Element]:
        divs = list(parent.iterchildren("{*}div"))
        orders = [(element.get("ORDER") or "").strip() for element in divs]
        if not any(orders):
            return divs
        if all(re.fullmatch(r"-?\d{1,9}", order) for order in orders) and len(set(orders)) == len(orders):
            return [
                div for _, div in sorted(zip(map(int, orders), divs, strict=True), key=lambda pair: pair[0])
            ]
        self.strange.note(
            "Parts state an ORDER twice, or only some of them state one; their sequence in the file was kept"
        )
        return divs

    def _from_group_ids(self) -> list[_Page]:
        """Without a structure: files of one GROUPID are a page, in the sequence of the file."""
        pages: dict[str, list[_File]] = {}
        for file in self.files.values():
            if file is not None and file.group:
                pages.setdefault(file.group, []).append(file)
        if pages:
            self.strange.note("There is no structMap with pages; files with the same GROUPID were grouped")
        return [_Page(files) for files in pages.values()]

    def _from_names(self) -> list[_Page]:
        """Without a structure or GROUPIDs: the images of the best group are the pages, files of their names belong to them."""
        files = [file for file in self.files.values() if file is not None]
        images = [file for file in files if file.role == "image"]
        if not images:
            return []
        best = min(images, key=_rank).use
        pages = {image.place: _Page([image]) for image in images if image.use == best}
        pages_by_name: dict[str, list[_Page]] = {}
        for page in pages.values():
            for key in picture_keys(page.files[0].path.rpartition("/")[2]):
                pages_by_name.setdefault(key, []).append(page)
        for file in files:
            own = file.path.rpartition("/")[2]
            keys = layout_stems(own) if file.role == "layout" else [own, *picture_keys(own)]
            match = next((key for key in keys if plain(key) in pages_by_name), None)
            candidates = pages_by_name[plain(match)] if match else []
            of = spelled_alike(match or "", candidates, lambda page: last_part(page.files[0].path))
            if file.place not in pages and file.role != "other" and len(of) == 1:
                of[0].files.append(file)
        self.strange.note("There is no structMap with pages; the order is that of the files")
        return list(pages.values())


def _name(element: etree._Element) -> str:
    return local_name(str(element.tag))


def _href(element: etree._Element) -> str:
    attributes = element.attrib.items()
    return next((str(value) for key, value in attributes if local_name(str(key)) in ("href", "LOCREF")), "")


def _pointers(page: etree._Element) -> Iterator[str]:
    """Return the file ids that a page and its parts reference, in sequence."""
    for element in page.iter("{*}fptr", "{*}area"):
        if identity := element.get("FILEID"):
            yield identity


def _role(mimetype: str, path: str) -> str:
    kind = mimetype.casefold()
    if kind.startswith("image/"):
        return "other" if "svg" in kind else "image"
    if kind and _LAYOUT_TYPES.search(kind):
        return "layout"
    if _IMAGE.search(path) and kind in ("", "application/octet-stream"):
        return "image"
    return (
        "layout"
        if _LAYOUT.search(path) and kind in ("", "application/octet-stream", "text/plain")
        else "other"
    )


def _rank(file: _File) -> tuple[int, int]:
    use = file.use.strip()
    if _LAST.search(use):
        return len(_BEST) + 1, file.place
    return next((at for at, words in enumerate(_BEST) if words.search(use)), len(_BEST)), file.place
