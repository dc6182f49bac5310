"""An ALTO file as a whole: its version, its Layouts with the parts before each, how it writes words, and the order of its
blocks (the groups of 4.3, or the older IDNEXT chain).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from armarium_formats.alto.reader_state import Reading
from armarium_formats.alto.strings import says_blanks
from armarium_formats.markup.fragments import namespace_of
from armarium_formats.markup.noting import Notes
from armarium_formats.page_model import PageModel, PageOrder, PageSegment, kept_by

if TYPE_CHECKING:
    from lxml import etree


_SPACE = re.compile(r"standards/alto/ns-v(\d+)#?$")
_STATED = re.compile(r"alto-(?:v)?(\d+)[.-](\d+)")
_PARTS = frozenset({"Description", "Styles", "Tags", "ReadingOrder", "Layout"})


def version_of(root: etree._Element, notes: Notes) -> str | None:
    """Return the ALTO version that a file states in its attribute, schema location or namespace."""
    namespace = namespace_of(root)
    match = _SPACE.search(namespace)
    version = root.get("SCHEMAVERSION") or ""
    if not version:
        hint = next((str(value) for key, value in root.attrib.items() if "chemaLocation" in str(key)), "")
        version_match = _STATED.search(hint)
        version = f"{version_match.group(1)}.{version_match.group(2)}" if version_match else ""
    if not namespace:
        notes.note("The file names no ALTO namespace")
    elif match is None and "ALTO" not in namespace and "alto" not in namespace:
        notes.note(f"The file's namespace {namespace} is not one of ALTO's; it is read like ALTO")
    elif match is not None and int(match.group(1)) > 4:
        notes.note(f"The file is ALTO {match.group(1)}, newer than this reader; it is read like 4.4")
    if version and (match is None or version.startswith(match.group(1))):
        return version
    if match is not None:
        return match.group(1)
    return "1" if "ccs-gmbh" in namespace else None


def volumes_of(root: etree._Element, reading: Reading) -> tuple[list[dict[str, etree._Element]], list[str]]:
    """Return the parts of a file by name, once per Layout, and the rest as fragments.

    Concatenated files have several of each; a missing part is inherited from the previous one.
    """
    volumes: list[dict[str, etree._Element]] = []
    parts: dict[str, etree._Element] = {}
    since: set[str] = set()
    others: list[str] = []
    for child in root:
        name = reading.name_of(child)
        if name not in _PARTS or name in since:
            others.append(reading.scale.keep(child))
            reading.kept[f"element alto/{name}"] += 1
        elif name == "Layout":
            volumes.append({**parts, name: child})
            parts.pop("ReadingOrder", None)
            since.clear()
        else:
            parts[name] = child
            since.add(name)
    if len(volumes) > 1:
        reading.note(f"The file has {len(volumes)} Layouts; the pages of all of them are read")
    if len(volumes) == 1:
        volumes = [{**parts, **volumes[0]}]
    return volumes, others


def has_blanks_between_strings(root: etree._Element, reading: Reading) -> bool:
    """Return whether the file marks spaces by SP, so that adjacent Strings are one word."""
    parted = unparted = 0
    for line in root.iter("{*}TextLine"):
        names = [reading.name_of(child) for child in line]
        if names.count("String") > 1:
            within = names[names.index("String") : len(names) - names[::-1].index("String")]
            parted, unparted = parted + ("SP" in within), unparted + ("SP" not in within)
    return says_blanks(parted, unparted)


def has_words_without_ids(root: etree._Element, reading: Reading) -> bool:
    """Return whether lines of the file have several Strings without ids: then a single String is a word
    too.
    """
    for line in root.iter("{*}TextLine"):
        strings = [child for child in line if reading.name_of(child) == "String"]
        if len(strings) > 1 and strings[0].get("ID") is None:
            return True
    return False


_GROUPS = ("OrderedGroup", "UnorderedGroup")


def read_order(
    element: etree._Element, known: set[str], elsewhere: set[str], reading: Reading
) -> PageOrder | None:
    """Read the ReadingOrder over the segments *known*; those of other pages (*elsewhere*) are ignored."""
    groups = [_node(child, known, elsewhere, reading) for child in element if isinstance(child.tag, str)]
    orders = [group for group in groups if group is not None]
    if len(orders) > 1:
        return PageOrder(items=orders, is_ordered=False, extras={"alto": {"top": "yes"}})
    return orders[0] if orders else None


def _node(
    element: etree._Element, known: set[str], elsewhere: set[str], reading: Reading
) -> PageOrder | None:
    name = reading.name_of(element)
    attributes = reading.attributes(element)
    ids = [reading.given_back.get(ref, ref) for ref in attributes.pop("REF", "").split()]
    references = [reference for reference in ids if reference in known]
    for identity in ids:
        if identity not in known and identity not in elsewhere:
            reading.note(f"The reading order names {identity}, which does not exist on the page")
    extras: dict[str, Any] = {"attributes": attributes} if attributes else {}
    for key in attributes:
        if key != "ID":
            reading.kept[f"attribute {name}/@{key}"] += 1
    own = reading.own["groups"].get(attributes.get("ID", ""))
    merged = {**(own or {}), **({"alto": extras} if extras else {})} or None
    if name == "ElementRef":
        if len(references) > 1:
            reading.note("An entry of the reading order names several things; they were read in sequence")
            return PageOrder(items=[PageOrder(reference) for reference in references], extras=merged)
        return PageOrder(references[0], extras=merged) if references else None
    if name not in _GROUPS:
        reading.note(f"The element {name} does not belong in a reading order")
        return None
    items = [node for child in element if (node := _node(child, known, elsewhere, reading)) is not None]
    if not items:
        return PageOrder(references[0], extras=merged) if references else None
    return PageOrder(references[0] if references else None, items, name == "OrderedGroup", merged)


def read_chain(page: PageModel, reading: Reading) -> PageOrder | None:
    """Return the order that IDNEXT makes of the page's blocks, and remove that attribute from them."""
    following: dict[str, str] = {}
    blocks: dict[str, PageSegment] = {
        segment.id: segment for segment in page.walk() if segment.kind == "region"
    }
    for block in blocks.values():
        attributes = kept_by("alto", block).get("attributes") or {}
        after = attributes.get("IDNEXT")
        if after is not None:
            after = reading.given_back.get(after, after)
            if after in blocks and after != block.id and after not in following.values():
                following[block.id] = after
            else:
                reading.note(
                    f"IDNEXT names {after}, which is not a block of the page or already follows another one"
                )
                return None
    if not following:
        return None
    chain: list[str] = []
    for start in blocks:
        if start in following.values() or start not in following:
            continue
        step: str | None = start
        while step is not None and step not in chain:
            chain.append(step)
            step = following.get(step)
    if len(chain) != len(set(following) | set(following.values())):
        reading.note("The chain of IDNEXT is circular")
        return None
    for identity in following:
        extras = (blocks[identity].extras or {})["alto"]
        del extras["attributes"]["IDNEXT"]
    return PageOrder(
        items=[PageOrder(block_id) for block_id in chain], extras={"alto": {"idnext": " ".join(chain)}}
    )
