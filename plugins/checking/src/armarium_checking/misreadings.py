"""What a correction says of other lines: which letters were taken for which, between which, and in which words; pure."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

_WORD = re.compile(r"[\w\u0300-\u036f]+(?:['’\-][\w\u0300-\u036f]+)*")
EDGE = " "
"""What stands before the first letter of a word and after its last."""
MOST_LETTERS = 4
"""More letters than these on either side are another word, and no confusion of letters."""
FEWEST_LETTERS = 3
"""A shorter word is misread for too many others to tell anything."""
WEIGHTS = (-4.5, 1.7, -0.7, 0.9, -1.8, 0.9, -1.0, 0.5, 1.9, -1.5, -1.7, 1.6, 1.7)
"""What each term of `Evidence.numbers` counts: a logistic regression over the proposals of `benchmarks.error_finding`, but for
what was rejected, which is set."""

INK, MOST_INK = (1.9, 0.34), (-15.0, 5.0)
"""What is added for knowing the ink, and what a unit of its logarithm within these bounds counts: networks are surer than they
are right. A logistic regression over 102 proposals in the two documents of `benchmarks.error_finding` that are lines without
pages; the other two had no part in it."""


class Confusion(NamedTuple):
    """The letters that were read, those that were meant, and the letters before and after them in the word."""

    read: str
    meant: str
    before: str
    after: str


class WordChange(NamedTuple):
    """A word that was corrected into another."""

    wrong: str
    right: str

    def confusions(self) -> list[Confusion]:
        """Return the confusions that lead from one to the other; none where they are different words."""
        from rapidfuzz.distance import Levenshtein

        longer = max(len(self.wrong), len(self.right))
        if min(len(self.wrong), len(self.right)) < FEWEST_LETTERS:
            return []
        if Levenshtein.distance(self.wrong, self.right) > (longer + 1) // 2:
            return []
        confusions_found = []
        for block in _changed_blocks(self.wrong, self.right):
            start, end = _whole_signs(self.wrong, block.start, block.end)
            first, last = block.first - (block.start - start), block.last + (end - block.end)
            read, right = self.wrong[start:end], self.right[first:last]
            if max(len(read), len(right)) > MOST_LETTERS:
                return []
            padded = f"{EDGE}{self.wrong}{EDGE}"
            confusions_found.append(Confusion(read, right, padded[start], padded[end + 1]))
        return confusions_found


class _Block(NamedTuple):
    """What stands in one sequence from *start* to *end*, and in the other from *first* to *last* instead."""

    start: int
    end: int
    first: int
    last: int


def _changed_blocks(old_words: Sequence[str], other: Sequence[str]) -> list[_Block]:
    """Return the blocks in which two sequences differ, each as long as it goes."""
    from rapidfuzz.distance import Levenshtein

    blocks: list[_Block] = []
    for op in Levenshtein.opcodes(old_words, other):
        if op.tag == "equal":
            continue
        block = _Block(op.src_start, op.src_end, op.dest_start, op.dest_end)
        if blocks and (blocks[-1].end, blocks[-1].last) == (block.start, block.first):
            block = _Block(blocks[-1].start, block.end, blocks[-1].first, block.last)
            blocks.pop()
        blocks.append(block)
    return blocks


def _whole_signs(word: str, start: int, end: int) -> tuple[int, int]:
    """Widen a span so that no letter is parted from the marks that stand on it."""
    while 0 < start < len(word) and unicodedata.combining(word[start]):
        start -= 1
    while end < len(word) and unicodedata.combining(word[end]):
        end += 1
    return start, end


class PlacedWord(NamedTuple):
    """A word with its place in a text."""

    word: str
    start: int
    end: int


def words_in(text: str) -> list[PlacedWord]:
    """Return the words of *text* as they are written."""
    return [PlacedWord(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def word_changes(old: str, new: str) -> list[WordChange]:
    """Return the words that were corrected, each into one other: words that were joined, parted, added or removed tell
    nothing of letters.
    """
    before, after = [word.word for word in words_in(old)], [word.word for word in words_in(new)]
    changes = []
    for block in _changed_blocks(before, after):
        if block.end - block.start == block.last - block.first:
            pairs = zip(before[block.start : block.end], after[block.first : block.last], strict=True)
            changes += [WordChange(*pair) for pair in pairs]
    return [change for change in changes if change.confusions()]


def mendings_of(word: str, confusion: Confusion) -> Iterator[str]:
    """Yield the words that *word* is if the confusion happened in it, between the same letters."""
    sought = confusion.before + confusion.read + confusion.after
    padded = f"{EDGE}{word}{EDGE}"
    at = -1
    while (at := padded.find(sought, at + 1)) >= 0:
        yield word[:at] + confusion.meant + word[at + len(confusion.read) :]


class Experience:
    """What all corrections of a project say: how often which confusion was corrected, and how often the same letters were
    right.
    """

    def __init__(self, corrections: Iterable[tuple[str, str]]) -> None:
        self._in_context: Counter[Confusion] = Counter()
        self.pairs: Counter[WordChange] = Counter()
        self.written: Counter[str] = Counter()
        right = []
        for old, new in corrections:
            right.append(new)
            self.written.update(word.word for word in words_in(new))
            for change in word_changes(old, new):
                self.pairs[change] += 1
                for confusion in change.confusions():
                    self._in_context[confusion] += 1
        self._right = EDGE + "\n".join(right) + EDGE
        self._spellings: dict[str, str] = {}

    def spell(self, word: str, folded: str, fold: Callable[[str], str]) -> str:
        """Return *word* with its accents as persons write it, whose letters are *folded*; as it is if they did not write it."""
        if word in self.written:
            return word
        if not self._spellings:
            self._spellings = {fold(known): known for known, _ in reversed(self.written.most_common())}
        spelling = self._spellings.get(folded, word)
        first = spelling[:1].upper() if word[:1].isupper() else spelling[:1].lower()
        return first + spelling[1:] if spelling[1:].lower() == spelling[1:] else spelling

    @property
    def commonest(self) -> Sequence[Confusion]:
        """Return the confusions that were corrected most often."""
        return [confusion for confusion, _ in self._in_context.most_common(20)]

    def times_seen(self, confusion: Confusion | None) -> tuple[float, float]:
        """Return how often these letters, in this context, were corrected in this way, and how often they were right."""
        if confusion is None:
            return 0.0, 0.0
        looked_up = confusion.before + confusion.read + confusion.after
        return float(self._in_context[confusion]), float(
            self._right.count(looked_up) if looked_up.strip() else 20
        )


class Evidence(NamedTuple):
    """What speaks for and against an error in one place."""

    wrong: float
    """How often the confusion was corrected in this context."""
    right: float
    """How often the letters stand in it in what persons wrote."""
    same_word: bool
    """Whether this word was corrected into that one."""
    as_read: int
    """On how many pages the word stands as it was read, and as it is proposed."""
    as_meant: int
    written_as_read: int
    """How often persons wrote the word as it was read, and as it is proposed."""
    written_as_meant: int
    confidence: float | None
    rejected: int
    raises: bool
    """Whether it only makes a small letter a capital, as at the beginning of a sentence."""
    is_plain: bool
    """Whether only case or accents differ."""
    length: int

    def numbers(self) -> tuple[float, ...]:
        """Return the terms of the sum by which it is weighed."""
        return (
            1.0,
            math.log(self.wrong + 0.5),
            math.log(self.right + 1),
            float(self.same_word),
            math.log(self.as_read + 0.2) if not self.is_plain else 0.0,
            math.log(self.as_meant + 0.2) if not self.is_plain else 0.0,
            math.log(self.written_as_read + 1),
            math.log(self.written_as_meant + 1),
            1 - (self.confidence if self.confidence is not None else 0.8),
            float(self.rejected),
            float(self.raises),
            float(self.is_plain),
            math.log(self.length),
        )

    def odds(self) -> float:
        """Return the logarithm of the odds of an error: a noisy channel (Brill and Moore, *An Improved Error Model for Noisy
        Channel Spelling Correction*, 2000) whose language is the words that the project has and those that persons wrote.
        """
        return sum(number * by for number, by in zip(self.numbers(), WEIGHTS, strict=True))


def as_probability(odds: float) -> float:
    """Return the probability of the logarithm of odds."""
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, odds))))


def with_ink(probability: float, likelier: float) -> float:
    """Return the probability of an error where the ink is, by the logarithm of the ratio, so much *likelier* under the other text: weaker than
    what the network thinks of it.
    """
    likely = min(1 - 1e-9, max(1e-9, probability))
    return as_probability(
        math.log(likely / (1 - likely)) + INK[0] + INK[1] * min(MOST_INK[1], max(MOST_INK[0], likelier))
    )
