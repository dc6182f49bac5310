"""Recordings from the command line: imported and transcribed; those that could not be are named."""

from __future__ import annotations

import wave
from pathlib import Path

from armarium_testing.command_line import Machine


def recording(path: Path, seconds: float) -> None:
    """Write a WAV file of silence."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(bytes(int(16_000 * seconds)))


def talks(machine: Machine) -> None:
    """Create a project with two recordings, one of them too short to transcribe."""
    folder = machine.home / "talks"
    folder.mkdir()
    recording(folder / "talk.wav", 2)
    recording(folder / "cough.wav", 0.01)
    machine.succeed("create", "Interviews")
    machine.succeed("import", "talks")


def test_transcribe_transcribes_recordings_and_names_failures(desk: Machine) -> None:
    talks(desk)
    answer = desk.succeed("transcribe", "--transcriber", "listener").out
    short = next(
        node["id"] for node in desk.succeed("ls", "--json").json["items"] if node["name"] == "cough.wav"
    )
    assert answer.startswith("Transcribed 1 recording.\n")
    assert f"  not done: {short}: The recording is too short to hear anything in it." in answer
    assert desk.succeed("text", "talk.wav").out == "Good day.\nFarewell.\n"
    silent = desk.succeed("text", "cough.wav")
    assert (silent.out, silent.err) == (
        "",
        "cough.wav was never written down: armarium transcribe does it.\n",
    )
    assert desk.succeed("undo").out
    assert desk.succeed("text", "talk.wav").out == ""


def test_transcribe_under_json_answers_one_value(desk: Machine) -> None:
    talks(desk)
    ran = desk.succeed("transcribe", "talk.wav", "--transcriber", "listener", "--language", "es", "--json")
    assert (ran.json["pages"], ran.json["failed"], bool(ran.json["job_id"])) == (1, [], True)


def test_what_cannot_be_transcribed_is_refused_in_words(desk: Machine) -> None:
    talks(desk)
    assert "nobody" in desk.expect_refusal("transcribe", "--transcriber", "nobody")
    assert "takes no model files" in desk.expect_refusal(
        "transcribe", "--transcriber", "listener", "--model", "small"
    )
    assert "nothing-here" in desk.expect_refusal("transcribe", "nothing-here", "--transcriber", "listener")
