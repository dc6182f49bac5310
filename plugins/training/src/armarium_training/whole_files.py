"""Files of trainings and models, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armarium.api import replacing
from armarium_training import errors


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Like `replacing`; Conflict if the disk is full."""
    try:
        with replacing(path) as beside:
            yield beside
    except OSError as error:
        raise errors.no_room(path.name, error.strerror or type(error).__name__) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file; Conflict if the disk is full."""
    with writing(path) as beside:
        beside.write_bytes(data)
