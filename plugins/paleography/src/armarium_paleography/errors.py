"""The refusals of paleography, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, NotFound, Unavailable, missing

unknown_reading = missing("reading", "The readings of its segment have the right one.")


class Withdrawn(Conflict):
    """A withdrawn row would be changed, or a live row would depend on it: a new one, or one that an undo or
    redo restores (then with the *reason* that refusals of an undo have).
    """

    def __init__(self, what: str, identity: str, reason: str | None = None) -> None:
        super().__init__(
            f"The {what} {identity} was withdrawn and can no longer be changed; undo its withdrawal, or "
            "name a live one.",
            code="withdrawn",
            id=identity,
            **({} if reason is None else {"reason": reason}),
        )


class PassWithdrawn(Conflict):
    """The pass of the segment was withdrawn."""

    def __init__(self, segment_id: str, pass_id: str) -> None:
        super().__init__(
            f"Segment {segment_id} belongs to the pass {pass_id}, which was withdrawn; restore the pass "
            "first.",
            code="pass_deleted",
            segment_id=segment_id,
        )


class SaidAlready(Conflict):
    """The same judge has already made this judgement, and would make it again, or an undo or redo would
    restore it (then with a *reason*).
    """

    def __init__(self, what: str, segment_id: str, identity: str, reason: str | None = None) -> None:
        super().__init__(
            f"Segment {segment_id} already has this {what} ({identity}); withdraw that one first to make it "
            "again.",
            code="already_exists",
            id=identity,
            **({} if reason is None else {"reason": reason}),
        )


class OtherSource(Invalid):
    """A campaign of one source was named for a part of another."""

    def __init__(self, campaign_id: str, document_id: str, other_id: str) -> None:
        super().__init__(
            f"The campaign {campaign_id} is of the source {document_id}, and {other_id} is neither that "
            "source nor part of it. Name a campaign of its own source.",
            code="other_source",
        )


class CampaignStands(Conflict):
    """An undo or redo would put a segment into two campaigns at once."""

    def __init__(self, segment_id: str) -> None:
        super().__init__(
            f"Segment {segment_id} was assigned to another campaign since; a segment belongs to one. Undo "
            "that assignment first.",
            code="campaign_stands",
        )


class GivenAlready(Conflict):
    """An undo or redo would assign a reading to a campaign twice."""

    def __init__(self, representation_id: str, campaign_id: str) -> None:
        super().__init__(
            f"The reading {representation_id} was assigned to the campaign {campaign_id} since; undo that "
            "step first.",
            code="already_exists",
        )


class DescriptionStands(Conflict):
    """An undo or redo would give a segment two descriptions of its letterform."""

    def __init__(self, segment_id: str) -> None:
        super().__init__(
            f"The letterform of segment {segment_id} was described again since; undo that description first.",
            code="description_stands",
        )


class CodePointTaken(Conflict):
    """Two live signs would have one code point."""

    def __init__(self, code_point: str, identity: str) -> None:
        super().__init__(
            f"{code_point} is already the code point of the sign {identity}, and only one live sign can "
            "have it; leave it out, or withdraw that sign.",
            code="code_point_taken",
            id=identity,
        )


class OtherCharacter(Invalid):
    """An allograph of one character was named for another."""

    def __init__(self, character: str, allograph_id: str, own: str) -> None:
        super().__init__(
            f"The allograph {allograph_id} is a way to write {own!r}, not {character!r}; name an allograph "
            "of that character.",
            code="other_character",
        )


def nothing_asked() -> Invalid:
    """422: the request does not say which letterforms to list."""
    return Invalid(
        "Name at least one of character, allograph_id and hand_id.",
        code="nothing_named",
    )


def not_described(segment_id: str) -> NotFound:
    """404: the letterform of the segment is not described."""
    return NotFound(
        f"The letterform of segment {segment_id} is not described; describe it with PUT.",
        code="not_described",
    )


def other_segment(representation_id: str, segment_id: str) -> Invalid:
    """422: a fact names a reading of another segment."""
    return Invalid(
        f"The reading {representation_id} does not belong to segment {segment_id}; name one of its own "
        "readings.",
        code="other_segment",
    )


def no_reading(segment_id: str) -> Invalid:
    """422: characters are named, but the segment has no reading."""
    return Invalid(
        f"Segment {segment_id} has no counting transcription whose characters could be named; transcribe it "
        "first, or leave out char_start and char_end.",
        code="no_reading",
    )


def span_outside(start: int, end: int, length: int) -> Invalid:
    """422: a span outside the reading."""
    return Invalid(
        f"The characters {start} to {end} are not within the reading, which has {length}; 0 <= char_start < "
        f"char_end <= {length} must hold (only something lost may be between two characters, with both "
        "equal).",
        code="span_outside",
    )


def already_decided(proposal_id: str, state: str) -> Conflict:
    """409: the proposal was already accepted or rejected."""
    return Conflict(
        f"The proposal {proposal_id} is already {state}; undo that step to decide again.",
        code="already_decided",
    )


unknown_font = missing("font", "The list of fonts has the right name.", key="name")


def not_looked_at(segment_id: str) -> Conflict:
    """409: there is no vector for the segment's picture."""
    return Conflict(
        f"Segment {segment_id} has not been looked at; look at its page first (likeness.look).",
        code="not_looked_at",
    )


def no_eyes() -> Unavailable:
    """503: no installed package makes vectors of pictures."""
    return Unavailable(
        "No installed package can look at pictures; install armarium-reader-hand.", code="no_eyes"
    )


def no_pages() -> Invalid:
    """422: the scope contains no page."""
    return Invalid("There is no page at or below the documents that were named.", code="no_pages")
