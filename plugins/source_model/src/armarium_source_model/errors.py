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
ids_or_folder = Invalid.saying(
    "ids_or_folder",
    "Both ids and the folder {folder} were named; send the ids of pages, or the folder they are in.",
)


class ProvisionalId(Invalid):
    """An id that only stands for a box of an older geometry blob was used where a segment is needed."""

    def __init__(self, given: str) -> None:
        super().__init__(
            f"{given} is provisional: it stands for a box of an older geometry blob and can only be read. "
            "Convert the page to segments (segment.convert_page), then use the ids it lists.",
            code="provisional_id",
            id=given,
        )


class SegmentDeleted(Conflict):
    """409: the segment was deleted, or absorbed by others, which the refusal names."""

    def __init__(self, segment_id: str, live: Sequence[str] = ()) -> None:
        where = (
            f"Its content is now in {', '.join(live)}; edit that, or undelete it."
            if live
            else " Undelete it first."
        )
        super().__init__(
            f"Segment {segment_id} is deleted or merged away and cannot be edited.{where}",
            code="segment_deleted",
            segment_id=segment_id,
            live_segment_ids=list(live),
        )


class PassDeleted(Conflict):
    def __init__(self, pass_id: str) -> None:
        super().__init__(
            f"Pass {pass_id} was withdrawn; restore it first, then read it or write to it.",
            code="pass_deleted",
            id=pass_id,
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


class ForwardingWouldLoop(Conflict):
    """The segment to keep already leads to one that it would absorb."""

    def __init__(self, keep_id: str, absorbed_id: str) -> None:
        super().__init__(
            f"Segment {keep_id} already leads to {absorbed_id}; absorbing that one would send citations in a circle. "
            f"Keep {absorbed_id} instead, or undelete {keep_id} first.",
            code="forwarding_would_loop",
            keep_id=keep_id,
            absorbed_id=absorbed_id,
        )


class MatchNeedsAPerson(Invalid):
    def __init__(self) -> None:
        super().__init__(
            "Only a person may accept a match; leave it proposed and let a person look at it.",
            code="match_needs_a_person",
        )


class OrderDeleted(Conflict):
    def __init__(self, order_id: str) -> None:
        super().__init__(
            f"Reading order {order_id} was withdrawn; restore it first.", code="order_deleted", id=order_id
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


class PositionsOutOfRoom(Invalid):
    def __init__(self, order_id: str) -> None:
        super().__init__(
            "There is no room left between these two entries; renumber the order, then place again.",
            code="positions_out_of_room",
            order_id=order_id,
        )


class OtherPage(Conflict):
    """A pass, parent or sibling belongs to another pass or document than the one named with it."""


class OtherReadingCounts(Conflict):
    def __init__(self, expected: str, counting_id: str | None, counting_text: str | None) -> None:
        what = f"the reading {counting_id} counts" if counting_id else "no reading counts"
        super().__init__(
            f"You expected {expected} to be the counting reading, but now {what}; nothing was written. "
            "Look at it and correct that one.",
            code="other_reading_counts",
            counting_id=counting_id,
            counting_text=counting_text,
        )


class PersonOnly(Forbidden):
    """A machine, or a run, tried what only a person may do."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Only a person may {what}; a machine or a run may not.", code="person_only")


class GroundTruthNeedsAPerson(Invalid):
    def __init__(self) -> None:
        super().__init__(
            "Only a person may mark a pass as ground truth; a machine cannot vouch for it.",
            code="ground_truth_needs_a_person",
        )


class UnknownKind(Invalid):
    """The project does not have this reading kind; the sentence names those it has."""

    def __init__(self, kind: str, known: Sequence[str]) -> None:
        super().__init__(
            f"This project has no reading kind {kind!r}; it has {', '.join(known)}.", code="unknown_kind"
        )


def refuse_provisional(*ids: str | None) -> None:
    """Raise ProvisionalId if one of *ids* only stands for a box of an older geometry blob."""
    for given in ids:
        if given is not None and given.startswith(PROVISIONAL):
            raise ProvisionalId(given)
