"""Writes TEI P5 in our profile (docs/tei-profile.md): a surface with zones, and text that points at them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from armarium_formats.citing import without_citations
from armarium_formats.driver import WriteContext, WrittenPage
from armarium_formats.markup.fragments import attributes_of, element, lawful, text_of
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.noting import FileWriting
from armarium_formats.numbers import share_text
from armarium_formats.page_model import PageModel, PageSegment, Point, kept_by
from armarium_formats.points import parse_points
from armarium_formats.shapes import bounds, corners
from armarium_formats.tei import text_writer
from armarium_formats.tei.keeping import IDS
from armarium_formats.tei.losses import losses_of
from armarium_formats.tei.marking import Declarations
from armarium_formats.tei.shapes import COORDINATES, figure, points_as
from armarium_formats.tei.vocabulary import (
    NAMESPACE,
    complete,
    image_of,
    is_marginal,
    language_tag,
    style_of,
    type_and_subtype,
    type_in_text,
    url_of,
)

_ATTRIBUTE = re.compile(r"(?:xml:)?[A-Za-z_][\w.-]*")


def write(page: PageModel, context: WriteContext) -> WrittenPage:
    """Return *page* as TEI P5 with its losses."""
    return _Writing(complete(page), context).write()


class _Writing(FileWriting):
    """One file while it is written."""

    def __init__(self, page: PageModel, context: WriteContext) -> None:
        super().__init__(page, context)
        self.image = lawful(page.image).strip()
        self.kept: dict[str, Any] = page.extras.get("tei") or {}
        self.ids = Identities((segment.id for segment in page.walk()), IDS)
        self.identities: dict[int, str] = {}
        self.zone_ids: set[str] = set()
        self.top = _in_order(page)
        self.out: list[str] = []
        self.marks = Declarations(page, self.ids, str(self.kept.get("header") or ""))

    def write(self) -> WrittenPage:
        """Write the file: header, facsimile, text."""
        page, extras = self.page, self.kept
        surface = self.ids.take(str(extras.get("id") or "surface"))
        for segment in self.top:
            self._zone(segment, "\n      ")
        zones, self.out = "".join(self.out), []
        if self.ids.changed:
            self.lose(
                "ids",
                "TEI requires unique ids that begin with a letter; the original is in a note of the zone",
                self.ids.changed,
            )
        self._body(self.top)
        body = "".join(self.out)
        tag = self._language(page, "the page")
        language = {"xml:lang": tag} if tag else {}
        root = {key: value for key, value in (extras.get("root") or {}).items() if _ATTRIBUTE.fullmatch(key)}
        if "xml:id" in root:
            root["xml:id"] = self.ids.take(root["xml:id"])
        pb = {"facs": f"#{surface}", **self._attributes("pb", extras.get("pb"), ())}
        content = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="{NAMESPACE}"{attributes_of(root)}>\n'
            f"{self.marks.header(self._header())}\n{self._fragments(extras.get('beside'))}"
            f"  <facsimile>\n    {self._surface(surface)}{zones}\n    </surface>\n  </facsimile>\n"
            f"  <text{attributes_of(language)}>\n    <body>\n      <pb{attributes_of(pb)}/>{body}\n    </body>\n  </text>\n"
            "</TEI>\n"
        )
        for loss in losses_of(page):
            self.lose(loss.what, loss.why, loss.count)
        return self.written(content)

    # ----------------------------------------------------------------------------------------- header

    def _header(self) -> str:
        header = self.kept.get("header")
        cited = f"<!-- {self.context.citation} -->" * bool(self.context.citation)
        if header:  # A comment leaves names and order of elements as somebody else wrote them.
            before, end, after = without_citations(self.ids.settle(header) or header).rpartition("</")
            return f"  {before}{cited}{end}{after}"
        title, creator = text_of(self.image or "A page"), text_of(self.context.creator)
        if not self.image:
            self.lose("the image's name", "the page names no image, so the header and the surface have none")
        return (
            f"  <teiHeader>\n    <fileDesc>\n      <titleStmt><title>{title}</title></titleStmt>\n"
            f"      <publicationStmt><p>Unpublished; written by {creator}.</p></publicationStmt>\n"
            f"      <sourceDesc><p>{title}</p></sourceDesc>\n    </fileDesc>\n"
            "    <encodingDesc><projectDesc><p>One page: its zones in the facsimile, its lines in the text, "
            "each pointing at its zone.</p></projectDesc></encodingDesc>\n"
            f'    <revisionDesc><change when="{text_of(self.context.created)}">Exported by {creator}.</change>{cited}'
            "</revisionDesc>\n  </teiHeader>"
        )

    # -------------------------------------------------------------------------------------- facsimile

    def _surface(self, identity: str) -> str:
        page = self.page
        attributes = {"xml:id": identity}
        if page.width > 0 and page.height > 0:
            attributes |= {"ulx": "0", "uly": "0", "lrx": str(page.width), "lry": str(page.height)}
        attributes |= self._facts(page, "the page")
        attributes |= self._attributes("surface", self.kept.get("surface"), attributes)
        graphic = ""
        if self.image:
            about = {"url": url_of(self.image)}
            if image_of(about["url"]) != self.image:
                self.lose("the address of the picture", "it had blanks and the like; they became %20")
            if page.width > 0 and page.height > 0:
                about |= {"width": f"{page.width}px", "height": f"{page.height}px"}
            about |= self._attributes("graphic", self.kept.get("graphic"), about)
            graphic = f"\n      <graphic{attributes_of(about)}/>"
        elements = self._fragments(self.kept.get("elements"), "\n")
        return f"<surface{attributes_of(attributes)}>{graphic}{elements}"

    def _zone(self, segment: PageSegment, indent: str) -> None:
        extras: dict[str, Any] = kept_by("tei", segment)
        known = self.ids.of_segment.get(segment.id)
        identity = known if known and known not in self.zone_ids else self.ids.make(segment.id)
        self.zone_ids.add(identity)
        self.identities[id(segment)] = identity
        attributes = {"xml:id": identity}
        kind, subtype = type_and_subtype(segment.kind_raw)
        attributes |= {key: value for key, value in (("type", kind), ("subtype", subtype)) if value}
        attributes |= self._coordinates(segment, extras)
        if segment.confidence is not None:
            attributes["cert"] = share_text(segment.confidence)
        attributes |= self._facts(segment, f"a {segment.kind}")
        attributes |= self._attributes("zone", extras.get("zone"), attributes)
        inner = indent + "  "
        inside = ""
        if identity != segment.id:
            inside += f'{inner}<note type="id">{text_writer.escape_text(segment.id, self.lose)}</note>'
        if len(segment.baseline) > 1:
            path = {"type": "baseline", "points": points_as(segment.baseline)}
            path |= self._attributes("path", extras.get("path"), path)
            inside += f"{inner}<path{attributes_of(path)}/>"
        elif segment.baseline:
            self.lose("a baseline of one point", "TEI requires at least two points")
        inside += self._fragments(extras.get("elements"), inner)
        self.out.append(f"{indent}<zone{attributes_of(attributes)}")
        children = segment.children
        if segment.kind == "word" and children:
            self.lose("parts of a word", "the profile ends at words", len(children))
            children = []
        if not inside and not children:
            self.out.append("/>")
            return
        self.out.append(f">{inside}")
        for child in children:
            self._zone(child, inner)
        self.out.append(f"{indent}</zone>")

    def _coordinates(self, segment: PageSegment, extras: dict[str, Any]) -> dict[str, str]:
        points: Sequence[Point] = segment.points or parse_points(str(extras.get("beyond") or "")) or []
        if not points:
            return {}
        box = bounds(points)
        if len(points) > 2 and list(points) != corners(box):
            return {"points": points_as(points)}
        if len(points) < 3:
            self.lose("an outline of fewer than three points", "TEI requires three; the box was written")
        return dict(zip(COORDINATES, map(figure, box), strict=False))

    def _facts(self, about: PageModel | PageSegment, what: str) -> dict[str, str]:
        attributes: dict[str, str] = {}
        if tag := self._language(about, what):
            attributes["xml:lang"] = tag
        if about.direction:
            attributes["style"] = style_of(about.direction)
        return attributes

    def _language(self, about: PageModel | PageSegment, what: str) -> str | None:
        tag = language_tag(about.language, about.script)
        if tag is None and (about.language or about.script):
            self.lose(f"language and script of {what}", "they do not form a language tag (BCP 47)")
        return tag

    def _attributes(self, what: str, stored: dict[str, str] | None, written: Any) -> dict[str, str]:
        """Return stored attributes of an element, except those that the model writes."""
        attributes: dict[str, str] = {}
        for key, value in (stored or {}).items():
            if key in written or key in ("facs", "xmlns"):
                continue
            if not _ATTRIBUTE.fullmatch(key):
                self.lose(f"attribute {what}/@{key}", "it is not a valid name of an attribute")
            else:
                attributes[key] = self.ids.take(value) if key == "xml:id" else value
        return attributes

    def _fragments(self, fragments: Sequence[str] | None, before: str = "  ") -> str:
        after = "" if before != "  " else "\n"
        settled = [self.ids.settle(fragment) or fragment for fragment in fragments or ()]
        return "".join(f"{before}{fragment}{after}" for fragment in settled)

    # ------------------------------------------------------------------------------------------- text

    def _body(self, segments: Sequence[PageSegment]) -> None:
        """Write the top of the page: regions as blocks, the rest in blocks that point at nothing."""
        for kind, run in groupby(segments, _kind_in_text):
            if kind in ("cell", "region"):
                self._regions(kind, run)
                continue
            self.out.append("\n      <ab>")
            for segment in run:
                self._line(segment) if kind == "line" else self._loose_words([segment])
            self.out.append("</ab>")
        if all(
            segment.kind == "region" and segment.cell is None and self._tag(segment) in ("fw", "note")
            for segment in segments
        ):
            self.out.append("\n      <ab/>")

    def _tag(self, segment: PageSegment) -> str:
        holds = any(child.kind == "region" for child in segment.children)
        if segment.is_furniture and not holds:
            return "fw"
        name = str((kept_by("tei", segment).get("block") or {}).get("name") or "")
        if is_marginal(segment.kind_raw) or name == "note":
            return "note"
        # TEI has neither @type nor @subtype on a paragraph: a block that needs one is an anonymous block.
        return "p" if name == "p" and not holds and not self._flags(segment, "ab") else "ab"

    def _region(self, segment: PageSegment, cell: dict[str, str] | None = None) -> None:
        block = kept_by("tei", segment).get("block") or {}
        tag = "cell" if cell is not None else self._tag(segment)
        if block.get("name") == "p" and tag != "p":
            self.lose("a paragraph as such", "one with regions, or of furniture, is written as a block")
        attributes = {"facs": f"#{self.identities[id(segment)]}"}
        if cell is not None:
            attributes |= cell
        else:
            if tag != "p" and (kind := type_in_text(segment.kind_raw, furniture=tag == "fw")):
                attributes["type"] = kind
            if tag == "note" and is_marginal(segment.kind_raw):
                attributes["place"] = "margin"
        flag = self._flags(segment, tag)
        if flag:
            attributes["subtype"] = flag
        if language := language_tag(segment.language, segment.script):
            attributes["xml:lang"] = language
        if tag != "cell":
            own = {key[1:]: value for key, value in block.items() if key.startswith("@")}
            attributes |= self._attributes(tag, own, ("facs", "subtype") if flag else ("facs",))
        self.out.append(f"\n      <{tag}{attributes_of(attributes)}>")
        self._write_inside(segment)
        if segment.texts and "text" not in flag:
            whole = replace(segment, children=[])
            self.out.append(f'<note type="text">{text_writer.write_segment(whole, (), self.lose)}</note>')
        self.out.append(f"</{tag}>")

    def _flags(self, segment: PageSegment, tag: str) -> str:
        """Return what a block states in @subtype: furniture that is no `fw`, a text that is its lines'."""
        furniture = segment.is_furniture and tag not in ("fw",)
        lines = [lawful(part.text) for part in segment.walk() if part.kind == "line"]
        whole = "\n".join(line for line in lines if line)
        own = text_writer.stated_texts(segment)
        says = (
            tag not in ("fw", "cell")
            and len(own) == 1
            and own[0].text == whole != ""
            and own[0].confidence is None
        )
        if tag == "cell" and furniture:
            self.lose("the mark of furniture on a cell", "the profile has it on blocks, lines and words")
            furniture = False
        return "-".join(word for word, on in (("furniture", furniture), ("text", says)) if on)

    def _write_inside(self, segment: PageSegment) -> None:
        """Write the contents of a region, in reading order; cells of a row go into a table."""
        for kind, run in groupby(segment.children, _kind_in_text):
            if kind == "word":
                self._loose_words(run, wrapped=True)
            elif kind == "line":
                for line in run:
                    self._line(line)
            else:
                self._regions(kind, run)

    def _regions(self, kind: str, regions: Iterable[PageSegment]) -> None:
        """Write neighbouring regions: as blocks, or as the cells of one table."""
        if kind == "cell":
            self._table(regions)
        else:
            for region in regions:
                self._region(region)

    def _table(self, cells: Iterable[PageSegment]) -> None:
        """Write the cells of a table row by row, in whatever sequence they stand."""
        self.out.append("\n      <table>")
        spans = (("row_span", "rows"), ("column_span", "cols"))
        for row, members in groupby(
            sorted(cells, key=lambda cell: cell.place_in_table), key=lambda cell: cell.place_in_table[0]
        ):
            self.out.append(f'\n      <row n="{row}">')
            for segment in members:
                attributes = {
                    name: str(span) for key, name in spans if (span := (segment.cell or {}).get(key, 1)) != 1
                }
                self._region(segment, {"n": str(segment.place_in_table[1]), **attributes})
            self.out.append("</row>")
        self.out.append("</table>")

    def _line(self, segment: PageSegment) -> None:
        stored = kept_by("tei", segment).get("lb")
        attributes = {"facs": f"#{self.identities[id(segment)]}"}
        if segment.is_furniture:
            attributes["type"] = "furniture"
        attributes |= self.marks.responsible(segment)
        attributes |= self._attributes("lb", stored, attributes)
        self.out.append(f"\n        <lb{attributes_of(attributes)}/>{self.marks.shift(segment)}")
        kinds = [child.kind == "word" for child in segment.children]
        if sorted(kinds, reverse=True) != kinds:
            self.lose("places of words among lines in a line", "the words of a line come first")
        words = [self._word(child) for child in segment.children if child.kind == "word"]
        body = text_writer.write_segment(segment, words, self.lose)
        if (markup := kept_by("tei", segment).get("markup")) and body:
            self.lose("markup of a line that had no text", "it surrounds no word of the present text")
        self.out.append(body or markup or "")
        for child in segment.children:
            if child.kind == "line":
                self._line(child)
            elif child.kind == "region":
                self._region(child)

    def _word(self, segment: PageSegment) -> str:
        attributes = {"facs": f"#{self.identities[id(segment)]}"}
        if segment.is_furniture:
            attributes["type"] = "furniture"
        own = text_writer.stated_texts(segment)
        if len(own) == 1:
            attributes |= text_writer.attributes_for(own[0])
        body = text_writer.write_segment(replace(segment, children=[]), (), self.lose)
        return element("w", attributes, body)

    def _loose_words(self, words: Iterable[PageSegment], *, wrapped: bool = False) -> None:
        """Write words outside lines."""
        inside = f'<seg type="words">{" ".join(self._word(word) for word in words)}</seg>'
        self.out.append(f"<ab>{inside}</ab>" if wrapped else inside)


def _kind_in_text(segment: PageSegment) -> str:
    """Return as what the text has a segment: a cell is a region of a table."""
    return "cell" if segment.kind == "region" and segment.cell is not None else segment.kind


def _in_order(page: PageModel) -> list[PageSegment]:
    """Return the page's segments as a tree in reading order, leaving the model unchanged."""

    def settle(segment: PageSegment) -> PageSegment:
        if not segment.children:
            return segment
        return replace(segment, children=[settle(child) for child in segment.in_order(page.order)])

    top = {id(segment) for segment in page.segments}
    return [settle(segment) for segment in page.in_order() if id(segment) in top]
