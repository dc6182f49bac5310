"""Tools for lines: read them with their confidence, look at one, correct them, say which is wrong."""

from __future__ import annotations

from armarium_agents.mcp.bounds import PICTURE_SIDE, Picture, Rows, Whole
from armarium_agents.mcp.declarations import Act, Read, Tool, flag, identity, rows, whole, words
from armarium_agents.mcp.tools.pages import LIMIT, PAGE

LINE = identity("The line's segment_id")
ID = identity("The line's segment_id, from read_lines")

READINGS = Tool(
    name="read_readings",
    title="See every reading of a line",
    about="All that was ever read in a line, by whom, and which reading counts.",
    params={"line_id": LINE, "limit": LIMIT},
    required=("line_id",),
    does=Read("/api/segments/{line_id}/readings"),
    shown=Rows(beside=("counting",), paged=False),
    tells_words=True,
)
"""Behind the address of a line."""

LINES = (
    Tool(
        name="read_lines",
        title="Read a page line by line",
        about="The lines of a page in reading order: segment_id, text, confidence (0 to 1) and the reading that counts.",
        params={"page_id": PAGE, "limit": LIMIT},
        required=("page_id",),
        does=Read("/api/segments/document/{page_id}/lines"),
        shown=Rows(
            "lines",
            fields=("segment_id", "kind", "text", "confidence", "representation_id", "made", "is_furniture"),
            beside=("pass_id", "pass_basis", "order_basis", "notice", "read_elsewhere"),
            paged=False,
        ),
        tells_words=True,
    ),
    Tool(
        name="look_at_line",
        title="Look at a line",
        about="The picture of one line, region or word.",
        params={
            "line_id": LINE,
            "straighten": flag("Pull a curved or sloping line straight"),
            "size": whole("Pixels of the long side", 64, PICTURE_SIDE, 1024),
        },
        required=("line_id",),
        does=Read("/api/segments/{line_id}/picture"),
        shown=Picture(),
        tells_words=True,
    ),
    Tool(
        name="correct_lines",
        title="Correct lines",
        about="Writes what lines say, as new readings; the former stay. Give the reading that counted when you read the line, "
        "so that nobody's correction is passed over; what a person read goes on counting beside it. At most 200 lines in one step, undone as one.",
        params={
            "corrections": rows(
                "The lines to correct",
                200,
                ("segment_id", "text"),
                segment_id=ID,
                text=words("The whole line as it should read", 10_000),
                expected_counting_id=identity("The line's representation_id when you read it"),
            )
        },
        required=("corrections",),
        does=Act("representation.create_many"),
    ),
    Tool(
        name="say_line_is_wrong",
        title="Say which line is wrong",
        about="Gives a verdict on a reading, without changing it: that it is wrong and why, and what it should say if you know.",
        params={
            "reading_id": identity("The line's representation_id, from read_lines"),
            "why": words("What is wrong, in a sentence", 2000),
            "should_say": words("What the line says, if you can read it", 10_000),
        },
        required=("reading_id", "why"),
        does=Act(
            "check.verdict",
            names={"reading_id": "target_id", "why": "reasons", "should_say": "correction"},
            fixed={"layer": "readings", "verdict": "reject"},
        ),
        shown=Whole(("id", "target_id", "verdict", "reasons", "correction", "trust", "audit_id")),
    ),
)
