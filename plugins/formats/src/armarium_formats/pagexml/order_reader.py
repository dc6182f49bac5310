"""Reads the order of a PAGE file: nested groups, ordered or not, over its regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from armarium_formats.markup.fragments import local_name
from armarium_formats.numbers import parse_signed
from armarium_formats.page_model import PageOrder
from armarium_formats.pagexml.keeping import Keeper

if TYPE_CHECKING:
    from lxml import etree


def read_order(
    element: etree._Element, known: set[str], given_back: Mapping[str, str], keeper: Keeper
) -> PageOrder | None:
    """Read the ReadingOrder over the regions *known*; `given_back` maps ids that an export of ours had to
    replace.
    """
    groups = [_group(child, known, given_back, keeper) for child in element if isinstance(child.tag, str)]
    orders = [group for group in groups if group is not None]
    if len(orders) > 1:
        keeper.note("The reading order has more than one top-level group; they were put into one")
        return PageOrder(items=orders)
    return orders[0] if orders else None


def _group(
    element: etree._Element, known: set[str], given_back: Mapping[str, str], keeper: Keeper
) -> PageOrder | None:
    name = local_name(str(element.tag))
    reference = given_back.get(str(element.get("regionRef")), element.get("regionRef"))
    if name.startswith("RegionRef"):
        if reference not in known:
            keeper.note(f"The reading order names {reference}, which is not a region of the page")
            return None
        return PageOrder(segment_id=reference)
    if not name.startswith(("OrderedGroup", "UnorderedGroup")):
        return None
    if reference is not None and reference not in known:
        keeper.note(f"The reading order names {reference}, which is not a region of the page")
        reference = None
    items: list[tuple[int, PageOrder]] = []
    fragments: list[str] = []
    attributes = {
        str(key): str(value) for key, value in element.attrib.items() if key not in ("regionRef", "index")
    }
    for child in element:
        if "Region" in str(child.tag) or "Group" in str(child.tag):
            node = _group(child, known, given_back, keeper)
            index = parse_signed(child.get("index"))
            if node is not None:
                items.append((index if index is not None else len(items), node))
        else:
            fragments += keeper.element(name, child, attributes)
    if name.startswith("Ordered"):
        items.sort(key=lambda pair: pair[0])
    extras: dict[str, Any] = {}
    told = [key for key in ("caption", "type", "continuation", "custom", "comments") if key in attributes]
    keeper.count_attributes(name, told)
    extras["attributes"] = attributes
    if fragments:
        extras["elements"] = fragments
    nodes = [node for _, node in items]
    return PageOrder(reference, nodes, name.startswith("Ordered"), {"pagexml": extras}) if nodes else None
