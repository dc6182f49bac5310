"""The spelling model of a project's text: when it is used, and that a model's file contains it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armarium_reader_hand.project_text as module
from armarium_reader_hand.model import SPELLING, LineModel
from armarium_reader_hand.picture import HEIGHT
from armarium_reader_hand.project_text import fit
from armarium_reader_hand.spelling import Ngrams
from armarium_reader_hand.teaching import fit_text
from armarium_worker import Refused, distance

ALPHABET = ["a", "b", " "]


class UncertainModel:
    """A model that cannot tell a from b, though the spelling of its training text can."""

    alphabet = ALPHABET

    def answers(self, pictures: list[str]) -> list[Any]:
        found = []
        for picture in pictures:
            steps = np.full((2 * len(picture), len(ALPHABET) + 1), -20.0, dtype=np.float32)
            steps[1::2, 0] = 0.0
            steps[::2, 1], steps[::2, 2] = math.log(0.48), math.log(0.52)
            found.append(steps)
        return found

    def text(self, codes: tuple[int, ...]) -> str:
        return "".join(ALPHABET[code - 1] for code in codes)


def test_a_spelling_is_used_only_if_it_improves_held_out_lines() -> None:
    chosen, measured = fit(UncertainModel(), ["abab", "ab"] * 40, [("....", "abab")] * 10)
    assert chosen is not None
    assert measured["cer_without"] == 0.5
    assert (measured["cer_with"]["project"], measured["chosen"]) == (0, "project")
    assert Ngrams.unpack(chosen["project"]).letters == ["a", "b"]
    none, measured = fit(UncertainModel(), ["bbbb"] * 20, [("....", "bbbb")] * 10)
    assert (none, measured["cer_without"], measured["chosen"]) == (None, 0, None)
    few, measured = fit(UncertainModel(), ["abab"] * 20, [("....", "abab")] * 9)
    assert (few, measured["cer_without"]) == (None, None)


class _Call:
    def __init__(self, **params: Any) -> None:
        self.params = params

    def check(self) -> None:
        """Never stop."""


def test_a_models_file_contains_the_spelling_and_reads_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.resources import files

    from armarium_reader_hand.onnx_bytes import onnx_property
    from armarium_reader_hand.teaching import base

    shipped = files("armarium_reader_hand").joinpath("model.onnx").read_bytes()
    told = base(_Call(path=None))  # type: ignore[arg-type]
    for name in ("alphabet", "calibration"):
        shipped += onnx_property(name, json.dumps(told[name]))
    path = tmp_path / "model.onnx"
    path.write_bytes(shipped)
    chance = np.random.default_rng(3)
    inks = [(chance.random((HEIGHT, 160)) < 0.2).astype(np.uint8) * 255 for _ in range(12)]
    (tmp_path / "pictures.bin").write_bytes(b"".join(ink.tobytes() for ink in inks))
    lines = [{"text": "ne", "width": 160, "for_validation": number < 10} for number in range(12)]
    (tmp_path / "lines.json").write_text(json.dumps({"lines": lines}), "utf-8")
    assert LineModel.of_file(path, 1).spelling is None
    monkeypatch.setattr(module, "SMALLEST_GAIN", -9.0)
    text = fit_text(_Call(folder=str(tmp_path), model=str(path)))  # type: ignore[arg-type]
    assert text["chosen"] in ("shipped", "project")
    model = LineModel.of_file(path, 1)
    assert model.spelling is not None
    assert len(model.read(inks[:2])) == 2
    path.write_bytes(path.read_bytes() + onnx_property(SPELLING, '{"weight": 1}'))
    with pytest.raises(Refused, match="damaged"):
        LineModel.of_file(path, 1)


def test_distances_of_texts() -> None:
    assert [distance(*two) for two in (("", ""), ("kitten", "sitting"), ("abc", ""))] == [0, 3, 3]
