"""The one transcription convention that the model writes, and how each text of the corpus is brought to it.

Graphemic: what stands on the line is written, abbreviation signs included, nothing is expanded. The sources agree in
this; where they write the same sign differently the table below decides. Texts of training, the references of the
evaluation and the readings that are compared with them all pass through `to_convention`.

| In a source | Written here | Why |
|---|---|---|
| long s | s | nearly all sources write s; the difference is one of position |
| modifier letters for a raised letter (`iᵈ`, `Mᵈˢ`) | `^` before the raised letters (`i^d`, `M^ds`) | as modern sources do |
| letters above a letter (combining) | kept | a different sign from a raised letter at the end |
| a space before a combining mark | no space | a mark stands on its letter |
| not sign, double oblique hyphen or `=` at the end of a line | `-` | one sign for a word that goes on |
| typographic apostrophes and quotation marks | `'` and `"` | not told apart by hands |
| dashes | `-` | not told apart by hands |
| combining macron; long stroke overlay | combining tilde; short stroke overlay | one sign, two shapes |
| stroke through b, d, h, l (combining) | the letter with a stroke | one code point for one sign |
| U+F1AC, U+E8BF, U+F158 (private use) | U+A76B (`ꝫ`); q with U+A76B; U+204A (`⁊`) | Unicode has the sign |
| e with cedilla | e with ogonek | both stand for e caudata |
| y with a dot above | y | the dot has no meaning |
| capitals out of other scripts, Cyrillic umlauts | the Latin letter | look-alikes |
| u and v, i and j | kept as the source has them | levelled to u and i in medieval scripts, as written in modern hands |
| capitals, punctuation, word division | kept | |
"""

from __future__ import annotations

import re
import unicodedata

LETTERS = str.maketrans(
    {
        "ſ": "s",
        "ẛ": "ṡ",
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "′": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "—": "-",
        "–": "-",
        "―": "-",
        "‑": "-",
        "‐": "-",
        "⸗": "-",
        "¬": "-",
        "º": "°",
        "\u0304": "\u0303",
        "\u0305": "\u0303",
        "\u0336": "\u0335",
        "\uf158": "⁊",
        "\uf1ac": "ꝫ",
        "\ue8bf": "qꝫ",
        "ȩ": "ę",
        "Ȩ": "Ę",
        "ẏ": "y",
        "Ẏ": "Y",
        "ᗅ": "A",
        "Λ": "A",
        "ᗞ": "D",
        "ᑕ": "C",
        "ӓ": "ä",
        "ӧ": "ö",
    }
)
"""One character (NFC) to what is written for it; the macron of a precomposed letter is treated in `to_convention`."""

RAISED = {
    "ª": "a",
    "ᵃ": "a",
    "ᵇ": "b",
    "ᶜ": "c",
    "ᵈ": "d",
    "ᵉ": "e",
    "ᶠ": "f",
    "ᵍ": "g",
    "ʰ": "h",
    "ⁱ": "i",
    "ʲ": "j",
    "ᵏ": "k",
    "ˡ": "l",
    "ᵐ": "m",
    "ⁿ": "n",
    "ᵒ": "o",
    "ᵖ": "p",
    "ʳ": "r",
    "ˢ": "s",
    "ᵗ": "t",
    "ᵘ": "u",
    "ᵛ": "v",
    "ʷ": "w",
    "ˣ": "x",
    "ʸ": "y",
    "ᶻ": "z",
    "⁰": "0",
    "¹": "1",
    "²": "2",
    "³": "3",
}
STROKED = {"b\u0335": "ƀ", "d\u0335": "đ", "h\u0335": "ħ", "l\u0335": "ł"}

_RAISED = re.compile("\\^?([" + "".join(RAISED) + "]+)")
_STROKED = re.compile("[bdhl]\u0335")
_MARK_AFTER_SPACE = re.compile("[ \u00a0]+(?=[\u0300-\u036f\u1dc0-\u1dff])")
_LINE_END = re.compile("(?<=\\w)\\s*[=-]$")


def to_convention(text: str) -> str:
    """The *text* of one line as the model writes it (NFC, white space collapsed); the same text again stays as it is."""
    text = unicodedata.normalize("NFC", " ".join(text.split())).replace("\u00ad", "")
    text = unicodedata.normalize("NFD", text.translate(LETTERS)).translate(LETTERS)
    text = unicodedata.normalize("NFC", text)
    text = _RAISED.sub(lambda run: "^" + "".join(RAISED[letter] for letter in run[1]), text)
    text = _MARK_AFTER_SPACE.sub("", text)
    text = _STROKED.sub(lambda pair: STROKED[pair[0]], text)
    return unicodedata.normalize("NFC", _LINE_END.sub("-", text).strip())
