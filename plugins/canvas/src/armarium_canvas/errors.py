"""The refusals of a canvas."""

from __future__ import annotations

from armarium.api import Invalid, NotFound


def no_canvas(name: str) -> Invalid:
    """422: the node cannot contain anything to lay out."""
    return Invalid(
        f"“{name}” is not a folder, so it has no canvas. Name the folder that contains its cards.",
        code="not_a_folder",
    )


def not_on_canvas(item_id: str, name: str) -> Invalid:
    """422: neither a child of the folder nor an item of its canvas."""
    return Invalid(
        f"{item_id} is not in “{name}”: it is neither one of its documents nor an item of its canvas.",
        code="not_on_canvas",
        item_id=item_id,
    )


def unknown_item(item_id: str) -> NotFound:
    """404: no canvas item has this id."""
    return NotFound(
        f"There is no canvas item {item_id} in this project. Read the folder's layout to find the right id.",
        code="canvas_item_not_found",
        item_id=item_id,
    )


def unknown_thing(item_id: str) -> NotFound:
    """404: neither a document nor a canvas item has this id."""
    return NotFound(
        f"There is neither a document nor a canvas item {item_id} in this project. Name something in the folder.",
        code="not_found",
        item_id=item_id,
    )


def bad_link(why: str) -> Invalid:
    """422: the ends of a link are not two things on the canvas, or another kind of item has ends."""
    return Invalid(why, code="bad_link")


def kind_stays() -> Invalid:
    """422: an item cannot become a link, nor a link an item."""
    return Invalid(
        "A link cannot become another kind of item, nor another kind a link. Remove the item and make a new one.",
        code="kind_stays",
    )


def canvas_full(most: int) -> Invalid:
    """422: a canvas is limited in size."""
    return Invalid(f"A canvas can contain at most {most:,} items. Remove some first.", code="canvas_full")
