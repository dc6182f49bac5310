"""Finds similar words in a project: those a letter or two away from a word that was misread or spelled
differently.

The words are held in memory by length, each with its set of letters as bits: two words that differ in few
letters differ in few bits, so only a few are compared letter by letter. New words are added on demand.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import Library, raw_of
from armarium_source_model.api import page_words

if TYPE_CHECKING:
    import numpy as np


SHORTEST = 4
"""The shortest word, in letters, for which others are looked for."""
LONG = 9
"""From this length on, a word may differ in three letters instead of two."""
MOST = 60
"""How many similar words are added to one word."""
CONFUSED = str.maketrans({"v": "u", "j": "i", "y": "i", "f": "s", "ꝑ": "p"})
"""Letters that spellings interchange, or that are misread for each other: the long s looks like an f."""
STROKES = str.maketrans(
    {"m": "iii", "n": "ii", "u": "ii", "v": "ii", "w": "iiii", "j": "i", "f": "s", "ꝑ": "p", "d": "cl"}
)
"""The strokes that letters consist of, which are grouped differently in misreadings: rediit is read as redut."""
FEWER_STROKES = str.maketrans({chr(letter): strokes for letter, strokes in STROKES.items()} | {"r": "i"})
"""The same if an r counts as a stroke too."""
_HELD = "search.vocabulary"


@dataclass
class WordsOfLength:
    """The words of one length, each with its letters and pairs of letters as bits."""

    words: list[str] = field(default_factory=list)
    bits: np.ndarray[Any, np.dtype[np.uint64]] | None = None

    def add(self, words: list[str]) -> None:
        """Add words; they are found from the moment their bits are there."""
        import numpy as np

        self.words += words
        bits = np.array([_letters(word) for word in words], dtype=np.uint64)
        self.bits = bits if self.bits is None else np.concatenate([self.bits, bits])

    def find_near(self, bits: int, edits: int) -> list[str]:
        """Return the words whose letters allow that few edits lead to them; more than are that near."""
        import numpy as np

        if self.bits is None:
            return []
        different = self.bits ^ np.uint64(bits)
        candidates = np.flatnonzero(np.bitwise_count(different & _LETTERS) <= 2 * edits)
        candidates = candidates[np.bitwise_count(different[candidates] & _PAIRS) <= 6 * edits]
        return [self.words[number] for number in candidates.tolist()]


_LETTERS, _PAIRS = 0xFFFFFFFF, 0xFFFFFFFF << 32


def _letters(word: str) -> int:
    """Return the letters of *word* and its pairs of letters as bits. One edit changes two letters and, where
    neighbours change places, three pairs to three others.
    """
    bits = 0
    before = 0
    for letter in map(ord, word):
        bits |= 1 << (letter & 31) | 1 << 32 + (7 * before + letter & 31)
        before = letter
    return bits | 1 << 32 + (7 * before & 31)


@dataclass
class Vocabulary:
    """The words of one project."""

    by_length: dict[int, WordsOfLength] = field(default_factory=dict)
    newest: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, conn: Connection) -> None:
        """Add the words that are new since the last call."""
        rows = raw_of(conn).execute(
            f"SELECT number, word FROM {page_words} WHERE number > ? ORDER BY number", (self.newest,)
        )
        new: dict[int, list[str]] = {}
        last = self.newest
        for number, word in rows:
            new.setdefault(len(word), []).append(word)
            last = number
        for length, words in new.items():
            self.by_length.setdefault(length, WordsOfLength()).add(words)
        self.newest = last

    def find_near(self, word: str, edits: int | None = None) -> list[tuple[str, float]]:
        """Return the words at most *edits* letters from *word*, the most similar first, with their distances;
        without the word itself. If *edits* is None, two letters, or three from a long word.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        if edits is None:
            edits = 1 if len(word) == SHORTEST else 3 if len(word) >= LONG else 2
        bits, shape = _letters(word), _Shape.of(word)
        words_near: list[tuple[float, str]] = []
        for length in range(len(word) - edits, len(word) + edits + 1):
            near = self.by_length[length].find_near(bits, edits) if length in self.by_length else ()
            for other, distance, _ in process.extract(
                word, near, scorer=OSA.distance, score_cutoff=edits, limit=None, processor=None
            ):
                if distance:
                    words_near.append((_farness(shape, _Shape.of(other), distance), other))
        return [(other, far) for far, other in sorted(words_near)[:MOST]]


class _Shape(NamedTuple):
    """A word in the forms in which it is compared."""

    word: str
    plain: str
    strokes: str
    fewer: str

    @classmethod
    def of(cls, word: str) -> _Shape:
        return cls(word, word.translate(CONFUSED), word.translate(STROKES), word.translate(FEWER_STROKES))


def _farness(shape: _Shape, other: _Shape, distance: float) -> float:
    """Return how unlikely it is, as a power of ten, that one was written or read for the other; more than 0.

    There are two explanations, and either is enough: single letters were confused with arbitrary others, or
    strokes of the pen were read as other letters, spelled differently, or left out. The weights were fitted
    to synthetic misreadings and to the hand reader's output for lines with known text, on half of them;
    `benchmarks.searching` measures on the others.
    """
    from rapidfuzz.distance import OSA, Hamming, JaroWinkler

    longer = abs(len(shape.word) - len(other.word))
    moved = not longer and Hamming.distance(shape.word, other.word) > distance
    by_letter = distance + 0.3 * longer + 0.3 * moved
    by_stroke = (
        0.35 * distance
        + 0.3 * OSA.distance(shape.plain, other.plain)
        + 0.6 * OSA.distance(shape.strokes, other.strokes)
        + OSA.distance(shape.fewer, other.fewer)
        + 0.5 * longer
        + 0.75 * (1 - JaroWinkler.similarity(shape.plain, other.plain))
    )
    return _NEAREST - log10(10**-by_letter + 10 ** (1.15 - by_stroke))


_NEAREST = 1.25
"""The least distance: a similar word counts less than the written one."""


def vocabulary_of(library: Library, conn: Connection) -> Vocabulary:
    """Return the words of *library*, up to date with what *conn* sees.

    They are those of all pages: before showing one to a caller, check that the caller sees a page with it.
    """
    vocabulary: Vocabulary = library.held.setdefault(_HELD, Vocabulary())
    with vocabulary.lock:
        vocabulary.refresh(conn)
    return vocabulary
