"""The prepared corpus: every line scaled once, texts in the convention, split by whole documents."""

from __future__ import annotations

import hashlib
import io
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armarium_reader_hand.picture import HEIGHT, Grey, line_picture
from training.convention import to_convention
from training.settings import Corpus, Settings, settings

TRAIN, HELD_OUT, TEST = "train", "held-out", "test"


@dataclass
class Line:
    """One line: where its picture starts in the packed file, its width in pixels, its text as the source has it."""

    start: int
    width: int
    raw: str
    source: str
    document: str
    language: str
    century: int | None
    page: str
    split: str
    text: str = ""

    def __post_init__(self) -> None:
        self.text = self.text or to_convention(self.raw)


class PreparedCorpus:
    """A prepared corpus on disk: `pictures.u8` (columns of HEIGHT bytes), `lines.json`, `alphabet.json`."""

    def __init__(self, folder: Path) -> None:
        self.lines = [Line(**row) for row in json.loads((folder / "lines.json").read_text(encoding="utf-8"))]
        self.alphabet: list[str] = json.loads((folder / "alphabet.json").read_text(encoding="utf-8"))
        self.codes = {letter: code for code, letter in enumerate(self.alphabet, 1)}
        self.columns = np.memmap(folder / "pictures.u8", dtype=np.uint8, mode="r").reshape(-1, HEIGHT)

    def picture(self, line: Line) -> Grey:
        """The line as ink, (HEIGHT, width)."""
        return np.ascontiguousarray(self.columns[line.start : line.start + line.width].T)

    def encode(self, text: str) -> list[int] | None:
        """The text as classes of the network from 1; None where a letter is not in the alphabet."""
        return _encode(text, self.codes)

    def lines_of(self, split: str) -> list[Line]:
        """The lines of a split; those of the training split are all writable in the alphabet."""
        lines = [line for line in self.lines if line.split == split]
        return [line for line in lines if self.encode(line.text)] if split == TRAIN else lines


def _encode(text: str, codes: dict[str, int]) -> list[int] | None:
    out: list[int] = []
    for letter in text:
        for part in letter if letter in codes else unicodedata.normalize("NFD", letter):
            if part not in codes:
                return None
            out.append(codes[part])
    return out


def held_out_documents(sizes: Counter[str], wanted: Corpus) -> set[str]:
    """Documents in the order of a hash of their names, so that any machine draws the same, until the share is reached."""
    chosen: set[str] = set()
    left = wanted.held_out_share * sizes.total()
    for name in sorted(sizes, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
        if left > 0 and sizes[name] <= min(wanted.held_out_largest, 2 * left):
            chosen.add(name)
            left -= sizes[name]
    return chosen


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


def rows(wanted: Corpus) -> Iterator[dict[str, Any]]:
    """Every line of the corpus that may be used, as its files give it."""
    import polars

    for file in sorted(wanted.folder.glob("*.parquet")):
        for row in polars.read_parquet(file).iter_rows(named=True):
            if row["kind"] in wanted.kinds and row["source"] not in wanted.excluded_sources:
                yield row


def prepare(wanted: Settings, folder: Path) -> None:
    """Write the prepared corpus into *folder*; about five minutes."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    lines: list[Line] = []
    start = 0
    with (folder / "pictures.u8").open("wb") as out:
        for row in rows(wanted.corpus):
            ink = line_picture(np.asarray(Image.open(io.BytesIO(row["image"])).convert("L")))
            out.write(np.ascontiguousarray(ink.T).tobytes())
            names = ("source", "document", "language", "century", "page", "split")
            lines.append(Line(start, ink.shape[1], row["text"], **{name: row[name] for name in names}))
            start += ink.shape[1]
    sizes = Counter(line.document for line in lines if line.split != TEST)
    held_out = held_out_documents(sizes, wanted.corpus)
    for line in lines:
        if line.split != TEST:
            line.split = HELD_OUT if line.document in held_out else TRAIN
    letters = alphabet([line.text for line in lines if line.split == TRAIN], wanted.corpus.rarest)
    (folder / "alphabet.json").write_text(json.dumps(letters, ensure_ascii=False), encoding="utf-8")
    (folder / "lines.json").write_text(
        json.dumps([asdict(line) for line in lines], ensure_ascii=False), encoding="utf-8"
    )


if __name__ == "__main__":
    chosen = settings()
    prepare(chosen, Path(chosen.training.folder) / "corpus")
