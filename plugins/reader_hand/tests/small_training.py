"""Lines and settings with which the base is trained in seconds."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

SETTINGS = Path(__file__).parents[1] / "training" / "base.toml"


def small_corpus(folder: Path) -> None:
    """Lines that a font drew, of two sources."""
    polars = pytest.importorskip("polars", reason="polars is not installed here.")
    chance = np.random.default_rng(0)
    rows = []
    for number in range(60):
        text = " ".join("".join(chance.choice(list("abcdo"), 3)) for _ in range(4))
        image = Image.new("L", (200, 40), 230)
        ImageDraw.Draw(image).text((6, 8), text, fill=20, font_size=22)
        file = io.BytesIO()
        image.save(file, "PNG")
        source = "CIHAM-HTR/Fabliaux" if number % 6 == 0 else "own/lines"
        rows.append({"image": file.getvalue(), "text": text, "source": source, "document": f"{source}:{number % 4}",
                     "kind": "hand", "split": "train"})  # fmt: skip
    folder.mkdir()
    polars.DataFrame(rows).write_parquet(folder / "train-000.parquet")


def small_settings(folder: Path, checkpoint_every: int = 60) -> Path:
    """Write the settings of a tiny network; return the file."""
    toml = SETTINGS.read_text("utf-8")
    for before, after in (("channels = [24, 48, 96, 160]", "channels = [4, 4, 8, 8]"), ("features = 320", "features = 16"),
                          ("hidden = 320", "hidden = 16"), ("short_steps = 250", "short_steps = 2"),
                          ("checkpoint_every = 60", f"checkpoint_every = {checkpoint_every}")):  # fmt: skip
        assert before in toml
        toml = toml.replace(before, after)
    (folder / "small.toml").write_text(toml, "utf-8")
    return folder / "small.toml"
