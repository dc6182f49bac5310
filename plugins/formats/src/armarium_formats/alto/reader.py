"""Reads ALTO 1 to 4.4, tolerating what real programs write and noting every deviation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from armarium.api import Invalid, parse_xml
from armarium_formats.alto.files import (
    has_blanks_between_strings,
    has_words_without_ids,
    read_chain,
    read_order,
    version_of,
    volumes_of,
)
from armarium_formats.alto.line_reader import read_line
from armarium_formats.alto.marking import font_styles
from armarium_formats.alto.own import OUR_STEPS, TYPE, read_tag
from armarium_formats.alto.profile import SPACES
from armarium_formats.alto.reader_state import Reading, merge
from armarium_formats.alto.shapes import (
    BOX,
    STRANGE_UNITS,
    UNITS,
    Scale,
    read_shape,
    resolution_in,
    shapes_of,
    unit_of,
)
from armarium_formats.decoding import head_of
from armarium_formats.driver import ReadContext
from armarium_formats.kinds import ALTO_BLOCKS, is_furniture, of_alto
from armarium_formats.markup.fragments import local_name
from armarium_formats.numbers import parse_number
from armarium_formats.page_model import PageModel, PageSegment
from armarium_formats.points import require_countable

if TYPE_CHECKING:
    from lxml import etree

_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:alto|ALTO)[\s>/]")
_MOST_INCHES = 120
"""Of a page whose unit is none of ALTO's: one that would be larger counts in pixels."""

_NOMINAL = 300.0
"""Pixels an inch for a page that states neither its resolution nor has a picture."""


def sniff(data: bytes) -> float:
    """Return 1 for an alto root in an ALTO namespace, 0.8 for the root alone, else 0."""
    head = head_of(data)
    match = _ROOT.search(head)
    if not match or head[: match.start()].count(b"<") > head[: match.start()].count(b"<!") + head[
        : match.start()
    ].count(b"<?"):
        return 0.0
    start = head[match.start() : match.start() + 2000]
    return 1.0 if b"standards/alto/" in start or b"/ALTO" in start or b"alto_prod" in start else 0.8


def read(data: bytes, context: ReadContext) -> list[PageModel]:
    """Return the pages of an ALTO file; Invalid with the reason."""
    name = context.filename
    root = parse_xml(data, name=name)
    require_countable(name, lambda: shapes_of(root))
    if local_name(str(root.tag)).lower() != "alto":
        raise Invalid(
            f"{name} is not ALTO: its root element is {local_name(str(root.tag))}, not alto.", code="not_alto"
        )
    return _File(root, context).pages


