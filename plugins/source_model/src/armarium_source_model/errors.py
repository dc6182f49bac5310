"""The refusals of the source model."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Conflict, Forbidden, Invalid, missing

PROVISIONAL = "legacy:"
"""Ids of this form are worked out from an older geometry blob; nothing can be written to them."""

unknown_segment = missing("segment", "The segments of its page have the right one.")
unknown_pass = missing("pass", "The list of its page's passes has the right one.")
unknown_reading = missing("reading", "The readings of its segment have the right one.")
unknown_match = missing("match", "The matches of its page have the right one.")
unknown_link = missing("link", "The links of either end have the right one.")
unknown_order = missing("reading order", "The reading orders of its page have the right one.")
unknown_entry = missing("order entry", "The entries of the reading order have the right one.")
unknown_artifact = missing("artifact", "The artifacts of its page have the right one.")

places_of_other_text = Invalid.saying(
    "places_of_other_text",
    "The places of letters of segment {segment_id} are not those of its text: give five numbers for each grapheme cluster.",
)
citation_without_step = Invalid.saying(
    "bad_citation",
    "The citation {citation!r} ends in @ without a step. Name the step, or leave the @ out for the text as it is now.",
)
ids_or_folder = Invalid.saying(
    "ids_or_folder",
    "Both ids and the folder {folder} were named; send the ids of pages, or the folder they are in.",
)


provisional_id = Invalid.saying(
    "provisional_id",
    "{given} is provisional: it stands for a box of an older geometry blob and can only be read. Convert the page to "
    "segments (segment.convert_page), then use the ids it lists.",
    id="given",
)


class SegmentDeleted(Conflict):
    """409: the segment was deleted, or absorbed by others, which the refusal names."""

    def __init__(self, segment_id: str, live: Sequence[str] = ()) -> None:
        continuation = (
            f"Its content is now in {', '.join(live)}; edit that, or undelete it."
            if live
            else " Undelete it first."
        )
        super().__init__(
            f"Segment {segment_id} is deleted or merged away and cannot be edited.{continuation}",
            code="segment_deleted",
            segment_id=segment_id,
            live_segment_ids=list(live),
        )


pass_deleted = Conflict.saying(
    "pass_deleted",
    "Pass {pass_id} was withdrawn; restore it first, then read it or write to it.",
    id="pass_id",
)


class StaleSegment(Conflict):
    """Somebody else changed the segment since the caller read it; `changed` names the fields that differ."""

    def __init__(self, segment_id: str, expected: int, current: int, changed: Sequence[str]) -> None:
        moved = ", ".join(changed) if changed else "nothing but the version"
        sentence = (
            f"Segment {segment_id} is at version {current}, not {expected}; what changed since: {moved}. "
            "Read it again and repeat the edit on what is there now."
        )
        super().__init__(
            sentence,
            code="stale_version",
            message=sentence,
            segment_id=segment_id,
            expected_version=expected,
            current_version=current,
            changed=list(changed),
        )


forwarding_would_loop = Conflict.saying(
    "forwarding_would_loop",
    "Segment {keep_id} already leads to {absorbed_id}; absorbing that one would send citations in a circle. Keep "
    "{absorbed_id} instead, or undelete {keep_id} first.",
    keep_id="keep_id",
    absorbed_id="absorbed_id",
)


match_needs_a_person = Invalid.saying(
    "match_needs_a_person", "Only a person may accept a match; leave it proposed and let a person look at it."
)


order_deleted = Conflict.saying(
    "order_deleted", "Reading order {order_id} was withdrawn; restore it first.", id="order_id"
)


class OrderOfOtherPass(Invalid):
    """The text of one pass was requested in the order of another."""

    def __init__(self, order_id: str, order_pass_id: str, pass_id: str | None) -> None:
        super().__init__(
            f"Reading order {order_id} is of pass {order_pass_id}, and the text is of pass {pass_id or '(none)'}; "
            f"ask with pass_id={order_pass_id}.",
            code="order_other_pass",
            order_pass_id=order_pass_id,
            pass_id=pass_id,
        )


positions_out_of_room = Invalid.saying(
    "positions_out_of_room",
    "There is no room left between these two entries; renumber the order, then place again.",
    order_id="order_id",
)


class OtherPage(Conflict):
    """A pass, parent or sibling belongs to another pass or document than the one named with it."""


class OtherReadingCounts(Conflict):
    def __init__(self, expected: str, counting_id: str | None, counting_text: str | None) -> None:
        counting_words = f"the reading {counting_id} counts" if counting_id else "no reading counts"
        super().__init__(
            f"You expected {expected} to be the counting reading, but now {counting_words}; nothing was written. "
            "Look at it and correct that one.",
            code="other_reading_counts",
            counting_id=counting_id,
            counting_text=counting_text,
        )


person_only = Forbidden.saying("person_only", "Only a person may {what}; a machine or a run may not.")


ground_truth_needs_a_person = Invalid.saying(
    "ground_truth_needs_a_person",
    "Only a person may mark a pass as ground truth; a machine cannot vouch for it.",
)


unknown_kind = Invalid.saying("unknown_kind", "This project has no reading kind {kind!r}; it has {known}.")


def refuse_provisional(*ids: str | None) -> None:
    """Raise provisional_id if one of *ids* only stands for a box of an older geometry blob."""
    for identity in ids:
        if identity is not None and identity.startswith(PROVISIONAL):
            raise provisional_id(identity)
