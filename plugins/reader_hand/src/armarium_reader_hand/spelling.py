"""A model of letter n-grams, counted in transcriptions, by which readings are weighted.

A network sees shapes; where two readings of a shape are equally likely, what scribes write decides.
Probabilities are interpolated after Witten and Bell (1991): an n-gram's own counts, and the shorter n-gram's
for the rest.
"""

from __future__ import annotations

import base64
import io
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand import SPELLING

ORDER = 6
"""Letters of the longest n-gram; the last of them is foretold by the others."""
WEIGHED = {"weight": 0.3, "bonus": 0.5}
"""What the logarithm of a letter's probability counts beside the network's, and what is added for each letter, since every
letter makes a text less probable. Chosen on the documents held out of the training."""
PROJECT = 0.5
"""The share that n-grams of a project's own text have beside the shipped ones."""
MOST = 40_000
"""Contexts whose probabilities are kept at hand: about 30 MB."""

END, UNKNOWN, START = 0, 254, 255
"""Codes beside those of letters (from 1): a text's end, a letter that was never counted, a text's beginning."""


class Ngrams:
    """Counts of n-grams as a tree in breadth-first order: the root first, the children of a node contiguous.

    `letters[n - 1]` is the letter of code n. `codes` and `counts` have an entry per node, `children` (the
    number of a node's children) one for each node but those of ORDER letters.
    """

    def __init__(
        self,
        letters: Sequence[str],
        codes: NDArray[np.uint8],
        counts: NDArray[np.uint32],
        children: NDArray[np.uint8],
    ) -> None:
        self.letters = list(letters)
        self.codes, self.counts, self.children = codes, counts, children
        self._flat = codes.tobytes()
        self._first = np.concatenate([[1], 1 + np.cumsum(children, dtype=np.int64)]).tolist()

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Ngrams:
        """Count the n-grams of *texts* (composed or not, as the letters of the model they are for); at most 253 letters."""
        texts = list(texts)
        frequent = Counter("".join(texts)).most_common(UNKNOWN - 1)
        letters = sorted(letter for letter, _ in frequent)
        code_of = {letter: code for code, letter in enumerate(letters, 1)}
        grams: list[Counter[bytes]] = [Counter() for _ in range(ORDER + 1)]
        for text in texts:
            coded = bytes([START, *(code_of.get(letter, UNKNOWN) for letter in text), END])
            for length in range(1, ORDER + 1):
                grams[length].update(coded[at : at + length] for at in range(len(coded) - length + 1))
        grams[1][bytes([START])] = 0  # a text's beginning is given, never predicted
        nodes, codes, counts, children = [b""], [0], [0], []
        for length in range(1, ORDER + 1):
            by_parent: dict[bytes, list[bytes]] = {}
            for gram in sorted(grams[length]):
                by_parent.setdefault(gram[:-1], []).append(gram)
            nodes, parents = [], nodes
            for parent in parents:
                followers = by_parent.get(parent, [])
                children.append(len(followers))
                nodes += followers
            codes += [gram[-1] for gram in nodes]
            counts += [grams[length][gram] for gram in nodes]
        return cls(
            letters, np.array(codes, np.uint8), np.array(counts, np.uint32), np.array(children, np.uint8)
        )

    @classmethod
    def load_shipped(cls) -> Ngrams:
        """Those in this package, counted in the transcriptions that the model was trained with."""
        with files("armarium_reader_hand").joinpath(SPELLING).open("rb") as file:
            return cls.load(file)

    @classmethod
    def load(cls, file: IO[bytes] | Path) -> Ngrams:
        """Read what `save` wrote."""
        with np.load(file, allow_pickle=False) as arrays:
            return cls(str(arrays["letters"]), arrays["codes"], arrays["counts"], arrays["children"])

    def save(self, file: IO[bytes] | Path) -> None:
        """Write them as a compressed file of arrays."""
        arrays: dict[str, Any] = {"codes": self.codes, "counts": self.counts, "children": self.children}
        np.savez_compressed(file, letters=np.array("".join(self.letters)), **arrays)

    def pack(self) -> str:
        """The same as text, for a property of a model's file."""
        file = io.BytesIO()
        self.save(file)
        return base64.b64encode(file.getvalue()).decode()

    @classmethod
    def unpack(cls, text: str) -> Ngrams:
        """What `packed` answered."""
        return cls.load(io.BytesIO(base64.b64decode(text)))

    def followers(self, context: bytes) -> tuple[int, int] | None:
        """Return the range of the nodes that follow *context* (codes); None if it never occurred."""
        start, end = 1, self._first[1]
        for code in context:
            node = self._flat.find(code, start, end)
            if node < 0 or node >= len(self.children):
                return None
            start, end = self._first[node], self._first[node + 1]
        return start, end


