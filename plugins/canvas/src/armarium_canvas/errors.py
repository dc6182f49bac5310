"""The refusals of a canvas."""

from __future__ import annotations

from armarium.api import Invalid, NotFound

no_canvas = Invalid.saying(
    "not_a_folder", "“{name}” is not a folder, so it has no canvas. Name the folder that contains its cards."
)
not_on_canvas = Invalid.saying(
    "not_on_canvas",
    "{item_id} is not in “{name}”: it is neither one of its documents nor an item of its canvas.",
    item_id="item_id",
)
unknown_item = NotFound.saying(
    "canvas_item_not_found",
    "There is no canvas item {item_id} in this project. Read the folder's layout to find the right id.",
    item_id="item_id",
)
unknown_thing = NotFound.saying(
    "not_found",
    "There is neither a document nor a canvas item {item_id} in this project. Name something in the folder.",
    item_id="item_id",
)


bad_link = Invalid.saying("bad_link", "{why}")
kind_stays = Invalid.saying(
    "kind_stays",
    "A link cannot become another kind of item, nor another kind a link. Remove the item and make a new one.",
)
canvas_full = Invalid.saying("canvas_full", "A canvas can contain at most {most:,} items. Remove some first.")
