"""Reads TEI P5: the pages of a file, from its surfaces and texts, tolerating what real editions contain."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from armarium.api import Invalid, parse_xml
from armarium_formats.decoding import head_of
from armarium_formats.driver import ReadContext
from armarium_formats.kinds import is_furniture
from armarium_formats.markup.noting import Notes
from armarium_formats.numbers import name_first
from armarium_formats.page_model import PageModel, PageSegment, PageText, kept_by
from armarium_formats.points import require_countable, shapes_of
from armarium_formats.tei.facts import declare
from armarium_formats.tei.keeping import attributes, keep, name_of
from armarium_formats.tei.marking import MADE, STATED
from armarium_formats.tei.surfaces import Page, Surfaces
from armarium_formats.tei.vocabulary import NAMESPACE, ROOTS, XML, language_of
from armarium_formats.tei.walking import Walk

if TYPE_CHECKING:
    from lxml import etree

_COMMENTS = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_FIRST_TAG = re.compile(rb"<(?:[\w.-]+:)?([\w.]+)([^<>]*)")
_QUOTED = rb"""(?:"[^"]*"|'[^']*')"""
_DECLARATION = rb"""<!(?!--)[^<>"']*(?:%s[^<>"']*)*>""" % _QUOTED
_COMMENT = rb"<!--[^-]*(?:-(?!->)[^-]*)*-->"
_INSTRUCTION = rb"<\?[^?]*(?:\?(?!>)[^?]*)*\?>"
_SUBSET = rb"\[\s*(?:(?:%s|%s|%s|%%[\w.:\x80-\xff-]+;)\s*)*\]\s*" % (_COMMENT, _INSTRUCTION, _DECLARATION)
_DOCTYPE = re.compile(rb"""<!DOCTYPE[^<>\[\]"']*(?:%s[^<>\[\]"']*)*(?:%s)?>""" % (_QUOTED, _SUBSET))
"""Each byte can be read in one way only, so that a DOCTYPE that does not end is found so in one pass."""

LONGEST_DOCTYPE = 1 << 20
"""Bytes that a DOCTYPE may have, and what stands before it; a longer one is refused as any other document type is."""

_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*", re.DOTALL)
MOST_PAGES = 10_000


def sniff(data: bytes) -> float:
    """Return 1 for a TEI root in its namespace, 0.9 for a bare text or facsimile in it, 0.8 without a
    namespace.
    """
    match = _FIRST_TAG.search(_COMMENTS.sub(b"", head_of(data)))
    if match is None:
        return 0.0
    name, rest = match.groups()
    named = NAMESPACE.encode() in rest
    if name in (b"TEI", b"teiCorpus", b"TEI.2"):
        return 1.0 if named else 0.8
    return 0.9 if named and name.decode("ascii", errors="replace") in ROOTS else 0.0


def read(data: bytes, context: ReadContext) -> list[PageModel]:
    """Return the pages of a TEI file in order; `Invalid` naming the file."""
    name = context.filename
    notes = Notes()
    data, has_doctype = without_doctype(data)
    root = parse_xml(data, name=name)
    require_countable(name, lambda: shapes_of(root))
    if has_doctype:
        notes.note("The file names a document type; nothing of it was fetched or applied")
    if name_of(root) not in ROOTS:
        raise Invalid(
            f"{name} is not TEI: its root element is {name_of(root)[:60]}, not TEI.", code="not_tei"
        )
    if not str(root.tag).startswith(f"{{{NAMESPACE}}}"):
        notes.note("The file is not in the TEI namespace; it is read like TEI P5")
    if name_of(root) == "TEI.2":
        notes.note("The file is TEI P4 by its root; it is read like TEI P5")
    if name_of(root) not in ("TEI", "teiCorpus", "TEI.2"):
        notes.note(f"The root is {name_of(root)}; the file has no header")
    surfaces = Surfaces(root, context.page_size, notes)
    walk = Walk(surfaces)
    walk.sources()
    for text in _texts(root):
        walk.text(text)
    if not surfaces.pages:
        raise Invalid(
            f"{name} is TEI without any page: it has no surface, no pb and no text, so there is nothing to "
            "read.",
            code="no_page",
        )
    if len(surfaces.pages) > MOST_PAGES:
        raise Invalid(
            f"{name} has {len(surfaces.pages):,} pages; at most {MOST_PAGES:,} are read. Split the file.",
            code="too_many_pages",
        )
    return _finish_pages(root, surfaces, walk)


def without_doctype(data: bytes) -> tuple[bytes, bool]:
    """Return the file without its DOCTYPE. Entities it would declare are then unknown, and using one is
    refused.
    """
    prolog = _PROLOG.match(data, 0, LONGEST_DOCTYPE)
    at = prolog.end() if prolog else 0
    match = _DOCTYPE.match(data, at, at + LONGEST_DOCTYPE)
    if match is None:
        return data, False
    return data[:at] + data[match.end() :], True


