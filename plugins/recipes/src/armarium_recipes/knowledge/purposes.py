"""What a project can be for: the purposes that setup offers, in order, and the work each implies."""

from __future__ import annotations

from dataclasses import dataclass

TRANSCRIBING = ("find-lines", "read-a-line", "correct")
NAMES = "find-names-tag-words"


@dataclass(frozen=True, slots=True)
class Purpose:
    """A purpose for which a collection is worked on."""

    id: str
    title: str
    description: str
    jobs: tuple[str, ...]
    """Ids of recipe jobs in the order in which they are done."""
    runs_by_itself: bool = True
    """Whether pages added after Start are worked on automatically; a purpose that only offers tools runs nothing."""


_ALL = (
    Purpose("transcribe", "Transcribe", "Every line of every page as text that can be read, searched and corrected.", TRANSCRIBING),
    Purpose("entities", "Find persons and places", "The text, and the names of persons, places and things in it.",
            (*TRANSCRIBING, NAMES)),
    Purpose("search", "Search", "The text, so that pages can be found by their words and by their meaning.",
            (*TRANSCRIBING, "make-a-vector")),
    Purpose("statements", "Collect statements", "Who did what, where and when, each statement with the lines that say it.",
            (*TRANSCRIBING, NAMES, "find-statements")),
    Purpose("knowledge-graph", "Build a knowledge graph",
            "Names, dates and statements joined across all pages and linked to authority files.",
            (*TRANSCRIBING, NAMES, "work-out-dates", "find-statements", "link-to-authorities", "make-a-vector")),
    Purpose("map-places", "Map places", "The places that pages name, found in a gazetteer and shown on a map.",
            (*TRANSCRIBING, NAMES, "place-in-a-gazetteer")),
    Purpose("translate-normalise", "Translate or normalise",
            "The text, and with each line its translation, transliteration or modern spelling.",
            (*TRANSCRIBING, "translate-transliterate-normalise")),
    Purpose("quotations", "Collect passages worth quoting", "The text, and the passages of it that are worth quoting, in the source's own words.",
            (*TRANSCRIBING, "pull-out-passages")),
    Purpose("catalogue", "Describe for a catalogue", "A record for each page: title, date, persons, subjects and a summary.",
            (*TRANSCRIBING, NAMES, "work-out-dates", "describe-for-the-catalogue")),
    Purpose("tables", "Extract tables", "Registers, lists and forms as rows and columns that a spreadsheet can open.",
            ("find-regions", "find-lines", "find-a-tables-cells", "read-a-line", "extract-to-a-table")),
    Purpose("edit-corpus", "Edit a corpus by hand",
            "Tools for finding and reading lines, to be used page by page by an editor of the texts.",
            ("find-lines", "read-a-line"), runs_by_itself=False),
    Purpose("decipher", "Decipher", "Tools for a script or hand that nobody can read yet. Nothing is read automatically.", (), runs_by_itself=False),
    Purpose("not-sure", "Not sure yet", "All tools, and no plan. A purpose can be chosen at any time.", (), runs_by_itself=False),
)  # fmt: skip

PURPOSES: dict[str, Purpose] = {purpose.id: purpose for purpose in _ALL}
"""The purposes by id, in the order in which setup offers them."""
