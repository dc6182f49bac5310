"""Which entities may be the same, by their names: similar in spelling or in sound. Only proposed, never merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

MOST_ALIKE = 200
"""How many entities with the same key are compared; a key that more of them have says nothing."""


class Candidate(NamedTuple):
    """An entity that may be the same as another."""

    id: str
    entity_type: str
    language: str | None
    names: tuple[str, ...]
    """Folded."""


class AlikePair(NamedTuple):
    """Two entities, how similar their names are, and which names."""

    one: str
    other: str
    score: float
    reason: str
    method: str = "name_variant"


_SPELLINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "es": (
        ("x(?=[aeiou])", "j"),
        ("g(?=[ei])", "j"),
        ("h", ""),
        ("[bv]", "b"),
        ("c(?=[ei])|z|ç", "s"),
        ("qu|k", "c"),
        ("ll|y", "i"),
    ),
    "de": (
        ("ph|v|w(?=$)", "f"),
        ("th|dt|d(?=$)", "t"),
        ("ck|c|k|q", "k"),
        ("tz|z", "s"),
        ("y", "i"),
        ("ae|ä", "e"),
        ("(?<=[aeiou])h", ""),
    ),
    "fr": (
        ("ph", "f"),
        ("qu|k|c(?=[aou])", "c"),
        ("eau|au", "o"),
        ("h", ""),
        ("y", "i"),
        ("[stxd]$", ""),
        ("ai|ei", "e"),
    ),
    "la": (
        ("ph", "f"),
        ("ae|oe", "e"),
        ("[jy]", "i"),
        ("v", "u"),
        ("th", "t"),
        ("ch|k", "c"),
        ("h", ""),
        ("(us|um|is|i|o|a)$", ""),
    ),
    "en": (
        ("ph", "f"),
        ("gh", ""),
        ("ck|k|c(?=[aou])", "k"),
        ("wh", "w"),
        ("kn", "n"),
        ("y|ie|ee|ea", "i"),
        ("e$", ""),
    ),
}
_ANY = (("[jy]", "i"), ("[vw]", "u"), ("ph", "f"), ("th", "t"), ("[ckq]", "k"), ("z", "s"), ("h", ""))
"""Letters that old spellings interchange, if no language is stated."""

_COMPILED = {
    language: tuple((re.compile(pattern), into) for pattern, into in rules)
    for language, rules in {**_SPELLINGS, "": _ANY}.items()
}
_TWICE = re.compile(r"(.)\1+")
_CLAN = re.compile(r"\bm(?:a?c|) ?(?=[bcdfgjklmnpqrtvwz][a-z])")
"""Mac, Mc or M' before a name."""
_ELIDED = re.compile(r"\b([dlno]) (?=[a-z]{2})")
"""What an apostrophe divides from a name (O'Neill, d'Arc), and is often written without."""
_SAINT = re.compile(r"\b(?:s|st|ste|sta|sto|saint|sainte|sankt|sant|santa|santo)(?= [a-z]{2})")


def sound(word: str, language: str | None = None) -> str:
    """Return how a folded word sounds, as letters: words spelled differently for the same sound get the same key."""
    rules = _COMPILED.get((language or "").split("-")[0], _COMPILED[""])
    for pattern, into in rules:
        word = pattern.sub(into, word)
    return _TWICE.sub(r"\1", word)


def sounds(name: str, language: str | None) -> list[str]:
    """Return the sounds of a folded name's words, sorted; prefixes of names that are written in several ways get one form."""
    plain = _SAINT.sub("st", _ELIDED.sub(r"\1", _CLAN.sub("mac", name)))
    return sorted(filter(None, (sound(word, language) for word in plain.split())))


def keys_of(candidate: Candidate) -> set[str]:
    """Return the keys under which an entity is compared: the sounds of all words of a name, and the longest
    word's first letters.
    """
    keys: set[str] = set()
    for name in candidate.names:
        for language in {candidate.language, None}:
            if sound_key := sounds(name, language):
                keys.add(" ".join(sound_key))
                keys.add(f"~{max(sound_key, key=len)[:4]}")
    return keys


def find_alike(candidates: Sequence[Candidate], min_score: float) -> Iterator[AlikePair]:
    """Return pairs of one type whose names are similar to at least *min_score* or sound the same, each pair once."""
    by_key: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        for key in keys_of(candidate):
            by_key.setdefault((candidate.entity_type, key), []).append(candidate)
    compared: set[tuple[str, str]] = set()
    for own in by_key.values():
        if len(own) > MOST_ALIKE:
            continue
        for candidate, other in combinations(own, 2):
            pair = (min(candidate.id, other.id), max(candidate.id, other.id))
            if pair[0] == pair[1] or pair in compared:
                continue
            compared.add(pair)
            likeness = compare_names(candidate, other)
            if likeness is not None and likeness[0] >= min_score:
                yield AlikePair(*pair, likeness[0], likeness[1])


def compare_names(candidate: Candidate, other: Candidate) -> tuple[float, str] | None:
    """Return (how similar, the sentence why) of the two names that are most similar."""
    from rapidfuzz.distance import JaroWinkler

    best: tuple[float, str] | None = None
    for mine in candidate.names:
        for theirs in other.names:
            if mine == theirs:
                return 1.0, f"Both have the name “{mine}”."
            score = JaroWinkler.similarity(" ".join(sorted(mine.split())), " ".join(sorted(theirs.split())))
            if _hear_name(candidate, mine) & _hear_name(other, theirs):
                # The same sound in another spelling counts for more than the letters alone.
                score = max(score, 0.9)
            if best is None or score > best[0]:
                best = round(score, 4), f"“{mine}” and “{theirs}” are nearly the same."
    return best


def _hear_name(candidate: Candidate, name: str) -> set[str]:
    return {" ".join(sounds(name, language)) for language in {candidate.language, None}} - {""}


def candidates_of(rows: Iterable[tuple[str, str, str | None, str]]) -> list[Candidate]:
    """Return candidates from *rows*: (id, type, language, folded names one per line)."""
    return [Candidate(*row[:3], tuple(filter(None, row[3].split("\n")))) for row in rows]
