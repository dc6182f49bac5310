"""Recordings are imported unchanged, and transcribed by a fake transcriber."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import pytest
from reading_project import ReadingProject

from armarium.api import Engine, Invalid, NotFound
from armarium.principals import LOCAL_OWNER
from armarium_documents.api import primary_recording
from armarium_testing.recipe_jobs import exercise_recipe_job


def sound(path: Path, seconds: int = 4) -> Path:
    """Write a WAV file of silence."""
    path.parent.mkdir(exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(bytes(16_000 * seconds))
    return path


def test_the_recipe_job_passes_its_kit(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert (
        exercise_recipe_job(engine, "transcribe-speech", tmp_path / "kit", settings={"transcriber": "ear"})
        == []
    )


def test_an_imported_recording_becomes_lines_with_their_times(
    project: ReadingProject, tmp_path: Path
) -> None:
    folder = tmp_path / "talks"
    talk = sound(folder / "talk.wav")
    (folder / "broken.mp3").write_bytes(b"ID3" + bytes(200))
    (folder / "false.wav").write_bytes(b"no sound at all")
    started = project.run("document.import", {"folder": str(folder)})
    assert project.engine.jobs.run_until_idle(project.library)
    refused = project.job_row(started["job_id"])["result"]["refused"]
    assert [refusal["file"] for refusal in refused] == ["false.wav"]
    nodes = {
        name: (identity, file_type)
        for identity, name, file_type in project.rows(
            "SELECT id, name, file_type FROM document WHERE doc_type = 'file'"
        )
    }
    assert {name: kind for name, (_, kind) in nodes.items()} == {"talk.wav": "audio", "broken.mp3": "audio"}
    document, _ = nodes["talk.wav"]
    ((role, mime_type, checksum),) = project.rows(
        "SELECT role, mime_type, checksum FROM rendition WHERE document_id = ?", document
    )
    assert (role, mime_type) == ("archival-original", "audio/wav")
    assert project.library.objects.path(checksum).read_bytes() == talk.read_bytes()
    (box,) = project.rows("SELECT parent_id FROM document WHERE id = ?", document)

    # The whole folder: one recording is transcribed, one cannot be decoded and is named.
    started = project.run(
        "reading.transcribe_speech", {"scope_ids": list(box), "transcriber": "ear", "language": "es"}
    )
    assert started["pages"] == 2
    assert project.engine.jobs.run_until_idle(project.library)
    row = project.job_row(started["job_id"])
    assert (row["state"], row["result"]["pages"]) == ("done", 1)
    (failed,) = row["result"]["failed"]
    assert failed["document_id"] == nodes["broken.mp3"][0]
    assert "cannot be decoded" in failed["why"]
    lines = project.rows(
        "SELECT s.metadata, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h, r.content, r.confidence, r.producer_tool, "
        "r.producer_run_id FROM segment s JOIN content_representation r ON r.segment_id = s.id ORDER BY s.bbox_x"
    )
    # Times before the beginning and beyond the end are clipped to the recording, and the last line keeps some
    # length.
    assert [(json.loads(line[0]), *line[1:]) for line in lines] == [
        (
            {"start_seconds": 0.0, "end_seconds": 1.0},
            0,
            0,
            0.25,
            1,
            "Buenos días.",
            0.8,
            "ear",
            started["job_id"],
        ),
        (
            {"start_seconds": 3.99, "end_seconds": 4.0},
            pytest.approx(0.9975),
            0,
            pytest.approx(0.0025),
            1,
            "In es.",
            1.0,
            "ear",
            started["job_id"],
        ),
    ]
    ((use_case, provider, job_id),) = project.rows("SELECT use_case, provider, job_id FROM episode")
    assert (use_case, provider, job_id) == ("transcribe-speech", "ear", started["job_id"])
    steps = [row[0] for row in project.rows("SELECT id FROM audit WHERE set_id = ?", started["job_id"])]
    project.engine.undo(project.library, steps, LOCAL_OWNER)
    assert project.rows("SELECT count(*) FROM segment") == [(0,)]


def test_what_cannot_be_transcribed_is_refused_before_a_job_is_queued(
    project: ReadingProject, tmp_path: Path
) -> None:
    page = project.page()
    with pytest.raises(Invalid, match="contains no recording"):
        project.run("reading.transcribe_speech", {"scope_ids": [page], "transcriber": "ear"})
    started = project.run("document.import", {"folder": str(sound(tmp_path / "talks" / "1.wav").parent)})
    assert project.engine.jobs.run_until_idle(project.library)
    assert project.job_row(started["job_id"])["state"] == "done"
    ((talk,),) = project.rows("SELECT id FROM document WHERE file_type = 'audio'")
    for given, error, words in (
        ({"transcriber": "nobody"}, NotFound, "called nobody"),
        ({"transcriber": "broken"}, Invalid, "is not a Transcriber"),
        ({"transcriber": "ear", "language": "he"}, Invalid, "does not read the language 'he'"),
        ({"transcriber": "ear", "model": "small"}, Invalid, "takes no model files"),
    ):
        with pytest.raises(error, match=words):
            project.run("reading.transcribe_speech", {"scope_ids": [talk], **given})
    with project.library.db.read() as conn, pytest.raises(NotFound, match="is not a recording"):
        primary_recording(conn, page)
    # A recording is no page, so readers of pictures do not get it.
    with pytest.raises(Invalid, match="no page"):
        project.run("reading.read_pages", {"scope_ids": [talk], "reader": "fake"})
