"""Writes ALTO 4.4 from a page model, strictly; what ALTO cannot express is counted as a loss."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, TypeAlias

from armarium_formats.alto.arrangement import Block, arrange, holds_text
from armarium_formats.alto.line_writer import Textlines
from armarium_formats.alto.own import EXPORT, MADE, STATED, clean_extras, write_tag
from armarium_formats.alto.profile import NAMESPACE, SPACES, VERSION, XLINK, schema
from armarium_formats.alto.reader_state import DIRECTIONS
from armarium_formats.alto.shapes import BOX
from armarium_formats.alto.tags import kind_in
from armarium_formats.alto.writer_state import IDS, is_moved
from armarium_formats.driver import WriteContext, WrittenPage
from armarium_formats.kinds import in_page_words, is_furniture, of_alto
from armarium_formats.markup.fragments import attributes_of, element, name_of, text_of
from armarium_formats.page_model import PageModel, PageOrder, PageSegment, kept_by

Facts: TypeAlias = tuple[str | None, str | None]
"""A language and a direction."""


def write(page: PageModel, context: WriteContext) -> WrittenPage:
    """Return *page* as ALTO 4.4 with its losses."""
    return _File(page, context).write()


class _File(Textlines):
    """One file while it is written."""

    # ------------------------------------------------------------------------------------------ the file

    def write(self) -> WrittenPage:
        """Write the file. Tags, styles and the body come first, so that references to their ids are known."""
        page = self.page
        description = self._description()
        styles = list(filter(None, map(self._name_fragment, self.kept.get("styles") or ())))
        chain = kept_by("alto", page.order).get("idnext") if page.order is not None else None
        if chain is not None and page.order is not None:
            names = [node.segment_id for node in page.order.items if node.segment_id]
            self.after = dict(pairwise(names))
        body = self._body()
        order = self._order(page.order) if chain is None else ""
        if self.ids.changed:
            self.lose(
                "ids",
                "ALTO requires unique ids that begin with a letter; the original is in a tag of Armarium's",
                self.ids.changed,
            )
        own = {"page": self.own_page, "segments": self.own_segments, "groups": self.own_groups}
        own = {key: value for key, value in own.items() if value}
        tags = self.tagging.write_tags()
        if own:
            tags.append(write_tag(self.ids.make("armarium_kept"), own))
        link = f' xmlns:xlink="{XLINK}"' if self.linked else ""
        layout = self._refs_only(self.kept.get("layout") or {})
        content = "".join(
            [
                f'<?xml version="1.0" encoding="UTF-8"?>\n<alto xmlns="{NAMESPACE}"{link} SCHEMAVERSION="{VERSION}">',
                description,
                _holder("Styles", sorted(styles, key=lambda fragment: name_of(fragment) != "TextStyle")),
                _holder("Tags", tags),
                order,
                f"\n  <Layout{layout}>{body}\n  </Layout>\n</alto>\n",
            ]
        )
        return self.written(content)

    def _name_fragment(self, fragment: str) -> str | None:
        """A kept part of the file with an id that clashes with nothing; what ALTO 4.4 has no place for goes into our tag."""
        name = name_of(fragment)
        if fragment in self.own_page.get("alto", {}).get("elements", ()) or not schema().is_valid(fragment):
            self._leave(self.own_page, "elements", fragment)
            return None
        match = IDS.match(fragment)
        if match is not None and fragment.startswith(f"<{name} "):
            self.renamed[match.group(3)] = identity = self.ids.take(match.group(3))
            if identity != match.group(3):
                fragment = f'{match.group(1)}ID="{identity}"{fragment[match.end() :]}'
        return fragment

    def _description(self) -> str:
        steps: list[str] = []
        for fragment in self.kept.get("description") or ():
            if name_of(fragment) not in ("OCRProcessing", "Processing"):
                self._leave(self.own_page, "elements", fragment)
            elif settled := self._name_fragment(fragment):
                steps.append(settled)
        steps.sort(key=lambda step: name_of(step) != "OCRProcessing")
        source: list[str] = []
        for fragment in self.kept.get("source") or ():
            if name_of(fragment) in ("fileIdentifier", "documentIdentifier") and schema().is_valid(fragment):
                source.append(fragment)
            else:
                self._leave(self.own_page, "elements", fragment)
        for fragment in self.kept.get("elements") or ():
            self._leave(self.own_page, "elements", fragment)
        source.sort(key=lambda part: name_of(part) != "fileIdentifier")
        creator, _, version = self.context.creator.partition(" ")
        software = f"<softwareName>{text_of(creator)}</softwareName>" + (
            f"<softwareVersion>{text_of(version)}</softwareVersion>" if version else ""
        )
        when = f"<processingDateTime>{self.context.created}</processingDateTime>"
        if not schema().fits("date", self.context.created):
            when = ""
        cited = text_of(self.context.citation)
        settings = f"<processingStepSettings>{cited}</processingStepSettings>" if cited else ""
        steps.append(
            f'<Processing ID="{self.ids.take(EXPORT)}"><processingCategory>contentModification</processingCategory>{when}'
            f"<processingStepDescription>export</processingStepDescription>{settings}"
            f"<processingSoftware>{software}</processingSoftware></Processing>"
        )
        steps += self._making_steps()
        for number, statement in enumerate(self.page.statements, 1):
            steps.append(
                f'<Processing ID="{self.ids.take(f"{STATED}{number}")}"><processingCategory>other</processingCategory>'
                f"<processingDateTime>{text_of(statement.date)}</processingDateTime>"
                f"<processingAgency>{text_of(statement.by)}</processingAgency>"
                f"<processingStepDescription>{text_of(f'{statement.about}: {statement.sentence}')}"
                "</processingStepDescription></Processing>"
            )
        if not self.page.image:
            self.lose("the image's name", "the page names no image; programs that read ALTO look for one")
        name = f"<fileName>{text_of(self.page.image)}</fileName>" if self.page.image else ""
        inside = "".join(f"\n    {step}" for step in steps)
        return (
            f"\n  <Description>\n    <MeasurementUnit>pixel</MeasurementUnit>\n    <sourceImageInformation>{name}"
            f"{''.join(source)}</sourceImageInformation>{inside}\n  </Description>"
        )

    def _making_steps(self) -> list[str]:
        """Return a processing step for each way in which the texts of lines came about; lines refer to them."""
        steps: list[str] = []
        makers = self.page.makers()
        for number, (maker, lines) in enumerate(Counter(makers).most_common(), 1):
            self.steps[maker] = identity = self.ids.take(f"{MADE}{number}")
            category = "contentGeneration" if maker.by == "machine" else "contentModification"
            software = (
                f"<processingSoftware><softwareName>{text_of(maker.name)}</softwareName></processingSoftware>"
                if maker.by == "machine" and maker.name
                else ""
            )
            steps.append(
                f'<Processing ID="{identity}"><processingCategory>{category}</processingCategory>'
                f"<processingStepDescription>{lines} of {len(makers)} lines {text_of(maker.words)}"
                f"</processingStepDescription>{software}</Processing>"
            )
        return steps

    def _body(self) -> str:
        """The Page with its spaces."""
        page = self.page
        source = dict(self.kept.get("attributes") or {})
        attributes = {
            "ID": self._take(source.pop("ID", "page_1")),
            "WIDTH": str(page.width),
            "HEIGHT": str(page.height),
            "PHYSICAL_IMG_NR": source.pop("PHYSICAL_IMG_NR", "1"),
        }
        if not schema().fits("float", attributes["PHYSICAL_IMG_NR"]):
            source["PHYSICAL_IMG_NR"], attributes["PHYSICAL_IMG_NR"] = attributes["PHYSICAL_IMG_NR"], "1"
        if page.language:
            if schema().fits("tag", page.language):
                attributes["LANG"] = page.language
            else:
                why = "it is not a language tag; it is in a tag of Armarium's"
                self._set_aside(self.own_page, "language", page.language, "language of the page", why)
        spaces: dict[str, Any] = self.kept.get("spaces") or {}
        filled: dict[str, list[Block]] = {}
        tops = arrange(page.segments, self.lose)
        if page.script:
            why = "ALTO has no place for it; it is in a tag of Armarium's"
            self._set_aside(self.own_page, "script", page.script, "script of the page", why)
        if page.direction:
            self.own_page["direction"] = page.direction
            if page.direction not in DIRECTIONS or not any(map(holds_text, tops)):
                self.lose(
                    "direction of the page",
                    "ALTO states it only for blocks of text; it is in a tag of Armarium's",
                )
        for block in tops:
            wish = kept_by("alto", block.segment).get("space") if block.segment else None
            filled.setdefault(wish if wish in SPACES else "PrintSpace", []).append(block)
        sequence = [block for name in SPACES for block in filled.get(name, ())]
        if [id(block) for block in sequence] != [id(block) for block in tops] or is_moved(page.segments):
            self.own_page["sequence"] = [self.ids.of_segment[segment.id] for segment in page.segments]
        inside: list[str] = []
        for name in SPACES:
            if name in spaces or name in filled or name == "PrintSpace":
                inside.append(self._space(name, spaces.get(name), filled.get(name, [])))
        self._write_other_attributes("Page", source, attributes, self.own_page)
        if others := clean_extras(page.extras):
            why = "ALTO has no place for it; it is in a tag that only Armarium reads back"
            self._set_aside(self.own_page, "extras", others, "what other formats keep", why)
        return f"\n    <Page{attributes_of(attributes)}>{''.join(inside)}\n    </Page>"

    def _space(self, name: str, extras: dict[str, Any] | None, blocks: list[Block]) -> str:
        source = dict((extras or {}).get("attributes") or {})
        attributes: dict[str, str] = {}
        if extras is None and name == "PrintSpace":
            page_box = (0, 0, self.page.width, self.page.height)
            attributes = dict(zip(BOX, map(str, page_box), strict=True))
        if "ID" in source:
            attributes["ID"] = self._take(source.pop("ID"))
        leftover: dict[str, Any] = {}
        self._write_other_attributes(name, source, attributes, leftover)
        for key, value in (leftover.get("alto") or {}).get("attributes", {}).items():
            self._leave(self.own_page, "attributes", value, f"{name}/{key}")
        shape = (extras or {}).get("shape") or ""
        if shape and not schema().is_valid(shape):
            self._leave(self.own_page, "elements", shape)
            shape = ""
        self.out = []
        for block in blocks:
            self._block(block, "\n        ", (None, self.page.direction))
        inside = f"\n        {shape}" if shape else ""
        return f"\n      <{name}{attributes_of(attributes)}>{inside}{''.join(self.out)}\n      </{name}>"

    # ------------------------------------------------------------------------------------------ blocks

    def _block(self, block: Block, indent: str, around: Facts) -> None:
        """*around*: language and direction that what holds the block states and ALTO has no place for there."""
        segment = block.segment
        out = self.out
        if segment is None:
            identity = self.ids.make(block.wraps)
            self.own_segments[identity] = {"wrapper": True}
            attributes = {"ID": identity}
            self._state_inherited(around, attributes)
            out.append(f"{indent}<TextBlock{attributes_of(attributes)}>")
        else:
            entry: dict[str, Any] = {}
            attributes = {"ID": self.ids.of_segment[segment.id]}
            extras, source = self._begin(segment, entry)
            self._kind(block, segment, source, attributes, entry)
            self._facts(segment, block.element, attributes, entry)
            if block.element == "TextBlock":
                missing = (None if segment.language else around[0], None if segment.direction else around[1])
                if inherited := self._state_inherited(missing, attributes):
                    entry["inherited"] = inherited
            around = (segment.language or around[0], segment.direction or around[1])
            shape = self._outline(segment, extras, attributes, always=True)
            after = self.after.get(segment.id)
            if after is not None and after in self.ids.of_segment:
                attributes["IDNEXT"] = self.ids.of_segment[after]
            self._write_other_attributes(block.element, source, attributes, entry)
            if segment.baseline:
                self.lose("baseline of a region", "ALTO has baselines on lines only")
            self._region_texts(segment, entry)
            if is_moved(segment.children):
                entry["sequence"] = [self.ids.of_segment[child.id] for child in segment.children]
            if entry:
                self.own_segments[attributes["ID"]] = entry
            inside = block.blocks or block.lines
            if not shape and not inside:
                out.append(f"{indent}<{block.element}{attributes_of(attributes)}/>")
                return
            out.append(
                f"{indent}<{block.element}{attributes_of(attributes)}>{indent}  {shape}"
                if shape
                else f"{indent}<{block.element}{attributes_of(attributes)}>"
            )
        inner = indent + "  "
        for part in block.blocks:
            self._block(part, inner, around)
        for line in block.lines:
            self._line(line, inner)
        out.append(f"{indent}</{block.element}>")

    def _state_inherited(self, around: Facts, attributes: dict[str, str]) -> list[str]:
        """State on a block of text what holds for it and stands nowhere in ALTO; the names of what was stated so."""
        inherited: list[str] = []
        for name, key, value in (("language", "LANG", around[0]), ("direction", "BASEDIRECTION", around[1])):
            fit = value is not None and (
                value in DIRECTIONS if name == "direction" else schema().fits("tag", value)
            )
            if value is not None and fit and key not in attributes:
                attributes[key] = value
                inherited.append(name)
        return inherited

    def _kind(
        self,
        block: Block,
        segment: PageSegment,
        source: dict[str, str],
        attributes: dict[str, str],
        entry: dict[str, Any],
    ) -> None:
        """The region's kind as TYPE or as a tag; what neither says stands in our tag."""
        refs = source.get("TAGREFS", "")
        by_tag = block.element in ("TextBlock", "GraphicalElement") or (
            bool(block.kind) and kind_in(refs, self.tagging.tags) == block.kind and "TYPE" not in source
        )
        label: str | None = block.kind or None
        if by_tag:
            refs = self.tagging.refs("region", label, refs)
        elif label:
            attributes["TYPE"] = label
        elif kind_in(refs, self.tagging.tags):  # its tag said what it was, and it is that no more
            refs = self.tagging.refs("region", None, refs)
        if refs:
            source["TAGREFS"] = refs
        raw = of_alto(block.element, label)
        if segment.kind_raw and in_page_words(raw) != in_page_words(segment.kind_raw):
            entry["kind_raw"] = segment.kind_raw
        word = raw.rpartition(":")[2]
        space = kept_by("alto", segment).get("space")
        reads_as_furniture = space in ("TopMargin", "BottomMargin") or is_furniture(word)
        if segment.is_furniture != reads_as_furniture:
            entry["furniture"] = segment.is_furniture

    def _region_texts(self, segment: PageSegment, entry: dict[str, Any]) -> None:
        """Write a region's own text: ALTO has none, so it goes into our tag; one that repeats its lines is no
        loss.
        """
        if not segment.texts:
            return
        lines = [part.text for part in segment.walk() if part.kind == "line" and part.text]
        if len(segment.texts) > 1 or segment.text != "\n".join(lines):
            self.lose(
                "texts of regions",
                "ALTO has texts in lines only; they are in a tag of Armarium's",
                len(segment.texts),
            )
        entry["texts"] = {"of": None, "all": [self._text_as_kept(text, None) for text in segment.texts]}

    # ------------------------------------------------------------------------------------------ order

    def _order(self, order: PageOrder | None) -> str:
        if order is None:
            return ""
        extras = kept_by("alto", order)
        tops = order.items if extras.get("top") and order.items else [order]
        groups = [top if top.items else PageOrder(items=[top]) for top in tops]
        body = "".join(self._node(group) for group in groups)
        return f"\n  <ReadingOrder>{body}</ReadingOrder>" if body else ""

    def _node(self, node: PageOrder) -> str:
        extras = node.extras or {}
        source = dict((extras.get("alto") or {}).get("attributes") or {})
        reference = self.ids.of_segment.get(node.segment_id or "")
        if not node.items and reference is None:
            self.lose("an entry of the reading order", "it names a segment that the page does not have")
            return ""
        inside = "".join(self._node(item) for item in node.items)
        if node.items and not inside:
            return ""
        tag = "ElementRef" if not node.items else ("OrderedGroup" if node.is_ordered else "UnorderedGroup")
        wish = (
            source.pop("ID", "") or ((extras.get("pagexml") or {}).get("attributes") or {}).get("id") or "ro"
        )
        attributes = {"ID": self._take(wish)}
        if reference is not None:
            attributes["REF"] = reference
        leftover: dict[str, Any] = {}
        self._write_other_attributes(tag, source, attributes, leftover)
        own = clean_extras(extras)
        if own:
            self.own_groups[attributes["ID"]] = own
        return element(tag, attributes, inside)


def _holder(name: str, parts: list[str]) -> str:
    """Return an element with its parts, one per line; nothing if there are none."""
    return f"\n  <{name}>" + "".join(f"\n    {part}" for part in parts) + f"\n  </{name}>" if parts else ""
