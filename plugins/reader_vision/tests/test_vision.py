"""Image-text models read lines in their own runtime, where that is installed; what the engine relies on is
always tested.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import armarium_reader_vision
import armarium_worker
from armarium.api import Settings
from armarium.runtimes.registry import interpreter, read_marker
from armarium_demo.samples import sample_pages
from armarium_reader_vision.pages import VisionPages
from armarium_reader_vision.reader import VISION, VisionReader, box_of
from armarium_reading.api import LineShape, Refused, exercise_reader
from armarium_worker import Page, WorkerProcess, WorkerRefused
from armarium_worker.instructions import bare_line, read_line

PACKAGE = Path(armarium_reader_vision.__file__).parent


def runtime_python() -> Path:
    """Return the interpreter of an installed vision runtime; skip if there is none.

    ARMARIUM_TEST_VISION names an interpreter with transformers to use instead of the engine's own runtime.
    """
    if answer := os.environ.get("ARMARIUM_TEST_VISION"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / VISION.name
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The vision runtime is not installed here (armarium runtime install vision).")


def tiny_model(kind: str, folder: Path, python: Path) -> Path:
    """Create a random model with a few thousand weights; return its config.json."""
    folder.mkdir(parents=True)
    script = Path(__file__).with_name("tiny_models.py")
    beside = {**os.environ, "PYTHONPATH": str(Path(armarium_worker.__file__).parents[1])}
    subprocess.run([python, script, kind, folder], check=True, capture_output=True, env=beside)
    return folder / "config.json"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["trocr", "chat"])
def test_it_is_a_reader_of_lines(kind: str, tmp_path: Path) -> None:
    python = runtime_python()
    model = tiny_model(kind, tmp_path / "models" / kind, python)
    page = tmp_path / "page.jpg"
    page.write_bytes(sample_pages(count=1, scale=0.4)[0].jpeg)
    (tmp_path / "suite").mkdir()
    proof = exercise_reader(VisionReader, tmp_path / "suite", page=page, python=python, model=model)
    assert proof.left_out == {}
    assert any(name.startswith("read_lines") for name in proof.checked)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_chat_model_reads_whole_pages_and_another_is_refused(tmp_path: Path) -> None:
    python = runtime_python()
    page = tmp_path / "page.jpg"
    page.write_bytes(sample_pages(count=1, scale=0.4)[0].jpeg)
    (tmp_path / "suite").mkdir()
    chat = tiny_model("chat", tmp_path / "models" / "chat", python)
    proof = exercise_reader(VisionPages, tmp_path / "suite", page=page, python=python, model=chat)
    assert proof.left_out == {}
    assert "read_page: a page" in proof.checked
    trocr = tiny_model("trocr", tmp_path / "models" / "trocr", python)
    worker = WorkerProcess(
        "armarium_reader_vision.pages:VisionPages", python=python, packages={PACKAGE.name: PACKAGE}
    )
    try:
        with pytest.raises(WorkerRefused, match="trocr reads single lines"):
            worker.call("load", {"model": str(trocr)})
    finally:
        worker.kill()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    python = runtime_python()
    (tmp_path / "hand").mkdir()
    config = tmp_path / "hand" / "config.json"
    worker = WorkerProcess(
        "armarium_reader_vision.reader:VisionReader", python=python, packages={PACKAGE.name: PACKAGE}
    )
    try:
        for text in (
            "no JSON",
            "{}",
            '{"model_type": "bert"}',
            '{"auto_map": {"AutoConfig": "evil.Config"}}',
        ):
            config.write_text(text)
            with pytest.raises(WorkerRefused, match="hand is not an image-text model"):
                worker.call("load", {"model": str(config)})
    finally:
        worker.kill()


def test_the_lines_of_a_page_share_its_height_in_their_order() -> None:
    from PIL import Image

    reader = VisionPages()
    shown: list[str] = []
    reader.inputs = lambda picture, instruction: shown.append(instruction) or {"input_ids": _Tokens()}  # type: ignore[assignment,func-returns-value,method-assign]
    reader.write = lambda inputs, start, most: ("```\nMuy  señor\n\nmío\n```", 0.5)  # type: ignore[assignment,method-assign]
    image = Image.new("RGB", (100, 80), "white")
    assert list(reader.read_page(Page(Path("1.png"), 100, 80, image))) == []
    image.putpixel((3, 3), (0, 0, 0))
    first, second = reader.read_page(Page(Path("1.png"), 100, 80, image))
    assert (first.reading.text, first.reading.confidence, second.reading.text) == ("Muy señor", 0.5, "mío")
    assert (first.line.rect, second.line.rect) == ((0, 0, 100, 40), (0, 40, 100, 40))
    assert first.line.kind_raw == "place-unknown"
    assert "line by line" in shown[0]
    assert len(shown) == 1


class _Tokens:
    shape = (1, 7)


def test_every_package_of_the_runtime_is_pinned_and_no_address_is_named() -> None:
    text = (PACKAGE / VISION.requirements).read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    assert {line.partition("==")[0] for line in lines} > {"transformers", "torch", "torchvision", "pillow"}


def test_the_engine_imports_it_without_heavy_packages() -> None:
    tree = ast.parse((PACKAGE / "reader.py").read_text("utf-8"))
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= {"armarium_worker", *sys.stdlib_module_names}


def test_models_are_folders_with_a_config(tmp_path: Path) -> None:
    assert VisionReader.models_here(tmp_path / "none", None) == []
    (tmp_path / "trocr").mkdir()
    (tmp_path / "trocr" / "config.json").write_bytes(b"{}")
    (tmp_path / "trocr" / "model.safetensors").write_bytes(b"1234")
    (tmp_path / "empty").mkdir()
    (model,) = VisionReader.models_here(tmp_path, None)
    assert (model.model, model.path, model.size_bytes) == ("trocr", tmp_path / "trocr" / "config.json", 6)
    with pytest.raises(Refused, match="Here are: trocr"):
        VisionReader.model_for(reading=True, language=None, folder=tmp_path)


@pytest.mark.parametrize(
    ("rect", "box"),
    [
        ((10.0, 10.0, 50.0, 20.0), (7, 7, 63, 33)),
        ((0.0, 0.0, 1.0, 1.0), (0, 0, 1, 1)),
        ((90.0, 70.0, 30.0, 30.0), (86, 66, 100, 80)),
        ((100.0, 80.0, 1.0, 1.0), (99, 79, 100, 80)),
    ],
)
def test_the_box_of_a_line_shown_to_the_model(rect: tuple[float, ...], box: tuple[int, ...]) -> None:
    assert box_of(LineShape(rect), 100, 80) == box  # type: ignore[arg-type]


def test_the_prompt_of_a_model_and_the_text_of_its_answer() -> None:
    assert "correct nothing" in read_line()
    assert "es (BCP 47)" in read_line("es")
    assert bare_line(" Muy señor\n mío ") == "Muy señor mío"
    assert bare_line("```\nMuy señor\n```") == "Muy señor"
    assert bare_line("``````") == ""
