"""What no machine takes away from a person: corrected mentions and refused characters, curated statements and entities,
decided matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import RowRule
from armarium_knowledge import errors

Image = Mapping[str, Any] | None


def _was_put_right(before: Image, after: Image) -> bool:
    return any(image is not None and image["corrected_by_person"] for image in (before, after))


def _is_lifted(before: Image, after: Image) -> bool:
    return before is not None and after is None and before["provenance_kind"] == "human"


def _was_curated(before: Image, after: Image) -> bool:
    return any(
        image is not None and image["curation_state"] in ("curated", "rejected") for image in (before, after)
    )


def _was_verified(before: Image, after: Image) -> bool:
    decided = ("verified", "rejected", "merged")
    return any(image is not None and image["curation_state"] in decided for image in (before, after))


def _was_decided(before: Image, after: Image) -> bool:
    images = [image for image in (before, after) if image is not None]
    return any(image["state"] == "accepted" or image["decided_by_person"] for image in images)


CURATED_ENTITIES: RowRule[Any] = RowRule(
    "entity", "person", when=_was_verified, refusal=errors.verified_by_person
)
"""No machine verifies or rejects an entity, or changes one that a person verified or rejected. Jobs add the dates and
links that they find to a verified one and leave all else: their actions do not have this rule.
"""

DECIDED_MATCHES: RowRule[Any] = RowRule(
    "entity_match", "person", when=_was_decided, refusal=errors.decided_by_person
)
"""No machine accepts a match, or changes what a person decided about one."""


def _was_reviewed(before: Image, after: Image) -> bool:
    images = [image for image in (before, after) if image is not None]
    return any(image["state"] == "accepted" for image in images) or (
        before is not None and before["state"] == "rejected"
    )


DECIDED_REVIEWS: RowRule[Any] = RowRule(
    "prediction_review", "person", when=_was_reviewed, refusal=errors.reviewed_by_person
)
"""No machine accepts a predicted relation, or decides again about one that was accepted or rejected."""

CURATED_STATEMENTS: RowRule[Any] = RowRule(
    "claim", "person", when=_was_curated, refusal=errors.curated_by_person
)
"""No machine curates or rejects a statement, or changes one that a person curated or rejected."""

CORRECTED_BY_PERSONS: RowRule[Any] = RowRule(
    "mention", "person", when=_was_put_right, refusal=errors.corrected_by_person
)
"""No machine changes or deletes a mention that a person corrected."""

REFUSED_BY_PERSONS: RowRule[Any] = RowRule(
    "mention_refusal", "person", when=_is_lifted, refusal=errors.refused_by_person
)
"""No machine lifts a person's refusal of characters, not even by undoing what refused them."""
