"""What no machine takes away from a person: corrected mentions and refused characters, curated statements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import RowRule
from armarium_knowledge import errors

Image = Mapping[str, Any] | None


def _was_put_right(before: Image, after: Image) -> bool:
    return any(one is not None and one["corrected_by_person"] for one in (before, after))


def _is_lifted(before: Image, after: Image) -> bool:
    return before is not None and after is None and before["provenance_kind"] == "human"


def _was_curated(before: Image, after: Image) -> bool:
    return any(
        one is not None and one["curation_state"] in ("curated", "rejected") for one in (before, after)
    )


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
