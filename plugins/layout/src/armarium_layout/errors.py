"""The refusals of layout, one sentence each."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Invalid, NotFound

unknown_example = NotFound.saying(
    "unknown_example",
    "There is no segment {segment_id} to use as the example of a sign; name one that is drawn around the "
    "sign.",
    id="segment_id",
)


def unknown_detector(name: str, here: Iterable[str]) -> NotFound:
    """The model of regions is not on this machine."""
    return NotFound(
        f"There is no layout detector {name} here. There are: {', '.join(sorted(here)) or 'none'}. "
        "Train one on regions that you drew (armarium train-regions), or leave the model out: "
        "regions are then found from white space.",
        code="unknown_detector",
        model=name,
    )


def no_detector(name: str, kind: str | None) -> Invalid:
    """No installed detector accepts the model."""
    return Invalid(
        f"No installed detector accepts {name} ({kind or 'its config.json says no model_type'}). "
        "Choose a model that was trained here, or leave the model out.",
        code="no_detector",
    )
