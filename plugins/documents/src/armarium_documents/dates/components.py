"""The parts of a date in words: day, month, year, weekday, feast, and the distance of the day from it."""

from __future__ import annotations

import re
from typing import NamedTuple

from armarium_documents.dates.calendars import Calendar, Day, day_number, day_of, easter, weekday
from armarium_documents.dates.feasts import Feast, feast_in
from armarium_documents.dates.numbers import roman, spelled_out
from armarium_documents.dates.words import MONTHS, SEASONS, SILENT, WEEKDAYS, words_of

_FERIA = re.compile(
    r"\bferia (secunda|tertia|tercia|quarta|quinta|sexta|septima|ii|iii|iiii|iv|v|vi|vii|[2-7])\b(?: feria)?"
)
_FERIAE = {"secunda": 0, "ii": 0, "2": 0, "tertia": 1, "tercia": 1, "iii": 1, "3": 1, "quarta": 2, "iiii": 2, "iv": 2, "4": 2,
           "quinta": 3, "v": 3, "5": 3, "sexta": 4, "vi": 4, "6": 4, "septima": 5, "vii": 5, "7": 5}  # fmt: skip
_ROMAN_DAY = re.compile(
    r"\b(?:(?P<eve>prid(?:ie)?)|(?:a d |ante diem )?(?P<count>\d{1,2}|[a-z]+(?: [a-z]+)?))?\.? ?"
    r"\b(?P<anchor>[ck]al(?:end(?:as|is|arum)?)?|non(?:as|is)?|id(?:us|ibus)?)\.? (?:mensis )?(?P<month>[a-z]+)"
)
_STANDING = (
    ("octave", 7, r"octav(?:a|as|e|is)|octab(?:is|as)|oktave?"),
    ("quindene", 14, r"quinden(?:a|e)|quinzaine|quincena"),
    (
        "eve",
        -1,
        r"vigil(?:ia|ie|iae|iam)?|eve|visperas?|veille|(?:vor)?abend|day before|dia antes de|tag vor",
    ),
    (
        "morrow",
        1,
        r"crastin(?:o|um)|morrow|lendemain|dia siguiente|day after|dia despues de|folgenden tag|tag nach|tags darauf",
    ),
)
_AFTER = re.compile(r"\b(?:post|after|despues|tras|apres|nach|siguiente|following|next after)\b")
_BEFORE = re.compile(r"\b(?:ante|before|antes|avant|vor|precedente)\b")
_FIGURE = re.compile(r"(\d+)(?:st|nd|rd|th|er|re|e|eme|do|ro|to|o|a|ten)?")


