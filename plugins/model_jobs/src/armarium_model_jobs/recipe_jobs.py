"""The recipe jobs that ask a model, for workflows and recipes."""

from __future__ import annotations

from armarium.api import Engine, Library, Placement
from armarium_model_jobs import errors
from armarium_model_jobs.jobs import lines, results, signs
from armarium_model_jobs.schemas import ColumnSettings, ModelSettings, QuestionSettings, RenderSettings
from armarium_reading.api import model_job, place_with_provider


def _placed_question(engine: Engine, library: Library, settings: QuestionSettings) -> Placement:
    if settings.prompt is None or not settings.prompt.strip():
        raise errors.prompt_needed()
    return place_with_provider(engine, library, settings)


def _placed_table(engine: Engine, library: Library, settings: ColumnSettings) -> Placement:
    if not settings.columns:
        raise errors.columns_needed()
    for number, name in enumerate(settings.columns):
        if name in settings.columns[:number]:
            raise errors.column_twice(name)
    return place_with_provider(engine, library, settings)


CORRECT = model_job(
    "correct",
    lines.correct,
    ModelSettings,
    summary="Have a model correct the lines of pages.",
    name="Correct",
    description="A model corrects what a machine misread, line by line; what a person wrote or chose is "
    "not changed.",
    layer="reading",
    takes=("line_readings",),
    gives=("line_readings",),
    writes=("reading.take",),
    compare="share of wrong characters, before and after",
)

RENDER = model_job(
    "translate-transliterate-normalise",
    lines.render,
    RenderSettings,
    summary="Have a model translate, transliterate or normalise the lines of pages.",
    name="Translate, transliterate, normalise",
    description="A model renders each line in another language, script or spelling, as a reading beside the transcription.",
    layer="reading",
    takes=("line_readings",),
    gives=("line_readings",),
    writes=("reading.take",),
    compare="share of characters that differ from a person's rendering",
)

ASK = model_job(
    "ask-a-model",
    results.answer,
    QuestionSettings,
    summary="Ask a model about pages.",
    place=_placed_question,
    name="Ask a model",
    description="Asks a model a question about the text of each page, and stores the answer with the page.",
    layer="knowledge",
    takes=("page_reading",),
    gives=(),
    writes=("artifact.create",),
)

EXTRACT = model_job(
    "extract-to-a-table",
    results.extract,
    ColumnSettings,
    summary="Have a model extract the contents of pages into a table.",
    place=_placed_table,
    name="Extract to a table",
    description="A model extracts the contents of each page into rows with the given columns, each row "
    "with the lines it comes from.",
    layer="structure",
    takes=("page_reading", "table_cells"),
    gives=("table_rows",),
    takes_any=True,
    writes=("artifact.create",),
    compare="share of cells that are right",
)

SPLIT = model_job(
    "split-into-entries",
    results.split,
    ModelSettings,
    summary="Have a model split pages into entries.",
    name="Split into entries",
    description="A model says which lines begin the entries of a register, diary or list; the lines are "
    "divided among them.",
    layer="structure",
    takes=("page_reading",),
    gives=("entries",),
    writes=("artifact.create",),
    compare="share of entries that begin where they should",
)

IDENTIFY = model_job(
    "identify-signs",
    signs.identify,
    ModelSettings,
    summary="Have a model identify the signs of pages.",
    name="Identify signs",
    description="A model that accepts pictures says what the signs found on each page are: each gets a "
    "description and becomes an instance of the declared sign of that name.",
    layer="reading",
    takes=("signs",),
    gives=("sign_identifications",),
    writes=("model_jobs.take_signs",),
    compare="share of signs identified correctly",
)

RECIPE_JOBS = (CORRECT, IDENTIFY, RENDER, SPLIT, EXTRACT, ASK)
