"""Makes mentions of the names and dates that an imported file tags, in the step of the import."""

from __future__ import annotations

from armarium.api import ActionContext
from armarium_formats.api import ReadMarks
from armarium_knowledge.actions.mentions import take, take_names
from armarium_knowledge.placing import PagePlaces
from armarium_knowledge.records.mentions import TakeMentions
from armarium_knowledge.tagged_names import TYPES, tagged_on_page

BY_A_FILE = {"provenance_kind": "external_import"}
"""Who made them: nobody here, so they are proposals, whoever imports the file."""


def take_names_of_import(ctx: ActionContext, read: ReadMarks) -> list[str]:
    """Take over the persons, places, organisations and dates that a file tags; return notes for the import."""
    count = sum(mark.kind in TYPES for text in read.texts for mark in text.marks)
    if not count:
        return []
    places = PagePlaces(ctx.conn, read.document_id)
    if places.pass_id != read.pass_id:
        return [
            f"The file tags {count} names and dates. They become mentions when the page is read by this pass and "
            "its names are looked for."
        ]
    ctx.obey_laws_of(take.name)
    listed = TakeMentions.model_validate(
        {"document_id": read.document_id, "names": tagged_on_page(ctx.conn, places)}
    )
    made = take_names(ctx, listed, **BY_A_FILE)
    taken, new = len(made["mention_ids"]), len(made["entity_ids"])
    return [
        f"The file's tagged names and dates are now mentions ({taken}), of {new} new entities: proposals."
    ]
