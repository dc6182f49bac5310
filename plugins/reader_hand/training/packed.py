"""Corpora of line images in memory: decoded by many processes, every line scaled once, pictures as columns of one array."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from armarium_reader_hand.picture import line_picture
from training.convention import to_convention
from training.places import Finder

TRAIN, HELD_OUT, TEST = "train", "held-out", "test"
COLUMNS = ["image", "text", "source", "document", "kind", "split"]
TOGETHER = 256
"""Lines that a process decodes at a time."""


@dataclass
class Line:
    """One line: where its columns start, how many there are, and where it comes from."""

    start: int
    width: int
    text: str
    source: str
    document: str
    kind: str
    split: str
    unseen: bool
    """Whether nothing of its source (of this kind) is trained on."""
    places: list[float]
    """Of short lines: for each letter the share of the width where it stands; [] where that is not known."""


@dataclass
class PackedLines:
    """Every line's picture as columns (all widths together, height) of ink, and what is known of the lines."""

    columns: NDArray[np.uint8]
    lines: list[Line]
    alphabet: list[str]


def rows_of(folders: Sequence[Path], columns: Sequence[str] = COLUMNS) -> Iterator[dict[str, Any]]:
    """Every row of the corpora in *folders*, with the name of its folder and its number in its file."""
    for folder in folders:
        files = sorted(folder.glob("*.parquet"))
        if not files:
            raise SystemExit(f"There are no .parquet files in {folder}.")
        for file in files:
            for number, row in enumerate(_rows(file, list(columns))):
                yield {**row, "folder": folder.name, "number": number}


def _rows(file: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Read with pyarrow, which environments with torch often have, or with polars, as the project does."""
    try:
        from pyarrow import parquet
    except ImportError:
        import polars

        yield from polars.read_parquet(file, columns=columns).iter_rows(named=True)
        return
    for batch in parquet.ParquetFile(file).iter_batches(1000, columns=columns):
        yield from batch.to_pylist()


def is_unseen(row: dict[str, Any], corpus: dict[str, Any]) -> bool:
    """Whether the row's source is held out, wholly or for lines of its kind."""
    names = {row["source"], f"{row['source']}:{row['kind']}"}
    return not names.isdisjoint(corpus["held_out_sources"])


def is_held_out(row: dict[str, Any], corpus: dict[str, Any]) -> bool:
    """Whether the row is held out by its source or by its corpus, apart from documents that are drawn."""
    valid = row["split"] == "valid" and row["folder"] in corpus["valid_as_held_out"]
    return valid or row["split"] == HELD_OUT or is_unseen(row, corpus)


def drawn_documents(sizes: Counter[str], corpus: dict[str, Any]) -> set[str]:
    """Documents in the order of a hash of their names, so that any machine draws the same, until the share is reached."""
    chosen: set[str] = set()
    remaining = corpus["held_out_share"] * sizes.total()
    for name in sorted(sizes, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        if remaining > 0 and sizes[name] <= min(corpus["held_out_largest"], 2 * remaining):
            chosen.add(name)
            remaining -= sizes[name]
    return chosen


def split(rows: Sequence[dict[str, Any]], corpus: dict[str, Any]) -> list[str]:
    """For each row whether it is trained on, held out or a test line."""
    free = Counter(row["document"] for row in rows if row["split"] != TEST and not is_held_out(row, corpus))
    drawn = drawn_documents(free, corpus)

    def part_of(row: dict[str, Any]) -> str:
        if row["split"] == TEST:
            return TEST
        return HELD_OUT if is_held_out(row, corpus) or row["document"] in drawn else TRAIN

    return [part_of(row) for row in rows]


def alphabet(texts: Sequence[str], rarest: int) -> list[str]:
    """The characters that occur at least *rarest* times, counting the parts of rarer precomposed letters."""
    counts = Counter("".join(texts))
    rare = {letter: count for letter, count in counts.items() if count < rarest}
    parts: Counter[str] = Counter()
    for letter, count in rare.items():
        for part in unicodedata.normalize("NFD", letter):
            parts[part] += count
    return sorted(
        letter for letter, count in (counts + parts).items() if count >= rarest and letter not in rare
    )


def encode(text: str, codes: dict[str, int]) -> list[int] | None:
    """The text as classes of the network from 1; None where a letter is not in the alphabet."""
    out: list[int] = []
    for letter in text:
        for part in letter if letter in codes else unicodedata.normalize("NFD", letter):
            if part not in codes:
                return None
            out.append(codes[part])
    return out


Job = tuple[list[bytes], list[str], int]
"""Pictures, their texts where places of letters are wanted, else "", and the height."""
Decoded = tuple[bytes, list[int], list[list[float]]]
"""The columns one after the other, widths (0 for a picture that cannot be decoded) and places."""


@cache
def _finder() -> Finder | None:
    try:
        return Finder()
    except Exception as error:
        print(f"The first lines are trained on without places of letters: {error!r}", flush=True)
        return None


def _decode(job: Job) -> Decoded:
    images, texts, height = job
    cv2.setNumThreads(1)
    parts: list[bytes] = []
    widths: list[int] = []
    places: list[list[float]] = []
    for image, text in zip(images, texts, strict=True):
        spots: list[float] = []
        width = 0
        try:
            grey = np.asarray(Image.open(io.BytesIO(image)).convert("L"))
            ink = line_picture(grey, height)
            finder = _finder() if text else None
            if finder is not None:
                spots = finder.places(line_picture(grey, finder.height), text)
            parts.append(np.ascontiguousarray(ink.T).tobytes())
            width = ink.shape[1]
        except (OSError, ValueError, SyntaxError):
            pass
        widths.append(width)
        places.append(spots)
    return b"".join(parts), widths, places


def pack(
    folders: Sequence[Path], corpus: dict[str, Any], height: int, short: int, scale: float = 1.0
) -> PackedLines:
    """Decode the corpora; with *scale* only about that share of the lines. Places are found for texts of at most *short*
    letters."""
    every = max(1, round(1 / scale))
    rows = [
        row
        for number, row in enumerate(rows_of(folders))
        if number % every == 0 and row["source"] not in corpus["excluded_sources"]
    ]
    splits = split(rows, corpus)
    texts = [to_convention(row["text"]) for row in rows]
    placed = [text if len(text) <= short else "" for text in texts]
    jobs: list[Job] = [
        ([row["image"] for row in rows[at : at + TOGETHER]], placed[at : at + TOGETHER], height)
        for at in range(0, len(rows), TOGETHER)
    ]
    lines: list[Line] = []
    parts: list[NDArray[np.uint8]] = []
    start = 0
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for job, (ink, widths, places) in enumerate(pool.imap(_decode, jobs)):
            parts.append(np.frombuffer(ink, np.uint8).reshape(-1, height))
            for at, width in enumerate(widths):
                row, text = rows[job * TOGETHER + at], texts[job * TOGETHER + at]
                if not width or not text:
                    continue
                names = {name: row[name] for name in ("source", "document", "kind")}
                names["split"] = splits[job * TOGETHER + at]
                unseen = is_unseen(row, corpus)
                lines.append(Line(start, width, text, unseen=unseen, places=places[at], **names))
                start += width
    letters = alphabet([line.text for line in lines if line.split == TRAIN], corpus["rarest"])
    return PackedLines(np.concatenate(parts), lines, letters)