class Spelling:
    """N-grams for a network's letters: class n is `alphabet[n - 1]`, class 0 the end of a text.

    *counted* are n-grams with their shares of the probability; the shares add up to 1. A context is a text
    with a character for each class; the number of classes stands for the beginning of a text.
    """

    def __init__(
        self, counted: Sequence[tuple[Ngrams, float]], alphabet: Sequence[str], weight: float, bonus: float
    ) -> None:
        self.weight, self.bonus = weight, bonus
        self.size = len(alphabet) + 1
        self.start = chr(self.size)
        self._counted = [(_CodedNgrams(ngrams, alphabet), share) for ngrams, share in counted]
        self._known: dict[str, Any] = {}

    @classmethod
    def from_card(cls, weighed: Mapping[str, Any], alphabet: Sequence[str]) -> Spelling:
        """As a card states it: `weight`, `bonus`, and where a project's text was counted too `project`, the packed n-grams."""
        counted = [(Ngrams.load_shipped(), 1.0)]
        if "project" in weighed:
            counted = [(Ngrams.load_shipped(), 1 - PROJECT), (Ngrams.unpack(weighed["project"]), PROJECT)]
        return cls(counted, alphabet, float(weighed["weight"]), float(weighed["bonus"]))

    def after(self, context: str, number: int) -> str:
        """Return the context after another letter, given by its class."""
        return (context + chr(number))[1 - ORDER :]

    def chances(self, context: str) -> Sequence[float]:
        """Return the log probability of each class after *context*."""
        scores: Sequence[float] | None = self._known.get(context)
        if scores is None:
            if len(self._known) >= MOST:
                self._known.clear()
            together = sum(share * coded.shares(context) for coded, share in self._counted)
            scores = self._known[context] = array("f", np.log(np.maximum(together, math.exp(-30))))
        return scores


class _CodedNgrams:
    """N-grams and the codes that they have for the classes of a network."""

    def __init__(self, ngrams: Ngrams, alphabet: Sequence[str]) -> None:
        self._ngrams = ngrams
        code_of = {letter: code for code, letter in enumerate(ngrams.letters, 1)}
        self._codes = [END, *(code_of.get(letter, UNKNOWN) for letter in alphabet), START]
        self._size = len(alphabet) + 1
        # Letters that are not classes of the network are counted after the last class and dropped.
        self._classes = np.full(256, self._size, dtype=np.intp)
        for number, code in enumerate(self._codes[:-1]):
            if code != UNKNOWN:
                self._classes[code] = number

    def shares(self, context: str) -> NDArray[np.float64]:
        """Return the probability of each class after *context*."""
        coded = bytes(self._codes[ord(letter)] for letter in context)
        share = np.full(self._size + 1, 1 / self._size)
        for start in range(len(coded), -1, -1):
            span = self._ngrams.followers(coded[start:])
            if span is None:
                break
            counts = self._ngrams.counts[span[0] : span[1]]
            total, kinds = int(counts.sum()), int(np.count_nonzero(counts))
            if not total:
                break
            share *= kinds / (total + kinds)
            classes = self._classes[self._ngrams.codes[span[0] : span[1]]]
            np.add.at(share, classes, counts / (total + kinds))
        return share[:-1]
