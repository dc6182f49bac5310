"""The words of a project by likeness: those a letter or two away from a word that was misread or is spelled otherwise.

The words are held in memory by length, each with the set of its letters as bits: two words that differ in few letters
differ in few bits, so only a few are compared letter by letter. New words are taken in when they are asked for.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rapidfuzz.distance import OSA, Hamming, JaroWinkler
from sqlalchemy import Connection

from armarium.api import Library, raw_of
from armarium_source_model.api import page_words

if TYPE_CHECKING:
    import numpy as np


SHORTEST = 4
"""Letters of the shortest word for which others are looked for."""
MOST = 40
"""Words that stand beside one that was asked for."""
CONFUSED = str.maketrans({"v": "u", "j": "i", "y": "i", "f": "s", "ꝑ": "p"})
"""Letters that one spelling has for another, or that are misread for each other: the long s looks like an f."""
LONGER = 0.4
"""What a letter more or fewer adds to the distance of a word: readers take a letter for another more often than they
leave one out."""
UNLIKE = 1.0
"""What the whole word being unlike adds at most."""
_HELD = "search.vocabulary"


@dataclass
class _OfLength:
    words: list[str] = field(default_factory=list)
    bits: list[int] = field(default_factory=list)
    array: np.ndarray[Any, np.dtype[np.uint64]] | None = None

    def add(self, word: str) -> None:
        self.words.append(word)
        self.bits.append(_letters(word))
        self.array = None

    def find_near(self, bits: int, edits: int) -> list[str]:
        import numpy as np

        if self.array is None:
            self.array = np.array(self.bits, dtype=np.uint64)
        different = np.bitwise_count(self.array ^ np.uint64(bits))
        return [self.words[number] for number in np.flatnonzero(different <= 2 * edits)]


def _letters(word: str) -> int:
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


@dataclass
class Vocabulary:
    """The words of one project."""

    by_length: dict[int, _OfLength] = field(default_factory=dict)
    newest: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, conn: Connection) -> None:
        """Take in the words that were added since."""
        rows = raw_of(conn).execute(
            f"SELECT number, word FROM {page_words} WHERE number > ? ORDER BY number", (self.newest,)
        )
        for number, word in rows:
            self.by_length.setdefault(len(word), _OfLength()).add(word)
            self.newest = number

    def find_near(self, word: str) -> list[tuple[str, float]]:
        """The words at most two letters from *word*, the likest first, with their distance; itself not among them.

        A letter that is often misread for another counts half, one more or fewer by `LONGER` more than another letter.
        """
        edits = 1 if len(word) == SHORTEST else 2
        bits, plain = _letters(word), word.translate(CONFUSED)
        found: list[tuple[float, str]] = []
        for length in range(len(word) - edits, len(word) + edits + 1):
            longer = LONGER * abs(length - len(word))
            for other in self.by_length[length].find_near(bits, edits) if length in self.by_length else ():
                distance = OSA.distance(word, other, score_cutoff=edits)
                if 0 < distance <= edits:
                    changed = other.translate(CONFUSED)
                    cost = (distance + OSA.distance(plain, changed)) / 2 + longer
                    if not longer and Hamming.distance(word, other) > distance:
                        # It was not misread letter for letter: one was left out, and another put in.
                        cost += LONGER
                    # Of words as far away, those come first that share their beginning and the order of their letters.
                    cost += UNLIKE * (1 - JaroWinkler.similarity(plain, changed))
                    found.append((cost, other))
        return [(other, cost) for cost, other in sorted(found)[:MOST]]


def vocabulary_of(library: Library, conn: Connection) -> Vocabulary:
    """The words of *library*, up to date with what *conn* sees.

    They are those of all pages: whoever shows one to a caller asks first whether the caller sees a page with it.
    """
    found: Vocabulary = library.held.setdefault(_HELD, Vocabulary())
    with found.lock:
        found.refresh(conn)
    return found
