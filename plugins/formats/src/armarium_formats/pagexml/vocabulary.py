"""The controlled words of PAGE XML 2019-07-15, and what they mean in BCP 47, ISO 15924 and our directions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from armarium_formats.markup.languages import languages

VERSIONS: Final = (
    "2009-03-16", "2010-01-12", "2010-03-19", "2013-07-15", "2016-07-15", "2017-07-15", "2018-07-15",
    "2019-07-15", "2024-07-15",
)  # fmt: skip
"""Those that are read."""

DIRECTIONS: Final = {
    "left-to-right": "ltr",
    "right-to-left": "rtl",
    "top-to-bottom": "ttb",
    "bottom-to-top": "btt",
}
LINE_ORDERS: Final = {
    "top-to-bottom": "tb",
    "bottom-to-top": "bt",
    "left-to-right": "lr",
    "right-to-left": "rl",
}
"""Values of textLineOrder: how the lines of a block follow each other."""

DIRECTION_NAMES: Final = {ours: theirs for theirs, ours in DIRECTIONS.items()}

BESIDE: Final = frozenset({"alternating", "follows-baseline"})
"""Directions of ours that PAGE has no word for."""

_SCRIPTS = """
Adlm - Adlam; Afak - Afaka; Aghb - Caucasian Albanian; Ahom - Ahom, Tai Ahom; Arab - Arabic; Aran -
Arabic (Nastaliq variant); Armi - Imperial Aramaic; Armn - Armenian; Avst - Avestan; Bali - Balinese;
Bamu - Bamum; Bass - Bassa Vah; Batk - Batak; Beng - Bengali; Bhks - Bhaiksuki; Blis - Blissymbols; Bopo
- Bopomofo; Brah - Brahmi; Brai - Braille; Bugi - Buginese; Buhd - Buhid; Cakm - Chakma; Cans - Unified
Canadian Aboriginal Syllabics; Cari - Carian; Cham - Cham; Cher - Cherokee; Cirt - Cirth; Copt - Coptic;
Cprt - Cypriot; Cyrl - Cyrillic; Cyrs - Cyrillic (Old Church Slavonic variant); Deva - Devanagari
(Nagari); Dsrt - Deseret (Mormon); Dupl - Duployan shorthand, Duployan stenography; Egyd - Egyptian
demotic; Egyh - Egyptian hieratic; Egyp - Egyptian hieroglyphs; Elba - Elbasan; Ethi - Ethiopic; Geok -
Khutsuri (Asomtavruli and Nuskhuri); Geor - Georgian (Mkhedruli); Glag - Glagolitic; Goth - Gothic; Gran
- Grantha; Grek - Greek; Gujr - Gujarati; Guru - Gurmukhi; Hanb - Han with Bopomofo; Hang - Hangul; Hani
- Han (Hanzi, Kanji, Hanja); Hano - Hanunoo (Hanunóo); Hans - Han (Simplified variant); Hant - Han
(Traditional variant); Hatr - Hatran; Hebr - Hebrew; Hira - Hiragana; Hluw - Anatolian Hieroglyphs; Hmng
- Pahawh Hmong; Hrkt - Japanese syllabaries; Hung - Old Hungarian (Hungarian Runic); Inds - Indus
(Harappan); Ital - Old Italic (Etruscan, Oscan etc.); Jamo - Jamo; Java - Javanese; Jpan - Japanese;
Jurc - Jurchen; Kali - Kayah Li; Kana - Katakana; Khar - Kharoshthi; Khmr - Khmer; Khoj - Khojki; Kitl -
Khitan large script; Kits - Khitan small script; Knda - Kannada; Kore - Korean (alias for Hangul + Han);
Kpel - Kpelle; Kthi - Kaithi; Lana - Tai Tham (Lanna); Laoo - Lao; Latf - Latin (Fraktur variant); Latg
- Latin (Gaelic variant); Latn - Latin; Leke - Leke; Lepc - Lepcha (Róng); Limb - Limbu; Lina - Linear
A; Linb - Linear B; Lisu - Lisu (Fraser); Loma - Loma; Lyci - Lycian; Lydi - Lydian; Mahj - Mahajani;
Mand - Mandaic, Mandaean; Mani - Manichaean; Marc - Marchen; Maya - Mayan hieroglyphs; Mend - Mende
Kikakui; Merc - Meroitic Cursive; Mero - Meroitic Hieroglyphs; Mlym - Malayalam; Modi - Modi, Moḍī; Mong
- Mongolian; Moon - Moon (Moon code, Moon script, Moon type); Mroo - Mro, Mru; Mtei - Meitei Mayek
(Meithei, Meetei); Mult - Multani; Mymr - Myanmar (Burmese); Narb - Old North Arabian (Ancient North
Arabian); Nbat - Nabataean; Newa - Newa, Newar, Newari; Nkgb - Nakhi Geba; Nkoo - N’Ko; Nshu - Nüshu;
Ogam - Ogham; Olck - Ol Chiki (Ol Cemet’, Ol, Santali); Orkh - Old Turkic, Orkhon Runic; Orya - Oriya;
Osge - Osage; Osma - Osmanya; Palm - Palmyrene; Pauc - Pau Cin Hau; Perm - Old Permic; Phag - Phags-pa;
Phli - Inscriptional Pahlavi; Phlp - Psalter Pahlavi; Phlv - Book Pahlavi; Phnx - Phoenician; Piqd -
Klingon (KLI pIqaD); Plrd - Miao (Pollard); Prti - Inscriptional Parthian; Rjng - Rejang (Redjang,
Kaganga); Roro - Rongorongo; Runr - Runic; Samr - Samaritan; Sara - Sarati; Sarb - Old South Arabian;
Saur - Saurashtra; Sgnw - SignWriting; Shaw - Shavian (Shaw); Shrd - Sharada, Śāradā; Sidd - Siddham;
Sind - Khudawadi, Sindhi; Sinh - Sinhala; Sora - Sora Sompeng; Sund - Sundanese; Sylo - Syloti Nagri;
Syrc - Syriac; Syre - Syriac (Estrangelo variant); Syrj - Syriac (Western variant); Syrn - Syriac
(Eastern variant); Tagb - Tagbanwa; Takr - Takri; Tale - Tai Le; Talu - New Tai Lue; Taml - Tamil; Tang
- Tangut; Tavt - Tai Viet; Telu - Telugu; Teng - Tengwar; Tfng - Tifinagh (Berber); Tglg - Tagalog
(Baybayin, Alibata); Thaa - Thaana; Thai - Thai; Tibt - Tibetan; Tirh - Tirhuta; Ugar - Ugaritic; Vaii -
Vai; Visp - Visible Speech; Wara - Warang Citi (Varang Kshiti); Wole - Woleai; Xpeo - Old Persian; Xsux
- Cuneiform, Sumero-Akkadian; Yiii - Yi; Zinh - Code for inherited script; Zmth - Mathematical notation;
Zsye - Symbols (Emoji variant); Zsym - Symbols; Zxxx - Code for unwritten documents; Zyyy - Code for
undetermined script; Zzzz - Code for uncoded script
"""


@cache
def language_names() -> dict[str, str]:
    """Return BCP 47 -> PAGE's name of the language."""
    return {code: name for name, code in languages().items()}


