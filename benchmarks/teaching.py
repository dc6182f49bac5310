"""Row 29: how well a hand is learned from how many corrected lines.

It needs the trainer's runtime (``armarium runtime install hand-trainer``, or ARMARIUM_BENCH_TORCH names an interpreter
with torch and onnx) and the folder of data that ARMARIUM_BENCH_DATA names (``../shared/data``), with the pages of one
hand in ``onehand-peraire``, ALTO files beside their pictures, and the test documents of the base's corpus in
``hand-lines``. What is missing is reported. ARMARIUM_BENCH_LINES sets how many lines are trained on
(``50,100,200,250``). Minutes are processor time.
"""

from __future__ import annotations

import io
import json
import os
import sys
import unicodedata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

import armarium_hand_trainer
import armarium_reader_hand
import armarium_worker
from armarium.api import Settings
from armarium.runtimes.places import interpreter, read_marker
from benchmarks.harness import Result
from benchmarks.places import scratch_folder

SHARED = Path(__file__).parents[2] / "shared" / "data"
PERAIRE = "onehand-peraire"
UNSEEN = ("medieval-french:bnf-fr-1450", "lectaurep-repertoires:lectaurep-repertoires-dufour-1")
HELD_OUT, FEW = 3, 6
"""Whole pages held out where a document is all of one volume; one less of a document with fewer pages than the second.
"""
TEN_MINUTES = 600.0
PATIENCE = 5

Line = tuple[Any, str]
"""A line's picture as ink, and its text."""


def measure(rounds: int) -> list[Result]:
    """Measure characters wrong after training over those before. Taken once, not in rounds."""
    python = torch_python("teaching")
    folder = Path(os.environ.get("ARMARIUM_BENCH_DATA", SHARED))
    if python is None:
        return []
    if not folder.is_dir():
        print("teaching: no data (ARMARIUM_BENCH_DATA names their folder); left out.", file=sys.stderr)
        return []
    found = _hand(python, PERAIRE, pages_of_one_hand(folder / PERAIRE))
    for document in UNSEEN:
        found += _hand(python, document.partition(":")[2], unseen_pages(folder / "hand-lines", document))
    return found


def torch_python(script: str) -> Path | None:
    """Return an interpreter with torch; where there is none, say that *script* is left out."""
    if answer := os.environ.get("ARMARIUM_BENCH_TORCH"):
        return Path(answer)
    folder = Settings().state_dir / "runtimes" / "hand-trainer"
    places = sorted(folder.iterdir()) if folder.is_dir() else []
    found = next((interpreter(place) for place in places if read_marker(place) is not None), None)
    if found is None:
        print(
            f"{script}: no interpreter with torch (armarium runtime install hand-trainer, or ARMARIUM_BENCH_TORCH); "
            "left out.",
            file=sys.stderr,
        )
    return found


def shipped_base() -> dict[str, Any]:
    shipped = Path(str(armarium_reader_hand.__file__)).parent
    card = json.loads((shipped / "card.json").read_text("utf-8"))
    return {
        "path": str(shipped / "model.onnx"),
        **{key: card[key] for key in ("alphabet", "calibration")},
    }


def start_trainer(python: Path) -> Any:
    package = Path(armarium_hand_trainer.__file__).parent
    return armarium_worker.WorkerProcess(
        "armarium_hand_trainer.trainer:HandTrainer", python=python, packages={package.name: package}
    )


def lay_out(folder: Path, lines: list[Line]) -> None:
    """Write lines (ink, text) in the form a trainer's worker takes; every tenth for validation."""
    folder.mkdir()
    (folder / "pictures.bin").write_bytes(b"".join(ink.tobytes() for ink, _ in lines))
    told = [
        {"text": text, "width": int(ink.shape[1]), "for_validation": number % 10 == 9}
        for number, (ink, text) in enumerate(lines)
    ]
    (folder / "lines.json").write_text(json.dumps({"lines": told}), "utf-8")


def pages_held_out(pages: list[str]) -> list[str]:
    """Return the held-out pages: the last one of each volume, or the last ones where there is one volume."""
    volumes = {page.rpartition("_")[0]: page for page in pages}
    return list(volumes.values()) if len(volumes) > 1 else pages[len(pages) - HELD_OUT + (len(pages) < FEW) :]


def _hand(python: Path, name: str, pages: dict[str, list[Line]]) -> list[Result]:
    """Measure row 29 for one hand: some whole pages are held out, lines of the others are trained on in their order."""
    from armarium_reader_hand.model import LineModel

    last = pages_held_out(list(pages))
    held = [line for page in last for line in pages[page]]
    taught = [line for page, lines in pages.items() if page not in last for line in lines]
    before = error_rate(LineModel.load_shipped(1), held)
    found = []
    for count in map(int, os.environ.get("ARMARIUM_BENCH_LINES", "50,100,200,250").split(",")):
        if count > len(taught):
            continue
        with scratch_folder() as place:
            lay_out(place / "training", taught[:count])
            told = teach(python, place / "training")
            after = error_rate(LineModel.of_file(told.model, 1), held)
        found.append(
            Result(
                29,
                f"characters wrong on {len(held)} held-out lines of {name} after {count} taught ones",
                "of all",
                after,
                before,
                "the shipped base",
                after / before,
                limit=0.5 if name == PERAIRE and count >= 250 else None,
                note=f"{told.epochs} epochs in {told.seconds / 60:.1f} minutes of one core; n-grams: {told.text or 'none'}",
            )
        )
    return found


