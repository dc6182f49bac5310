"""Counts of a project's text: what they expect, what is read with them, and when they are kept."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armarium_reader_hand.project_text as module
from armarium_reader_hand.model import TEXT_MODEL, LineModel
from armarium_reader_hand.project_text import TextModel, distance, fit, likeliest_text
from armarium_reader_hand.teaching import fit_text
from armarium_worker import Refused

ALPHABET = ["a", "b", " "]


def answer(chance: np.random.Generator, steps: int, sharp: float = 1.0) -> Any:
    values = chance.normal(0, sharp, (steps, len(ALPHABET) + 1))
    return (values - np.log(np.exp(values).sum(axis=1, keepdims=True))).astype(np.float32)


def test_what_is_expected_after_each_beginning_adds_up_to_less_than_one_and_follows_the_text() -> None:
    text = TextModel.of(["aba", "abab", "a  b"], 1.0)
    for before in ("\n", "\na", "\nab", "never seen", ""):
        total = sum(math.exp(text.expects(before, letter)) for letter in ("a", "b", " ", "\n"))
        # What is left is for a letter that was never seen.
        assert 0.5 < total < 1
    assert text.expects("\n", "a") > text.expects("\n", "b")
    assert text.expects("\na", "b") > text.expects("\na", "a")
    again = TextModel.unpacked(json.loads(json.dumps(text.packed())))
    assert (again.counts, again.weight) == (text.counts, 1.0)


@pytest.mark.parametrize("seed", range(12))
def test_the_likeliest_text_is_that_of_all_paths_added_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against every path of a short line, one by one."""
    monkeypatch.setattr(module, "BEAM", 1_000)
    chance = np.random.default_rng(seed)
    given, text = answer(chance, 4), TextModel.of(["abba", "ab ab"], 0.5)
    shares: dict[tuple[int, ...], float] = {}
    for path in itertools.product(range(len(ALPHABET) + 1), repeat=len(given)):
        codes = tuple(code for at, code in enumerate(path) if code and (at == 0 or path[at - 1] != code))
        likely = math.exp(sum(float(given[at, code]) for at, code in enumerate(path)))
        shares[codes] = shares.get(codes, 0.0) + likely

    def worth(codes: tuple[int, ...]) -> float:
        said, before = 0.0, "\n"
        for code in codes:
            said += text.expects(before, ALPHABET[code - 1]) + module.BONUS
            before += ALPHABET[code - 1]
        return math.log(shares[codes]) + 0.5 * (said + text.expects(before, "\n"))

    assert likeliest_text(given, ALPHABET, text) == max(shares, key=worth)


class Doubtful:
    """A model that cannot tell a from b, where the text that it was taught can."""

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


def test_they_are_kept_only_where_lines_that_were_not_taught_are_read_better() -> None:
    helps, told = fit(Doubtful(), ["abab", "ab"] * 20, [("....", "abab")] * 10)
    assert helps is not None
    assert told["cer_without"] == 0.5
    assert min(told["cer_with"].values()) == 0 == told["cer_with"][str(told["weight"])]
    none, told = fit(Doubtful(), ["bbbb"] * 20, [("....", "bbbb")] * 10)
    assert (none, told["cer_without"], told["weight"]) == (None, 0, None)
    few, told = fit(Doubtful(), ["abab"] * 20, [("....", "abab")] * 9)
    assert (few, told["cer_without"]) == (None, None)


class _Call:
    def __init__(self, **params: Any) -> None:
        self.params = params

    def check(self) -> None:
        """Nobody stops it."""


def test_a_models_file_carries_them_and_reads_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.resources import files

    from armarium_reader_hand.teaching import base, onnx_property

    shipped = files("armarium_reader_hand").joinpath("model.onnx").read_bytes()
    told = base(_Call(path=None))  # type: ignore[arg-type]
    for name in ("alphabet", "calibration"):
        shipped += onnx_property(name, json.dumps(told[name]))
    path = tmp_path / "model.onnx"
    path.write_bytes(shipped)
    chance = np.random.default_rng(3)
    inks = [(chance.random((48, 160)) < 0.2).astype(np.uint8) * 255 for _ in range(12)]
    (tmp_path / "pictures.bin").write_bytes(b"".join(ink.tobytes() for ink in inks))
    lines = [{"text": "ne", "width": 160, "for_validation": number < 10} for number in range(12)]
    (tmp_path / "lines.json").write_text(json.dumps({"lines": lines}), "utf-8")
    assert LineModel.of_file(path, 1).project_text is None
    monkeypatch.setattr(module, "SMALLEST_GAIN", -9.0)
    kept = fit_text(_Call(folder=str(tmp_path), model=str(path)))  # type: ignore[arg-type]
    assert kept["weight"] in module.WEIGHTS
    model = LineModel.of_file(path, 1)
    assert model.project_text is not None
    assert model.project_text.counts["n"] == {"e": 2}
    assert len(model.read(inks[:2])) == 2
    path.write_bytes(path.read_bytes() + onnx_property(TEXT_MODEL, '{"weight": 1}'))
    with pytest.raises(Refused, match="damaged"):
        LineModel.of_file(path, 1)


def test_distances_of_texts() -> None:
    assert [distance(*two) for two in (("", ""), ("kitten", "sitting"), ("abc", ""))] == [0, 3, 3]
