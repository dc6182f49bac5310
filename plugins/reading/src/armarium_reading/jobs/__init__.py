"""The background work of reading, and the kinds of its jobs."""

from __future__ import annotations

from armarium.api import JobKind, page_kind
from armarium_reading.downloads import run_add, run_download
from armarium_reading.jobs.asking import AskLines
from armarium_reading.jobs.finding import FindLines, ReadPage
from armarium_reading.jobs.lines import ReadLines
from armarium_reading.jobs.speech import transcribe_recording
from armarium_reading.schemas.reading import AddModelParams, ModelParams, ReadingArgs, TranscribeSettings

FIND_LINES = JobKind(
    name="find-lines",
    lane="local-model",
    also_lanes=("network",),
    summary="Find the lines of pages.",
    run=lambda ctx: FindLines(ctx).run(),
    args=ReadingArgs,
    heavy=True,
)
READ_LINES = JobKind(
    name="read-a-line",
    lane="local-model",
    also_lanes=("network",),
    summary="Read the lines of pages.",
    run=lambda ctx: (AskLines if ctx.args.provider else ReadLines)(ctx).run(),
    args=ReadingArgs,
    heavy=True,
)
READ_PAGES = JobKind(
    name="read-a-page",
    lane="local-model",
    also_lanes=("network",),
    summary="Find and read the lines of pages in one go.",
    run=lambda ctx: ReadPage(ctx).run(),
    args=ReadingArgs,
    heavy=True,
)
TRANSCRIBE = page_kind(
    "transcribe-speech",
    transcribe_recording,
    TranscribeSettings,
    summary="Transcribe the speech of recordings.",
    lane="local-model",
    heavy=True,
)
DOWNLOAD_MODEL = JobKind(
    name="download-model",
    lane="network",
    summary="Download a model of a reader to this machine.",
    run=run_download,
    args=ModelParams,
    unit="megabytes",
    scope="engine",
    needs_network=True,
)
ADD_MODEL = JobKind(
    name="add-model",
    lane="local-model",
    summary="Take in a model of a reader from this machine's disk.",
    run=run_add,
    args=AddModelParams,
    scope="engine",
)
