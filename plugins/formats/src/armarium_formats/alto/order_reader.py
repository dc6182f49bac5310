"""Reads the order of an ALTO file: the groups of 4.3, or the older IDNEXT chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_formats.alto.reader_state import Reading
from armarium_formats.page_model import PageModel, PageOrder, PageSegment

if TYPE_CHECKING:
    from lxml import etree

_GROUPS = ("OrderedGroup", "UnorderedGroup")


def read_order(
    element: etree._Element, known: set[str], elsewhere: set[str], reading: Reading
) -> PageOrder | None:
    """Read the ReadingOrder over the segments *known*; those of other pages (*elsewhere*) are ignored."""
    groups = [_node(child, known, elsewhere, reading) for child in element if isinstance(child.tag, str)]
    found = [group for group in groups if group is not None]
    if len(found) > 1:
        return PageOrder(items=found, is_ordered=False, extras={"alto": {"top": "yes"}})
    return found[0] if found else None


def _node(
    element: etree._Element, known: set[str], elsewhere: set[str], reading: Reading
) -> PageOrder | None:
    name = reading.name_of(element)
    attributes = reading.attributes(element)
    stated = [reading.given_back.get(one, one) for one in attributes.pop("REF", "").split()]
    references = [one for one in stated if one in known]
    for one in stated:
        if one not in known and one not in elsewhere:
            reading.note(f"The reading order names {one}, which does not exist on the page")
    extras: dict[str, Any] = {"attributes": attributes} if attributes else {}
    for key in attributes:
        if key != "ID":
            reading.kept[f"attribute {name}/@{key}"] += 1
    own = reading.own["groups"].get(attributes.get("ID", ""))
    kept = {**(own or {}), **({"alto": extras} if extras else {})} or None
    if name == "ElementRef":
        if len(references) > 1:
            reading.note("An entry of the reading order names several things; they were read in sequence")
            return PageOrder(items=[PageOrder(one) for one in references], extras=kept)
        return PageOrder(references[0], extras=kept) if references else None
    if name not in _GROUPS:
        reading.note(f"The element {name} does not belong in a reading order")
        return None
    items = [node for child in element if (node := _node(child, known, elsewhere, reading)) is not None]
    if not items:
        return PageOrder(references[0], extras=kept) if references else None
    return PageOrder(references[0] if references else None, items, name == "OrderedGroup", kept)


def read_chain(page: PageModel, reading: Reading) -> PageOrder | None:
    """Return the order that IDNEXT makes of the page's blocks, and remove that attribute from them."""
    following: dict[str, str] = {}
    blocks: dict[str, PageSegment] = {one.id: one for one in page.walk() if one.kind == "region"}
    for block in blocks.values():
        attributes = ((block.extras or {}).get("alto") or {}).get("attributes") or {}
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
    return PageOrder(items=[PageOrder(one) for one in chain], extras={"alto": {"idnext": " ".join(chain)}})