@cache
def script_names() -> dict[str, str]:
    """Return ISO 15924 code -> PAGE's "Code - Name"."""
    return {name[:4]: name for name in _SCRIPTS.replace("\n", " ").strip().split("; ")}


def direction_of(attributes: Mapping[str, str]) -> str | None:
    """Return the direction that attributes state: lines that follow each other sideways run from top to
    bottom.
    """
    direction = attributes.get("readingDirection")
    if direction:
        # Words of ours that PAGE does not have stood beside it in an earlier export.
        return DIRECTIONS.get(direction) or (direction if direction in BESIDE else None)
    return "ttb" if attributes.get("textLineOrder") in ("left-to-right", "right-to-left") else None


def language_of(name: str | None) -> str | None:
    """Return BCP 47 for a language in a PAGE file: PAGE's own name, or a tag."""
    if not name:
        return None
    code = languages().get(name) or languages().get(name.capitalize())
    if code:
        return code
    return (
        name
        if name.isascii() and 2 <= len(name.split("-")[0]) <= 3 and name.split("-")[0].isalpha()
        else None
    )


def script_of(name: str | None) -> str | None:
    """Return the ISO 15924 code for a script in a PAGE file: "Latn - Latin", or the bare code."""
    return name[:4] if name and name[:4] in script_names() else None


def brace_free(word: str) -> str:
    """Return a word as a `custom` can hold it."""
    return re.sub(r"[{};]", " ", word).strip()
