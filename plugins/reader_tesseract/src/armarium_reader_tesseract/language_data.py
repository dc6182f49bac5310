"""Where Tesseract's language data is on this machine, and which of it reads a BCP 47 language."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SUFFIX = ".traineddata"
NO_LANGUAGE = frozenset({"osd", "equ"})
"""Data files that are not languages: orientation and script, and formulas."""

USUAL_PLACES = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tesseract-ocr/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
    "/opt/local/share/tessdata",
)
"""The folders of Debian's packages, of other distributions, of a build by hand, of Homebrew and MacPorts."""

TESSERACT_NAMES = {
    "af": "afr", "am": "amh", "ar": "ara", "az": "aze", "be": "bel", "bg": "bul", "bn": "ben", "bs": "bos",
    "ca": "cat", "cs": "ces", "cy": "cym", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "eo": "epo",
    "es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fr": "fra", "fy": "fry", "ga": "gle",
    "gd": "gla", "gl": "glg", "grc": "grc", "gu": "guj", "he": "heb", "hi": "hin", "hr": "hrv", "ht": "hat",
    "hu": "hun", "hy": "hye", "id": "ind", "is": "isl", "it": "ita", "ja": "jpn", "jv": "jav", "ka": "kat",
    "kk": "kaz", "km": "khm", "kn": "kan", "ko": "kor", "ku": "kmr", "ky": "kir", "la": "lat", "lb": "ltz",
    "lo": "lao", "lt": "lit", "lv": "lav", "mi": "mri", "mk": "mkd", "ml": "mal", "mn": "mon", "mr": "mar",
    "ms": "msa", "mt": "mlt", "my": "mya", "ne": "nep", "nl": "nld", "no": "nor", "nb": "nor", "nn": "nor",
    "oc": "oci", "pa": "pan", "pl": "pol", "ps": "pus", "pt": "por", "qu": "que", "ro": "ron", "ru": "rus",
    "sa": "san", "si": "sin", "sk": "slk", "sl": "slv", "sq": "sqi", "sr": "srp", "sv": "swe", "sw": "swa",
    "syr": "syr", "ta": "tam", "te": "tel", "th": "tha", "ti": "tir", "tr": "tur", "uk": "ukr", "ur": "urd",
    "uz": "uzb", "vi": "vie", "yi": "yid", "yo": "yor",
}  # fmt: skip
"""BCP 47 primary language to the name Tesseract gives its data (ISO 639-2, mostly)."""

VARIANTS = {
    "de-latf": ("deu_latf", "frk"), "de-1901": ("deu",), "en-enm": ("enm",), "enm": ("enm",), "frm": ("frm",),
    "es-old": ("spa_old",), "osp": ("spa_old",), "it-old": ("ita_old",), "zh-hans": ("chi_sim",),
    "zh-hant": ("chi_tra",), "zh": ("chi_sim", "chi_tra"), "sr-latn": ("srp_latn",), "az-cyrl": ("aze_cyrl",),
    "uz-cyrl": ("uzb_cyrl",), "mul-latn": ("script/Latin", "Latin"),
}  # fmt: skip
"""Tags whose data has a name of its own, best first."""

_LANGUAGES = """
afr amh ara asm aze aze_cyrl bel ben bod bos bre bul cat ceb ces chi_sim chi_sim_vert chi_tra chi_tra_vert chr cos cym
dan deu deu_latf div dzo ell eng enm epo est eus fao fas fil fin fra frk frm fry gla gle glg grc guj hat heb hin hrv hun
hye iku ind isl ita ita_old jav jpn jpn_vert kan kat kat_old kaz khm kir kmr kor kor_vert lao lat lav lit ltz mal mar mkd
mlt mon mri msa mya nep nld nor oci ori osd pan pol por pus que ron rus san sin slk slv snd spa spa_old sqi srp srp_latn
sun swa swe syr tam tat tel tgk tha tir ton tur uig ukr urd uzb uzb_cyrl vie yid yor
"""
_SCRIPTS = """
Arabic Armenian Bengali Canadian_Aboriginal Cherokee Cyrillic Devanagari Ethiopic Fraktur Georgian Greek Gujarati Gurmukhi
HanS HanS_vert HanT HanT_vert Hangul Hangul_vert Hebrew Japanese Japanese_vert Kannada Khmer Lao Latin Malayalam Myanmar
Oriya Sinhala Syriac Tamil Telugu Thaana Thai Tibetan Vietnamese
"""
PUBLISHED = frozenset([*_LANGUAGES.split(), *(f"script/{name}" for name in _SCRIPTS.split())])
"""The language data that Tesseract's makers publish: what can be downloaded."""


def places(folder: Path) -> Iterator[Path]:
    """Return the folders that may have language data: the engine's own, TESSDATA_PREFIX, the usual ones."""
    yield folder
    prefix = os.environ.get("TESSDATA_PREFIX")
    if prefix:
        yield Path(prefix)
        yield Path(prefix) / "tessdata"
    yield from map(Path, USUAL_PLACES)


def list_installed(folder: Path) -> dict[str, Path]:
    """Return the name of each language data file on this machine (`spa`, `script/Latin`) and its path; the
    first wins.
    """
    files: dict[str, Path] = {}
    for place in places(folder):
        if not place.is_dir():
            continue
        for path in sorted([*place.glob(f"*{SUFFIX}"), *place.glob(f"script/*{SUFFIX}")]):
            name = path.relative_to(place).as_posix().removesuffix(SUFFIX)
            if name not in NO_LANGUAGE:
                files.setdefault(name, path)
    return files


def names_for(language: str) -> tuple[str, ...]:
    """Return possible names of Tesseract's data for a BCP 47 tag, best first; a Tesseract name is kept."""
    tag = language.replace("_", "-").lower()
    primary = tag.split("-")[0]
    names = [*VARIANTS.get(tag, ()), *VARIANTS.get(primary, ())]
    if primary in TESSERACT_NAMES:
        names.append(TESSERACT_NAMES[primary])
    names.append(language)
    return tuple(dict.fromkeys(names))
