"""The kinds of work that a recipe can name, in the order in which they are done, with their inputs and
outputs.

Most of them are done by recipe jobs of other families, which state their own name, settings and measure; the
entries here are used if no family does the work yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armarium.api import Engine

LAYERS = (
    "prepare", "lines", "reading", "structure", "entities", "graph", "places", "vectors", "catalogue", "knowledge",
    "train", "check", "output",
)  # fmt: skip
"""The layers of work in the order in which it is done."""
LAYERS_ADDED_LATER = ("lines", "reading", "entities", "graph", "places", "vectors")
"""The layers that a person can add to a project that is already set up."""


@dataclass(frozen=True, slots=True)
class JobEntry:
    """A kind of work: its layer, and the materials it takes and gives."""

    id: str
    layer: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    name: str
    description: str
    takes_any: bool = False
    """One of its inputs is enough."""
    compare: str | None = None
    """What is measured when two ways of doing it are compared."""


def _job(
    id: str,
    layer: str,
    takes: str,
    gives: str,
    name: str,
    description: str,
    compare: str | None = None,
    *,
    any_of: bool = False,
) -> JobEntry:
    return JobEntry(id, layer, tuple(takes.split()), tuple(gives.split()), name, description, any_of, compare)


_ALL = (
    _job("prepare-the-image", "prepare", "page_image", "page_image rendition", "Prepare the image",
         "Makes renditions of each picture: level, with straight lines, without the paper. The picture itself is not changed."),
    _job("split-pages", "prepare", "page_image", "page_image", "Split pages",
         "Splits the picture of an open book or notebook at its gutter into two pages; single pages stay whole.",
         "spreads split at the gutter of all spreads, and single pages split"),
    _job("find-documents-in-a-folder", "prepare", "page_reading", "document_groups", "Find the documents in a folder",
         "Proposes which of a folder's loose pages make a document, of what kind and date.",
         "boundaries found of boundaries judged, and boundaries too many"),
    _job("find-regions", "lines", "page_image", "regions", "Find regions",
         "Finds the blocks of text of each page.", "regions found of regions checked, and regions too many"),
    _job("find-lines", "lines", "page_image", "lines", "Find lines",
         "Finds the lines of handwriting or print on each page.", "lines found of lines checked, and lines too many"),
    _job("put-in-order", "lines", "lines", "reading_order", "Put in order",
         "Puts the regions and lines of each page in reading order.",
         "share of lines that follow the right one"),
    _job("refine-shapes", "lines", "lines", "lines", "Refine shapes",
         "Gives each line that has a baseline an outline around its own ink.",
         "ink within both outlines, as a share of the ink within either"),
    _job("find-signs", "lines", "page_image", "signs", "Find signs",
         "Finds what looks like the signs given as examples.", "signs found of signs checked, and places that are not signs"),
    _job("find-a-tables-cells", "lines", "regions", "table_cells", "Find a table's cells",
         "Finds the rows, columns and cells of tables, ruled or not.", "cells found of cells checked, and cells too many"),
    _job("read-a-line", "reading", "lines", "line_readings", "Read lines",
         "Reads the lines of each page; each line gets a reading.", "characters read wrong of all characters"),
    _job("read-a-page", "reading", "page_image", "page_reading", "Read pages",
         "Finds and reads the lines of each page in one go.", "characters read wrong of all characters"),
    _job("tie-text-to-lines", "reading", "page_reading lines", "line_readings", "Tie text to lines",
         "Divides a page's text among its lines.", "share of lines that got their own words"),
    _job("correct", "reading", "line_readings", "line_readings", "Correct",
         "A model corrects what a machine misread, line by line.", "share of wrong characters, before and after"),
    _job("trace-a-drawing", "reading", "regions", "drawings", "Trace a drawing",
         "Makes a vector picture of the ink of each region that is a drawing.",
         "ink within both pictures, as a share of the ink within either"),
    _job("identify-signs", "reading", "signs", "sign_identifications", "Identify signs",
         "A model that accepts pictures says what the signs found on each page are.", "share of signs identified correctly"),
    _job("transcribe-speech", "reading", "recording", "line_readings", "Transcribe speech",
         "Transcribes the speech of a recording, with a line for each sentence and its time.",
         "words heard wrong of all words"),
    _job("translate-transliterate-normalise", "reading", "line_readings", "line_readings",
         "Translate, transliterate, normalise",
         "A model renders each line in another language, script or spelling, as a reading beside the transcription.",
         "share of characters that differ from a person's rendering"),
    _job("split-into-entries", "structure", "page_reading", "entries", "Split into entries",
         "Says which lines begin the entries of a register, diary or list.",
         "share of entries that begin where they should"),
    _job("extract-to-a-table", "structure", "page_reading table_cells", "table_rows", "Extract to a table",
         "Extracts the contents of each page into rows with the given columns.", "share of cells that are right"),
    _job("find-names-tag-words", "entities", "page_reading", "mentions", "Find names",
         "Finds the names of persons, places and other things on each page.",
         "names found of those a person marked, and how many of those found are names"),
    _job("find-statements", "graph", "page_reading mentions", "claims", "Find statements",
         "Gives the statements that each page makes, with the lines that say them.",
         "statements that a person kept, of all statements found"),
    _job("work-out-dates", "graph", "mentions", "dates", "Work out dates",
         "Reads the dates among the mentions of each page, feasts and reigns too.",
         "dates that a person would have given, of all dates worked out"),
    _job("link-to-authorities", "graph", "mentions", "authority_links", "Link to authorities",
         "Links the entities that each page names to the entries of an authority file.",
         "links that a person kept, of all links"),
    _job("place-in-a-gazetteer", "places", "mentions", "places", "Place in a gazetteer",
         "Links names on pages with the places of a gazetteer file."),
    _job("make-a-vector", "vectors", "page_reading", "vectors", "Make a vector",
         "Computes a vector for the text of each page, so that search also finds what means the "
         "same in other words.",
         "pages that a person looked for among the first ten found"),
    _job("describe-for-the-catalogue", "catalogue", "page_reading", "catalogue_record", "Describe for the catalogue",
         "Describes each page for the catalogue: title, date, place, persons, subjects and a summary."),
    _job("pull-out-passages", "knowledge", "page_reading", "passages", "Pull out passages",
         "Selects the lines of each page that are worth quoting; the words are those of the source."),
    _job("train-a-model", "train", "line_readings", "model", "Train a model",
         "Trains a line reader further on the lines of pages, with people's corrections.",
         "characters wrong of all characters on held-out pages, before and after"),
    _job("check", "check", "line_readings claims mentions", "verdicts", "Check",
         "Gives a verdict on each reading, statement or name: confirm, correct or reject.",
         "verdicts that a person shares, of all verdicts", any_of=True),
    _job("export", "output", "page_reading", "files", "Export",
         "Writes files of the pages into a folder, and updates them as the work changes."),
    _job("publish", "output", "files", "published", "Publish",
         "Writes a static site of the pages that any web host can show."),
)  # fmt: skip

JOBS: dict[str, JobEntry] = {job.id: job for job in _ALL}
"""All work that a recipe can name, by id, in the order of the work."""


def job_entries(engine: Engine) -> list[dict[str, Any]]:
    """Return the jobs as they are answered: those above, then those that other plugins declare.

    The name, description and settings that a family states for its job take precedence; its layer, inputs and
    outputs are those of the table.
    """
    declared = {job_id: job.entry() for job_id, job in engine.recipe_jobs.items()}
    entries = []
    for job in JOBS.values():
        about = {
            "id": job.id,
            "name": job.name,
            "description": job.description,
            "compare": job.compare,
            "settings": [],
            "since": "0.1.0",
            "topic": job.id,
            **declared.pop(job.id, {}),
        }
        entries.append({**about, "layer": job.layer, "takes": list(job.takes), "gives": list(job.gives)})
    return entries + list(declared.values())
