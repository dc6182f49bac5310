"""Files of a training are complete or not there, whatever happens while they are written."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from armarium_worker import EpochTrainer, Refused, epochs, write_whole


@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_a_checkpoint_that_finds_no_room_leaves_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    path = tmp_path / "checkpoint.pt"
    write_whole(path, b"the first epoch")

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(epochs.os, at, no_room)
    with pytest.raises(Refused, match="Make room"):
        write_whole(path, b"the second")
    assert [one.name for one in tmp_path.iterdir()] == ["checkpoint.pt"]
    assert path.read_bytes() == b"the first epoch"


def test_killed_while_it_is_written_the_last_one_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.pt"
    write_whole(path, b"the first epoch")

    class Killed(BaseException):
        """Stands for a kill: nothing is cleaned up."""

    def kill(_: int) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(epochs.os, "fsync", kill)
        with pytest.raises(Killed):
            write_whole(path, b"the second")
    assert path.read_bytes() == b"the first epoch"
    write_whole(path, b"the second")
    assert path.read_bytes() == b"the second"


@dataclass
class Training:
    """A training that only knows what was laid out when it began."""

    folder: Path
    epochs: list[dict[str, Any]]
    lines: str


class Telling(EpochTrainer[Training]):
    """Tells with each epoch what it is trained on."""

    def begin(self, folder: Path, params: Mapping[str, Any]) -> Training:
        return Training(folder, [], (folder / "lines.json").read_text())

    def one_epoch(self, call: Any, ready: Training) -> None:
        ready.epochs.append({"lines": ready.lines})

    def finish(self, call: Any) -> dict[str, Any]:
        return {}


def test_lines_laid_out_anew_in_the_same_folder_begin_a_new_training(tmp_path: Path) -> None:
    trainer: Any = Telling(SimpleNamespace(threads=1))  # type: ignore[arg-type]
    lines, beside = tmp_path / "lines.json", tmp_path / "beside"
    lines.write_text("first")
    call = SimpleNamespace(params={"folder": str(tmp_path), "epoch": 1})
    assert trainer.epoch(call) == {"lines": "first"}
    ready = trainer.ready
    assert trainer.epoch(call) == {"lines": "first"}
    assert trainer.ready is ready
    beside.write_text("other")
    beside.replace(lines)
    assert trainer.epoch(call) == {"lines": "other"}
