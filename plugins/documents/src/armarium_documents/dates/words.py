"""The words of dates other than numbers and feasts, and the normalisation of texts before parsing."""

from __future__ import annotations

import re
import unicodedata


def _table(rows: dict[int, str]) -> dict[str, int]:
    return {word: value for value, words in rows.items() for word in words.split()}


MONTHS = _table(
    {
        1: "enero january janvier januar januarii ianuarii januarius ianuarias januarias januariis ianuariis jan ian ene jany janner jenner hartung jaenner",
        2: "febrero february fevrier februar februarii februariis februarius februarias feb febr febrer hornung fevr",
        3: "marzo march mars marz maerz martii martiis martius martias martio mar marcii marcio mrz lenzmonat",
        4: "abril april avril aprilis apriles aprilibus apr abr aprill avr",
        5: "mayo may mai maii maiis maius maias maio maj meye",
        6: "junio june juin juni junii iunii juniis iuniis junius iunias junias jun iun",
        7: "julio july juillet juli julii iulii juliis iuliis julius iulias julias jul iul juil heumonat",
        8: "agosto august aout augusti augustis augustus augustas aug ago agost",
        9: "septiembre setiembre september septembre septembris septembribus septembres sept sep set 7bre 7ber 7bris viibre viibris herbstmonat septembr",
        10: "octubre october octobre oktober octobris octobribus octobres oct okt 8bre 8ber 8bris viiibre viiibris octobr weinmonat",
        11: "noviembre november novembre novembris novembribus novembres nov 9bre 9ber 9bris ixbre ixbris novembr wintermonat",
        12: "diciembre december decembre dezember decembris decembribus decembres dec dez dic xbre xber xbris 10bre 10ber 10bris decembr christmonat",
    }
)

WEEKDAYS = _table(
    {
        0: "lunes monday lundi montag mon lune montags",
        1: "martes tuesday mardi dienstag tues martis dienstags zinstag ertag",
        2: "miercoles wednesday mercredi mittwoch wed mercurii mittwochs",
        3: "jueves thursday jeudi donnerstag thurs jovis iovis donnerstags pfinztag",
        4: "viernes friday vendredi freitag fri veneris freitags",
        5: "sabado saturday samedi samstag sonnabend sat sabbati sabbato samstags",
        6: "domingo sunday dimanche sonntag sun dominica dominice dominicae sonntags",
    }
)
"""Monday is 0. "martis" is Tuesday's here; the month is Martii."""

SEASONS = _table(
    {
        21: "spring primavera printemps fruhling fruhjahr vere",
        22: "summer verano ete sommer estate",
        23: "autumn fall otono automne herbst autumno",
        24: "winter invierno hiver hieme",
    }
)

_SILENT = (
    " a ab abbatis abbot act actum ad aforesaid al am an and annee annees anni annis anno ano anos ans apostel"
    " apostle apostol apostoli apostolorum apotre apud bischof bishop century christi christo confessor"
    " confessoris corriente courant current d das dat data datum day de del della dem den der des di dia dias"
    " dicho die diem dieu dni domini dominice du e el en episcopi era es este estilo et evangelist evangeliste"
    " eveque feast fecha fechado fest feste festivitate festo festum for from geburt gezalt given gnaden gott"
    " gottes grace gracia gratie heiligen herren herrn hl hora im in incarnationis ipsa ipso ipsum jahr jahre"
    " jahres jour jours jungfrau kalendarum king l la las le les lo lord lords los martir martires martyr"
    " martyris mense mensis mes mois monat month nach nachst nachsten nacimiento naszimiento nativitate new"
    " next notre nuestro nuevo obispo of old on our pape presente prox proxima proximo proximum que regis s"
    " said sainct saint salvador se seigneur senor st style stylo tag the this ultimo un und unsers viejo"
    " virgen virgin virginis vom von y year years zu zum"
)
SILENT = frozenset(_SILENT.split())
"""Words that say nothing of when: articles, "day", "year", "of our Lord"."""

_STATED = (
    (
        "julian",
        re.compile(
            r"\b(?:o\.? ?s|old style|julian|stylo veteri|st\.? vet|estilo (?:antiguo|viejo)|vieux style|alten stils|a\. ?st|juliano|julien)\b"
        ),
    ),
    (
        "gregorian",
        re.compile(
            r"\b(?:n\.? ?s|new style|gregorian|stylo novo|st\.? nov|estilo nuevo|nouveau style|neuen stils|n\. ?st|gregoriano|gregorien)\b"
        ),
    ),
)

CIRCA = re.compile(
    r"\b(?:ca|circa|c|cca|hacia|vers|environ|um|etwa|gegen|about|around|alrededor de|sobre|probably|approximately)\b"
)


def plain(text: str) -> str:
    """Normalise *text*: lower case, no accents, one kind of dash, spaces for other signs except / - ? :"""
    spread = (
        text.replace("ß", "ss")
        .replace("æ", "ae")
        .replace("œ", "oe")
        .replace("ſ", "s")
        .replace("º", "")
        .replace("ª", "")
    )
    bare = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", spread.casefold())
        if not unicodedata.combining(letter)
    )
    bare = re.sub(r"[‐-―−]", "-", bare)
    bare = re.sub(r"['’`´]", " ", bare)
    return " ".join(re.sub(r"[^a-z0-9/\-?. ]", " ", bare).split())


def stated_calendar(text: str) -> tuple[str | None, str]:
    """Return the calendar that a plain text states, and the text without those words."""
    for name, words in _STATED:
        match = words.search(text)
        if match is not None:
            return name, " ".join((text[: match.start()] + " " + text[match.end() :]).split())
    return None, text


def words_of(text: str) -> list[str]:
    """Split a plain text into words; a full stop ends a word, and joins Roman numerals (m.cc.iv)."""
    joined = re.sub(r"\b([ivxlcdmj]+)\.(?=[ivxlcdmj]+\b)", r"\1", text)
    return joined.replace(".", " ").replace("-", " ").replace("?", " ").split()
