"""Reads PAGE XML of 2009 to 2024, tolerating what real programs write and noting every deviation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from armarium.api import Invalid, Sign, parse_xml
from armarium_formats.citing import NAME as AS_OF
from armarium_formats.decoding import head_of
from armarium_formats.glyphs import places_of_glyphs
from armarium_formats.kinds import is_furniture
from armarium_formats.markup.fragments import local_name, namespace_of
from armarium_formats.markup.noting import Ids
from armarium_formats.numbers import parse_share, parse_unsigned
from armarium_formats.page_model import PageModel, PageSegment, PageText, Point, keep_for
from armarium_formats.pagexml.dialects import holds_segments, modernise, respell, usual_tags
from armarium_formats.pagexml.keeping import Keeper, points_of
from armarium_formats.pagexml.marking import CUSTOM, MADE, READINGS, STATED, read_marks, said_in
from armarium_formats.pagexml.order_reader import read_order
from armarium_formats.pagexml.text_reader import rank_of, read_text, sort_texts
from armarium_formats.pagexml.vocabulary import (
    LINE_ORDERS,
    VERSIONS,
    direction_of,
    language_names,
    language_of,
    script_names,
    script_of,
)
from armarium_formats.points import parse_points, require_countable, shapes_of

if TYPE_CHECKING:
    from lxml import etree

_REGION_TYPES_IN = ("TextRegion", "GraphicRegion", "ChartRegion", "CustomRegion")
_ROOT = re.compile(rb"<(?:[\w.-]+:)?[pP]c[gG]ts[\s>/]")


def sniff(data: bytes) -> float:
    """Return 1 for a PcGts root in a PAGE namespace, 0.8 for the root alone, else 0."""
    head = head_of(data)
    if not _ROOT.search(head):
        return 0.0
    return 1.0 if b"/PAGE/gts/pagecontent/" in head else 0.8


def read(data: bytes, name: str) -> PageModel:
    """Return the page of a PAGE file; `Invalid` naming *name*."""
    root = parse_xml(data, name=name)
    require_countable(name, lambda: shapes_of(root))
    early = modernise(root)
    if (root_name := local_name(str(root.tag))) != "PcGts":
        raise Invalid(
            f"{name} is not PAGE XML: its root element is {root_name}, not PcGts.", code="not_pagexml"
        )
    namespace = namespace_of(root)
    version = namespace.rpartition("/")[2] if "pagecontent/" in namespace else None
    if version is not None and version < VERSIONS[0]:
        raise Invalid(
            f"{name} is PAGE XML of {version}; versions from {VERSIONS[0]} on are read. "
            "Save it again with a newer program.",
            code="version_not_read",
        )
    page = _Reading(root, namespace, version, name).page
    if early:
        page.notes.insert(
            0, "The file is in the first dialect of PAGE; its names were read as those of later versions."
        )
    return page


class _Reading:
    """One file while it is being read; the page model grows in `page`."""

    def __init__(self, root: etree._Element, namespace: str, version: str | None, name: str) -> None:
        self.ns = f"{{{namespace}}}" if namespace else ""
        self.keeper = Keeper()
        self.ids = Ids(1)
        self.given_back: dict[str, str] = {}
        pages = [child for child in root if child.tag == self.ns + "Page"]
        if not pages:
            raise Invalid(
                f"{name} is PAGE XML without a Page element; there is nothing to read.", code="no_page"
            )
        if len(pages) > 1:
            raise Invalid(
                f"{name} has {len(pages)} Page elements; PAGE XML has exactly one.", code="not_pagexml"
            )
        if version is None:
            self.keeper.note("The file names no PAGE namespace")
        elif version not in VERSIONS:
            self.keeper.note(
                f"The file's namespace {version} is not one this reader knows; it is read like 2019-07-15"
            )
        self.segment_tags = {
            self.ns + "TextLine": "line",
            self.ns + "Word": "word",
            self.ns + "TableCell": "region",
        }
        self.usual = usual_tags(self.ns)
        self.page = self._page(root, pages[0], version)

    # ------------------------------------------------------------------------------------------ page

    def _page(self, root: etree._Element, element: etree._Element, version: str | None) -> PageModel:
        attributes: dict[str, str] = {str(key): str(value) for key, value in element.attrib.items()}
        page = PageModel(
            width=self._size(attributes.pop("imageWidth", None), "imageWidth"),
            height=self._size(attributes.pop("imageHeight", None), "imageHeight"),
            image=str(attributes.pop("imageFilename", None) or ""),
            version=version,
        )
        if not page.image:
            self.keeper.note("The file names no image")
        extras: dict[str, Any] = {}
        fragments: list[str] = []
        order: etree._Element | None = None
        for child in element:
            kind = self._kind(child)
            if kind is not None:
                page.segments.append(self._segment(child, kind))
            elif child.tag == self.ns + "ReadingOrder":
                order = child
            else:
                fragments += self._read_other("Page", child, page.segments, attributes)
        if order is not None:
            page.order = read_order(
                order, {segment.id for segment in page.walk()}, self.given_back, self.keeper
            )
            if order.get("conf") is not None:
                extras["order_conf"] = order.get("conf")
        for child in root:
            if child.tag == self.ns + "Metadata":
                extras["metadata"] = self._metadata(child)
            elif child is not element:
                fragments += self.keeper.element("PcGts", child, attributes)
        # Not before its children: what an earlier export set aside came back into the attributes.
        page.language = language_of(attributes.get("primaryLanguage"))
        page.script = script_of(attributes.get("primaryScript"))
        page.direction = direction_of(attributes)
        page.line_order = LINE_ORDERS.get(attributes.get("textLineOrder", ""))
        if root.get("pcGtsId"):
            extras["pcGtsId"] = root.get("pcGtsId")
        self.keeper.attach("Page", extras, attributes, fragments)
        if extras:
            page.extras["pagexml"] = extras
        page.kept = dict(self.keeper.kept)
        page.notes = self.keeper.sentences()
        return page

    def _size(self, value: str | None, what: str) -> int:
        try:
            size = round(float((value or "").removesuffix("px")))
        except (ValueError, OverflowError):
            size = 0
        if size <= 0:
            self.keeper.note(
                f"The page's {what} is {value!r}, which is not a size in pixels"
                if value
                else f"The page has no {what}"
            )
            return 0
        return size

    def _metadata(self, element: etree._Element) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        attributes = {str(key): str(value) for key, value in element.attrib.items()}
        fragments: list[str] = []
        for child in element:
            name = local_name(str(child.tag))
            if name in ("Creator", "Created", "LastChange") and not len(child):
                metadata[name] = (child.text or "").strip()
            elif name != "MetadataItem" or not (child.get("name") or "").startswith(
                (READINGS, STATED, AS_OF)
            ):
                fragments += self.keeper.element("Metadata", child, attributes)
        self.keeper.attach("Metadata", metadata, attributes, fragments)
        return metadata

    # -------------------------------------------------------------------------------------- segments

    def _kind(self, element: etree._Element) -> str | None:
        tag = str(element.tag)
        kind = self.segment_tags.get(tag)
        if kind is None and tag.startswith(self.ns) and tag.endswith("Region"):
            kind = self.segment_tags[tag] = "region"
        return kind

    def _segment(self, element: etree._Element, kind: str) -> PageSegment:
        namespace, usual = self.ns, self.usual
        name = str(element.tag)[len(namespace) :]
        attributes: dict[str, str] = dict(element.attrib)  # type: ignore[arg-type]
        segment = PageSegment(self._identity(attributes.pop("id", None), kind), kind)  # type: ignore[arg-type]
        fragments: list[str] = []
        extras: dict[str, Any] = {}
        outlined = False
        glyphs: list[etree._Element] = []
        for child in element:
            tag = child.tag
            if tag == namespace + "Coords":
                segment.points = self._points(child, "Coords", extras)
                outlined = True
            elif tag == namespace + "Baseline":
                segment.baseline = self._points(child, "Baseline", extras)
            elif tag == namespace + "TextEquiv":
                segment.texts.append(read_text(child, namespace, self.keeper))
            elif (below := self._kind(child)) is not None:
                segment.children.append(self._segment(child, below))
            elif tag == namespace + "Roles":
                self._roles(child, segment, extras)
            elif kind == "word" and tag == namespace + "Glyph":
                glyphs.append(child)
            elif tag in usual:
                fragments += self.keeper.element(name, child, attributes)
            else:
                fragments += self._read_other(name, child, segment.children, attributes)
        if not segment.points:
            self.keeper.note(f"A {name} {'has an empty outline' if outlined else 'has no Coords'}")
        if len(segment.texts) > 1:
            sort_texts(segment, self.keeper)
        if glyphs:
            glyph_fragments = [
                fragment for glyph in glyphs for fragment in self.keeper.element(name, glyph, attributes)
            ]
            if segment.texts:
                self._glyphs(segment.texts[0], glyphs, glyph_fragments)
            else:
                fragments += glyph_fragments
        if kind != "region" and segment.texts and "\n" in segment.texts[0].text:
            self.keeper.note("The text of a line or word has a line break in it")
        if attributes:
            if "id" in attributes:  # an export of ours had to give another id; the original is taken up again
                original = self._identity(attributes.pop("id"), kind)
                self.given_back[segment.id] = original
                segment.id = original
            self._interpret(name, segment, attributes)
        if name == "CustomRegion" and (segment.kind_raw or "").endswith("Region"):
            pass  # a kind of region that PAGE 2019 has no element for, written by us
        elif name not in ("TextLine", "Word"):
            segment.kind_raw = f"{name}:{segment.kind_raw}" if segment.kind_raw else name
        self.keeper.attach(name, extras, attributes, fragments)
        if extras:
            segment.extras = {"pagexml": extras}
        return segment

    def _glyphs(self, text: PageText, glyphs: list[etree._Element], fragments: list[str]) -> None:
        """Keep the Glyphs of a word with its text, and where its characters stand."""
        keep_for("pagexml", text, "glyphs", fragments)
        signs = []
        for glyph in glyphs:
            coords = glyph.find(self.ns + "Coords")
            readings = [
                (str(equiv.findtext(self.ns + "Unicode") or ""), parse_share(equiv.get("conf")))
                for equiv in sorted(
                    glyph.iterfind(self.ns + "TextEquiv"), key=lambda equiv: rank_of(equiv.attrib)
                )
            ]
            if coords is None or not readings:
                return
            signs.append(Sign(readings[0][0], self._points(coords, "Coords"), readings[0][1], readings[1:]))
        text.places = places_of_glyphs(text.text, signs)

    def _read_other(
        self, parent: str, child: etree._Element, into: list[PageSegment], attributes: dict[str, str]
    ) -> list[str]:
        """Store a child that is not a segment, as fragments; segments under a name PAGE does not have are
        read anyway.
        """
        if child.tag in self.usual or not isinstance(child.tag, str) or not holds_segments(child):
            return self.keeper.element(parent, child, attributes)
        name = local_name(child.tag)
        respell(child, self.ns)
        if (kind := self._kind(child)) is not None:
            self.keeper.note(
                f"The element {name} is not spelled as in PAGE; it is read as {local_name(str(child.tag))}"
            )
            into.append(self._segment(child, kind))
            return []
        self.keeper.note(
            f"The element {name} is not one of PAGE; the lines and regions in it are read as if they were "
            "in its place"
        )
        fragments: list[str] = []
        for part in child:
            if (kind := self._kind(part)) is not None:
                into.append(self._segment(part, kind))
            elif part.tag not in self.usual:
                fragments += self._read_other(parent, part, into, attributes)
        return fragments

    def _identity(self, identity: str | None, kind: str) -> str:
        """Return the id; a missing or duplicate one is made unique, and noted."""
        if identity and self.ids.claim(identity):
            return identity
        self.keeper.note(f"The id {identity} occurs twice" if identity else f"A {kind} has no id")
        return self.ids.make(identity or kind)

    def _points(
        self, element: etree._Element, what: str, extras: dict[str, Any] | None = None
    ) -> list[Point]:
        """Read the points of a shape; its confidence, which the model has no field for, goes into *extras*."""
        if extras is not None and (conf := element.get("conf")) is not None:
            extras[f"{what.lower()}_conf"] = conf
            self.keeper.kept[f"attribute {what}/@conf"] += 1
        value = element.get("points")
        points = parse_points(value) if value else points_of(element)
        if points is None:
            self.keeper.note(f"The points of a {what} are not x,y pairs")
            return []
        if value and points and "," not in value:
            self.keeper.note(f"The points of a {what} have no commas; they were read as pairs")
        return points

    def _interpret(self, name: str, segment: PageSegment, attributes: dict[str, str]) -> None:
        """Consume the attributes that the model has fields for; what it cannot give back exactly stays."""
        kind_of = attributes.get("type") if name in _REGION_TYPES_IN else None
        if kind_of:
            segment.kind_raw = attributes.pop("type")
        custom = attributes.get("custom")
        if custom:
            if MADE.search(custom):
                custom = " ".join(MADE.sub("", custom).split())
            self._custom(custom, segment, attributes)
        if segment.kind == "line" and (index := parse_unsigned(attributes.get("index"))) is not None:
            segment.position = index
        segment.is_furniture = segment.kind == "region" and is_furniture(segment.kind_raw or "")
        if attributes.get("outline") == "none":  # an export of ours: PAGE asks for one, and there was none
            segment.points = []
            del attributes["outline"]
        if attributes.get("furniture") in ("true", "false"):  # an export of ours whose kind does not say so
            segment.is_furniture = attributes.pop("furniture") == "true"
        segment.direction = direction_of(attributes)
        if segment.direction is not None:
            attributes.pop("readingDirection", None)
        segment.line_order = LINE_ORDERS.get(attributes.get("textLineOrder", ""))
        key = "language" if name == "Word" and "language" in attributes else "primaryLanguage"
        if language := language_of(attributes.get(key)):
            segment.language = language
            if language_names().get(language) == attributes[key]:
                del attributes[key]
        if script := script_of(attributes.get("primaryScript")):
            segment.script = script
            if script_names()[script] == attributes["primaryScript"]:
                del attributes["primaryScript"]
        if name == "TableCell":
            self._cell(segment, attributes)

    def _custom(self, custom: str, segment: PageSegment, attributes: dict[str, str]) -> None:
        for word, body in CUSTOM.findall(custom):
            values = said_in(body)
            if word == "readingOrder" and (index := parse_unsigned(values.get("index"))) is not None:
                segment.position = index
            elif word == "structure" and values.get("type") and segment.kind_raw is None:
                segment.kind_raw = values["type"]
        if custom_left := read_marks(custom, segment, self.keeper.note):
            attributes["custom"] = custom_left
        else:
            del attributes["custom"]

    def _cell(self, segment: PageSegment, attributes: dict[str, str]) -> None:
        """Read the cells of Transkribus tables: row, col, rowSpan, colSpan on the element itself."""
        segment.cell = _cell_at(attributes, "row", "col") or segment.cell
        if segment.cell is None:
            return
        for key in ("row", "col", "rowSpan", "colSpan"):
            attributes.pop(key, None)

    def _roles(self, element: etree._Element, segment: PageSegment, extras: dict[str, Any]) -> None:
        for child in element:
            cell = _cell_at(dict(child.attrib), "rowIndex", "columnIndex")
            segment.cell = cell or segment.cell
            if cell is None:
                self.keeper.note("A TableCellRole states no row and column")
            if child.get("header"):
                extras["cell_header"] = child.get("header")
                self.keeper.kept["attribute TableCellRole/@header"] += 1


def _cell_at(attributes: Mapping[Any, Any], row: str, column: str) -> dict[str, int] | None:
    """Return the position of a table's cell from attributes; None if one of its numbers is invalid."""
    numbers = [
        parse_unsigned(attributes.get(name, usual))
        for name, usual in ((row, ""), (column, ""), ("rowSpan", "1"), ("colSpan", "1"))
    ]
    names = ("row", "column", "row_span", "column_span")
    cell = {name: number for name, number in zip(names, numbers, strict=True) if number is not None}
    return cell if len(cell) == len(names) else None
