"""Which letter follows which: a model of n-grams of letters, counted in transcriptions, that a reading is weighed with.

A network sees shapes; where two readings of a shape are equally likely to it, what scribes write decides. Probabilities are
interpolated after Witten and Bell (1991): an n-gram's own counts, and for what they do not say the shorter n-gram's.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand import SPELLING

ORDER = 6
"""Letters of the longest n-gram; the last of them is foretold by the others."""
WEIGHED = {"weight": 0.3, "bonus": 0.5}
"""What the logarithm of a letter's probability counts beside the network's, and what is added for each letter, since every
letter makes a text less probable. Chosen on the documents held out of the training."""
MOST = 40_000
"""Contexts whose probabilities are kept at hand: about 30 MB."""

END, UNKNOWN, START = 0, 254, 255
"""Codes beside those of letters (from 1): a text's end, a letter that was never counted, a text's beginning."""


class Ngrams:
    """Counts of n-grams as a tree: a node for each, its children in a row, the root first, the shorter before the longer.

    `letters[n - 1]` is the letter of code n. `codes` and `counts` have an entry a node, `children` (how many a node has) one
    for each node but those of ORDER letters.
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
        grams[1][bytes([START])] = 0  # a beginning is known, never foretold
        nodes, codes, counts, children = [b""], [0], [0], []
        for length in range(1, ORDER + 1):
            by_parent: dict[bytes, list[bytes]] = {}
            for gram in sorted(grams[length]):
                by_parent.setdefault(gram[:-1], []).append(gram)
            nodes, parents = [], nodes
            for parent in parents:
                found = by_parent.get(parent, [])
                children.append(len(found))
                nodes += found
            codes += [gram[-1] for gram in nodes]
            counts += [grams[length][gram] for gram in nodes]
        return cls(
            letters, np.array(codes, np.uint8), np.array(counts, np.uint32), np.array(children, np.uint8)
        )

    @classmethod
    def shipped(cls) -> Ngrams:
        """Those in this package, counted in the transcriptions that the model was trained with."""
        with files("armarium_reader_hand").joinpath(SPELLING).open("rb") as file:
            return cls.load(file)

    @classmethod
    def load(cls, file: BinaryIO | Path) -> Ngrams:
        """What `save` wrote."""
        with np.load(file, allow_pickle=False) as kept:
            return cls(str(kept["letters"]), kept["codes"], kept["counts"], kept["children"])

    def save(self, path: Path) -> None:
        """Write them as a compressed file of arrays."""
        arrays = {"codes": self.codes, "counts": self.counts, "children": self.children}
        np.savez_compressed(path, letters=np.array("".join(self.letters)), **arrays)

    def followers(self, context: bytes) -> tuple[int, int] | None:
        """From where to where the nodes lie that follow *context* (codes); None where it never came."""
        start, end = 1, self._first[1]
        for code in context:
            node = self._flat.find(code, start, end)
            if node < 0 or node >= len(self.children):
                return None
            start, end = self._first[node], self._first[node + 1]
        return start, end


class Spelling:
    """N-grams as a network's letters ask for them: class n is `alphabet[n - 1]`, class 0 a text's end."""

    def __init__(self, ngrams: Ngrams, alphabet: Sequence[str], weight: float, bonus: float) -> None:
        self.weight, self.bonus = weight, bonus
        code_of = {letter: code for code, letter in enumerate(ngrams.letters, 1)}
        codes = [END, *(code_of.get(letter, UNKNOWN) for letter in alphabet)]
        self.codes = [bytes([code]) for code in codes]
        self.start = bytes([START])
        self._ngrams = ngrams
        # What is no class of the network is counted behind the last and left out.
        self._classes = np.full(256, len(codes), dtype=np.intp)
        for number, code in enumerate(codes):
            if code != UNKNOWN:
                self._classes[code] = number
        self._known: dict[bytes, Any] = {}

    def after(self, context: bytes, number: int) -> bytes:
        """The context behind another letter, given by its class."""
        return (context + self.codes[number])[1 - ORDER :]

    def chances(self, context: bytes) -> Sequence[float]:
        """The logarithm of the probability of each class behind *context*."""
        found: Sequence[float] | None = self._known.get(context)
        if found is None:
            if len(self._known) >= MOST:
                self._known.clear()
            found = self._known[context] = array("f", self._look_up(context))
        return found

    def _look_up(self, context: bytes) -> NDArray[np.float64]:
        share = np.full(len(self.codes) + 1, 1 / len(self.codes))
        for start in range(len(context), -1, -1):
            found = self._ngrams.followers(context[start:])
            if found is None:
                break
            counts = self._ngrams.counts[found[0] : found[1]]
            total, kinds = int(counts.sum()), int(np.count_nonzero(counts))
            if not total:
                break
            share *= kinds / (total + kinds)
            np.add.at(
                share,
                self._classes[self._ngrams.codes[found[0] : found[1]]],
                counts / (total + kinds),
            )
        return np.log(np.maximum(share[:-1], math.exp(-30)))
