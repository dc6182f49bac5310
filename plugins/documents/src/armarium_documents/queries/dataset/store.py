"""Stores the columns of a project as Arrow files in its package's `derived` folder.

One folder per version, complete once it has its final name: `rows` (one for each document), `cells` and
`values` (column after column; the card records where each begins). polars reads only what a query names:
since version 2 it does not map files into memory, and checks what it reads.
"""

from __future__ import annotations

import re
import shutil
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import polars as pl

from armarium.api import Library, ServiceError, new_id
from armarium_documents.queries.dataset.answer import columns_folder
from armarium_documents.queries.dataset.columns import Column, ReadPart
from armarium_documents.queries.dataset.values import READINGS

FORM = 4
"""Raised whenever what the files hold, or how a value is read, changes: files of another form are written anew."""

MOST_BYTES = 512 * 2**20
"""Memory that the columns read from the file of one project may take."""

_CELLS = pl.Schema({"row": pl.UInt32, "code": pl.UInt32})
_FILES = ("rows.arrow", "cells.arrow", "values.arrow")
_OURS = re.compile(r"\d{12}-\w{8}|\.\w+\.new")
_BATCH = 50_000
_FAULTS = (OSError, ServiceError, pl.exceptions.PolarsError)


class Damaged(Exception):
    """The files are damaged."""


class State(NamedTuple):
    """The step the columns correspond to, and the last document change they include."""

    step: int
    hash: str
    schema: int
    change: int
    change_step: int


class FilePart:
    """Documents in a file, whose columns are read on demand."""

    def __init__(self, folder: Path, card: dict[str, Any]) -> None:
        self._folder, self._columns = folder, card["columns"]
        self.rows = _read(folder / "rows.arrow", 0, card["rows"])
        self._lock = threading.Lock()
        self._loaded: dict[str, Column] = {}
        """By name, the one asked last at the end."""

    def names(self) -> Iterable[str]:
        return list(self._columns)

    def column(self, name: str) -> Column | None:
        if name not in self._columns:
            return None
        with self._lock:
            column = self._loaded.pop(name, None) or self._load(name)
            # The least recently used one is dropped.
            while self._loaded and self._bytes() + _size(column) > MOST_BYTES:
                self._loaded.pop(next(iter(self._loaded)))
            self._loaded[name] = column
            return column

    def _load(self, name: str) -> Column:
        first_cell, cells, first_value, values = self._columns[name]
        frame = _read(self._folder / "cells.arrow", first_cell, cells)
        return Column(frame["row"], frame["code"], _read(self._folder / "values.arrow", first_value, values))

    def _bytes(self) -> int:
        return sum(map(_size, self._loaded.values()))


def load(library: Library) -> tuple[FilePart, State] | None:
    """Return the newest intact columns on disk and their state; None if there are none."""
    for folder in reversed(_finished_folders(library)):
        try:
            card = orjson.loads((folder / "card.json").read_bytes())
            if card["form"] == FORM and all(
                _checksum(folder / name) == card["files"][name] for name in _FILES
            ):
                return FilePart(folder, card), State(*card["state"])
        except (*_FAULTS, Damaged, ValueError, KeyError, TypeError):
            continue
    return None


def save(library: Library, part: ReadPart, state: State) -> FilePart | None:
    """Replace the stored columns with *part*; None, leaving nothing, if it cannot be written."""
    card: dict[str, Any] = {"form": FORM, "state": list(state), "rows": part.rows.height, "columns": {}}
    cells, values = [pl.DataFrame(schema=_CELLS)], [pl.DataFrame(schema=READINGS)]
    first_cell = first_value = 0
    for name in part.names():
        column = part.column(name)
        assert column is not None
        card["columns"][name] = (first_cell, len(column.rows), first_value, column.values.height)
        cells.append(pl.DataFrame([column.rows.alias("row"), column.codes.alias("code")]))
        values.append(column.values)
        first_cell, first_value = first_cell + len(column.rows), first_value + column.values.height
    temporary = None
    try:
        home = columns_folder(library)
        before = _finished_folders(library)
        temporary = home / f".{new_id()}.new"
        temporary.mkdir(parents=True)
        frames = (part.rows, pl.concat(cells, rechunk=False), pl.concat(values, rechunk=False))
        card["files"] = {
            name: _write(temporary / name, frame) for name, frame in zip(_FILES, frames, strict=True)
        }
        (temporary / "card.json").write_bytes(orjson.dumps(card))
        folder = home / f"{state.step:012}-{new_id()[-8:]}"
        temporary.rename(folder)
        file_part = FilePart(folder, card)
    except (*_FAULTS, Damaged):
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        return None
    for old in before:
        shutil.rmtree(old, ignore_errors=True)
    return file_part


def _size(column: Column) -> int:
    return sum(int(series.estimated_size()) for series in column)


def _finished_folders(library: Library) -> list[Path]:
    """Return the finished folders, the newest last; unfinished ones begin with a dot and have no card."""
    try:
        return sorted(path for path in columns_folder(library).iterdir() if _OURS.fullmatch(path.name))
    except (OSError, ServiceError):
        return []


def _write(path: Path, frame: pl.DataFrame) -> int:
    # Not flushed: a checksum detects what a power cut damaged, and the file is made again.
    with path.open("wb") as file:
        frame.write_ipc(file, compression="uncompressed", record_batch_size=_BATCH)
    return _checksum(path)


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while chunk := file.read(2**20):
            checksum = zlib.crc32(chunk, checksum)
    return checksum


def _read(path: Path, first: int, number: int) -> pl.DataFrame:
    try:
        frame = pl.scan_ipc(path, glob=False).slice(first, number).collect()
    except _FAULTS as error:
        raise Damaged(str(path)) from error
    if frame.height != number:
        raise Damaged(str(path))
    return frame
