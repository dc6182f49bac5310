"""Years counted from an era: of the kings of England, and of the French Republic."""

from __future__ import annotations

import re

from armarium_documents.dates.calendars import Calendar, Day, day_number, day_of
from armarium_documents.dates.numbers import roman, spelled_out
from armarium_documents.dates.words import words_of

_KINGS: dict[tuple[str, int], Day] = {
    ("stephen", 1): Day(1135, 12, 22),
    ("henry", 2): Day(1154, 12, 19),
    ("richard", 1): Day(1189, 9, 3),
    ("henry", 3): Day(1216, 10, 28),
    ("edward", 1): Day(1272, 11, 20),
    ("edward", 2): Day(1307, 7, 8),
    ("edward", 3): Day(1327, 1, 25),
    ("richard", 2): Day(1377, 6, 22),
    ("henry", 4): Day(1399, 9, 30),
    ("henry", 5): Day(1413, 3, 21),
    ("henry", 6): Day(1422, 9, 1),
    ("edward", 4): Day(1461, 3, 4),
    ("richard", 3): Day(1483, 6, 26),
    ("henry", 7): Day(1485, 8, 22),
    ("henry", 8): Day(1509, 4, 22),
    ("edward", 6): Day(1547, 1, 28),
    ("elizabeth", 1): Day(1558, 11, 17),
    ("james", 1): Day(1603, 3, 24),
    ("charles", 1): Day(1625, 3, 27),
    ("charles", 2): Day(1649, 1, 30),
    ("james", 2): Day(1685, 2, 6),
    ("anne", 1): Day(1702, 3, 8),
    ("george", 1): Day(1714, 8, 1),
    ("george", 2): Day(1727, 6, 11),
    ("george", 3): Day(1760, 10, 25),
    ("george", 4): Day(1820, 1, 29),
    ("william", 4): Day(1830, 6, 26),
    ("victoria", 1): Day(1837, 6, 20),
}
"""The day from which each counted the years of the reign; Julian up to 1752."""

_NAMES = {
    "stephen": "stephen|stephani", "henry": "henry|hen|henrici|h", "richard": "richard|ric|rich|ricardi",
    "edward": "edward|edw|ed|edwardi", "elizabeth": "elizabeth|eliz|elizabethe|elizabethae", "james": "james|jas|jac|jacobi",
    "charles": "charles|chas|car|caroli", "anne": "anne|ann|annae", "george": "george|geo|georgii",
    "william": "william|will|wm|gulielmi|willelmi", "victoria": "victoria|vict|victoriae",
}  # fmt: skip
_GENITIVES = {
    "primi": 1, "secundi": 2, "tertii": 3, "tercii": 3, "quarti": 4, "quinti": 5, "sexti": 6, "septimi": 7,
    "octavi": 8,
}  # fmt: skip
_FATHERS = {("edward", "henrici"): 1, ("edward", "edwardi"): 2, ("henry", "johannis"): 3}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
}  # fmt: skip
_NUMERAL = r"(?:the )?(?:[ivx]+|primi|secundi|tertii|tercii|quarti|quinti|sexti|septimi|octavi|first|second|third|fourth|fifth|sixth|seventh|eighth)"
_BEFORE = re.compile(
    r"\b(?P<year>\d{1,2}|[ivxl]+)(?:st|nd|rd|th)? (?:year of (?:the reign of )?)?(?:king |queen )?(?P<name>NAMES)(?: (?P<number>NUMERAL)\b)?".replace(
        "NAMES", "|".join(_NAMES.values())
    ).replace("NUMERAL", _NUMERAL)
)
_SPELLED = re.compile(
    r"\bin the (?P<words>[a-z ]{3,30}?) year of (?:the reign of )?(?:king |queen )?(?P<name>NAMES)(?: (?P<number>NUMERAL)\b)?".replace(
        "NAMES", "|".join(_NAMES.values())
    ).replace("NUMERAL", _NUMERAL)
)
_LATIN = re.compile(
    r"\banno (?:regni )?(?:domini )?(?:regis |regine |domini )?(?P<name>NAMES)(?: filii regis (?P<father>\w+))?(?: (?P<number>NUMERAL)\b)?(?P<words>(?: [a-z]+){1,4})".replace(
        "NAMES", "|".join(_NAMES.values())
    ).replace("NUMERAL", _NUMERAL)
)


