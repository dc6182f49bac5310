"""What reading can do in a workflow or a recipe: find lines, read lines, read whole pages."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Engine, Library, Placement, RecipeJob
from armarium_reading.jobs import FIND_LINES, READ_LINES, READ_PAGES, TRANSCRIBE
from armarium_reading.providers.served_reader import lane_of, who_reads_lines
from armarium_reading.readers import Choice, choose, choose_transcriber, who_finds_lines
from armarium_reading.schemas.reading import (
    FindLinesSettings,
    ReadLinesSettings,
    ReadPagesSettings,
    TranscribeSettings,
)


def _place_finder(engine: Engine, library: Library, settings: FindLinesSettings) -> Placement:
    choices = who_finds_lines(engine, library, settings.reader, settings.model)
    return Placement(model=_name_models(choices))


def _place_page_reader(engine: Engine, library: Library, settings: ReadPagesSettings) -> Placement:
    choice = choose(
        engine,
        library,
        reader=settings.reader,
        method="read_page",
        model=settings.model,
        language=settings.language,
    )
    return Placement(model=_name_models([choice]))


def _name_models(choices: Sequence[Choice]) -> str:
    return ", ".join(f"{choice.reader.name}:{choice.model_name}" for choice in choices)


def _place_line_reader(engine: Engine, library: Library, settings: ReadLinesSettings) -> Placement:
    choices = who_reads_lines(engine, library, settings)
    lane = lane_of(engine, settings.provider) if settings.provider is not None else None
    return Placement(model=_name_models(choices), lane=lane)


def _place_transcriber(engine: Engine, library: Library, settings: TranscribeSettings) -> Placement:
    choice = choose_transcriber(
        engine, library, transcriber=settings.transcriber, model=settings.model, language=settings.language
    )
    return Placement(model=f"{settings.transcriber}:{choice.model_name}")


RECIPE_JOBS = (
    RecipeJob(
        kind=FIND_LINES,
        name="Find lines",
        description="Finds the lines of handwriting or print on each page; each page gets a new pass.",
        layer="lines",
        takes=("page_image",),
        gives=("lines",),
        settings=FindLinesSettings,
        writes=("segment.take_lines",),
        compare="lines found of lines checked, and lines too many",
        provider_setting="reader",
        model_setting="model",
        place=_place_finder,
    ),
    RecipeJob(
        kind=READ_LINES,
        name="Read lines",
        description="Reads the lines of each page's working pass; each line gets a reading.",
        layer="reading",
        takes=("lines",),
        gives=("line_readings",),
        settings=ReadLinesSettings,
        writes=("reading.take",),
        compare="characters read wrong of all characters",
        provider_setting="reader",
        model_setting="model",
        place=_place_line_reader,
    ),
    RecipeJob(
        kind=READ_PAGES,
        name="Read pages",
        description="Finds and reads the lines of each page in one go; each page gets a new pass with its readings.",
        layer="reading",
        takes=("page_image",),
        gives=("page_reading",),
        settings=ReadPagesSettings,
        writes=("segment.take_lines",),
        compare="characters read wrong of all characters",
        provider_setting="reader",
        model_setting="model",
        place=_place_page_reader,
    ),
    RecipeJob(
        kind=TRANSCRIBE,
        name="Transcribe speech",
        description="Writes down what is spoken in a recording, a line for each sentence with the time at which it is said.",
        layer="reading",
        takes=("recording",),
        gives=("line_readings",),
        settings=TranscribeSettings,
        writes=("segment.take_lines",),
        compare="words heard wrong of all words",
        provider_setting="transcriber",
        model_setting="model",
        place=_place_transcriber,
    ),
)
