"""The work on one recording: a transcriber writes down the speech, and its lines become a new pass."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, PageWork, now
from armarium_documents.api import primary_recording
from armarium_reading import ledger
from armarium_reading.caller import Caller, Subject
from armarium_reading.ledger import ModelCall
from armarium_reading.permission import refuse_withheld_page
from armarium_reading.readers import choose_transcriber
from armarium_reading.schemas.reading import TranscribeSettings


def transcribe_recording(job: JobContext, document_id: str) -> PageWork:
    """Write the lines of one recording as a new pass. PageWithheld if its rights forbid it; a refusal if it is
    not a recording.
    """
    settings: TranscribeSettings = job.args
    refuse_withheld_page(job, document_id, "local-model")
    choice = choose_transcriber(
        job.engine,
        job.library,
        transcriber=settings.transcriber,
        model=settings.model,
        language=settings.language,
    )
    with job.library.db.read() as conn:
        recording = primary_recording(conn, document_id)
    model = str(choice.model_path) if choice.model_path else None
    started_at = now()
    with job.library.objects.hold_file(recording.checksum) as path:
        transcript = job.call_worker(
            choice.runtime,
            choice.target,
            "transcribe",
            {"recording": str(path), "model": model, "language": settings.language},
        )
    ledger.record(
        Caller.of_job(job),
        ModelCall(
            use_case=job.kind.name,
            subject=Subject(document_id),
            provider=choice.reader.name,
            model=choice.model_name,
            exchange={
                "prompt": f"Transcribe a recording of {transcript['length']:.1f} seconds.",
                "output": "\n".join(line["text"] for line in transcript["lines"]),
            },
            started_at=started_at,
            seconds=float(transcript["seconds"]),
        ),
    )
    params = {
        "document_id": document_id,
        "rendition_id": recording.rendition_id,
        "name": settings.name or f"Speech by {choice.reader.label}",
        "provider": choice.reader.name,
        "model": choice.model_name,
        "lines": spoken_lines(transcript),
    }
    return PageWork("segment.take_lines", params, answers=("pass_id",))


def spoken_lines(heard: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a worker's lines in the form that `segment.take_lines` expects, without those that have no words.

    The frame of a recording is its duration, from left to right; each line is as high as the frame.
    """
    length = float(heard["length"])
    return [
        {
            "key": f"line-{number}",
            "rect": [line["start"] / length, 0.0, (line["end"] - line["start"]) / length, 1.0],
            "start_seconds": line["start"],
            "end_seconds": line["end"],
            "text": line["text"],
            "confidence": line.get("confidence"),
        }
        for number, line in enumerate(heard["lines"])
        if line["text"]
    ]
