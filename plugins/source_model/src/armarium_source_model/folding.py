"""Folds texts for search and names for comparison: over the ends of lines, with positions, in every form of a name; pure.

What becomes of each letter is the core's (`fold_letters`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from armarium.api import fold_evenly, fold_letters, words_of

HYPHENS = "-\u00ad\u2010\u2011\u00ac\u2e17\u2e40="
"""What may stand at the end of a line in the middle of a word; the equals sign and the not sign do so in old prints."""

_WORD = re.compile(r"\S+")
_SEPARATES = re.compile(f"(?<=\\S)[{HYPHENS}][^\\S\\n]*\\n+[^\\S\\n]*(?=[^\\W\\d_])")
_AT_END = re.compile(f"[{HYPHENS}][^\\S\\n]*\\n")


class FoldedText(NamedTuple):
    """A text prepared for search: its words, with hyphenated ones joined, and the halves of those."""

    words: str
    halves: str


def fold_text(text: str) -> FoldedText:
    """Fold *text*, whose lines end with a line feed, into words separated by spaces."""
    if _AT_END.search(text) is None:
        return FoldedText(" ".join(words_of(text)), "")
    halves: list[str] = []
    end = 0
    # Each stretch is looked at once: an expression for what stands before the hyphen would begin at each of its letters anew.
    for match in _SEPARATES.finditer(text):
        before = text[end : match.start()].rsplit(None, 1)[-1]
        end = match.end()
        after = _WORD.match(text, end)
        halves += words_of(before)[-1:] + words_of(after[0] if after else "")[:1]
    return FoldedText(" ".join(words_of(_SEPARATES.sub("", text))), " ".join(halves))


def fold_again(folded: FoldedText, before: str, old: str, new: str) -> FoldedText | None:
    """Return a folded text after its line *old* became *new*; *before* is the text before the line.

    None if the line alone does not decide: a word continues over one of its ends, or its words occur twice.
    """
    if "\n" in old or "\n" in new or any(part.rstrip()[-1:] in HYPHENS for part in (before, old, new)):
        return None
    words, removed, come = (
        f" {text} " for text in (folded.words, " ".join(words_of(old)), " ".join(words_of(new)))
    )
    at = words.find(removed)
    if at < 0 or not removed.strip() or not come.strip() or words.find(removed, at + 1) >= 0:
        return None
    return FoldedText(f"{words[:at]}{come}{words[at + len(removed) :]}"[1:-1], folded.halves)


class Word(NamedTuple):
    """A folded word and its position: the characters from `start` up to `end` (code points)."""

    word: str
    start: int
    end: int


def places_of_words(text: str) -> list[Word]:
    """Return the words of one line, as `words_of`, each with its position in *text*."""
    if (even := fold_evenly(text)) is not None:
        return [Word(match.group(), *match.span()) for match in _WORD.finditer(even)]
    words: list[Word] = []
    letters = ""
    start = end = 0
    for number, sign in enumerate(text):
        for letter in fold_letters(sign):
            if letter not in " \n":
                start = start if letters else number
                letters += letter
            elif letters:
                words.append(Word(letters, start, end))
                letters = ""
            end = number + 1
        # A mark that is left out belongs to the preceding letter.
        end = number + 1 if letters else end
    if letters:
        words.append(Word(letters, start, end))
    return words


def goes_on(before: str, after: str) -> bool:
    """Return whether a word of the line *before* continues in the line *after*."""
    end = before.rstrip()[-1:]
    return bool(end) and end in HYPHENS and _SEPARATES.search(f"{before}\n{after}") is not None


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
    surname, *given_names = _COMMA.split(bare)
    if bare.isascii() and not given_names:
        return tuple(dict.fromkeys(filter(None, map(fold_name, (name, bare)))))
    spellings = [name, bare]
    forenames = [part for part in given_names if part.strip() and not _DIGIT.search(part)]
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
