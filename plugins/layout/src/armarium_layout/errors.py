"""What layout refuses, and with which words."""

from __future__ import annotations

from armarium.api import NotFound


def unknown_example(segment_id: str) -> NotFound:
    """An example of a sign that is no segment of this project."""
    return NotFound(
        f"There is no segment {segment_id} to take as the example of a sign; name one that is drawn around the sign.",
        code="unknown_example",
        id=segment_id,
    )
