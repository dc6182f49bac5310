"""The configuration of a training, read from `hand.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
PACKAGE = HERE.parent / "src" / "armarium_reader_hand"


@dataclass(frozen=True)
class Corpus:
    """Which lines are taken and how they are split; `rarest` is a count of characters."""

    lines: str
    kinds: tuple[str, ...]
    excluded_sources: tuple[str, ...]
    held_out_share: float
    held_out_largest: int
    rarest: int

    @property
    def folder(self) -> Path:
        """Where the line images and their texts lie."""
        return REPOSITORY / self.lines


@dataclass(frozen=True)
class Shape:
    """The sizes of the network."""

    channels: tuple[int, ...]
    features: int
    hidden: int
    layers: int
    dropout: float


@dataclass(frozen=True)
class Training:
    """How it is trained; widths in pixels, times in seconds."""

    folder: str
    processes: int
    threads: int
    bfloat16: bool
    batch_pixels: int
    batch_lines: int
    short_first: int
    short_text: int
    short_lines: int
    guided_first: int
    rate: float
    warm_up: int
    weight_decay: float
    clip: float
    average: float
    average_cooling: float
    checkpoint_every: float
    validation_lines: int
    seed: int


@dataclass(frozen=True)
class Settings:
    """One configuration file."""

    corpus: Corpus
    model: Shape
    training: Training


def settings(path: Path = HERE / "hand.toml") -> Settings:
    """Read the configuration at *path*."""
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    corpus = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values["corpus"].items()
    }
    model = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values["model"].items()
    }
    return Settings(Corpus(**corpus), Shape(**model), Training(**values["training"]))
