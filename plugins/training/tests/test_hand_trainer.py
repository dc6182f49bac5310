"""The hand reader's trainer in its own runtime, where that is installed; what the engine looks at, always."""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armarium_worker
from armarium.api import Settings
from armarium.runtimes.installer import pinned_versions
from armarium.runtimes.registry import interpreter, read_marker
from armarium_hand_trainer.direction import is_right_to_left
from armarium_reader_hand.picture import HEIGHT
from armarium_training.trainers import TORCH
from armarium_worker import WorkerProcess, WorkerRefused

PACKAGE = Path(__file__).parents[1] / "src" / "armarium_hand_trainer"
SHIPPED = Path(__file__).parents[2] / "reader_hand" / "src" / "armarium_reader_hand"


def runtime_python() -> Path:
    """The interpreter of an installed runtime; skips in words where there is none.

    ARMARIUM_TEST_RUNTIMES names a folder of runtimes to look into; else the engine's own.
    """
    folder = Path(os.environ.get("ARMARIUM_TEST_RUNTIMES") or Settings().state_dir / "runtimes") / TORCH.name
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    for place in places:
        if read_marker(place) is not None:
            return interpreter(place)
    pytest.skip("The trainer's runtime is not installed here (armarium runtime install hand-trainer).")


def start_worker(python: Path) -> WorkerProcess:
    packages = {"armarium_hand_trainer": PACKAGE}
    return WorkerProcess("armarium_hand_trainer.trainer:HandTrainer", python=python, packages=packages)


def base() -> dict[str, Any]:
    card = json.loads((SHIPPED / "card.json").read_text("utf-8"))
    return {"path": str(SHIPPED / "model.onnx"), **{key: card[key] for key in ("alphabet", "calibration")}}


def laid_out(folder: Path, texts: list[str], widths: list[int]) -> None:
    """Lines of random ink."""
    chance = np.random.default_rng(0)
    folder.mkdir()
    inks = [(chance.random((HEIGHT, width)) < 0.2).astype(np.uint8) * 255 for width in widths]
    (folder / "pictures.bin").write_bytes(b"".join(ink.tobytes() for ink in inks))
    told = [
        {"text": text, "width": width, "for_validation": number == len(texts) - 1 and len(texts) > 1}
        for number, (text, width) in enumerate(zip(texts, widths, strict=True))
    ]
    (folder / "lines.json").write_text(json.dumps({"lines": told}), "utf-8")


@pytest.mark.parametrize(
    ("text", "backward"),
    [("שלום", True), ("بسم الله 12", True), ("Rabbi שלום of Worms", False), ("1794", False), ("", False)],
)
def test_the_direction_of_a_text_is_that_of_most_of_its_letters(text: str, backward: bool) -> None:
    assert is_right_to_left(text) is backward


def test_its_runtime_is_pinned() -> None:
    pins = pinned_versions(PACKAGE / "requirements.txt")
    assert {"torch", "onnx", "numpy"} <= set(pins)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_base_goes_through_the_trainer_and_comes_back_as_a_reader(tmp_path: Path) -> None:
    """Weights are read as they are, the alphabet grows, killed between epochs it goes on, and the file reads."""
    python = runtime_python()
    given = {"folder": str(tmp_path / "t"), "base": base(), "batch_size": 2}
    laid_out(tmp_path / "t", ["abc de", "שלום", "new letter Ж", "cab", "kept"], [320, 200, 400, 200, 240])
    worker = start_worker(python)
    first = worker.call("epoch", {**given, "epoch": 1})
    worker.kill()
    worker = start_worker(python)
    again = worker.call("epoch", {**given, "epoch": 1})
    assert again == first
    second = worker.call("epoch", {**given, "epoch": 2})
    told = worker.call("finish", given)
    worker.stop()
    # The line in Hebrew is left out, and none of its letters are learned.
    assert (second["epoch"], second["lines"], told["new_letters"]) == (2, 3, 1)
    from armarium_reader_hand.model import LineModel

    model = LineModel.of_file(Path(told["model"]), threads=1)
    assert model.alphabet == [*given["base"]["alphabet"], "Ж"]  # type: ignore[index]
    texts = model.read([np.zeros((HEIGHT, 100), np.uint8)])
    assert unicodedata.is_normalized("NFC", texts[0].text)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_the_network_says_is_what_the_file_says(tmp_path: Path) -> None:
    """The base read into torch gives the answers of the shipped file: folded weights are understood as they were meant."""
    python = runtime_python()
    code = (
        "import sys, json; sys.path[:0] = json.loads(sys.argv[1])\n"
        "from pathlib import Path; import numpy as np, torch\n"
        "from armarium_hand_trainer.net import base_net, steps_of\n"
        "from armarium_hand_trainer.graph import weights_of\n"
        "from armarium_hand_trainer.lines import pad_pictures\n"
        "base = json.loads(sys.argv[2])\n"
        "net = base_net(*weights_of(Path(base['path'])), len(base['alphabet']) + 1).eval()\n"
        "inks = [np.load(path) for path in json.loads(sys.argv[3])]\n"
        "lengths = torch.tensor([steps_of(ink.shape[1]) for ink in inks])\n"
        "out = torch.log_softmax(net(pad_pictures(inks), lengths)[0], -1).detach().numpy()\n"
        "np.save(sys.argv[4], out)\n"
    )
    chance = np.random.default_rng(1)
    paths = []
    for number, width in enumerate((200, 333)):
        path = tmp_path / f"{number}.npy"
        np.save(path, (chance.random((HEIGHT, width)) < 0.3).astype(np.uint8) * 255)
        paths.append(str(path))
    from armarium_reader_hand.model import LineModel

    folders = [str(PACKAGE.parent), str(Path(armarium_worker.__file__).parents[1])]
    words = [json.dumps(folders), json.dumps(base()), json.dumps(paths), str(tmp_path / "out.npy")]
    subprocess.run([str(python), "-c", code, *words], check=True)
    theirs = LineModel.load_shipped(1).answers([np.load(path) for path in paths])
    ours = np.load(tmp_path / "out.npy")
    for number, answer in enumerate(theirs):
        assert np.abs(ours[: len(answer), number] - answer).max() < 0.02


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("text", "width", "why"),
    [
        ("far too many letters", 16, "narrower than their texts"),
        ("", 1, "narrower than their texts"),
        ("שלום עולם", 400, "right to left"),
    ],
)
def test_lines_that_cannot_be_taught_are_refused_in_words(
    tmp_path: Path, text: str, width: int, why: str
) -> None:
    python = runtime_python()
    laid_out(tmp_path / "t", [text], [width])
    worker = start_worker(python)
    with pytest.raises(WorkerRefused, match=why):
        worker.call("epoch", {"folder": str(tmp_path / "t"), "base": base(), "epoch": 1})
    with pytest.raises(WorkerRefused):
        worker.call("finish", {"folder": str(tmp_path / "t"), "base": {**base(), "path": __file__}})
    worker.stop()
