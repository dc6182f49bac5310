"""The refusals of bake-offs and of hands' readers, one sentence each that a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armarium.api import Invalid, missing
from armarium_training.api import MIN_LINES, MIN_PAGES

unknown_bakeoff = missing(
    "bake-off", "List the bake-offs to find the right id.", code="unknown_bakeoff", key="bakeoff_id"
)
unknown_hand = missing("hand", "List the hands to find the right id.", code="unknown_hand", key="hand_id")


def readiness(lines: int, pages: int) -> dict[str, Any]:
    """Return how far the corrected lines are from enough, in the form used by every refusal to start."""
    return {
        "ready": False,
        "lines": lines,
        "pages": pages,
        "min_lines": MIN_LINES,
        "min_pages": MIN_PAGES,
        "more_lines": max(0, MIN_LINES - lines),
        "more_pages": max(0, MIN_PAGES - pages),
    }


def too_few_lines(lines: int, pages: int) -> Invalid:
    """422: fewer corrected lines, or on fewer pages, than a comparison needs."""
    more = [
        f"{count} more {noun}{'' if count == 1 else 's'}"
        for count, noun in ((MIN_LINES - lines, "line"), (MIN_PAGES - pages, "page"))
        if count > 0
    ]
    return Invalid(
        f"A bake-off needs {MIN_LINES} corrected lines on {MIN_PAGES} pages; there are {lines} on {pages}. "
        f"Correct {' and '.join(more)} first.",
        code="too_few_lines",
        **readiness(lines, pages),
    )


def not_set_up(lines: int, pages: int) -> Invalid:
    """422: the questions about the material are not answered."""
    return Invalid(
        "The project is not set up, so the readers that suit its material are unknown. Save the "
        "answers of setup first.",
        code="not_set_up",
        **readiness(lines, pages),
    )


def no_candidate(rows: Iterable[Mapping[str, Any]], lines: int, pages: int) -> Invalid:
    """422: no candidate can be scored here."""
    whys = (f"{row['name']}: {row['not_scored']}" for row in rows if row["not_scored"])
    reasons = " ".join(dict.fromkeys(whys))
    return Invalid(
        f"No candidate can be scored here. {reasons}".strip(), code="no_candidate", **readiness(lines, pages)
    )


not_in_table = Invalid.saying(
    "unknown_card", "The bake-off has no candidate {card!r}. Its candidates are: {here}."
)
not_scored = Invalid.saying(
    "not_scored", "{card} was not scored in this bake-off, so it cannot be used from it. {why}"
)
only_the_line_readers = Invalid.saying(
    "other_finder",
    "{card} is not the line reader's own finder; only that one can be used from a bake-off of line "
    "finders. Choose another from the candidates of the step.",
)
still_going = Invalid.saying(
    "not_done", "The bake-off is {state}; use one of its candidates when it is done."
)
folder_wanted = Invalid.saying(
    "folder_wanted", "Name folder_id with the scope folder, and only with that scope."
)
no_card = Invalid.saying(
    "unknown_card", "There is no reader with the card {card!r}. List the candidates to find the right one."
)
reads_no_lines_here = Invalid.saying("cannot_read_here", "{card} cannot read lines here. {why}")


def withdrawn_hand(label: Mapping[str, Any]) -> Invalid:
    """422: a withdrawn hand."""
    return Invalid(
        f"The hand {label['label']} was withdrawn; no reader can be set for it.", code="withdrawn_hand"
    )


finds_no_lines_here = Invalid.saying("cannot_find_here", "No installed reader runs {card}.")
