"""Numbers as dates write them: figures, Roman numerals (including medieval ones), words of five languages."""

from __future__ import annotations

import re
from functools import lru_cache

_ROMAN = {"i": 1, "j": 1, "v": 5, "u": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}

_WORDS: dict[int, str] = {
    0: "cero zero null",
    1: "uno un una primero primer one first premier premiere une ein eins eine erst erste ersten unus prima primo primus primi",
    2: "dos segundo two second deux deuxieme seconde zwei zwo zweite zweiten duo secundo secunda secundus duobus duo",
    3: "tres tercero tercer three third trois troisieme drei dritte dritten tercio tertio tertia tertius",
    4: "cuatro cuarto four fourth quatre quatrieme vier vierte vierten quattuor quatuor quarto quarta quartus",
    5: "cinco quinto five fifth cinq cinquieme funf funfte funften quinque quinta quintus",
    6: "seis sexto six sixth sixieme sechs sechste sechsten sex sexta sextus",
    7: "siete septimo seven seventh sept septieme sieben siebte siebten siebente siebenten septem septima septimus",
    8: "ocho octavo eight eighth huit huitieme acht achte achten octo octava octavus",
    9: "nueve noveno nine ninth neuf neuvieme neun neunte neunten novem nono nona nonus",
    10: "diez decimo ten tenth dix dixieme zehn zehnte zehnten decem decima decimus",
    11: "once undecimo eleven eleventh onze onzieme elf elfte elften undecim undecima",
    12: "doce duodecimo twelve twelfth douze douzieme zwolf zwolfte zwolften duodecim duodecima",
    13: "trece thirteen thirteenth treize treizieme tredecim",
    14: "catorce quatorce fourteen fourteenth quatorze quatorzieme quattuordecim quatuordecim",
    15: "quince fifteen fifteenth quinze quinzieme quindecim",
    16: "dieciseis sixteen sixteenth seize seizieme sedecim sexdecim",
    17: "diecisiete seventeen seventeenth septendecim septemdecim",
    18: "dieciocho eighteen eighteenth duodeviginti duodevicesimo duodevicesima",
    19: "diecinueve nineteen nineteenth undeviginti undevicesimo undevicesima",
    20: "veinte vigesimo twenty twentieth vingt vingts vingtieme viginti vicesimo vigesima vicesima",
    21: "veintiuno veintiun",
    22: "veintidos",
    23: "veintitres",
    24: "veinticuatro",
    25: "veinticinco",
    26: "veintiseis",
    27: "veintisiete",
    28: "veintiocho",
    29: "veintinueve",
    30: "treinta trigesimo thirty thirtieth trente trentieme triginta tricesimo trigesima tricesima",
    40: "cuarenta quadragesimo forty fourty quarante quarantieme quadraginta quadragesima",
    50: "cincuenta quinquagesimo fifty cinquante cinquantieme quinquaginta",
    60: "sesenta sexagesimo sixty soixante soixantieme sexaginta",
    70: "setenta septuagesimo seventy septante septuaginta",
    80: "ochenta octogesimo eighty octante huitante octoginta",
    90: "noventa nonagesimo ninety nonante nonaginta",
    100: "cien ciento hundred cent cents centum centesimo hundreth hundredth",
    200: "doscientos ducentesimo ducenti",
    300: "trescientos trecentesimo tricentesimo trecenti",
    400: "cuatrocientos quadringentesimo quadringenti",
    500: "quinientos quingentesimo quingenti",
    600: "seiscientos sexcentesimo sescentesimo sexcenti",
    700: "setecientos septingentesimo septingenti",
    800: "ochocientos octingentesimo octingenti",
    900: "novecientos nongentesimo noningentesimo nongenti",
    1000: "mil thousand mille tausend millesimo",
}
NUMBER_WORDS = {word: value for value, words in _WORDS.items() for word in words.split()}

_GERMAN_ENDS = re.compile(r"(?<=.{3})(?:sten|ste|ten|te)$")
_GERMAN_TEENS = {
    "dreizehn": 13, "vierzehn": 14, "funfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18,
    "neunzehn": 19,
}  # fmt: skip
_GERMAN_TENS = {
    "zwanzig": 20, "dreissig": 30, "dreiszig": 30, "vierzig": 40, "funfzig": 50, "sechzig": 60, "siebzig": 70,
    "achtzig": 80, "neunzig": 90,
}  # fmt: skip
_GERMAN_UNITS = {
    "ein": 1, "eins": 1, "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9,
    "zehn": 10, "elf": 11, "zwolf": 12,
}  # fmt: skip