def _texts(root: etree._Element) -> list[etree._Element]:
    """Return the texts that are in no other text."""
    if name_of(root) == "text":
        return [root]
    return [
        element
        for element in root.iter("{*}text")
        if not any(name_of(above) in ("text", "teiHeader", "sourceDoc") for above in element.iterancestors())
    ]


def _finish_pages(root: etree._Element, surfaces: Surfaces, walk: Walk) -> list[PageModel]:
    headers = [keep(element) for element in root.iter("{*}teiHeader")]
    of_root = attributes(root, ("xmlns",)) if name_of(root) in ("TEI", "TEI.2") else {}
    others = [
        keep(child)
        for child in root
        if name_of(child) in ("standOff", "fsdDecl") and name_of(root) in ("TEI", "TEI.2")
    ]
    languages = [
        language_of(element.get(f"{XML}lang"))
        for element in (*root.iter("{*}text"), root)
        if element.get(f"{XML}lang")
    ]
    names = [page.name for page in surfaces.pages]
    whole = ""
    if len(names) > 1:
        listed = name_first(names, 20)
        whole = f"The file has {len(names)} pages: {listed}"
    dropped = {what: str(count) for what, count in sorted(walk.left.items()) if count}
    models = []
    for number, page in enumerate(surfaces.pages, 1):
        model = page.model
        _hang_zones(page)
        _rank(model.segments, walk.ranks)
        _furnish(model, walk.ranks)
        _give_own_texts(model)
        if model.language is None and model.script is None and languages:
            model.language, model.script = languages[0]
        extras = {key: value for key, value in page.extras.items() if value}
        counts: Counter[str] = Counter(page.notes.kept)
        if headers:
            extras["header"] = STATED.sub("", MADE.sub("", headers[0]))
            counts["element TEI/teiHeader"] += 1
        if others:
            extras["beside"] = others
            counts["element TEI/standOff or fsdDecl"] += len(others)
        if of_root:
            extras["root"] = of_root
        for key in ("surface", "graphic", "pb"):
            for attribute in extras.get(key, ()):
                counts[f"attribute {key}/@{attribute}"] += 1
        if dropped:
            extras["left"] = dropped
        if extras:
            model.extras["tei"] = extras
        model.kept = dict(counts)
        model.version = "P5"
        notes = [f"This is {page.name}, page {number} of {len(names)}. {whole}."] if whole else []
        notes += page.notes.sentences() + surfaces.notes.sentences()
        if dropped:
            notes.append(_left_out(dropped, one_of_many=len(names) > 1))
        model.notes = notes
        models.append(model)
    declare(root, models)
    return models


def _left_out(dropped: dict[str, str], *, one_of_many: bool) -> str:
    listed = ", ".join(f"{what} ({count})" for what, count in dropped.items())
    whole = "the whole file's " if one_of_many else ""
    return (
        f"The text's own structure is not kept with the lines: {whole}{listed}. The original stays as it is."
    )


def _hang_zones(page: Page) -> None:
    """Add the zones' segments to the tree, in document order, before what only the text contains."""
    brought = page.model.segments
    page.model.segments = []
    of_text: dict[int, list[PageSegment]] = {}
    for zone in page.zones:
        zone.segment.kind = zone.kind or zone.implied or "region"  # type: ignore[assignment]
        of_text[id(zone.segment)] = zone.segment.children
        zone.segment.children = []
    for zone in page.zones:
        if zone.is_hung:
            continue
        (zone.parent.segment.children if zone.parent is not None else page.model.segments).append(
            zone.segment
        )
    for zone in page.zones:
        zone.segment.children += of_text[id(zone.segment)]
    page.model.segments += brought


def _rank(segments: list[PageSegment], ranks: dict[int, int]) -> int | None:
    """Order siblings by the text; those it does not name keep their places. Returns the lowest rank among
    them.
    """
    keyed: list[tuple[int, int]] = []
    least: int | None = None
    for place, segment in enumerate(segments):
        inside = _rank(segment.children, ranks)
        own = ranks.get(id(segment))
        own = inside if own is None and segment.kind == "region" else own
        if own is not None:
            keyed.append((own, place))
            least = own if least is None else min(least, own)
    sequence = sorted(keyed)
    moved = [segments[place] for _, place in sequence]
    for (_, place), segment in zip(keyed, moved, strict=True):
        segments[place] = segment
    return least


def _furnish(model: PageModel, ranks: dict[int, int]) -> None:
    """Mark regions that only their zone names as furniture, by kind."""
    for segment in model.walk():
        if segment.kind == "region" and segment.kind_raw and id(segment) not in ranks:
            word = segment.kind_raw.partition(":")[0]
            segment.is_furniture = is_furniture(word)


def _give_own_texts(model: PageModel) -> None:
    """Give regions that our export marked as having their lines' text that text."""
    for segment in model.walk():
        extras = kept_by("tei", segment)
        if extras.pop("says_its_lines", False):
            lines = [part.text for part in segment.walk() if part.kind == "line" and part.text]
            segment.texts = segment.texts or [PageText("\n".join(lines))]
            if not extras:
                segment.extras = None
