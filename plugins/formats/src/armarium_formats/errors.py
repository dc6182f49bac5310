"""The refusals of formats."""

from __future__ import annotations

from typing import Literal

from armarium.api import Broken, Conflict, Invalid, NotFound, missing
from armarium_formats.numbers import name_first

unknown_mets = missing("METS file", "List the METS files of the folder to find the right id.")
not_kept_in = Invalid.saying(
    "unknown_format", "There is no format {asked!r} to keep files in. There are: {known}."
)
unknown_conversion = missing("conversion", "The status of conversions names the newest one.")

not_recognised = Invalid.saying(
    "not_recognised",
    "{name} is not in a format that can be read here{seems}. Readable: {readable}. Name the format if it is one of them.",
    readable="readable",
)
not_readable = Invalid.saying(
    "format_not_readable",
    "{asked!r} is not a format that can be read here. Readable: {readable}.",
    readable="readable",
)
no_text_layer = Invalid.saying(
    "no_text_layer",
    "{name} is not a PDF of this project; only a PDF has a text layer. Name the file, not one of its pages.",
)
unknown_format = NotFound.saying(
    "unknown_format", "There is no format {asked!r}. Formats that can be written: {writable}."
)
not_writable = Conflict.saying(
    "format_not_writable",
    "{label} can be read here, but not written. Formats that can be written: {writable}.",
)
order_of_other_pass = Invalid.saying(
    "order_other_pass",
    "The reading order {order_name!r} belongs to pass {order_pass_id}, and pass {pass_id} was requested; "
    "send pass_id={order_pass_id}.",
    order_pass_id="order_pass_id",
    pass_id="pass_id",
)
not_of_a_file = NotFound.saying(
    "no_original",
    "The pass {pass_name!r} was not read from a file, so it has no original and no order of one.",
)
schema_invalid = Broken.saying(
    "schema_invalid",
    "The {label} export does not conform to its schema, so no file is returned ({problem}). "
    "This is a fault of the engine: please report it with the problems listed.",
    problems="problems",
)


class AlreadyAPass(Conflict):
    """This exact file was read into this page before."""

    def __init__(self, name: str, pass_id: str, pass_name: str) -> None:
        super().__init__(
            f"{name} is already the pass {pass_name!r} of this page ({pass_id}). Delete that pass to read it again.",
            code="already_a_pass",
            pass_id=pass_id,
        )


class NoPageSize(Invalid):
    """Pixels cannot be placed without the size of their page."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} does not declare the size of its page and the document has no picture, so its pixels "
            "cannot be placed. Give the document its picture first.",
            code="no_page_size",
        )


_OUTSIDE = {
    "clip": (
        "are entirely outside",
        "or ask with beyond=keep (armarium import --beyond keep) to import them without a position of their "
        "own; ",
    ),
    "refuse": ("extend beyond", "or ask with beyond=clip to have them clipped; "),
    "uncountable": ("have coordinates too large to calculate with, beyond", ""),
}


def shapes_outside(
    name: str,
    size: tuple[int, int],
    outside: list[str],
    why: Literal["clip", "keep", "refuse", "uncountable"],
) -> Invalid:
    """Refuse shapes beyond the page that the file declares: entirely (`clip`), in part (`refuse`), or absurdly
    far.
    """
    reason, way_out = _OUTSIDE[why]
    return Invalid(
        f"{name} declares a page of {size[0]} x {size[1]} pixels, and {len(outside)} of its shapes {reason} "
        f"it: {name_first(outside, 5)}. Correct the shapes or the page's size in the file, {way_out}nothing was read.",
        code="shapes_outside",
        segments=outside[:1000],
        count=len(outside),
    )


def nothing_came_in(refused: list[dict[str, str]], unpaired: list[dict[str, str]]) -> Invalid:
    """Refuse a batch of which no file could be imported."""
    first = (refused or unpaired or [{"file": "", "why": "There was no file in it."}])[0]
    more = len(refused) + len(unpaired) - 1
    return Invalid(
        f"Nothing was imported. {first['file']}: {first['why']}" + (f" And {more} more." if more > 0 else ""),
        code="nothing_came_in",
        refused=refused[:1000],
        unpaired=unpaired[:1000],
    )


def already_here(refused: list[dict[str, str]]) -> Conflict:
    """Refuse a batch of which every file was imported before."""
    more = f" And {len(refused) - 1} more." if len(refused) > 1 else ""
    return Conflict(
        f"Everything in it is already here. {refused[0]['file']}: {refused[0]['why']}{more}",
        code="already_here",
        refused=refused[:1000],
    )


no_past_named = Invalid.saying(
    "no_past_named",
    "{name} does not say of which page at which step it is a copy; name the page, and the step if it is not today's.",
)
