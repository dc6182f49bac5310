"""What the engine relies on, always; folders that are no model are refused, where the runtime is installed."""

from __future__ import annotations

import ast
import math
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import armarium_transcriber_whisper
from armarium.api import Settings
from armarium.runtimes.registry import interpreter, read_marker
from armarium_reading.api import Refused
from armarium_transcriber_whisper.transcriber import WHISPER, Whisper
from armarium_worker import WorkerProcess, WorkerRefused

PACKAGE = Path(armarium_transcriber_whisper.__file__).parent


def runtime_python() -> Path:
    """Return the interpreter that ARMARIUM_TEST_WHISPER names, or that of an installed runtime; skip if there
    is none.
    """
    if answer := os.environ.get("ARMARIUM_TEST_WHISPER"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / WHISPER.name
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The whisper runtime is not installed here (armarium runtime install whisper).")


@pytest.mark.slow
def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    python = runtime_python()
    weights = tmp_path / "small" / "model.bin"
    weights.parent.mkdir()
    weights.write_bytes(b"no weights")
    worker = WorkerProcess(
        "armarium_transcriber_whisper.transcriber:Whisper", python=python, packages={PACKAGE.name: PACKAGE}
    )
    try:
        with pytest.raises(WorkerRefused, match="small is no Whisper model"):
            worker.call("load", {"model": str(weights)})
        with pytest.raises(WorkerRefused, match="A Whisper model is needed"):
            worker.call("load", {"model": None})
    finally:
        worker.kill()


def test_segments_become_lines_and_what_cannot_be_decoded_is_refused() -> None:
    asked: list[tuple[str, str | None]] = []

    def transcribe(path: str, *, language: str | None, **_: object) -> tuple[object, object]:
        asked.append((path, language))
        if path == "broken":
            raise ValueError("no stream of sound")
        heard = [SimpleNamespace(start=0.5, end=2.0, text=" Buenos días.", avg_logprob=math.log(0.5))]
        return iter(heard), SimpleNamespace(duration=4.0)

    whisper = Whisper(language="es-MX")
    whisper.network = SimpleNamespace(transcribe=transcribe)  # type: ignore[assignment]
    transcript = whisper.transcribe(Path("talk.wav"))
    (line,) = transcript.lines
    assert (transcript.seconds, line.start, line.end, line.text) == (4.0, 0.5, 2.0, " Buenos días.")
    assert line.confidence == pytest.approx(0.5)
    with pytest.raises(Refused, match="no stream of sound"):
        whisper.transcribe(Path("broken"))
    assert asked == [("talk.wav", "es"), ("broken", "es")]


def test_the_engine_imports_it_without_heavy_packages_and_its_runtime_is_pinned(tmp_path: Path) -> None:
    tree = ast.parse((PACKAGE / "transcriber.py").read_text("utf-8"))
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= {"armarium_worker", *sys.stdlib_module_names}
    text = (PACKAGE / WHISPER.requirements).read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    assert {line.partition("==")[0] for line in lines} > {"faster-whisper", "ctranslate2", "av"}
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "model.bin").write_bytes(b"1234")
    (model,) = Whisper.models_here(tmp_path, None)
    assert (model.model, model.size_bytes) == ("small", 4)
    with pytest.raises(Refused, match="Here are: small"):
        Whisper.model_for(reading=True, language=None, folder=tmp_path)
