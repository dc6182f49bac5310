"""Files of a training are complete or not there, whatever happens while they are written."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from armarium_worker import Refused, epochs, write_whole


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
