"""The refusals of paleography, one sentence each that a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, NotFound, Unavailable, missing

unknown_reading = missing("reading", "The readings of its segment have the right one.")

joined_with_itself = Invalid.saying("same_one", "A {what} cannot be joined with itself; name others.")


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


named_still = Conflict.saying(
    "named_still",
    "The {what} {id} cannot be withdrawn while something said of it since then still stands; withdraw that first.",
    id="id",
)
pass_withdrawn = Conflict.saying(
    "pass_deleted",
    "Segment {segment_id} belongs to the pass {pass_id}, which was withdrawn; restore the pass first.",
    segment_id="segment_id",
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


other_source = Invalid.saying(
    "other_source",
    "The campaign {campaign_id} is of the source {document_id}, and {other_id} is neither that source nor part of "
    "it. Name a campaign of its own source.",
)


campaign_stands = Conflict.saying(
    "campaign_stands",
    "Segment {segment_id} has since been assigned to another campaign; a segment belongs to one. Undo that assignment "
    "first.",
)


given_already = Conflict.saying(
    "already_exists",
    "The reading {representation_id} has since been assigned to the campaign {campaign_id}; undo that step first.",
)


description_stands = Conflict.saying(
    "description_stands",
    "The letterform of segment {segment_id} has been described again since; undo that description first.",
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


other_character = Invalid.saying(
    "other_character",
    "The allograph {allograph_id} is a way to write {own!r}, not {character!r}; name an allograph of that character.",
)
nothing_asked = Invalid.saying("nothing_named", "Name at least one of character, allograph_id and hand_id.")
not_described = NotFound.saying(
    "not_described", "The letterform of segment {segment_id} is not described; describe it with PUT."
)
other_segment = Invalid.saying(
    "other_segment",
    "The reading {representation_id} does not belong to segment {segment_id}; name one of its own readings.",
)
no_reading = Invalid.saying(
    "no_reading",
    "Segment {segment_id} has no counting transcription whose characters could be named; transcribe it "
    "first, or leave out char_start and char_end.",
)
span_outside = Invalid.saying(
    "span_outside",
    "The characters {start} to {end} are not within the reading, which has {length}; 0 <= char_start < "
    "char_end <= {length} must hold (only something lost may be between two characters, with both equal).",
)
already_decided = Conflict.saying(
    "already_decided", "The proposal {proposal_id} is already {state}; undo that step to decide again."
)
unknown_font = missing("font", "The list of fonts has the right name.", key="name")


not_looked_at = Conflict.saying(
    "not_looked_at", "Segment {segment_id} has not been looked at; look at its page first (likeness.look)."
)
no_eyes = Unavailable.saying(
    "no_eyes", "No installed package can look at pictures; install armarium-reader-hand."
)
no_pages = Invalid.saying("no_pages", "There is no page at or below the documents that were named.")
