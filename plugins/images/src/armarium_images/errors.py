"""The refusals of images."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, missing

outside_picture = Invalid.saying(
    "outside_picture",
    "The crop reaches outside the picture, which is {width} by {height} pixels. Keep left + width and top "
    "+ height within it.",
    width="width",
    height="height",
)
empty_region = Invalid.saying(
    "empty_region",
    "Region {number} covers no whole pixel of the picture ({width} by {height} pixels). Make it larger.",
    region="number",
)


def overlapping(first: int, second: int) -> Invalid:
    """422: two regions of a split overlap."""
    return Invalid(
        f"Regions {first} and {second} overlap. The parts of a split must not overlap; use crops for parts that do.",
        code="overlapping_regions",
        regions=[first, second],
    )


def already_split(name: str, parts: int) -> Conflict:
    """409: the picture has live parts of a split."""
    return Conflict(
        f"“{name}” is already split into {parts} {'part' if parts == 1 else 'parts'}. Remove that split first (unsplit), or "
        "crop further parts.",
        code="already_split",
        parts=parts,
    )


def no_such_page(page: int, pages: int) -> Invalid:
    """422: the source has fewer pages."""
    return Invalid(
        f"Page {page} was asked for, but this has {pages} {'page' if pages == 1 else 'pages'}. "
        "Pages count from 1.",
        code="no_such_page",
        page=page,
        pages=pages,
    )


taken_back_before = Conflict.saying(
    "nothing_to_take_back", "“{name}” has no {what} to remove. What was removed before is in the Trash."
)
nothing_to_take_back = Conflict.saying(
    "nothing_to_take_back",
    "“{name}” has no {what} to remove: nothing was cut out of it in this project, and it was not cut out of another picture. "
    "Name the picture that was cut, or what was cut out of it.",
)
unknown_batch = missing(
    "batch over images", "Use the batch_id that batch-apply answered.", code="batch_not_found", key="batch_id"
)


batch_taken_back = Conflict.saying(
    "nothing_to_take_back",
    "This batch has nothing to undo: none of its pictures is cut, or all cuts have already been removed.",
)
not_a_folder = Invalid.saying(
    "not_a_folder", "“{name}” is not a folder. Name a folder or group whose pictures are to be cut."
)


def no_images(name: str, *, recursive: bool) -> Invalid:
    """422: nothing in the folder has a picture."""
    more = "" if recursive else " Set recursive to look into the folders inside it."
    return Invalid(f"“{name}” contains no picture that could be cut.{more}", code="no_images")


too_many_images = Invalid.saying(
    "too_many_images",
    "The folder contains {count:,} pictures; one batch takes at most {most:,}. Choose folders inside it.",
    count="count",
)
nothing_to_treat = Invalid.saying(
    "no_images",
    "There is no picture at or beneath the nodes that were named. Name pages, images, or folders that "
    "contain some.",
)
