"""The state shared by the parts of the ALTO reader: names, ids, tags, units, notes, extras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_formats.alto.marking import add_attributes, from_kept
from armarium_formats.alto.profile import TAG_ELEMENTS, XLINK
from armarium_formats.alto.shapes import Scale
from armarium_formats.alto.tags import Tag, kind_in, language_in
from armarium_formats.markup.fragments import local_name
from armarium_formats.markup.noting import Ids, Notes
from armarium_formats.page_model import PageSegment, PageText, checksum

if TYPE_CHECKING:
    from lxml import etree

DIRECTIONS = frozenset({"ltr", "rtl", "ttb", "btt"})


class Reading(Notes):
    """One file while it is being read."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.scale = Scale()
        self.names: dict[Any, str] = {}
        self.ids = Ids()
        self.tags: dict[str, Tag] = {}
        self.font_styles: dict[str, str] = {}
        self.own: dict[str, Any] = {"page": {}, "segments": {}, "groups": {}}
        self.given_back: dict[str, str] = {}
        self.words_without_ids = False
        self.says_blanks = False
        self.restored: set[str] = set()
        self.by_tag: dict[int, str] = {}
        """The language of a segment where a tag says it and no attribute does."""

    def name_of(self, element: etree._Element) -> str:
        """Return the element's name without its namespace."""
        tag = element.tag
        name = self.names.get(tag)
        if name is None:
            name = self.names[tag] = local_name(str(tag))
        return name

    def attributes(self, element: etree._Element) -> dict[str, str]:
        """Return its attributes; those of XLink keep their prefix, others lose their namespace."""
        by_name: dict[str, str] = dict(element.attrib)  # type: ignore[arg-type]
        for key in [key for key in by_name if key[0] == "{"]:
            space, _, local = key[1:].partition("}")
            value = by_name.pop(key)
            if local != "schemaLocation":
                by_name[f"xlink:{local}" if space == XLINK else local] = value
        return by_name

    def identity(self, identity: str | None, kind: str) -> str:
        """Return the id as stated; a missing one is made, a duplicate is made unique and noted."""
        if identity and self.ids.claim(identity):
            return identity
        if identity:
            self.note(f"The id {identity} occurs twice")
        return self.ids.make(identity or kind)

    def read_tags(self, element: etree._Element) -> list[Tag]:
        """Read the tags of the file; those without a label get one, as ALTO requires it."""
        for child in element:
            name = self.name_of(child)
            if name not in TAG_ELEMENTS:
                self.note(f"The element {name} is not a tag of ALTO")
                continue
            tag = Tag.read(name, child)
            if not tag.label:
                self.note("A tag has no LABEL; its DESCRIPTION or ID is used instead")
                tag.attributes["LABEL"] = tag.attributes.get("DESCRIPTION") or tag.identity or name
            if not tag.identity:
                self.note("A tag has no ID, so nothing can refer to it")
                continue
            self.tags.setdefault(tag.identity, tag)
        return list(self.tags.values())

    def interpret(self, segment: PageSegment, attributes: dict[str, str]) -> str | None:
        """Consume language, direction and type from the attributes; return the type's label."""
        if attributes:
            lang = attributes.get("LANG") or attributes.get("language")
            if lang:
                segment.language = lang
                attributes.pop("LANG" if attributes.get("LANG") else "language")
            direction = attributes.get("BASEDIRECTION")
            if direction in DIRECTIONS:
                segment.direction = attributes.pop("BASEDIRECTION")
            refs = attributes.get("TAGREFS")
            if refs:
                for ref in refs.split():
                    if ref not in self.tags:
                        self.note(f"TAGREFS names {ref}, which is not a tag of the file")
                if not lang and (language := language_in(refs, self.tags)):
                    segment.language = self.by_tag[id(segment)] = language
                return kind_in(refs, self.tags)
        return None

    def attach(
        self,
        name: str,
        segment: PageSegment,
        extras: dict[str, Any],
        attributes: dict[str, str],
        elements: list[str],
    ) -> None:
        """Store the rest in the segment's extras, counted, and restore what an earlier export of ours
        stored.
        """
        if attributes:
            extras["attributes"] = attributes
            self.count_attributes(name, attributes)
        if elements:
            extras["elements"] = elements
        if language := self.by_tag.get(id(segment)):
            extras["language_by_tag"] = language
        if extras:
            segment.extras = {"alto": extras}
        entry = self.own["segments"].get(segment.id)
        if entry and segment.id not in self.restored:
            self.restore(segment, entry)

    def restore(self, segment: PageSegment, entry: dict[str, Any]) -> None:
        """Apply what a tag of ours states about a segment."""
        self.restored.add(segment.id)
        for key in entry.get("inherited", ()):
            setattr(segment, key, None)
        for key in ("language", "script", "direction", "kind_raw", "position", "confidence", "cell"):
            if key in entry:
                setattr(segment, key, entry[key])
        if "furniture" in entry:
            segment.is_furniture = entry["furniture"]
        if extras := entry.get("extras"):
            segment.extras = {**extras, **(segment.extras or {})}
        if leftover := entry.get("alto"):
            segment.extras = segment.extras or {}
            merge(segment.extras.setdefault("alto", {}), leftover)
        if "sequence" in entry:
            segment.children = self.resequence(segment.children, entry["sequence"])
        if "texts" in entry:
            self._restore_texts(segment, entry["texts"])
        if "marks" in entry and segment.texts and entry["marks"]["of"] == checksum(segment.text):
            ours = from_kept(entry["marks"]["all"], len(segment.text))
            spans = {(mark.kind, mark.start, mark.end) for mark in ours}
            read = [mark for mark in segment.texts[0].marks if (mark.kind, mark.start, mark.end) not in spans]
            segment.texts[0].marks = [*read, *ours]
        if self.ids.claim(entry.get("id")):
            self.given_back[segment.id] = entry["id"]
            segment.id = entry["id"]

    def resequence(self, segments: list[PageSegment], sequence: list[str]) -> list[PageSegment]:
        """Order siblings as a tag of ours states, if it names every one of them."""
        places = {self.given_back.get(identity, identity): place for place, identity in enumerate(sequence)}
        if any(segment.id not in places for segment in segments):
            return segments
        return sorted(segments, key=lambda segment: places[segment.id])

    def _restore_texts(self, segment: PageSegment, entry: dict[str, Any]) -> None:
        first = segment.texts[0] if segment.texts else None
        if entry["of"] != (checksum(first.text) if first is not None else None):
            return
        texts: list[PageText] = []
        for number, (text, sure, kind, extras) in enumerate(entry["all"]):
            combined = extras or {}
            if number == 0 and first is not None:  # what the strings say beside their text is still so
                combined = {**combined, **(first.extras or {})}
            first_text = first.text if first is not None else ""
            texts.append(PageText(first_text if text is None else text, sure, kind, combined or None))
        if first is not None and texts and texts[0].text == first.text:
            texts[0].marks = first.marks
        segment.texts = texts


def merge(extras: dict[str, Any], leftover: dict[str, Any]) -> None:
    """Restore what ALTO 4.4 had no place for; lists of references are merged."""
    for key, value in leftover.items():
        if key == "attributes":
            add_attributes(extras.setdefault("attributes", {}), value)
        elif key == "elements":
            extras.setdefault("elements", []).extend(value)
        else:
            extras.setdefault(key, value)
