"""The kinds of work that a recipe can name, in the order in which they are done, with their inputs and outputs.

Recipe jobs of the families do them and state their name, settings and measure; what each is for is in `topics`.
"""

from __future__ import annotations

from typing import NamedTuple

LAYERS_ADDED_LATER = ("lines", "reading", "entities", "graph", "places", "vectors")
"""The layers that a person can add to a project that is already set up."""

_AGREED = """
prepare-the-image prepare page_image > page_image,rendition
split-pages prepare page_image > page_image
find-documents-in-a-folder prepare page_reading > document_groups
find-regions lines page_image > regions
find-lines lines page_image > lines
put-in-order lines lines > reading_order
refine-shapes lines lines > lines
find-signs lines page_image > signs
find-a-tables-cells lines regions > table_cells
read-a-line reading lines > line_readings
read-a-page reading page_image > page_reading
tie-text-to-lines reading page_reading,lines > line_readings
correct reading line_readings > line_readings
trace-a-drawing reading regions > drawings
identify-signs reading signs > sign_identifications
transcribe-speech reading recording > line_readings
translate-transliterate-normalise reading line_readings > line_readings
split-into-entries structure page_reading > entries
extract-to-a-table structure page_reading,table_cells > table_rows
find-names-tag-words entities page_reading > mentions
find-statements graph page_reading,mentions > claims
work-out-dates graph mentions > dates
link-to-authorities graph mentions > authority_links
place-in-a-gazetteer places mentions > places
make-a-vector vectors page_reading > vectors
describe-for-the-catalogue catalogue page_reading > catalogue_record
pull-out-passages knowledge page_reading > passages
train-a-model train line_readings > model
check check line_readings,claims,mentions > verdicts
export output page_reading > files
publish output files > published
"""
"""Each job with its layer, the materials that it takes and those that it gives."""


class JobEntry(NamedTuple):
    """A kind of work: its layer, and the materials it takes and gives."""

    layer: str
    takes: list[str]
    gives: list[str]


def _entry(line: str) -> tuple[str, JobEntry]:
    job_id, layer, takes, _, gives = line.split()
    return job_id, JobEntry(layer, takes.split(","), gives.split(","))


JOBS: dict[str, JobEntry] = dict(map(_entry, _AGREED.strip().splitlines()))
"""All work that a recipe can name, by id, in the order of the work."""