class Parts(NamedTuple):
    """The parts a text states. after_feast: days from the feast; weekday_from: 1 for the first such day after
    it, -1 for the last before, in weeks.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    season: int | None = None
    feast: Feast | None = None
    after_feast: int = 0
    weekday_from: int = 0
    is_dual: bool = False
    roman_day: tuple[str, int, int] | None = None
    """kal, non or id, the month they are named by, and how many days before (1: on it)."""

    def day_in(self, year: int, calendar: Calendar) -> Day | None:
        """Return the day meant in *year*; None if none is stated. The day may not exist in the month."""
        if self.roman_day is not None:
            return _roman_day(*self.roman_day, year, calendar)
        if self.feast is None:
            return Day(year, self.month, self.day) if self.month and self.day else None
        feast = self.feast
        if feast.after_easter is None:
            number = day_number(Day(year, feast.month, feast.day), calendar)
            if feast.key == "matthias" and calendar == "julian" and year % 4 == 0:
                # In leap years the intercalated day comes before it.
                number += 1
        else:
            number = day_number(easter(year, calendar), calendar) + feast.after_easter
        number += self.after_feast
        if self.weekday is not None and self.weekday_from:
            if self.weekday_from > 0:
                number += (self.weekday - weekday(number) - 1) % 7 + 1 + 7 * (self.weekday_from - 1)
            else:
                number -= (weekday(number) - self.weekday - 1) % 7 + 1
        day = day_of(number, calendar)
        return day if day.year == year or abs(day.year - year) == 1 else None


def parts_of(text: str) -> Parts | None:
    """Return the parts of a plain text; None if it states no date or contains something not understood."""
    from armarium_documents.dates.spans import dual_year

    dual = dual_year(text)
    year = None
    if dual is not None:
        text, year = dual
    if "/" in text:
        return None
    weekday = None
    feria = _FERIA.search(text)
    if feria is not None:
        weekday = _FERIAE[feria[1]]
        text = f"{text[: feria.start()]} {text[feria.end() :]}"
    roman_day = _ROMAN_DAY.search(text.replace("-", " "))
    parts = Parts(year=year, weekday=weekday, is_dual=dual is not None)
    if roman_day is not None and roman_day["month"] in MONTHS:
        count = _count(roman_day)
        if count is not None:
            parts = parts._replace(
                roman_day=(roman_day["anchor"].replace("c", "k")[:1], MONTHS[roman_day["month"]], count),
                month=MONTHS[roman_day["month"]],
                day=1,
            )
            return _with_words(f"{text[: roman_day.start()]} {text[roman_day.end() :]}", parts)
    squeezed = " ".join(text.replace(".", " ").replace("-", " ").split())
    feast = feast_in(squeezed)
    if feast is not None:
        feast_parts = _with_feast(squeezed, feast, parts)
        if feast_parts is not None:
            return feast_parts
    return _with_words(text, parts)


def _count(match: re.Match[str]) -> int | None:
    if match["eve"]:
        return 2
    count_text = match["count"]
    if count_text is None:
        return 1
    if count_text.isdigit():
        return int(count_text)
    words = count_text.split()
    spelled = spelled_out(words, 0)
    if spelled is not None and spelled[1] == len(words):
        return spelled[0]
    value = roman(words[-1])
    if value is not None:
        return value
    return 1 if all(word in SILENT for word in words) else None


def _roman_day(anchor: str, month: int, count: int, year: int, calendar: Calendar) -> Day | None:
    late = month in (3, 5, 7, 10)
    if anchor in "ni":
        day = {"n": 7 if late else 5, "i": 15 if late else 13}[anchor] - count + 1
        return Day(year, month, day) if day >= 1 and 1 <= count <= 8 else None
    if count == 1:
        return Day(year, month, 1)
    if not 2 <= count <= 19:
        return None
    before = month - 1 or 12
    first_of_next = Day(year, month, 1) if month > 1 else Day(year + 1, 1, 1)
    number = day_number(first_of_next, calendar) - count + 1
    if month == 3 and count >= 6 and day_of(day_number(Day(year, 3, 1), calendar) - 1, calendar).day == 29:
        # In leap years the sixth day before the Kalends of March occurs twice.
        number -= 1
    date = day_of(number, calendar)
    # The stated year is that of the day, even if the month named is the following January.
    return date if date.month == before else None


def _with_feast(text: str, match: tuple[Feast, int, int], parts: Parts) -> Parts | None:
    feast, begin, end = match
    before, following = text[:begin], text[end:]
    after_feast = 0
    for _, days, words in _STANDING:
        standing = re.search(rf"\b(?:{words})\b", before)
        if standing is not None:
            after_feast += days
            before = f"{before[: standing.start()]} {before[standing.end() :]}"
    after, earlier = _AFTER.search(before), _BEFORE.search(before)
    before = _BEFORE.sub(" ", _AFTER.sub(" ", before))
    read = _with_words(f"{before} ; {following}", parts, feast=True)
    if read is None:
        return None
    way = 1 if after else -1 if earlier else 0
    if way and read.weekday is None:
        return None
    nth = read.day if way > 0 and read.day is not None and read.day <= 30 else None
    if read.month is not None or (read.day is not None and nth is None):
        return None
    if read.weekday is not None and not way:
        # "Monday in the feast" gives the weekday of the feast: it is not part of the calculation.
        read = read._replace(weekday=None)
    return read._replace(
        feast=feast,
        after_feast=after_feast,
        weekday_from=way * (nth or 1),
        day=None,
        month=feast.month or None,
    )


def _with_words(text: str, parts: Parts, *, feast: bool = False) -> Parts | None:
    """Add day, month, year, weekday and season from *text* to *parts*; None if a word is not understood."""
    words = words_of(text)
    numbers: list[tuple[int, bool]] = []
    month, weekday, season = parts.month if parts.roman_day else None, parts.weekday, parts.season
    has_other_month = sum(word in MONTHS and word != "sept" for word in words) > 0
    place = 0
    while place < len(words):
        word = words[place]
        figure = _FIGURE.fullmatch(word)
        if word in MONTHS and not (word == "sept" and has_other_month) and month is None:
            month = MONTHS[word]
        elif figure is not None and word not in MONTHS:
            numbers.append((int(figure[1]), month is not None))
        elif (spelled := spelled_out(words, place)) is not None:
            numbers.append((spelled[0], month is not None))
            place = spelled[1]
            continue
        elif word in WEEKDAYS and weekday is None:
            weekday = WEEKDAYS[word]
        elif word in SEASONS and month is None and season is None:
            season = SEASONS[word]
        elif word in SILENT or word in (";", "feria"):
            pass
        elif (len(word) > 1 or word in "ivx") and (value := roman(word)) is not None:
            numbers.append((value, month is not None))
        else:
            return None
        place += 1
    return _sorted_out(numbers, parts._replace(month=month, weekday=weekday, season=season), feast)


def _sorted_out(numbers: list[tuple[int, bool]], parts: Parts, feast: bool) -> Parts | None:
    """Decide which number is the day and which the year."""
    years = [value for value, _ in numbers if value > 31]
    days = [value for value, _ in numbers if value <= 31]
    if len(years) > 1 or len(days) > 1 or (years and parts.year is not None):
        return None
    year = parts.year if parts.year is not None else years[0] if years else None
    if year is not None and not 32 <= year <= 2999:
        return None
    day = days[0] if days else parts.day
    if day == 0 or (day is not None and parts.month is None and not feast):
        return None
    if year is None and parts.month is None and not feast and parts.season is None:
        return None
    return parts._replace(year=year, day=day)
