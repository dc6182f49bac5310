"""What reading can do in a workflow or a recipe: find lines, read lines, read whole pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armarium.api import Engine, Example, Library, Placement, RecipeJob, new_id
from armarium_documents.api import sample_picture
from armarium_reading.jobs import FIND_LINES, READ_LINES, READ_PAGES, TRANSCRIBE
from armarium_reading.providers.served_reader import lane_of, who_reads_lines
from armarium_reading.readers import TRANSCRIBERS, choose, choose_transcriber
from armarium_reading.sample_transcriber import SampleTranscriber
from armarium_reading.schemas.reading import (
    FindLinesSettings,
    ReadLinesSettings,
    ReadPagesSettings,
    TranscribeSettings,
)
from armarium_source_model.api import sample_page


def _make_place(method: str) -> Callable[[Engine, Library, Any], Placement]:
    def place(engine: Engine, library: Library, settings: Any) -> Placement:
        choice = choose(
            engine,
            library,
            reader=settings.reader,
            method=method,
            model=settings.model,
            language=getattr(settings, "language", None),
        )
        return Placement(model=f"{settings.reader}:{choice.model_name}")

    return place


def _place_line_reader(engine: Engine, library: Library, settings: ReadLinesSettings) -> Placement:
    choices = who_reads_lines(engine, library, settings)
    lane = lane_of(engine, settings.provider) if settings.provider is not None else None
    return Placement(model=", ".join(f"{one.reader.name}:{one.model_name}" for one in choices), lane=lane)


def _place_transcriber(engine: Engine, library: Library, settings: TranscribeSettings) -> Placement:
    choice = choose_transcriber(
        engine,
        library,
        transcriber=settings.transcriber,
        model=settings.model,
        language=settings.language,
    )
    return Placement(model=f"{settings.transcriber}:{choice.model_name}")


def _recording(ex: Example) -> dict[str, Any]:
    """Create a second of silence, and name a sample transcriber that needs no model."""
    import io
    import wave

    assert ex.library is not None
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes(16_000))
    recording = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "audio/wav",
        "size_bytes": len(file.getvalue()),
    }
    folder_id = ex.run("document.create", {"name": "Interviews", "doc_type": "folder"})["id"]
    node = {"id": new_id(), "parent_id": folder_id, "doc_type": "file", "file_type": "audio", "name": "1.wav"}
    ex.run("document.add_files", {"nodes": [{**node, "picture": recording}]})
    ex.engine.drivers.give(TRANSCRIBERS, SampleTranscriber.name, SampleTranscriber)
    return {"page_id": node["id"], "settings": {"transcriber": SampleTranscriber.name}}


def _page(ex: Example) -> dict[str, Any]:
    """Create a page whose picture has two dark rows."""
    from PIL import Image

    image = Image.new("RGB", (100, 80), "white")
    for top in (20, 50):
        image.paste("black", (10, top, 90, top + 6))
    return {"page_id": sample_picture(ex, image)}


def _page_with_lines(ex: Example) -> dict[str, Any]:
    page = _page(ex)
    lines = [{"anchor": {"rect": [0.1, top, 0.8, 0.15]}} for top in (0.2, 0.6)]
    sample_page(ex, document_id=page["page_id"], segments=lines)
    return page


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
        place=_make_place("find_lines"),
        example=_page,
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
        example=_page_with_lines,
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
        place=_make_place("read_page"),
        example=_page,
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
        example=_recording,
    ),
)
