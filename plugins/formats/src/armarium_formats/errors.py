"""The refusals of formats."""

from __future__ import annotations

from typing import Literal

from armarium.api import Broken, Conflict, Invalid, NotFound, missing

unknown_mets = missing("METS file", "List the METS files of the folder to find the right id.")
not_kept_in = Invalid.saying(
    "unknown_format", "There is no format {asked!r} to keep files in. There are: {known}."
)
unknown_conversion = missing("conversion", "The status of conversions names the newest one.")


class NotRecognised(Invalid):
    """No driver recognises the bytes."""

    def __init__(self, name: str, readable: list[str], seems: str | None = None) -> None:
        super().__init__(
            f"{name} is not in a format that can be read here{f': it seems to be {seems}' if seems else ''}. "
            f"Readable: {', '.join(readable) or 'none'}. Name the format if it is one of them.",
            code="not_recognised",
            readable=readable,
        )


class NotReadable(Invalid):
    """The format named for an import is unknown, or write-only."""

    def __init__(self, asked: str, readable: list[str]) -> None:
        super().__init__(
            f"{asked!r} is not a format that can be read here. Readable: {', '.join(readable) or 'none'}.",
            code="format_not_readable",
            readable=readable,
        )


class NoTextLayer(Invalid):
    """422: the document is no PDF."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is not a PDF of this project; only a PDF has a text layer. Name the file, not one of its pages.",
            code="no_text_layer",
        )


class AlreadyAPass(Conflict):
    """This exact file was read into this page before."""

    def __init__(self, name: str, pass_id: str, pass_name: str) -> None:
        super().__init__(
            f"{name} is already the pass {pass_name!r} of this page ({pass_id}). Delete that pass to read it again.",
            code="already_a_pass",
            pass_id=pass_id,
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


class ShapesOutside(Invalid):
    """Shapes beyond the page that the file declares: entirely (`clip`), in part (`refuse`), or absurdly
    far.
    """

    def __init__(
        self,
        name: str,
        size: tuple[int, int],
        outside: list[str],
        why: Literal["clip", "keep", "refuse", "uncountable"],
    ) -> None:
        shown = ", ".join(outside[:5]) + (f" and {len(outside) - 5} more" if len(outside) > 5 else "")
        how, way_out = _OUTSIDE[why]
        super().__init__(
            f"{name} declares a page of {size[0]} x {size[1]} pixels, and {len(outside)} of its shapes {how} "
            f"it: {shown}. Correct the shapes or the page's size in the file, {way_out}nothing was read.",
            code="shapes_outside",
            segments=outside[:1000],
            count=len(outside),
        )


class NoPageSize(Invalid):
    """Pixels cannot be placed without the size of their page."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} does not declare the size of its page and the document has no picture, so its pixels "
            "cannot be placed. Give the document its picture first.",
            code="no_page_size",
        )


class UnknownFormat(NotFound):
    """The format named for an export is not installed."""

    def __init__(self, asked: str, writable: list[str]) -> None:
        super().__init__(
            f"There is no format {asked!r}. Formats that can be written: {', '.join(writable) or 'none'}.",
            code="unknown_format",
        )


class NotWritable(Conflict):
    """The format named for an export is read-only."""

    def __init__(self, label: str, writable: list[str]) -> None:
        super().__init__(
            f"{label} can be read here, but not written. Formats that can be written: "
            f"{', '.join(writable) or 'none'}.",
            code="format_not_writable",
        )


class OrderOfOtherPass(Invalid):
    """A pass was to be exported in the order of another."""

    def __init__(self, order_name: str, order_pass_id: str, pass_id: str) -> None:
        super().__init__(
            f"The reading order {order_name!r} belongs to pass {order_pass_id}, and pass {pass_id} was "
            f"requested; send pass_id={order_pass_id}.",
            code="order_other_pass",
            order_pass_id=order_pass_id,
            pass_id=pass_id,
        )


class NotOfAFile(NotFound):
    """The file of a pass that was not imported was requested."""

    def __init__(self, pass_name: str) -> None:
        super().__init__(
            f"The pass {pass_name!r} was not read from a file, so it has no original and no order of one.",
            code="no_original",
        )


class SchemaInvalid(Broken):
    """An export that its own schema refuses; it is not delivered."""

    def __init__(self, label: str, problems: list[str]) -> None:
        super().__init__(
            f"The {label} export does not conform to its schema, so no file is returned ({problems[0]}). "
            "This is a fault of the engine: please report it with the problems listed.",
            code="schema_invalid",
            problems=problems,
        )


class NothingCameIn(Invalid):
    """No file of a batch could be imported."""

    def __init__(self, refused: list[dict[str, str]], unpaired: list[dict[str, str]]) -> None:
        first = (refused or unpaired or [{"file": "", "why": "There was no file in it."}])[0]
        more = len(refused) + len(unpaired) - 1
        super().__init__(
            f"Nothing was imported. {first['file']}: {first['why']}"
            + (f" And {more} more." if more > 0 else ""),
            code="nothing_came_in",
            refused=refused[:1000],
            unpaired=unpaired[:1000],
        )


class AlreadyHere(Conflict):
    """Every file of a batch was imported before."""

    def __init__(self, refused: list[dict[str, str]]) -> None:
        more = f" And {len(refused) - 1} more." if len(refused) > 1 else ""
        super().__init__(
            f"Everything in it is already here. {refused[0]['file']}: {refused[0]['why']}{more}",
            code="already_here",
            refused=refused[:1000],
        )
