"""Reads FineReader XML 6 to 10: blocks with paragraphs and lines, tables with cells, pictures, separators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from armarium.api import Invalid, parse_xml
from armarium_formats.abbyy.characters import Characters
from armarium_formats.abbyy.values import box_of, language_of, outline_of, shapes_of
from armarium_formats.markup.fragments import attributes_in, keep, local_name, namespace_of
from armarium_formats.markup.noting import Ids, Notes
from armarium_formats.numbers import parse_number
from armarium_formats.page_model import PageModel, PageSegment, keep_for, kept_by
from armarium_formats.points import require_countable
from armarium_formats.shapes import corners

if TYPE_CHECKING:
    from lxml import etree

MAX_SPAN: Final = 1000
MAX_CELLS: Final = 200_000
_BOX: Final = frozenset({"l", "t", "r", "b"})


def read(data: bytes, name: str) -> list[PageModel]:
    """Return the pages of a FineReader file; Invalid with the reason."""
    root = parse_xml(data, name=name)
    if (root_name := local_name(str(root.tag))) != "document":
        raise Invalid(
            f"{name} is not FineReader XML: its root element is {root_name}, not document.", code="not_abbyy"
        )
    require_countable(name, lambda: shapes_of(root))
    namespace = namespace_of(root)
    version = namespace.rpartition("/")[2].removesuffix(".xml") or None
    pages = [child for child in root if local_name(str(child.tag)) == "page"]
    if not pages:
        raise Invalid(
            f"{name} is FineReader XML without a page element; there is nothing to read.", code="no_page"
        )
    attributes = attributes_in(root)
    attributes.pop("schemaLocation", None)
    others = [
        keep(child) for child in root if isinstance(child.tag, str) and local_name(str(child.tag)) != "page"
    ]
    models = [_Page(element).model for element in pages]
    for model in models:
        model.version = version
        extras = model.extras.setdefault("abbyy", {})
        if attributes:
            extras["document"] = attributes
            model.kept |= {f"attribute document/@{key}": 1 for key in attributes}
        if model.language is None and attributes.get("mainLanguage"):
            model.language = language_of(attributes["mainLanguage"])
        if "FineReader" not in namespace:
            model.notes.append("The file names no FineReader namespace.")
    if others:
        models[0].extras["abbyy"]["elements"] = others
        models[0].kept |= {"other elements of the document": len(others)}
    return models


class _Page:
    """One page while it is being read."""

    def __init__(self, element: etree._Element) -> None:
        self.notes = Notes()
        self.ids = Ids(by_word=True)
        self.cells = 0
        self.model = PageModel(self._size(element, "width"), self._size(element, "height"))
        attributes = self._attributes(element, {"width", "height"})
        fragments: list[str] = []
        for child in element:
            if local_name(str(child.tag)) == "block":
                self.model.segments.append(self._block(child))
            elif isinstance(child.tag, str):
                fragments.append(keep(child))
                self.notes.kept[f"element page/{local_name(child.tag)}"] += 1
        extras: dict[str, Any] = {}
        if attributes:
            extras["page"] = attributes
        if fragments:
            extras["page_elements"] = fragments
        if extras:
            self.model.extras["abbyy"] = extras
        self.model.kept = dict(+self.notes.kept)
        self.model.notes = self.notes.sentences()

    def _size(self, element: etree._Element, key: str) -> int:
        value = parse_number(element.get(key))
        if value is None or value < 1:
            self.notes.note(f"The page states no {key} in pixels")
            return 0
        return round(value)

    def _attributes(
        self, element: etree._Element, without: set[str] | frozenset[str] = _BOX
    ) -> dict[str, str]:
        attributes = {key: value for key, value in attributes_in(element).items() if key not in without}
        self.notes.count_attributes(local_name(str(element.tag)), attributes)
        return attributes

    def _unique_id(self, kind: str, identity: str | None = None) -> str:
        """Return the stated id if it is the first of that name, else one made from the kind and a number."""
        return identity if identity and self.ids.claim(identity) else self.ids.make(kind)

    def _keep(self, segment: PageSegment, key: str, value: Any) -> None:
        if value:
            keep_for("abbyy", segment, key, value)

    def _add(self, segment: PageSegment, key: str, value: dict[str, str]) -> None:
        """Append to a list of several things of a kind."""
        kept = kept_by("abbyy", segment).get(key)
        if kept is None:
            self._keep(segment, key, [value])
        else:
            kept.append(value)

    # ------------------------------------------------------------------------------------------ blocks

    def _block(self, element: etree._Element) -> PageSegment:
        kind = element.get("blockType") or "Unknown"
        segment = PageSegment(self._unique_id("region", element.get("pageElemId")), "region", kind)
        box = box_of(element)
        segment.points = corners(box) if box is not None else []
        fragments: list[str] = []
        rows = 0
        open_columns: dict[int, int] = {}
        for child in element:
            name = local_name(str(child.tag))
            if name == "region":
                rectangles = [
                    rectangle for rectangle in map(box_of, child.iter("{*}rect")) if rectangle is not None
                ]
                if rectangles and (len(rectangles) > 1 or box is None):
                    segment.points = outline_of(rectangles)
                    self._keep(
                        segment,
                        "rectangles",
                        [list(rectangle) for rectangle in rectangles] if len(rectangles) > 1 else None,
                    )
            elif name == "text":
                self._text(child, segment)
            elif name == "row":
                self._row(child, segment, rows, open_columns)
                rows += 1
            elif name == "separator":
                self._separator(child, segment)
            elif name == "separatorsBox":
                for separator in child.iter("{*}separator"):
                    inner = PageSegment(self._unique_id("region"), "region", "Separator")
                    self._separator(separator, inner)
                    segment.children.append(inner)
            elif isinstance(child.tag, str):
                fragments.append(keep(child))
                self.notes.kept[f"element block/{name}"] += 1
        if not segment.points:
            self.notes.note(f"A {kind} block has no bounding box")
        self._keep(segment, "attributes", self._attributes(element, _BOX | {"blockType", "pageElemId"}))
        self._keep(segment, "elements", fragments)
        return segment

    def _separator(self, element: etree._Element, segment: PageSegment) -> None:
        """Read a ruled line from start to end; its thickness gives the outline if the block draws none."""
        ends: list[tuple[float, float]] = []
        for child in element:
            x, y = parse_number(child.get("x")), parse_number(child.get("y"))
            if local_name(str(child.tag)) in ("start", "end") and x is not None and y is not None:
                ends.append((x, y))
        half = max(parse_number(element.get("thickness")) or 1, 1) / 2
        self._keep(segment, "separator", {**self._attributes(element), "ends": ends})
        if len(ends) == 2 and not segment.points:
            (x0, y0), (x1, y1) = ends
            aside = half if abs(x1 - x0) < abs(y1 - y0) else 0.0
            up = 0.0 if aside else half
            segment.points = corners(
                (min(x0, x1) - aside, min(y0, y1) - up, max(x0, x1) + aside, max(y0, y1) + up)
            )

    def _row(self, element: etree._Element, table: PageSegment, row: int, rows_held: dict[int, int]) -> None:
        """Read the cells of a row; `held` says for how many more rows a column is occupied by a cell
        above.
        """
        column = 0
        self._count(len(rows_held))
        for child in element:
            if local_name(str(child.tag)) != "cell":
                continue
            while column in rows_held:
                self._pass_by(rows_held, column)
                column += 1
            spans = [self._span(child, key) for key in ("rowSpan", "colSpan")]
            self._count(spans[1])
            cell = PageSegment(self._unique_id("region"), "region", "cell")
            cell.cell = {"row": row, "column": column, "row_span": spans[0], "column_span": spans[1]}
            for part in child:
                if local_name(str(part.tag)) == "text":
                    self._text(part, cell)
            self._keep(cell, "attributes", self._attributes(child, frozenset({"rowSpan", "colSpan"})))
            table.children.append(cell)
            for _ in range(spans[1]):
                if spans[0] > 1:
                    rows_held[column] = spans[0] - 1
                column += 1
        for later in [place for place in rows_held if place >= column]:
            self._pass_by(rows_held, later)

    def _count(self, places: int) -> None:
        """Count the table positions walked: bounded, because a span is an arbitrary number."""
        self.cells += places
        if self.cells > MAX_CELLS:
            raise Invalid(
                f"A table of the file has more than {MAX_CELLS:,} cells; that is not a page.",
                code="table_too_large",
            )

    @staticmethod
    def _pass_by(rows_held: dict[int, int], column: int) -> None:
        rows_held[column] -= 1
        if not rows_held[column]:
            del rows_held[column]

    def _span(self, element: etree._Element, key: str) -> int:
        number = parse_number(element.get(key, "1"))
        if number is None or not 1 <= number <= MAX_SPAN:
            self.notes.note(f"A cell states the {key} {str(element.get(key))[:20]!r}; 1 was used instead")
            return 1
        return int(number)

    # ------------------------------------------------------------------------------------------- text

    def _text(self, element: etree._Element, into: PageSegment) -> None:
        orientation = element.get("orientation", "Normal")
        attributes = self._attributes(element)
        if attributes:
            self._add(into, "texts", attributes)
        for child in element:
            name = local_name(str(child.tag))
            if name == "par":
                self._paragraph(child, into, orientation == "Normal")
            elif name == "line":
                into.children.append(self._line(child, orientation == "Normal"))

    def _paragraph(self, element: etree._Element, into: PageSegment, upright: bool) -> None:
        lines = [child for child in element if local_name(str(child.tag)) == "line"]
        attributes = self._attributes(element)
        if not lines:
            self.notes.kept["empty paragraphs"] += 1
            self._add(into, "empty_paragraphs", attributes)
            return
        segment = PageSegment(self._unique_id("region", attributes.get("id")), "region", "par")
        self._keep(segment, "attributes", attributes)
        segment.children = [self._line(child, upright) for child in lines]
        into.children.append(segment)

    def _line(self, element: etree._Element, upright: bool) -> PageSegment:
        line = PageSegment(self._unique_id("line"), "line")
        box = box_of(element)
        attributes = self._attributes(element)
        if box is not None:
            line.points = corners(box)
            baseline = parse_number(attributes.get("baseline"))
            if baseline is not None and upright and box[1] <= baseline <= 2 * box[3] - box[1]:
                line.baseline = [(box[0], baseline), (box[2], baseline)]
                del attributes["baseline"]
                self.notes.kept["attribute line/@baseline"] -= 1
            elif baseline is not None:
                self.notes.note(
                    "A line's baseline is outside the line and is kept as stated"
                    if upright
                    else "The baseline of a rotated line is kept as stated"
                )
        else:
            self.notes.note("A line has no bounding box")
        characters = Characters(self.notes, line)
        for child in element:
            if local_name(str(child.tag)) == "formatting":
                characters.formatting(child)
        characters.finish()
        for word in line.children:
            word.id = self._unique_id("word")
        self._keep(line, "attributes", attributes)
        return line