def reign_in(text: str) -> tuple[Day, Day, str] | None:
    """Return the days (Julian before 1752) of the regnal year named in a plain text, and the rest of it."""
    text = " ".join(text.replace(".", " ").split())
    for pattern in (_LATIN, _SPELLED, _BEFORE):
        match = pattern.search(text)
        if match is None:
            continue
        name = next(name for name, forms in _NAMES.items() if match["name"] in forms.split("|"))
        king = _king(name, match["number"], match.groupdict().get("father"))
        year, after = _year(match)
        if king is not None and year is not None and 1 <= year <= 64:
            begin = king._replace(year=king.year + year - 1)
            calendar = in_force(begin)
            last = day_of(day_number(begin._replace(year=begin.year + 1), calendar) - 1, calendar)
            return begin, last, " ".join(f"{text[: match.start()]} {after} {text[match.end() :]}".split())
    return None


def in_force(day: Day) -> Calendar:
    """Return the calendar England used on a day of a reign."""
    return "julian" if day < (1752, 9, 14) else "gregorian"


def _king(name: str, number: str | None, father: str | None) -> Day | None:
    if number is not None:
        plain = number.removeprefix("the ")
        value = _GENITIVES.get(plain) or _ORDINALS.get(plain) or roman(plain)
    elif father is not None:
        value = _FATHERS.get((name, father))
    else:
        counts = [count for king, count in _KINGS if king == name]
        # A king named without a number was the first of his name at the time of writing.
        value = 1 if name == "edward" or len(counts) == 1 else None
    return _KINGS.get((name, value)) if value else None


def _year(match: re.Match[str]) -> tuple[int | None, str]:
    """Return the year of the reign, and words matched with it that belong to something else."""
    words = match.groupdict().get("words")
    if words is None:
        year_text = match["year"]
        return (int(year_text) if year_text.isdigit() else roman(year_text)), ""
    listed = words_of(words)
    spelled = spelled_out(listed, 0)
    if spelled is not None:
        return spelled[0], " ".join(listed[spelled[1] :])
    return roman(listed[0]), " ".join(listed[1:])


_REPUBLICAN = (
    "vendemiaire", "brumaire", "frimaire", "nivose", "pluviose", "ventose", "germinal", "floreal", "prairial", "messidor",
    "thermidor", "fructidor",
)  # fmt: skip
_BEGINNINGS = {
    1: (1792, 22), 2: (1793, 22), 3: (1794, 22), 4: (1795, 23), 5: (1796, 22), 6: (1797, 22), 7: (1798, 22),
    8: (1799, 23), 9: (1800, 23), 10: (1801, 23), 11: (1802, 23), 12: (1803, 24), 13: (1804, 23), 14: (1805, 23),
}  # fmt: skip
"""In which year, and on which day of September, each year of the Republic began."""
_DECADE = re.compile(
    rf"^(?:le |du )?(?:(?P<day>\d{{1,2}}|[a-z]+(?: [a-z]+)?)(?:er)? )?(?P<month>{'|'.join(_REPUBLICAN)}|jours? complementaires?) "
    r"(?:de )?(?:l )?an (?P<year>[ivx]+|\d{1,2}|[a-z]+)(?: de la republique(?: francaise)?)?$"
)


def republican(text: str) -> tuple[Day, Day] | None:
    """Return the first and last day (Gregorian) of a Republican day or month; otherwise None."""
    match = _DECADE.match(text.replace(".", " ").strip())
    if match is None:
        return None
    year = _count(match["year"])
    if year not in _BEGINNINGS:
        return None
    begins, day = _BEGINNINGS[year]
    start = day_number(Day(begins, 9, day), "gregorian")
    month = _REPUBLICAN.index(match["month"]) if match["month"] in _REPUBLICAN else 12
    if match["day"] is None:
        return day_of(start + 30 * month, "gregorian"), day_of(start + 30 * month + 29, "gregorian")
    at = 1 if match["day"] == "premier" else _count(match["day"])
    if at is None or not 1 <= at <= (30 if month < 12 else 6):
        return None
    date = day_of(start + 30 * month + at - 1, "gregorian")
    return date, date


def _count(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    spelled = spelled_out(text.split(), 0)
    return spelled[0] if spelled is not None else roman(text)