class _File(Reading):
    """One file while it is being read; its pages are in `pages`."""

    def __init__(self, root: etree._Element, context: ReadContext) -> None:
        super().__init__(context.filename)
        self.context = context
        self.version = version_of(root, self)
        volumes, others = volumes_of(root, self)
        if not any(self.name_of(element) == "Page" for part in volumes for element in part.get("Layout", ())):
            raise Invalid(
                f"{self.name} is ALTO without a Page element; there is nothing to read.", code="no_page"
            )
        self.unit, self.image = "pixel", ""
        self.loose: list[etree._Element] = []
        self.resolution: float | None = None
        self.words_without_ids = has_words_without_ids(root, self)
        self.says_blanks = has_blanks_between_strings(root, self)
        self.pages: list[PageModel] = []
        self.heads: dict[str, etree._Element] = {}
        self.about: dict[str, Any] = {}
        self.leftover: dict[str, Any] = {"elements": others} if others else {}
        for parts in volumes:
            self._volume(parts)
        for page in self.pages:
            page.kept = dict(self.kept)
            page.notes = self.sentences()

    def _volume(self, parts: dict[str, etree._Element]) -> None:
        """Read the pages of one Layout, with ids of their own; shared parts were read with the previous
        one.
        """
        self.ids.taken, self.restored, self.given_back = set(), set(), {}
        if self.heads.get("Description") is not (description := parts.get("Description")) or not self.pages:
            self.unit, self.image, self.resolution = "pixel", "", None
            for key in ("description", "source"):
                self.about.pop(key, None)
            self._describe(description)
        if "Styles" in parts and self.heads.get("Styles") is not parts["Styles"]:
            self.about["styles"] = [
                self.scale.keep(element) for element in parts["Styles"] if isinstance(element.tag, str)
            ]
            self.font_styles = font_styles(self.about["styles"])
            self.kept["element alto/Styles"] += len(self.about["styles"])
        if "Tags" in parts and self.heads.get("Tags") is not parts["Tags"]:
            self._tags(parts["Tags"])
        self.heads = parts
        layout = parts["Layout"]
        self.whole = {**self.about, **self.leftover}
        self.leftover = {}
        if layout.get("STYLEREFS"):
            self.whole["layout"] = {"STYLEREFS": layout.get("STYLEREFS")}
        pages = [self._page(element) for element in layout if self.name_of(element) == "Page"]
        self._orders(pages, parts.get("ReadingOrder"))
        self.pages += pages

    # ------------------------------------------------------------------------------------------ the file

    def _describe(self, element: etree._Element | None) -> None:
        if element is None:
            self.note("The file has no Description; its measures are read as pixels")
            return
        fragments: list[str] = []
        source: list[str] = []
        unit: str | None = None
        for child in element:
            name = self.name_of(child)
            if name == "MeasurementUnit":
                unit = (child.text or "").strip()
            elif name == "sourceImageInformation":
                for part in child:
                    if self.name_of(part) == "fileName" and not self.image:
                        self.image = "".join(part.itertext()).strip()  # type: ignore[arg-type]
                    else:
                        source.append(self.scale.keep(part))
                        self.kept[f"element sourceImageInformation/{self.name_of(part)}"] += 1
            elif not (child.get("ID") or "").startswith(OUR_STEPS):
                fragments.append(self.scale.keep(child))
                self.kept[f"element Description/{name}"] += 1
                for step in child.iter():
                    if (
                        self.resolution is None
                        and isinstance(step.tag, str)
                        and self.name_of(step).endswith("Settings")
                    ):
                        self.resolution = resolution_in(step.text or "")
        if unit is None:
            self.note("The file states no MeasurementUnit; its measures are read as pixels")
        elif unit in UNITS:
            self.unit = unit
        elif (unit_name := unit_of(unit)) is not None:
            self.unit = unit_name
            fault = (
                f"is spelled {unit[:40]!r}" if unit_name in UNITS else f"{unit[:40]!r} is not one of ALTO's"
            )
            self.note(f"The file's MeasurementUnit {fault}; it was read as {unit_name}")
        else:
            self.note(
                f"The file's MeasurementUnit {unit[:40]!r} is not one of ALTO's; its measures are read as "
                "pixels"
            )
        if self.unit == "mm10" and "<softwareName>Transkribus<" in "".join(fragments):
            self.unit = "pixel"
            self.note("Transkribus states mm10 but writes pixels; its measures are read as pixels")
        if not self.image:
            self.note("The file names no image")
        if fragments:
            self.about["description"] = fragments
        if source:
            self.about["source"] = source

    def _tags(self, element: etree._Element) -> None:
        self.tags, self.own = {}, {"page": {}, "segments": {}, "groups": {}}
        for child in element:
            if child.get("TYPE") == TYPE:
                own = read_tag(child)
                if own is None:
                    self.note("A tag of Armarium's cannot be decoded; its content is left out")
                else:
                    self.own = own
                element.remove(child)
        tags = self.read_tags(element)
        if tags:
            self.about["tags"] = [tag.as_json() for tag in tags]
            self.kept["element alto/Tags"] += len(tags)

    def _orders(self, pages: list[PageModel], element: etree._Element | None) -> None:
        everything = {segment.id for page in pages for segment in page.walk()}
        for page in pages:
            if element is not None:
                page.order = read_order(element, {segment.id for segment in page.walk()}, everything, self)
            else:
                page.order = read_chain(page, self)

    # ------------------------------------------------------------------------------------------ a page

    def _page(self, element: etree._Element) -> PageModel:
        attributes = self.attributes(element)
        page = PageModel(*self._measure(attributes), image=self.image, version=self.version)
        extras: dict[str, Any] = {key: value for key, value in self.whole.items() if value}
        page.language = attributes.pop("LANG", None)
        spaces: dict[str, Any] = {}
        elements: list[str] = []
        for child in element:
            name = self.name_of(child)
            if name in SPACES:
                spaces[name] = self._space(name, child, page)
            elif name in ALTO_BLOCKS or name == "TextLine":
                self.note(f"A {name} is in the Page itself, outside its PrintSpace")
                self._block(child, page.segments, None)
            else:
                elements.append(self.scale.keep(child))
                self.kept[f"element Page/{name}"] += 1
        if spaces:
            extras["spaces"] = spaces
        if elements:
            extras["elements"] = [*extras.get("elements", ()), *elements]
        if attributes:
            extras["attributes"] = attributes
            self.count_attributes("Page", attributes, but=("ID", "PHYSICAL_IMG_NR"))
        own = self.own["page"]
        if own:
            self._restore_page(page, extras, own)
        if extras:
            page.extras["alto"] = extras
        return page

    def _restore_page(self, page: PageModel, extras: dict[str, Any], own: dict[str, Any]) -> None:
        for key in ("language", "script", "direction"):
            if key in own:
                setattr(page, key, own[key])
        page.extras.update(own.get("extras") or {})
        if leftover := own.get("alto"):
            merge(extras, leftover)
            attributes = extras.get("attributes") or {}
            for key in [key for key in attributes if "/" in key]:  # those of margins, PrintSpace and Layout
                space, _, name = key.partition("/")
                holder = (
                    extras.setdefault("spaces", {}).setdefault(space, {"attributes": {}})["attributes"]
                    if space in SPACES
                    else extras.setdefault("layout", {})
                )
                text = attributes.pop(key)
                holder[name] = f"{holder[name]} {text}" if name.endswith("REFS") and name in holder else text
        if sequence := own.get("sequence"):
            page.segments = self.resequence(page.segments, sequence)

    def _measure(self, attributes: dict[str, str]) -> tuple[int, int]:
        """Return the page's size in pixels; sets the scale from the file's units to pixels."""
        width, height = (
            self._length(attributes.pop("WIDTH", None), "WIDTH"),
            self._length(attributes.pop("HEIGHT", None), "HEIGHT"),
        )
        self.scale = Scale()
        if self.unit == "pixel":
            return round(width), round(height)
        inch = UNITS.get(self.unit) or STRANGE_UNITS[self.unit]
        if self.unit in STRANGE_UNITS and max(width, height) > _MOST_INCHES * inch:
            self.note(f"No page is {width:g} x {height:g} {self.unit} large; its measures are read as pixels")
            return round(width), round(height)
        picture = self.context.page_size
        if width and height and picture is not None:
            self.scale = Scale(picture[0] / width, picture[1] / height)
            self.note(
                f"The file measures in {self.unit}; its measures were converted to pixels of the page's image"
            )
            if abs(self.scale.across - self.scale.down) > 0.02 * self.scale.across:
                self.note("The proportions of page and image differ, so check whether the shapes fit")
            return picture
        if self.resolution is None and not (width and height):
            raise Invalid(
                f"{self.name} measures in {self.unit} and states neither the size of its page nor a "
                "resolution, so its coordinates cannot be converted to pixels. Save it again with pixels, "
                "or with WIDTH and HEIGHT of the Page.",
                code="unit_unknown",
            )
        dots = self.resolution or _NOMINAL
        self.scale = Scale(dots / inch, dots / inch)
        resolution_words = "as the file states" if self.resolution else "since nothing states how many"
        self.note(
            f"The file measures in {self.unit}; {dots:.0f} pixels per inch were assumed, {resolution_words}"
        )
        return (round(width * dots / inch), round(height * dots / inch)) if width and height else (0, 0)

    def _length(self, value: str | None, what: str) -> float:
        number = parse_number(value)
        if number is None or number <= 0 or number > 10_000_000:
            self.note(
                f"The page's {what} is {value[:40]!r}, which is not a size"
                if value
                else f"The page has no {what}"
            )
            return 0
        return number

    def _space(self, name: str, element: etree._Element, page: PageModel) -> dict[str, Any]:
        attributes = {
            key: self.scale.attribute(key, value) for key, value in self.attributes(element).items()
        }
        self.count_attributes(name, attributes, but=BOX)
        extras: dict[str, Any] = {"attributes": attributes}
        for child in element:
            child_name = self.name_of(child)
            if child_name == "Shape":
                extras["shape"] = self.scale.keep(child)
            else:
                self._block(child, page.segments, name)
        if self.loose:
            self._loose_strings(name, page.segments)
        return extras

    # ------------------------------------------------------------------------------------------ blocks

    def _block(self, element: etree._Element, into: list[PageSegment], space: str | None) -> str | None:
        """Read a block or another element at its place; any other element is returned as a fragment."""
        name = self.name_of(element)
        if name == "TextLine":
            into.append(read_line(element, self))
            if space is not None or not into:
                self.note("A TextLine is outside a TextBlock")
            return None
        if name not in ALTO_BLOCKS:
            if name in ("String", "SP", "HYP"):
                self.loose.append(element)
                return None
            if next(element.iter("{*}TextLine", "{*}TextBlock"), None) is None:
                if space is not None:
                    self.note(f"The element {name} does not belong among blocks; it is left out")
                self.kept[f"element {name}"] += 1
                return self.scale.keep(element)
            self.note(f"The element {name} is not a block of ALTO; it is read like a ComposedBlock")
        attributes = self.attributes(element)
        segment = PageSegment(self.identity(attributes.pop("ID", None), "block"), "region")
        shape: etree._Element | None = None
        elements: list[str] = []
        for child in element:
            if self.name_of(child) == "Shape":
                shape = child
            elif (fragment := self._block(child, segment.children, None)) is not None:
                elements.append(fragment)
        if self.loose:
            self._loose_strings(name, segment.children)
        segment.points, extras = read_shape(name, shape, attributes, self.scale, self)
        label = self.interpret(segment, attributes)
        # Only older dialects have TYPE on a TextBlock: it stays among the attributes, for ALTO 4.4 has no place for it.
        kind = attributes.pop("TYPE", None) if name != "TextBlock" else (label or attributes.get("TYPE"))
        segment.kind_raw = of_alto(name if name in ALTO_BLOCKS else "ComposedBlock", kind or label)
        segment.is_furniture = space in ("TopMargin", "BottomMargin") or _is_furniture(segment.kind_raw)
        if space is not None and space != "PrintSpace":
            extras["space"] = space
        segment.children = [
            child for line in segment.children for child in (line.children if self._wraps(line) else [line])
        ]
        entry = self.own["segments"].get(segment.id)
        self.attach(name, segment, extras, attributes, elements)
        if entry and entry.get("wrapper"):
            into.extend(segment.children)
        else:
            into.append(segment)
        return None

    def _loose_strings(self, name: str, into: list[PageSegment]) -> None:
        """Read Strings where lines belong: one line is put around them."""
        from lxml import etree

        self.note(f"Strings are directly in a {name}; one TextLine was put around them")
        around = etree.Element("TextLine")
        around.extend(self.loose)
        self.loose = []
        into.append(read_line(around, self))

    def _wraps(self, line: PageSegment) -> bool:
        entry = self.own["segments"].get(line.id) if line.kind == "line" else None
        return bool(entry and entry.get("wrapper"))


def _is_furniture(raw: str) -> bool:
    kind = raw.rpartition(":")[2]
    return is_furniture(kind)
