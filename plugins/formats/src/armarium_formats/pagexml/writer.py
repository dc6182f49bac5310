"""Writes PAGE XML 2019-07-15 from a page model, strictly; what PAGE cannot express is counted as a loss."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from armarium_formats.citing import NAME as AS_OF
from armarium_formats.driver import WriteContext, WrittenPage
from armarium_formats.markup.fragments import (
    attribute_of,
    attributes_of,
    name_of,
    text_of,
)
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.noting import FileWriting
from armarium_formats.numbers import share_text
from armarium_formats.page_model import PageModel, PageOrder, PageSegment, PageText, Point, kept_by
from armarium_formats.pagexml.arrangement import arrange, outline_of, says_furniture, tag_of
from armarium_formats.pagexml.keeping import IDS, glyphs_kept, user_attribute, write_glyphs
from armarium_formats.pagexml.marking import READINGS, STATED, with_marks
from armarium_formats.pagexml.profile import NAMESPACE, children_of, schema
from armarium_formats.pagexml.vocabulary import (
    DIRECTION_NAMES,
    brace_free,
    language_names,
    language_of,
    script_names,
    script_of,
)
from armarium_formats.shapes import line_height
from armarium_source_model.api import words_of_sum

_LAWFUL_POINTS = re.compile(r"(?:[0-9]+,[0-9]+ )+[0-9]+,[0-9]+")
_STRUCTURE = re.compile(r"structure\s*\{[^{}]*\}")
_READING_ORDER = re.compile(r"readingOrder\s*\{[^{}]*\}")
_INDEX = re.compile(r"readingOrder\s*\{[^{}]*index\s*:\s*(\d+)")
_STRUCTURE_TYPE = re.compile(r"structure\s*\{[^{}]*type\s*:\s*([^;{}]+)")


def write(page: PageModel, context: WriteContext) -> WrittenPage:
    """Return *page* as PAGE XML 2019-07-15 with its losses."""
    return _Writing(page, context).write()


class _Writing(FileWriting):
    """One file while it is written."""

    def __init__(self, page: PageModel, context: WriteContext) -> None:
        super().__init__(page, context)
        self.ids = Identities((segment.id for segment in page.walk()), IDS)
        self.regions = {segment.id for segment in page.walk() if segment.kind == "region"}
        self.line_height = cache(lambda: line_height(page, (page.width, page.height)))
        self.out: list[str] = []

    def write(self) -> WrittenPage:
        """Write the file. The body comes first, so that its ids are known to the reading order."""
        page = self.page
        extras = page.extras.get("pagexml") or {}
        self._foreign(page.extras)
        for segment in arrange(page, self.lose):
            self._segment(segment, None, "\n    ")
        body, self.out = "".join(self.out), []
        if self.ids.changed:
            self.lose(
                "ids",
                "PAGE requires unique ids that begin with a letter; the original is next to the new one",
                self.ids.changed,
            )
        attributes = {
            "imageFilename": page.image or "unknown",
            "imageWidth": str(page.width),
            "imageHeight": str(page.height),
        }
        if not page.image:
            self.lose("the image's name", "the page names no image; PAGE requires one")
        others: list[str] = []
        source = dict(extras.get("attributes") or {})
        self._facts("Page", page, source, attributes, others)
        self._write_other_attributes("Page", source, attributes, others)
        slots = self._slots("Page", extras.get("elements") or (), others)
        slots["ReadingOrder"] = self._order(page.order, extras.get("order_conf"))
        root = ""
        if (own := extras.get("pcGtsId")) and schema().fits("id", own):
            root = f' pcGtsId="{attribute_of(own if own not in self.ids.used else self.ids.make(own))}"'
        head = "".join(f"\n    {slots[name]}" for name in children_of("Page") if slots.get(name))
        content = (
            f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<PcGts xmlns="{NAMESPACE}"{root}>'
            f"{self._metadata(extras.get('metadata') or {})}\n  <Page{attributes_of(attributes)}>{head}{body}\n  </Page>\n</PcGts>\n"
        )
        return self.written(content)

    # -------------------------------------------------------------------------------------- segments

    def _segment(self, segment: PageSegment, parent: PageSegment | None, indent: str) -> None:
        extras: dict[str, Any] = kept_by("pagexml", segment)
        self._foreign(segment.extras)
        source: dict[str, str] = dict(extras.get("attributes") or {}) if extras else {}
        others: list[str] = []
        attributes = {"id": self.ids.of_segment.get(segment.id) or self.ids.make(segment.id)}
        tag = self._kind(segment, source, attributes)
        if attributes["id"] != segment.id:
            others.append(user_attribute(f"{tag}/@id", segment.id))
        if not segment.points:
            others.append(user_attribute(f"{tag}/@outline", "none"))
        if segment.is_furniture != says_furniture(segment):
            others.append(user_attribute(f"{tag}/@furniture", str(segment.is_furniture).lower()))
        if segment.language or segment.script or segment.direction:
            self._facts(tag, segment, source, attributes, others)
        self._write_other_attributes(tag, source, attributes, others)
        if segment.confidence is not None:
            self.lose(f"confidence of a {segment.kind}", "PAGE states confidence on texts and shapes only")
        if segment.baseline and tag != "TextLine":
            self.lose(f"baseline of a {segment.kind}", "PAGE has baselines on lines only")
        out = self.out
        out.append(f"{indent}<{tag}{attributes_of(attributes)}>")
        coords = self._points(
            outline_of(segment, parent, self.page, self.lose, self.line_height), extras.get("coords_conf")
        )
        inner = indent + "  "
        slots = self._slots(tag, [*(extras.get("elements") or ()), *glyphs_kept(segment)], others)
        if tag == "Word" and "Glyph" not in slots:
            slots["Glyph"] = "".join(write_glyphs(segment, self.ids, self._points))
        if segment.cell is not None:
            slots["Roles"] = self._role(segment, extras)
        for name in children_of(tag):
            if name == "Coords":
                out.append(f"{inner}<Coords {coords}/>")
            elif name == "Baseline":
                self._baseline(segment, extras, inner)
            elif name in ("TextLine", "Word", "(REGIONS"):
                kind = {"TextLine": "line", "Word": "word"}.get(name, "region")
                for child in segment.children:
                    if child.kind == kind:
                        self._segment(child, segment, inner)
            elif name == "TextEquiv":
                self._texts(segment, inner)
            elif slots.get(name):
                out.append(f"{inner}{slots[name]}")
        out.append(f"{indent}</{tag}>")

    def _foreign(self, extras: dict[str, Any] | None) -> None:
        """Count what another format stored and PAGE has no place for."""
        if extras and any(name != "pagexml" for name in extras):
            self.lose("what other formats keep", "PAGE has no place for it; it stays with the pass")

    def _kind(self, segment: PageSegment, source: dict[str, str], attributes: dict[str, str]) -> str:
        """Return the element's name; its type, structure and stated position become attributes."""
        tag, kind_type, structure = tag_of(segment)
        if kind_type:
            attributes["type"] = kind_type
        custom = source.pop("custom", None)
        if structure is not None:
            match = _STRUCTURE_TYPE.search(custom or "")
            if match is None or match.group(1).strip() != structure:
                word = brace_free(structure)
                if word != structure:
                    self.lose(
                        "marks in a kind", "a `custom` allows no braces and semicolons; they became blanks"
                    )
                custom = f"{_STRUCTURE.sub('', custom or '').strip()} structure {{type:{word};}}".strip()
        if segment.position is not None and not (segment.kind == "line" and "index" in source):
            match = _INDEX.search(custom or "")
            if match is None or int(match.group(1)) != segment.position:
                custom_left = _READING_ORDER.sub("", custom or "").strip()
                custom = f"readingOrder {{index:{segment.position};}} {custom_left}".strip()
        if custom := with_marks(custom, segment, self.lose):
            attributes["custom"] = custom
        if segment.kind_raw == "TableCell" or (segment.kind_raw or "").startswith("TableCell:"):
            self.lose(
                "the element TableCell", "PAGE 2019 writes a cell as a TextRegion with the role TableCellRole"
            )
        return tag

    def _baseline(self, segment: PageSegment, extras: dict[str, Any], indent: str) -> None:
        if len(segment.baseline) > 1:
            self.out.append(
                f"{indent}<Baseline {self._points(segment.baseline, extras.get('baseline_conf'))}/>"
            )
        elif segment.baseline:
            self.lose("a baseline of one point", "PAGE requires at least two points")

    def _points(self, points: Iterable[Point], conf: str | None) -> str:
        points_text = " ".join([f"{x},{y}" for x, y in points])
        if not _LAWFUL_POINTS.fullmatch(points_text):
            whole = [(max(0, round(x)), max(0, round(y))) for x, y in points]
            if any(x < 0 or y < 0 for x, y in points):
                self.lose(
                    "coordinates left of or above the page", "PAGE has no negative coordinates; they became 0"
                )
            if any(x != round(x) or y != round(y) for x, y in points):
                self.lose("decimals of coordinates", "PAGE writes whole pixels")
            points_text = " ".join(f"{x},{y}" for x, y in whole)
        if conf is not None:
            if schema().fits("conf", conf):
                return f'points="{points_text}" conf="{conf}"'
            self.lose("confidence of a shape", "it is not a number from 0 to 1")
        return f'points="{points_text}"'

    def _texts(self, segment: PageSegment, indent: str) -> None:
        several = len(segment.texts) > 1
        for index, text in enumerate(segment.texts):
            attributes: dict[str, str] = {}
            plain = ""
            if several:
                attributes["index"] = str(index)
            if text.confidence is not None:
                attributes["conf"] = share_text(text.confidence)
            if text.extras:
                plain = self._text_extras(text, attributes)
            self.lose_control_characters(text.text)
            self.out.append(
                f"{indent}<TextEquiv{attributes_of(attributes)}>{plain}<Unicode>{text_of(text.text)}</Unicode></TextEquiv>"
            )

    def _text_extras(self, text: PageText, attributes: dict[str, str]) -> str:
        extras = kept_by("pagexml", text)
        allowed = schema().elements["TextEquiv"].attributes
        for key, value in (extras.get("attributes") or {}).items():
            if key == "index":
                attributes.setdefault("index", value) if schema().fits("natural", value) else None
            elif key in allowed and key not in attributes and schema().fits(allowed[key], value):
                attributes[key] = value
            else:
                self.lose(f"attribute TextEquiv/@{key}", "PAGE 2019 does not allow it or its value")
        for fragment in extras.get("elements") or ():
            self.lose(f"element TextEquiv/{name_of(fragment)}", "PAGE 2019 has no place for it")
        return f"<PlainText>{text_of(extras['plain'])}</PlainText>" if extras.get("plain") else ""

    def _role(self, segment: PageSegment, extras: dict[str, Any]) -> str:
        cell = segment.cell or {}
        header = extras.get("cell_header")
        more = f' header="{header}"' if header and schema().fits("boolean", header) else ""
        return (
            f'<Roles><TableCellRole rowIndex="{cell.get("row", 0)}" columnIndex="{cell.get("column", 0)}" '
            f'rowSpan="{cell.get("row_span", 1)}" colSpan="{cell.get("column_span", 1)}"{more}/></Roles>'
        )

    # ---------------------------------------------------------------------------------- facts and keeping

    def _facts(
        self,
        tag: str,
        about: PageModel | PageSegment,
        source: dict[str, str],
        attributes: dict[str, str],
        others: list[str],
    ) -> None:
        """Write language, script and direction in PAGE's words, else in a UserAttribute."""
        allowed = schema().elements[tag].attributes
        key = "language" if tag == "Word" else "primaryLanguage"
        if (language := about.language) and language_of(source.get(key)) != language:
            source[key] = language_names().get(language, language)
        if (script := about.script) and script_of(source.get("primaryScript")) != script:
            source["primaryScript"] = script_names().get(script, script)
        if about.direction:
            source["readingDirection"] = DIRECTION_NAMES.get(about.direction, about.direction)
        for name in (key, "primaryScript", "readingDirection"):
            if name in source:
                value = source.pop(name)
                if name in allowed and schema().fits(allowed[name], value):
                    attributes[name] = value
                else:
                    others.append(user_attribute(f"{tag}/@{name}", value))

    def _write_other_attributes(
        self, tag: str, source: dict[str, str], attributes: dict[str, str], others: list[str]
    ) -> None:
        """Write stored attributes: those PAGE 2019 has as they are, the others in a UserAttribute."""
        allowed = schema().elements[tag].attributes
        for key, value in source.items():
            kind = allowed.get(key)
            if key in attributes or kind in ("ref", "id"):
                continue
            if kind is not None and schema().fits(kind, value):
                attributes[key] = value
            else:
                others.append(user_attribute(f"{tag}/@{key}", value))

    def _slots(self, tag: str, fragments: Iterable[str], others: list[str]) -> dict[str, str]:
        """Return stored fragments by the place where they go; those without one become a UserAttribute."""
        if not fragments and not others:
            return {}
        content = schema().elements[tag].content
        single = {token.rstrip("?*+"): token[-1] not in "*+" for token in content}
        slots: dict[str, str] = {}
        own: list[str] = []
        for fragment in fragments:
            name = name_of(fragment)
            if name == "UserDefined" and schema().is_valid(fragment):
                own.append(fragment[len("<UserDefined>") : -len("</UserDefined>")])
                continue
            free = name in single and name not in _MODELLED and not (single[name] and name in slots)
            settled = self.ids.settle(fragment) if free and schema().is_valid(fragment) else None
            if settled is not None:
                slots[name] = slots.get(name, "") + settled
            else:
                others.append(user_attribute(name, fragment))
        if own or others:
            if "UserDefined" in single:
                slots["UserDefined"] = f"<UserDefined>{''.join(own)}{''.join(others)}</UserDefined>"
            else:
                self.lose(f"additions to {tag}", "PAGE 2019 has no place for them", len(own) + len(others))
        return slots

    # ------------------------------------------------------------------------------- order and metadata

    def _order(self, order: PageOrder | None, conf: str | None) -> str:
        if order is None:
            return ""
        top = order if order.items else PageOrder(items=[order])
        body = self._group(top, None)
        if not body:
            return ""
        more = f' conf="{conf}"' if conf and schema().fits("conf", conf) else ""
        return f"<ReadingOrder{more}>{body}</ReadingOrder>"

    def _group(self, node: PageOrder, index: int | None) -> str:
        """Write a group or reference; `index` is its place in an ordered group, else None."""
        suffix = "Indexed" if index is not None else ""
        place = f' index="{index}"' if index is not None else ""
        reference = self.ids.of_segment.get(node.segment_id or "")
        if not node.items:
            if reference is None:
                self.lose("an entry of the reading order", "it names a segment that the page does not have")
                return ""
            return f'<RegionRef{suffix}{place} regionRef="{reference}"/>'
        parts: list[str] = []
        for item in node.items:
            if group := self._group(item, len(parts) if node.is_ordered else None):
                parts.append(group)
        if not parts:
            return ""
        tag = ("OrderedGroup" if node.is_ordered else "UnorderedGroup") + suffix
        extras = kept_by("pagexml", node)
        source = dict(extras.get("attributes") or {})
        wish = source.pop("id", "ro")
        attributes = {
            "id": wish if schema().fits("id", wish) and wish not in self.ids.used else self.ids.make(wish)
        }
        self.ids.used.add(attributes["id"])
        if reference is not None:
            attributes["regionRef"] = reference
        others: list[str] = []
        self._write_other_attributes(tag, source, attributes, others)
        slots = self._slots(tag, extras.get("elements") or (), others)
        head = slots.get("UserDefined", "") + slots.get("Labels", "")
        return f"<{tag}{place}{attributes_of(attributes)}>{head}{''.join(parts)}</{tag}>"

    def _metadata(self, metadata: dict[str, Any]) -> str:
        creator = metadata.get("Creator") or self.context.creator
        created = metadata.get("Created") or ""
        if created and not schema().fits("dateTime", created):
            self.lose(
                "Metadata/Created",
                f"{created[:40]!r} is not a date and time; the time of writing was used instead",
            )
            created = ""
        attributes: dict[str, str] = {}
        others: list[str] = []
        self._write_other_attributes("Metadata", dict(metadata.get("attributes") or {}), attributes, others)
        slots = self._slots("Metadata", metadata.get("elements") or (), others)
        step = f'<MetadataItem type="processingStep" name="export" value="{attribute_of(self.context.creator)}"/>'
        items = slots.get("MetadataItem", "")
        if summary := words_of_sum(self.page.makers()):
            items += f'<MetadataItem type="other" name="{READINGS}" value="{attribute_of(summary)}"/>'
        notes = [
            {"name": f"{STATED}{note.about}", "value": note.sentence, "date": note.date}
            for note in self.page.statements
        ]
        if self.context.citation:
            notes.append({"name": AS_OF, "value": self.context.citation})
        items += "".join(f"<MetadataItem{attributes_of({'type': 'other', **note})}/>" for note in notes)
        if creator != self.context.creator and step not in items:
            items += step
        body = "".join(
            f"\n    {part}" for part in (slots.get("Comments"), slots.get("UserDefined"), items) if part
        )
        return (
            f"\n  <Metadata{attributes_of(attributes)}>\n    <Creator>{text_of(creator)}</Creator>"
            f"\n    <Created>{text_of(created or self.context.created)}</Created>"
            f"\n    <LastChange>{text_of(self.context.created)}</LastChange>{body}\n  </Metadata>"
        )


_MODELLED = frozenset({"Coords", "Baseline", "TextEquiv", "TextLine", "Word", "Roles", "ReadingOrder"})
