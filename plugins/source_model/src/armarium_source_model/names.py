"""Names as they are compared, of persons and places alike: the one fold for entities, authority files and gazetteers; pure.

Case, accents, apostrophes, hyphens and full stops make no difference, as in the search of texts. A heading
("Cruz, Juan de la", "Lund, Elsa, 1850-1910.", "Lund, Elsa (1850-1910)") is also the name in its natural order, and a name with an umlaut also the one
that spells it with two letters.
"""

from __future__ import annotations

import re
import unicodedata

from armarium_source_model.folding import Word, places_of_words, words_of

_TWO_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}  # as German spells them
)
_APOSTROPHES = str.maketrans("ʼʻʹʾʿ", "'''''")
"""Signs that are letters to Unicode, and that a name is often written without."""
_DIGIT = re.compile(r"\d")
_COMMA = re.compile("[,，、،]")
_DATES = re.compile(r"\s*[(\[][^()\[\]]*\d{3}[^()\[\]]*[)\]]\s*\.?\s*$")
"""The dates in brackets after the name in a heading."""
_PLAIN_WORD = re.compile(r"[a-z0-9]+")


def fold_name(name: str) -> str:
    """Return the words of *name*, folded; empty if it has none."""
    if name.isascii():
        # The same in a fifth of the time: an authority file has millions.
        return " ".join(_PLAIN_WORD.findall(name.lower()))
    return " ".join(words_of(name.translate(_APOSTROPHES)))


def name_forms(name: str) -> tuple[str, ...]:
    """Return the folded forms of *name*, as it is written first: two names are the same if they share one."""
    bare = _DATES.sub("", name)
    surname, *rest = _COMMA.split(bare)
    if bare.isascii() and not rest:
        return tuple(dict.fromkeys(filter(None, map(fold_name, (name, bare)))))
    spellings = [name, bare]
    forenames = [part for part in rest if part.strip() and not _DIGIT.search(part)]
    if forenames:
        spellings.append(f"{forenames[0]} {surname}")
    spellings += [unicodedata.normalize("NFC", spelling).translate(_TWO_LETTERS) for spelling in spellings]
    return tuple(dict.fromkeys(filter(None, map(fold_name, spellings))))


def name_words(line: str) -> list[list[Word]]:
    """Return the folded words of a line with their positions in it; twice where it has umlauts, which names may spell with
    two letters.
    """
    plain = (
        unicodedata.normalize("NFC", line) if len(unicodedata.normalize("NFC", line)) == len(line) else line
    )
    words = places_of_words(plain.translate(_APOSTROPHES))
    if plain.translate(_TWO_LETTERS) == plain:
        return [words]
    return [
        words,
        [Word(fold_name(plain[w.start : w.end].translate(_TWO_LETTERS)), w.start, w.end) for w in words],
    ]
