"""A training by steps that is stopped and goes on ends with the weights of one that was not stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from small_training import small_corpus, small_settings

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

torch = pytest.importorskip("torch", reason="torch is not installed here; the training needs it.")


class TrainingKilled(Exception):
    """The training was killed."""


def kill_at(step: int, work: Callable[..., Any]) -> Callable[..., Any]:
    """Return *work*, which is killed when it is begun for the n-th time."""
    done = iter(range(1, 1000))

    def working(*given: Any) -> Any:
        if next(done) == step:
            raise TrainingKilled
        return work(*given)

    return working


class Composer:
    """Pages of noise, as the seed of each says."""

    def __init__(self, bank: Any, seed: int) -> None:
        self.chance = np.random.default_rng(seed)

    def window(self, size: int) -> tuple[Any, list[Any], bool]:
        return self.chance.integers(256, size=(size, size), dtype=np.uint8), [], True


def tiny_net() -> Any:
    """A network whose answers have the size of those of the line finder."""
    return torch.nn.Sequential(torch.nn.Conv2d(1, 3, 4, stride=4), torch.nn.BatchNorm2d(3))


def brightness(answers: Any, wanted: Any) -> Any:
    """A loss."""
    return (answers.float() - wanted[:, :3].float() / 255 - 1).square().mean()


def test_the_line_finder_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.finder import train

    for name, stand_in in (
        ("Composer", Composer), ("Bank", lambda *_: SimpleNamespace(strips=())), ("SAVED", 0), ("LineNet", tiny_net),
        ("weigh", brightness), ("onnx_of", lambda net, path: Path(path).write_bytes(b"made")),
    ):  # fmt: skip
        monkeypatch.setattr(train, name, stand_in)

    def weights(out: Path, *kills: int) -> Any:
        told = ["--packed", "none", "--out", str(out), "--steps", "6", "--size", "32", "--batch", "2"]
        told += ["--store", "8", "--workers", "0", "--rate", "0.1"]
        for step in kills:
            monkeypatch.setattr(train, "weigh", kill_at(step, brightness))
            with pytest.raises(TrainingKilled):
                train.main(told)
        monkeypatch.setattr(train, "weigh", brightness)
        train.main(told)
        return torch.load(out / "checkpoint.pt", weights_only=True)

    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "resumed", 4, 2)
    assert whole["steps"] == resumed["steps"] == 6
    are_alike(whole, resumed)


def test_the_base_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training import base

    small_corpus(tmp_path / "lines")
    settings = small_settings(tmp_path, checkpoint_every=0)
    train = base.Training.train

    def weights(out: Path, *kills: int) -> Any:
        told = ["--lines", str(tmp_path / "lines"), "--out", str(out), "--resume", "--steps", "6"]
        told += ["--settings", str(settings), "--batch-columns", "4096", "--minutes", "30"]
        for step in kills:
            monkeypatch.setattr(base.Training, "train", kill_at(step, train))
            with pytest.raises(TrainingKilled):
                base.main(told)
        monkeypatch.setattr(base.Training, "train", train)
        base.main(told)
        return torch.load(out / "checkpoint.pt", weights_only=True)

    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "resumed", 4, 2)
    assert whole["state"]["step"] == resumed["state"]["step"] == 6
    are_alike(whole, resumed)


def are_alike(whole: Any, resumed: Any) -> None:
    for part in ("net", "average"):
        for name, values in whole[part].items():
            assert torch.equal(values, resumed[part][name]), (part, name)