def roman(text: str) -> int | None:
    """Return the value of a lower-case Roman numeral, also medieval (iiij, mcccciiij); otherwise None."""
    if not text or any(letter not in _ROMAN for letter in text):
        return None
    values = [_ROMAN[letter] for letter in text]
    total = 0
    for value, following in zip(values, [*values[1:], 0], strict=True):
        # Only i, x or c is subtracted, and only from at most ten times itself.
        if value < following:
            if value not in (1, 10, 100) or following > 10 * value:
                return None
            total -= value
        else:
            total += value
    return total if total > 0 else None


@lru_cache(maxsize=4096)
def german(word: str) -> int | None:
    """Return the value of a German number in one word (siebzehnhundertzweiundvierzig); otherwise None."""
    number = _german_plain(word)
    return number if number is not None else _german_plain(_GERMAN_ENDS.sub("", word))


def _german_plain(word: str) -> int | None:
    if not word:
        return None
    for ends, factor in (("tausend", 1000), ("hundert", 100)):
        before, mark, after = word.partition(ends)
        if mark:
            many = 1 if not before else _german_plain(before)
            added = 0 if not after else _german_plain(after.removeprefix("und"))
            return None if many is None or added is None else many * factor + added
    for table in (_GERMAN_UNITS, _GERMAN_TEENS, _GERMAN_TENS):
        if word in table:
            return table[word]
    for name, value in _GERMAN_TENS.items():
        unit = _GERMAN_UNITS.get(word.removesuffix(f"und{name}")) if word.endswith(f"und{name}") else None
        if unit is not None and unit < 10:
            return value + unit
    return None


def word_value(word: str) -> int | None:
    """Return the value of a single number word; None for any other word."""
    value = NUMBER_WORDS.get(word)
    return german(word) if value is None else value


JOINING = frozenset({"y", "and", "et", "und", "e"})


def spelled_out(words: list[str], at: int) -> tuple[int, int] | None:
    """Return the number spelled out from *at* on, and the position after it; None if there is none.

    "mil setecientos cuarenta y dos", "seventeen hundred and forty-two", "seventeen forty-two", "quatre vingt
    dix".
    """
    total = current = 0
    place, end = at, at
    while place < len(words):
        value = word_value(words[place])
        if value is None:
            # "and" joins two numbers and nothing else.
            if (
                words[place] in JOINING
                and place > at
                and place + 1 < len(words)
                and word_value(words[place + 1]) is not None
            ):
                place += 1
                continue
            break
        sums = _add_number_word(words[place], value, current, total)
        if sums is None:
            break
        total, current = sums
        place += 1
        end = place
    return (total + current, end) if end > at else None


def _add_number_word(word: str, value: int, current: int, total: int) -> tuple[int, int] | None:
    """Return (total, current) with one more number word added; None if it begins another number."""
    if word in ("thousand", "tausend", "mil", "mille", "millesimo"):
        return (total + max(1, current) * 1000, 0) if current < 100 and not total else None
    if word in ("hundred", "hundreth", "hundredth", "cent", "cents", "hundert"):
        return (total, (current or 1) * 100) if current < 100 else None
    if word in ("vingt", "vingts", "vingtieme") and current % 100 == 4:
        return total, current - 4 + 80
    if word.endswith(("teen", "teenth")) and 10 <= current <= 20:
        # A year in two halves: nineteen fourteen.
        return total, current * 100 + value
    if value >= 10 and 10 <= current < 100 and word in _ENGLISH_TENS:
        return total, current * 100 + value
    # Each word is smaller than what it is added to (twenty-two, setecientos cuarenta), or the reverse (quarto
    # decimo).
    if current and value < 10 and current % 10 == 0:
        return total, current + value
    if current and value in (10, 11, 12, 13, 14, 15, 16, 17, 18, 19) and current % 100 in (0, 60, 80):
        return total, current + value
    if current and current % 100 == 0 and value < 100:
        return total, current + value
    if current and value == 10 and current < 10:
        # Latin: tertio decimo.
        return total, current + 10
    if (
        current
        and value >= 20
        and value < 100
        and current < 10
        and word.endswith(("esimo", "esima", "ginti"))
    ):
        return total, current + value
    return (total, value) if not current else None


_ENGLISH_TENS = frozenset({
    "ten", "eleven", "twelve", "twenty", "thirty", "forty", "fourty", "fifty", "sixty", "seventy", "eighty",
    "ninety",
})  # fmt: skip
