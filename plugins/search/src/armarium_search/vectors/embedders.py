"""Embedders turn passages into vectors. The one that comes with Armarium learns from the project's own pages.

It counts the groups of three and four letters in folded words, weighs rare ones more (TF-IDF), and keeps the
directions in which passages differ most (a truncated SVD), so that a misread word is close to the word it
stands for. It needs no external model and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from armarium.api import why_not_of
from armarium_source_model.api import fold_text
from armarium_worker import PassageEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    _Rows = Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]


GROUP = "armarium.embedders"
DEFAULT = "project"


class TrainableEmbedder(Protocol):
    """What computes vectors, once trained."""

    def embed(self, passages: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each passage (float32); zeros for one without content."""

    def save(self, folder: Path) -> None:
        """Write what `Embedder.load` reads to *folder*."""


class Embedder(Protocol):
    """A driver of the group `armarium.embedders`: a class, created without arguments, with the name it is
    found under.
    """

    name: str

    def train(self, passages: Sequence[str]) -> TrainableEmbedder:
        """Learn from a sample of the project's passages; an embedder trained elsewhere returns itself."""

    def load(self, folder: Path) -> TrainableEmbedder:
        """Load what `Trained.save` wrote."""


FEATURES = 1 << 16
DIMENSIONS = 128
SAMPLE = 3_000
"""How many passages are used for training."""
_ROUNDS = 2
_SEED = 20_240_501


@dataclass
class LearnedLetters:
    """What was learned from one project: how rare each group of letters is, and the directions (FEATURES x
    DIMENSIONS).
    """

    rarity: NDArray[np.float32]
    directions: Vectors

    def embed(self, passages: Sequence[str]) -> Vectors:
        """Like `Trained.embed`."""
        import numpy as np

        vectors = np.zeros((len(passages), self.directions.shape[1]), dtype=np.float32)
        for row, (groups, often) in enumerate(map(groups_of, passages)):
            if len(groups):
                vectors[row] = weigh_groups(groups, often, self.rarity) @ self.directions[groups]
        return normalise_rows(vectors)

    def save(self, folder: Path) -> None:
        """Like `Trained.save`."""
        import numpy as np

        np.save(folder / "rarity.npy", self.rarity)
        np.save(folder / "directions.npy", self.directions)


class ProjectEmbedder:
    """The embedder that learns from the project itself."""

    name = DEFAULT

    def train(self, passages: Sequence[str]) -> LearnedLetters:
        """Like `Embedder.train`; the same passages give the same vectors."""
        import numpy as np

        chance = np.random.default_rng(_SEED)
        counted = [groups_of(passage) for passage in passages]
        standing = np.zeros(FEATURES, dtype=np.float32)
        for groups, _ in counted:
            standing[groups] += 1
        rarity = (np.log((1 + len(counted)) / (1 + standing)) + 1).astype(np.float32)
        rows = [(groups, weigh_groups(groups, often, rarity)) for groups, often in counted if len(groups)]
        width = min(DIMENSIONS + 16, max(2, len(rows)))
        basis = chance.standard_normal((FEATURES, width), dtype=np.float32)
        for _ in range(_ROUNDS):
            spread, _ = np.linalg.qr(_times(rows, basis))
            basis, _ = np.linalg.qr(_times_back(rows, spread, FEATURES))
        _, lengths, turned = np.linalg.svd(_times(rows, basis), full_matrices=False)
        dimensions = min(DIMENSIONS, int((lengths > 1e-6 * max(float(lengths[0]), 1e-12)).sum()))
        return LearnedLetters(rarity, np.ascontiguousarray((basis @ turned.T)[:, : max(dimensions, 1)]))

    def load(self, folder: Path) -> LearnedLetters:
        """Like `Embedder.load`."""
        import numpy as np

        directions = np.load(folder / "directions.npy", mmap_mode="r")
        return LearnedLetters(np.load(folder / "rarity.npy"), directions)


def groups_of(passage: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the groups of letters in a passage, as numbers below FEATURES, and how often each occurs."""
    import numpy as np

    words = fold_text(passage).words
    letters = np.frombuffer(f" {words} ".encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    if len(words) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    word_groups = []
    for size in (3, 4):
        if len(letters) >= size:
            number = np.full(len(letters) - size + 1, size, dtype=np.uint64)
            for at in range(size):
                number = (number * np.uint64(1_000_003)) ^ letters[at : len(letters) - size + 1 + at]
            word_groups.append((number ^ (number >> np.uint64(17))) % np.uint64(FEATURES))
    groups, often = np.unique(np.concatenate(word_groups), return_counts=True)
    return groups.astype(np.int64), often.astype(np.int64)


def weigh_groups(
    groups: NDArray[np.int64], often: NDArray[np.int64], rarity: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the weights of the groups of one passage, normalised to length 1."""
    import numpy as np

    weights = ((1 + np.log(often)) * rarity[groups]).astype(np.float32)
    length = float(np.linalg.norm(weights))
    return weights / np.float32(length) if length else weights


def normalise_rows(vectors: Vectors) -> Vectors:
    """Return the rows scaled to length 1; rows of zeros stay."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    shortened: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return shortened


def _times(rows: _Rows, basis: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    return np.stack([weights @ basis[groups] for groups, weights in rows])


def _times_back(rows: _Rows, spread: NDArray[Any], features: int) -> NDArray[Any]:
    import numpy as np

    product = np.zeros((features, spread.shape[1]), dtype=np.float32)
    for (groups, weights), row in zip(rows, spread, strict=True):
        product[groups] += np.outer(weights, row)
    return product


LENGTH = 800
"""The length of a passage in characters; it ends at the end of a line."""


def passages_of(text: str) -> Iterator[str]:
    """Return a page's text in passages of whole lines."""
    lines: list[str] = []
    size = 0
    for line in text.splitlines():
        if lines and size + len(line) > LENGTH:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield "\n".join(lines)


def check_embedder(group: str, name: str, driver: Any) -> str | None:
    """Return why what is installed is not an embedder; None if it is one, of any of the three sorts."""
    if isinstance(driver, type) and issubclass(driver, PassageEmbedder):
        return why_not_of(PassageEmbedder, name, driver)
    if getattr(driver, "served", False):
        lacking = [method for method in ("wire", "read") if not callable(getattr(driver, method, None))]
        return (
            f"A served embedder has the methods wire and read; {name} lacks {' and '.join(lacking)}."
            if lacking
            else None
        )
    lacking = [method for method in ("train", "load") if not callable(getattr(driver, method, None))]
    if lacking:
        return f"An embedder has the methods train and load; {name} lacks {' and '.join(lacking)}."
    return None
