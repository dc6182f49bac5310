"""The tables of a project's recipe: its answers and saved recipe, when it was started, and its runs."""

from __future__ import annotations

from sqlalchemy import Column, Integer, MetaData, PrimaryKeyConstraint, Table, Text

from armarium.api import Json, operational, reference, tracked
from armarium_documents.api import documents

metadata = MetaData()

ONLY = "project"
"""The id of the only row of a table that has one row per project."""

setups = Table(
    "recipes_project",
    metadata,
    Column("id", Text, primary_key=True),
    Column("answers", Json),
    # The version has its own column, because it also grows when a save is undone.
    Column("recipe", Json),
    Column("version", Integer, nullable=False),
    Column("updated_at", Text, nullable=False),
    info=tracked(label="recipe of the project", monotonic=("version", "updated_at"), large=("recipe",)),
)
"""The answers about the material, and the recipe that follows from them."""

overrides = Table(
    "recipes_override",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scope", Text, nullable=False),
    reference("folder_id", documents.c.id, required=False),
    Column("step", Text, nullable=False),
    Column("card", Json, nullable=False),
    Column("position", Integer, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("set_at", Text, nullable=False),
    info=tracked(label="override of a step of the recipe", document="folder_id"),
)
"""Another card for a step, in the whole project or below a folder."""

starts = Table(
    "recipes_start",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("started_by", Text, nullable=False),
    Column("recipe_id", Text, nullable=False),
    Column("recipe_version", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("redo", Json, nullable=False),
    # The uses of a cloud, by step, that a person agreed to when pressing Start.
    Column("cloud_uses", Json),
    info=tracked(label="start of the recipe"),
)
"""Each time Start was pressed; the id is that of the job."""

proposals = Table(
    "recipes_proposed",
    metadata,
    Column("id", Text, primary_key=True),
    Column("layers", Json, nullable=False),
    Column("languages", Json, nullable=False),
    Column("steps", Json, nullable=False),
    Column("proposed_at", Text, nullable=False),
    info=tracked(label="steps proposed for the recipe"),
)
"""What was added to the recipe since the last Start, for the material already there."""

runs = Table(
    "recipes_run",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("started_by", Text, nullable=False),
    Column("recipe_version", Integer, nullable=False),
    Column("page_ids", Json, nullable=False),
    # What the run carries out, as it was at the start: a recipe saved meanwhile does not change it.
    Column("cards", Json, nullable=False),
    Column("skipped", Json, nullable=False),
    Column("refusals", Json, nullable=False),
    Column("settings", Json, nullable=False),
    Column("state", Text),
    Column("reason", Text),
    Column("finished_at", Text),
    info=operational(names_many=True),
)
"""Each run of the recipe; the row outlives the job, which the queue deletes after 30 days."""

done_pages = Table(
    "recipes_page_done",
    metadata,
    Column("job", Text, nullable=False),
    Column("page_id", Text, nullable=False),
    Column("thread_id", Text, nullable=False),
    # The fingerprint of the text it worked on; empty if it worked on the picture.
    Column("fingerprint", Text, nullable=False),
    PrimaryKeyConstraint("job", "page_id"),
    info=operational(),
)
"""Which pages a step has processed, so that a page on which there was nothing to write is not processed again."""

files = Table(
    "recipes_file",
    metadata,
    Column("name", Text, primary_key=True),
    # The digest of the text on which the project and the file last agreed; null: the file should not exist.
    Column("digest", Text),
    Column("state", Text, nullable=False),
    Column("why", Text),
    Column("line", Integer),
    Column("kept_as", Text),
    info=operational(),
)
"""How the files in the project's folder `recipe` relate to the rows."""

arrivals = Table(
    "recipes_arrival",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("run_job_id", Text, nullable=False, index=True),
    Column("page_id", Text, nullable=False),
    # Of use only beside the job of the run.
    info=operational(stays_here=True),
)
"""The pages an import added after Start, by the run that works on them."""
