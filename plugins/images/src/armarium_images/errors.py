"""The refusals of images."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, missing


def outside_picture(width: int, height: int) -> Invalid:
    """422: the rectangle reaches beyond the picture's edge."""
    return Invalid(
        f"The crop reaches outside the picture, which is {width} by {height} pixels. Keep left + width and "
        "top + height within it.",
        code="outside_picture",
        width=width,
        height=height,
    )


def empty_region(number: int, width: int, height: int) -> Invalid:
    """422: a region smaller than one pixel."""
    return Invalid(
        f"Region {number} covers no whole pixel of the picture ({width} by {height} pixels). Make it larger.",
        code="empty_region",
        region=number,
    )


def overlapping(first: int, second: int) -> Invalid:
    """422: two regions of a split overlap."""
    return Invalid(
        f"Regions {first} and {second} overlap. The parts of a split must not overlap; use crops for parts that do.",
        code="overlapping_regions",
        regions=[first, second],
    )


def already_split(name: str, parts: int) -> Conflict:
    """409: the picture is split already; a second split would double its pages."""
    return Conflict(
        f"“{name}” is already split into {parts} parts. Remove that split first (unsplit), or crop further parts.",
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


def nothing_to_take_back(what: str, name: str) -> Conflict:
    """409: there is no live derived child of this kind."""
    return Conflict(
        f"“{name}” has no {what} to remove. What was removed before is in the Trash.",
        code="nothing_to_take_back",
    )


unknown_batch = missing(
    "batch over images", "Use the batch_id that batch-apply answered.", code="batch_not_found", key="batch_id"
)


def batch_taken_back() -> Conflict:
    """409: the batch has no finished or waiting item."""
    return Conflict(
        "This batch has nothing to undo: none of its pictures is cut, or all cuts were removed already.",
        code="nothing_to_take_back",
    )


def not_a_folder(name: str) -> Invalid:
    """422: a batch works over a folder or group."""
    return Invalid(
        f"“{name}” is not a folder. Name a folder or group whose pictures are to be cut.", code="not_a_folder"
    )


def no_images(name: str, *, recursive: bool) -> Invalid:
    """422: nothing in the folder has a picture."""
    more = "" if recursive else " Set recursive to look into the folders inside it."
    return Invalid(f"“{name}” contains no picture that could be cut.{more}", code="no_images")


def too_many_images(count: int, most: int) -> Invalid:
    """422: a batch is limited in size."""
    return Invalid(
        f"The folder contains {count:,} pictures; one batch takes at most {most:,}. Choose folders inside it.",
        code="too_many_images",
        count=count,
    )


def nothing_to_treat() -> Invalid:
    """422: there is no page or picture at or below the nodes named."""
    return Invalid(
        "There is no picture at or beneath the nodes that were named. Name pages, images, or folders that contain some.",
        code="no_images",
    )
