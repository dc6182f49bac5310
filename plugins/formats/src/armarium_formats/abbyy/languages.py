"""Maps FineReader's names of languages ("EnglishUnitedStates", "GermanNewSpelling", "OldFrench") to BCP
47.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from armarium_formats.markup.languages import languages

_OWN: Final = {
    "EnglishUnitedStates": "en-US",
    "EnglishUnitedKingdom": "en-GB",
    "FrenchCanadian": "fr-CA",
    "PortugueseBrazilian": "pt-BR",
    "DutchBelgian": "nl-BE",
    "GermanSwiss": "de-CH",
    "ChinesePRC": "zh-Hans",
    "ChineseTaiwan": "zh-Hant",
    "NorwegianBokmal": "nb",
    "NorwegianNynorsk": "nn",
    "OldSlavonic": "cu",
    "SlovenianStandard": "sl",
    "Slovenian": "sl",
    "Farsi": "fa",
}


def language_of(name: str) -> str | None:
    """Return BCP 47 for FineReader's name of a language; None for several at once and for an unknown one."""
    return _tag_of(name) if len(name) <= 100 else None


@lru_cache(maxsize=1000)
def _tag_of(name: str) -> str | None:
    bare = name.strip().strip("()").removesuffix("_")
    if bare in _OWN:
        return _OWN[bare]
    bare = bare.removeprefix("Old")
    known = {word.replace(" ", ""): code for word, code in languages().items()}
    found = [word for word in known if bare.startswith(word) and not bare[len(word) :][:1].islower()]
    return known[max(found, key=len)] if found and "," not in bare else None
