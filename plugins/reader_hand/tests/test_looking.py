"""The vectors of lines: one for each line, independent of the other lines in the call."""

from __future__ import annotations

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from armarium_reader_hand.looking import LENGTH, LineEyes, LineLooking
from armarium_reader_hand.picture import HEIGHT
from armarium_worker import Refused


def strokes(seed: int, width: int) -> Any:
    """Return ink as `line_picture` does: HEIGHT pixels high."""
    chance = np.random.default_rng(seed)
    picture = np.zeros((HEIGHT, width), dtype=np.uint8)
    for x in range(4, width - 4, 6):
        picture[12 : 24 + chance.integers(0, 16), x : x + 2] = 255
    return picture


def test_a_line_has_the_same_vector_whatever_else_is_in_the_call() -> None:
    eyes = LineEyes(1)
    narrow, wide = strokes(1, 120), strokes(2, 400)
    (alone,) = eyes.vectors([narrow])
    together = eyes.vectors([wide, narrow])
    assert together.shape == (2, LENGTH)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-4)
    assert np.allclose(together[1], alone, atol=2e-3)
    assert float(together[0] @ alone) < 0.9999


def test_the_worker_looks_at_lines_of_a_page(tmp_path: Path) -> None:
    place = tmp_path / "page.png"
    Image.fromarray(255 - strokes(3, 400)).save(place)
    looking = LineLooking.handlers(SimpleNamespace(threads=1))["look"]  # type: ignore[arg-type]
    params = {"image": str(place), "max_pixels": 10**6, "lines": [{"rect": [0, 0, 400, 48]}] * 2}
    answer = looking(SimpleNamespace(params=params))  # type: ignore[arg-type]
    assert answer is not None
    vectors = np.frombuffer(base64.b64decode(answer["vectors"]), dtype=np.float16).reshape(2, LENGTH)
    assert np.array_equal(vectors[0], vectors[1])
    for wrong, words in (({"image": "/nowhere"}, "no longer exists"), ({"max_pixels": 10}, "more pixels")):
        with pytest.raises(Refused, match=words):
            looking(SimpleNamespace(params={**params, **wrong}))  # type: ignore[arg-type]
