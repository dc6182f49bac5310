"""What layout refuses, and with which words."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Invalid, NotFound


def no_pages(scope: Sequence[str]) -> Invalid:
    """Nothing to work on beneath the nodes named."""
    what = "The node holds" if len(scope) == 1 else "The nodes hold"
    return Invalid(f"{what} no page to work on; name pages, or a folder with pages in it.", code="no_pages")


def unknown_example(segment_id: str) -> NotFound:
    """An example of a sign that is no segment of this project."""
    return NotFound(
        f"There is no segment {segment_id} to take as the example of a sign; name one that is drawn around the sign.",
        code="unknown_example",
        id=segment_id,
    )
