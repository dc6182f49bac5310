"""The refusals of paleography, each a sentence a person can act on."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, NotFound, Unavailable, missing

unknown_hand = missing("hand", "The list of hands has the right one.")
unknown_attribution = missing("attribution to a hand", "The judgements on its segment have the right one.")
unknown_campaign = missing("campaign", "The campaigns of its source have the right one.")
unknown_fact = missing("editorial fact", "The facts of its segment have the right one.")
unknown_sign = missing("sign", "The list of signs has the right one.")
unknown_instance = missing("instance of a sign", "The instances of its sign have the right one.")
unknown_allograph = missing("allograph", "The list of allographs has the right one.")
unknown_proposal = missing("proposal", "The list of proposals has the right one.")
unknown_reading = missing("reading", "The readings of its segment have the right one.")


class Withdrawn(Conflict):
    """A withdrawn row is asked for a change, or a row would rest on it: a new one, or one that an undo or redo brings back
    (*reason*, as the refusals of an undo say it)."""

    def __init__(self, what: str, identity: str, reason: str | None = None) -> None:
        super().__init__(
            f"The {what} {identity} was withdrawn and is not changed any more; undo its withdrawal, or name a live one.",
            code="withdrawn",
            id=identity,
            **({} if reason is None else {"reason": reason}),
        )


class PassWithdrawn(Conflict):
    """The pass of a segment was withdrawn."""

    def __init__(self, segment_id: str, pass_id: str) -> None:
        super().__init__(
            f"Segment {segment_id} is of the pass {pass_id}, which was withdrawn; restore the pass first.",
            code="pass_deleted",
            segment_id=segment_id,
        )


class SaidAlready(Conflict):
    """The same judgement by the same judge stands: one is said anew, or an undo or redo brings one back (*reason*)."""

    def __init__(self, what: str, segment_id: str, identity: str, reason: str | None = None) -> None:
        super().__init__(
            f"Segment {segment_id} has this {what} already ({identity}); withdraw that one to judge anew.",
            code="already_exists",
            id=identity,
            **({} if reason is None else {"reason": reason}),
        )


class OtherSource(Invalid):
    """A campaign of one source is named for a part of another."""

    def __init__(self, campaign_id: str, document_id: str, other_id: str) -> None:
        super().__init__(
            f"The campaign {campaign_id} was laid down on the source {document_id}; {other_id} neither is that source "
            "nor lies in it. Name a campaign of its own source.",
            code="other_source",
        )


class CampaignStands(Conflict):
    """A segment would belong to two campaigns at once (by an undo or a redo)."""

    def __init__(self, segment_id: str) -> None:
        super().__init__(
            f"Segment {segment_id} belongs to another campaign by now; a segment belongs to one. Undo that assignment "
            "first.",
            code="campaign_stands",
            reason="changed",
        )


class GivenAlready(Conflict):
    """A reading would give a campaign twice (by an undo or a redo)."""

    def __init__(self, representation_id: str, campaign_id: str) -> None:
        super().__init__(
            f"The reading {representation_id} is said by now to give the campaign {campaign_id}; undo that step first.",
            code="already_exists",
            reason="changed",
        )


class DescriptionStands(Conflict):
    """A segment would have two descriptions of its letterform at once (by an undo or a redo)."""

    def __init__(self, segment_id: str) -> None:
        super().__init__(
            f"The letterform of segment {segment_id} was described anew by now; undo that description first.",
            code="description_stands",
            reason="changed",
        )


class CodePointTaken(Conflict):
    """Two live signs would have one code point."""

    def __init__(self, code_point: str, identity: str) -> None:
        super().__init__(
            f"{code_point} is the code point of the sign {identity} already, and a code point is of one live sign; "
            "leave it out, or withdraw that sign.",
            code="code_point_taken",
            id=identity,
            reason="changed",
        )


class OtherCharacter(Invalid):
    """An allograph of one character is named for another."""

    def __init__(self, character: str, allograph_id: str, own: str) -> None:
        super().__init__(
            f"The allograph {allograph_id} is a way to write {own!r}, not {character!r}; name one of the character's own.",
            code="other_character",
        )


def nothing_asked() -> Invalid:
    """422: letterforms were asked for without saying which."""
    return Invalid(
        "Name at least one of character, allograph_id and hand_id.",
        code="nothing_named",
    )


def not_described(segment_id: str) -> NotFound:
    """404: no letterform of the segment is described."""
    return NotFound(
        f"No letterform of segment {segment_id} is described; describe it with PUT.", code="not_described"
    )


def other_segment(representation_id: str, segment_id: str) -> Invalid:
    """422: a fact names a reading of another segment."""
    return Invalid(
        f"The reading {representation_id} is not of segment {segment_id}; name one of its own readings.",
        code="other_segment",
    )


def no_reading(segment_id: str) -> Invalid:
    """422: characters are named where nothing was read."""
    return Invalid(
        f"Segment {segment_id} has no counting transcription whose characters could be named; read it first, or leave "
        "char_start and char_end out.",
        code="no_reading",
    )


def span_outside(start: int, end: int, length: int) -> Invalid:
    """422: a span that is not in the reading."""
    return Invalid(
        f"The characters {start} to {end} do not lie in the reading, which has {length}: say "
        "0 <= char_start < char_end <= that number (only something lost may stand between two characters).",
        code="span_outside",
    )


def already_decided(proposal_id: str, state: str) -> Conflict:
    """409: a proposal was accepted or rejected before."""
    return Conflict(
        f"The proposal {proposal_id} is {state} already; undo that step to decide again.",
        code="already_decided",
    )


unknown_font = missing("font", "The list of fonts has the right name.", key="name")


def not_looked_at(segment_id: str) -> Conflict:
    """409: there is no vector of a segment's picture."""
    return Conflict(
        f"Segment {segment_id} was not looked at yet: look at its page first (likeness.look).",
        code="not_looked_at",
    )


def no_eyes() -> Unavailable:
    """503: no package is installed that makes vectors of pictures."""
    return Unavailable(
        "Nothing is installed here that can look at pictures; install armarium-reader-hand.", code="no_eyes"
    )


def no_pages() -> Invalid:
    """422: no page lies in the scope."""
    return Invalid("No page lies at or beneath what scope_ids name.", code="no_pages")