class Training(NamedTuple):
    """The result of a training."""

    model: Path
    epochs: int
    seconds: float
    """Of processor."""
    text: str | None
    """The n-grams that weight its readings."""


def teach(python: Path, folder: Path) -> Training:
    """Train as a training job does: epoch after epoch, until five bring no improvement or ten minutes of one core are
    over, then the n-grams.
    """
    from armarium_reader_hand.teaching import fit_text

    trainer, epochs, since_best = start_trainer(python), 0, 0
    spent = psutil.Process(trainer.pid)
    given = {"folder": str(folder), "base": shipped_base(), "batch_size": 4}
    try:
        while since_best < PATIENCE:
            before = sum(spent.cpu_times()[:2])
            epochs += 1
            told = trainer.call("epoch", {**given, "epoch": epochs})
            since_best = 0 if told["best"] else since_best + 1
            now = sum(spent.cpu_times()[:2])
            if 2 * now - before > TEN_MINUTES:
                break
        model = str(trainer.call("finish", given)["model"])
        seconds = sum(spent.cpu_times()[:2])
    finally:
        trainer.kill()
    fitted = fit_text(_Call({"folder": str(folder), "model": model}))  # type: ignore[arg-type]
    return Training(Path(model), epochs, seconds, fitted["chosen"])


class _Call:
    """A call of a worker's method in this process."""

    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params

    def check(self) -> None:
        """Never stop."""


def pages_of_one_hand(folder: Path) -> dict[str, list[Line]]:
    """Return the pages of a folder of ALTO files with pictures beside them, by name."""
    return {path.stem: _lines_of(path) for path in sorted(folder.glob("*.xml"))}


def unseen_pages(folder: Path, document: str) -> dict[str, list[Line]]:
    """Return the pages of a test document of the base's corpus, each as the lines cut from it."""
    import polars
    from PIL import Image

    from armarium_reader_hand.picture import line_picture

    pages: dict[str, list[Line]] = {}
    for file in sorted(folder.glob("test-*.parquet")):
        for row in polars.read_parquet(file).iter_rows(named=True):
            if row["document"] == document and row["kind"] == "hand":
                grey = np.asarray(Image.open(io.BytesIO(row["image"])).convert("L"))
                pages.setdefault(row["page"], []).append((line_picture(grey), row["text"]))
    return {name: pages[name] for name in sorted(pages)}


def _lines_of(path: Path) -> list[Line]:
    """Return the lines of an ALTO file with their texts, cut from the picture beside it."""
    from lxml import etree
    from PIL import Image

    from armarium_reader_hand.crops import cut_line
    from armarium_reader_hand.picture import line_picture
    from armarium_worker import LineShape

    root = etree.parse(path).getroot()
    grey = np.asarray(Image.open(path.with_suffix(".jpg")).convert("L"))
    size = next(root.iter("{*}Page"))
    across, down = grey.shape[1] / float(size.get("WIDTH", 1)), grey.shape[0] / float(size.get("HEIGHT", 1))

    def points(told: str | None) -> list[tuple[float, float]]:
        numbers = [float(one) for one in (told or "").replace(",", " ").split()]
        return [(x * across, y * down) for x, y in zip(numbers[::2], numbers[1::2], strict=False)]

    found = []
    for line in root.iter("{*}TextLine"):
        text = " ".join(element.get("CONTENT", "") for element in line.iter("{*}String")).strip()
        left, top, wide, high = (float(line.get(name, 0)) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        polygon = next((points(element.get("POINTS")) for element in line.iter("{*}Polygon")), [])
        shape = LineShape(
            (left * across, top * down, wide * across, high * down), polygon, points(line.get("BASELINE"))
        )
        if text:
            found.append((line_picture(cut_line(grey, shape)), text))
    return found


def error_rate(model: Any, lines: list[Line]) -> float:
    """Return total distance over total characters, composed, with white space as one space."""
    from rapidfuzz.distance import Levenshtein

    wrong = letters = 0
    for start in range(0, len(lines), 16):
        some = lines[start : start + 16]
        for (_, text), told in zip(some, model.read([ink for ink, _ in some]), strict=True):
            true = unicodedata.normalize("NFC", " ".join(text.split()))
            wrong += Levenshtein.distance(true, told.text)
            letters += len(true)
    return wrong / max(1, letters)
