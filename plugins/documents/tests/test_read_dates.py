"""Dates as documents write them. Their meanings were written down by hand from the calendar; Easter and weekdays are
computed by other methods (Meeus, Zeller) than in the code under test.
"""

from __future__ import annotations

from datetime import date

import pytest

from armarium_documents.api import read_date
from armarium_documents.dates.calendars import FIRST_GREGORIAN, Day, day_number, day_of, easter, weekday

DATES = [
    # Figures.
    ("1742", "1742"),
    ("1742-03", "1742-03"),
    ("1742-03-12", "1742-03-12"),
    ("12/3/1742", "1742-03-12"),
    ("12.03.1742", "1742-03-12"),
    ("12-3-1742", "1742-03-12"),
    ("3.XI.1820", "1820-11-03"),
    ("25/12/1804", "1804-12-25"),
    ("3/25/1804", "1804-03-25"),
    # Spanish.
    ("12 de marzo de 1742", "1742-03-12"),
    ("a 12 días del mes de marzo del año de 1742", "1742-03-12"),
    ("doce de marzo de mil setecientos cuarenta y dos", "1742-03-12"),
    ("a veintitrés días del mes de agosto de mil y quinientos y noventa y un años", "1591-08-23"),
    ("primero de enero de mil ochocientos", "1800-01-01"),
    ("treinta y uno de diciembre de mil novecientos catorce", "1914-12-31"),
    ("en tres días del mes de hebrero", None),
    ("Martes, 14 de julio de 1789", "1789-07-14"),
    ("lunes 3 de octubre del año del nacimiento de nuestro señor Jesucristo de 1356", None),
    ("9 de octubre de 1700", "1700-10-09"),
    ("8 de setiembre de 1655", "1655-09-08"),
    ("marzo de 1742", "1742-03"),
    ("12 de marzo", "XXXX-03-12"),
    ("veintiocho de febrero de mil seiscientos", "1600-02-28"),
    ("víspera de San Juan de 1502", "1502-06-23"),
    ("día de Todos los Santos de 1605", "1605-11-01"),
    ("Miércoles de Ceniza de 1600", "1600-02-16"),
    ("Domingo de Ramos de 1789", "1789-04-05"),
    ("Jueves Santo de 1700", "1700-04-08"),
    ("Viernes Santo de 1900", "1900-04-13"),
    ("día de Santiago de 1588", "1588-07-25"),
    ("Navidad de 1492", "1492-12-25"),
    ("siglo XVIII", "17XX"),
    ("s. XVI", "15XX"),
    ("Madrid, 3 de mayo de 1808", "1808-05-03"),
    ("entre 1742 y 1745", "1742/1745"),
    ("del 3 al 12 de marzo de 1742", "1742-03-03/1742-03-12"),
    ("antes de 1742", "../1742"),
    ("después de 1742", "1742/.."),
    ("hacia 1742", "1742~"),
    ("primavera de 1742", "1742-21"),
    ("winter 1914/15", "1914-12/1915-02"),
    ("im Winter 1699/1700", "1699-12/1700-02"),
    ("spring 1914/15", "1915-21"),
    ("from spring 1742 to October 1742", "1742-21/1742-10"),
    ("between the 17th century and 1650", "16XX/1650"),
    # English.
    ("12 March 1742", "1742-03-12"),
    ("March 12, 1742", "1742-03-12"),
    ("12th March 1742", "1742-03-12"),
    ("the 12th day of March in the year of our Lord 1742", "1742-03-12"),
    (
        "the twelfth day of March in the year of our Lord one thousand seven hundred and forty-two",
        "1742-03-12",
    ),
    ("the first of May, eighteen hundred", "1800-05-01"),
    ("twenty-second August nineteen fourteen", "1914-08-22"),
    ("seventeen forty-two", "1742"),
    ("12 February 1710/11", "1711-02-12"),
    ("3 January 1699/700", "1700-01-03"),
    ("24 March 1603/4", "1604-03-24"),
    ("Sept. 2, 1666", "1666-09-02"),
    ("Michaelmas 1500", "1500-09-29"),
    ("Monday before Michaelmas 1356", "1356-09-26"),
    ("Monday after Michaelmas 1356", "1356-10-03"),
    ("Monday after Trinity 1215", "1215-06-15"),
    ("the eve of St John the Baptist 1381", "1381-06-23"),
    ("the morrow of All Souls 1275", "1275-11-03"),
    ("the octave of Michaelmas 1290", "1290-10-06"),
    ("Easter Monday 1500", "1500-04-20"),
    ("Good Friday 1300", "1300-04-08"),
    ("Whitsunday 1348", "1348-06-08"),
    ("Ascension Day 1300", "1300-05-19"),
    ("Corpus Christi 1500", "1500-06-18"),
    ("Lady Day 1400", "1400-03-25"),
    ("Candlemas 1461", "1461-02-02"),
    ("Lammas 1540", "1540-08-01"),
    ("Martinmas 1415", "1415-11-11"),
    ("Friday after the feast of St John the Baptist 1314", "1314-06-28"),
    ("second Sunday after Easter 1500", "1500-05-03"),
    ("12 Hen. VIII", "1520-04-22/1521-04-21"),
    ("3 Edward III", "1329-01-25/1330-01-24"),
    ("the morrow of St Martin 3 Edward III", "1329-11-12"),
    ("10 May 17 Elizabeth", "1575-05-10"),
    ("1 January 17 Elizabeth", "1575-01-01"),
    ("the feast of St. Andrew the Apostle 1455", "1455-11-30"),
    ("18th century", "17XX"),
    ("the 1740s", "174X"),
    ("c. 1742", "1742~"),
    ("circa 1742?", "1742%"),
    ("1742?", "1742?"),
    ("autumn 1742", "1742-23"),
    ("before 12 March 1742", "../1742-03-12"),
    ("between March and June 1742", "1742-03/1742-06"),
    ("from 1742 to 1745", "1742/1745"),
    # French.
    ("le 12 mars 1742", "1742-03-12"),
    ("1er avril 1895", "1895-04-01"),
    ("le douze mars mil sept cent quarante-deux", "1742-03-12"),
    ("le vingt-et-un août mil six cent quatre-vingt-dix-neuf", "1699-08-21"),
    ("ce premier jour de mai mil cinq cent soixante et douze", None),
    ("l'an mil sept cent quatre-vingt-neuf, le quatorze juillet", "1789-07-14"),
    ("mardi 14 juillet 1789", "1789-07-14"),
    ("le 8bre 1742", "1742-10"),
    ("3 Xbre 1742", "1742-12-03"),
    ("la veille de Noël 1389", "1389-12-24"),
    ("le lendemain de Noël 1389", "1389-12-26"),
    ("la Toussaint 1650", "1650-11-01"),
    ("lundi de Pâques 1789", "1789-04-13"),
    ("Mercredi des Cendres 1818", "1818-02-04"),
    ("12 vendémiaire an III", "1794-10-03"),
    ("18 brumaire an VIII", "1799-11-09"),
    ("9 thermidor an II", "1794-07-27"),
    ("1er vendémiaire an I", "1792-09-22"),
    ("10 nivôse an XIV", "1805-12-31"),
    ("Paris, le 12 mars 1742", "1742-03-12"),
    ("germinal an III", "1795-03-21/1795-04-19"),
    ("XVIIIe siècle", "17XX"),
    ("vers 1742", "1742~"),
    ("du 3 au 12 mars 1742", "1742-03-03/1742-03-12"),
    # Latin.
    ("die XII mensis martii anno domini MDCCXLII", "1742-03-12"),
    ("anno domini millesimo trecentesimo quarto", "1304"),
    ("die duodecima mensis martii anno domini millesimo septingentesimo quadragesimo secundo", "1742-03-12"),
    ("anno domini mcccciiij", "1404"),
    ("IV Kal. Apr. 1304", "1304-03-29"),
    ("Kalendis Ianuariis 1250", "1250-01-01"),
    ("pridie Kal. Maii 1250", "1250-04-30"),
    ("pridie Idus Martias MCCCIV", "1304-03-14"),
    ("Idibus Martiis 1304", "1304-03-15"),
    ("VIII Idus Ianuarii 1200", "1200-01-06"),
    ("Nonis Octobris 1250", "1250-10-07"),
    ("III Nonas Februarii 1250", "1250-02-03"),
    ("VI Kal. Martii 1304", "1304-02-24"),
    ("V Kal. Martii 1304", "1304-02-26"),
    ("V Kal. Martii 1303", "1303-02-25"),
    ("in crastino sancti Martini 1304", "1304-11-12"),
    ("in crastino Epiphanie 1304", "1304-01-07"),
    ("in vigilia Natalis domini 1304", "1304-12-24"),
    ("in octabis sancti Johannis Baptiste 1304", "1304-07-01"),
    ("in quindena Pasche 1304", "1304-04-12"),
    ("in festo sancti Michaelis archangeli 1304", "1304-09-29"),
    ("feria secunda post Pascha 1304", "1304-03-30"),
    ("feria sexta post festum Corporis Christi 1500", "1500-06-19"),
    ("feria tertia ante festum sancti Michaelis 1356", "1356-09-27"),
    ("dominica Palmarum 1304", "1304-03-22"),
    ("dominica Laetare 1500", "1500-03-29"),
    ("Sabbato ante dominicam Palmarum 1304", "1304-03-21"),
    ("in festo sancti Michaelis anno regni regis Edwardi tercio decimo", "1285-09-29"),
    ("in festo sancti Michaelis anno regni regis Edwardi tertii decimo", "1336-09-29"),
    ("in crastino Purificationis anno regni regis Henrici tertii quinquagesimo", "1266-02-03"),
    ("saeculo XIII", "12XX"),
    # German.
    ("12. März 1742", "1742-03-12"),
    ("den 12. Mai 1899", "1899-05-12"),
    ("am zwölften März siebzehnhundertzweiundvierzig", "1742-03-12"),
    ("den einundzwanzigsten Dezember achtzehnhundertneunundneunzig", "1899-12-21"),
    ("im Jahre des Herrn eintausendsechshundertachtundvierzig", "1648"),
    ("Montag nach Ostern 1525", "1525-04-17"),
    ("Freitag vor Martini 1415", "1415-11-08"),
    ("Dienstag nach Martini 1415", "1415-11-12"),
    ("Sonntag nach Jakobi 1410", "1410-07-27"),
    ("am Abend vor Weihnachten 1500", None),
    ("Allerheiligen 1517", "1517-11-01"),
    ("Aschermittwoch 1415", "1415-02-13"),
    ("Pfingsten 1348", "1348-06-08"),
    ("Fronleichnam 1500", "1500-06-18"),
    ("Karfreitag 1700", "1700-04-09"),
    ("18. Jahrhundert", "17XX"),
    ("um 1500", "1500~"),
    ("vor 1500", "../1500"),
    ("zwischen 1742 und 1745", "1742/1745"),
    ("Herbst 1742", "1742-23"),
]
ASKED = [pair for pair in DATES if pair[1] is not None]


def test_the_table_is_long_enough() -> None:
    assert len(ASKED) >= 120


@pytest.mark.parametrize(("text", "edtf"), ASKED, ids=[text for text, _ in ASKED])
def test_a_date_is_read_as_it_is_meant(text: str, edtf: str) -> None:
    found_date = read_date(text)
    assert found_date is not None
    assert found_date.edtf == edtf
    assert found_date.as_written == text


CALENDARS = [
    ("14 October 1066", None, "julian", "1066-10-20"),
    ("25 October 1415", "GB", "julian", "1415-11-03"),
    ("12 de octubre de 1492", "ES", "julian", "1492-10-21"),
    ("31 Oktober 1517", "DE", "julian", "1517-11-10"),
    ("4 de octubre de 1582", "ES", "julian", "1582-10-14"),
    ("15 de octubre de 1582", "ES", "gregorian", "1582-10-15"),
    ("9 décembre 1582", "FR", "julian", "1582-12-19"),
    ("20 décembre 1582", "FR", "gregorian", "1582-12-20"),
    ("2 September 1666", "GB", "julian", "1666-09-12"),
    ("18. Februar 1700", "DE-protestant", "julian", "1700-02-28"),
    ("1. März 1700", "DE-protestant", "gregorian", "1700-03-01"),
    ("2 September 1752", "GB", "julian", "1752-09-13"),
    ("14 September 1752", "GB", "gregorian", "1752-09-14"),
    ("25 October 1917", "RU", "julian", "1917-11-07"),
    ("5 November 1688 O.S.", "NL", "julian", "1688-11-15"),
    ("15 November 1688 N.S.", "GB", "gregorian", "1688-11-15"),
]


@pytest.mark.parametrize(("text", "country", "calendar", "gregorian"), CALENDARS)
def test_the_calendar_is_the_country_s_unless_the_text_says_so(
    text: str, country: str | None, calendar: str, gregorian: str
) -> None:
    found_date = read_date(text, country=country)
    assert found_date is not None
    assert (found_date.calendar, found_date.gregorian) == (calendar, gregorian)
    assert found_date.calendar_basis == (
        "stated" if text.endswith("S.") else "country" if country else "default"
    )


@pytest.mark.parametrize(
    ("text", "begins", "edtf"),
    [
        ("24 March 1602", "march-25", "1603-03-24"),
        ("25 March 1603", "march-25", "1603-03-25"),
        ("30 January 1648", "march-25", "1649-01-30"),
        ("26 December 1500", "december-25", "1499-12-26"),
        ("24 December 1500", "december-25", "1500-12-24"),
        ("10 mars 1347", "easter", "1348-03-10"),
        ("19 avril 1347", "easter", "1347-04-19"),
        ("1 mai 1348", "easter", "1348-05-01"),
        ("12 February 1710/11", "march-25", "1711-02-12"),
        ("February 1648", "march-25", "1649-02"),
    ],
)
def test_years_that_begin_on_another_day_are_counted_from_january(text: str, begins: str, edtf: str) -> None:
    found_date = read_date(text, year_begins=begins)  # type: ignore[arg-type]
    assert found_date is not None
    assert found_date.edtf == edtf


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("Saturday 14 October 1066", True),
        ("Monday 14 October 1066", False),
        ("Friday, 25 October 1415", True),
        ("viernes 12 de octubre de 1492", True),
        ("mardi 14 juillet 1789", True),
        ("Dienstag, 15. Juli 1410", True),
        ("feria sexta, 25 October 1415", True),
        ("14 July 1789", None),
    ],
)
def test_a_weekday_that_is_named_is_held_against_the_calendar(text: str, fits: bool | None) -> None:
    found_date = read_date(text)
    assert found_date is not None
    assert found_date.weekday_fits is fits


NO_DATES = [
    "", " ", "hello", "no date", "30 February 1700", "29 February 1701", "31 April 1742", "12 13 1742", "0 March 1742",
    "99/99/1742", "1742-13-01", "die Kuh", "12", "page 12 of 1742 books", "MMMM", "12 March 1742 14 April 1743",
    "XX Kal. Apr. 1304", "31 brumaire an III", "12 vendémiaire an XX", "\x00", "1" * 400, "mil mil mil", "٣ مارس ١٧٤٢",
    "-", "/", "1742/1741", "///1742///", "October 1742 to spring 1742", "65 Hen. VIII", "0th century", "29 febrero 1700",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_DATES)
def test_what_is_no_date_or_no_day_there_was_is_refused(text: str) -> None:
    assert read_date(text) is None


def test_days_that_a_country_left_out_are_no_days() -> None:
    assert read_date("10 October 1582") is None
    assert read_date("5 September 1752", country="GB") is None
    assert read_date("5 September 1752", country="FR") is not None


def test_a_month_goes_first_only_where_it_is_asked_for() -> None:
    assert read_date("3/12/1742", language="en-US").edtf == "1742-03-12"  # type: ignore[union-attr]
    assert read_date("3/12/1742", language="en-GB").edtf == "1742-12-03"  # type: ignore[union-attr]


def meeus(year: int, *, gregorian: bool) -> tuple[int, int]:
    """Return month and day of Easter by Meeus (Astronomical Algorithms, chapter 8)."""
    if not gregorian:
        a, b, c = year % 4, year % 7, year % 19
        d = (19 * c + 15) % 30
        e = (2 * a + 4 * b - d + 34) % 7
        return (d + e + 114) // 31, (d + e + 114) % 31 + 1
    a, b, c = year % 19, year // 100, year % 100
    d, e, f = b // 4, b % 4, (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = c // 4, c % 4
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    return (h + m - 7 * n + 114) // 31, (h + m - 7 * n + 114) % 31 + 1


def test_easter_is_that_of_another_computus_in_every_year() -> None:
    for year in range(326, 2400):
        assert easter(year, "julian")[1:] == meeus(year, gregorian=False)
        if year >= 1583:
            assert easter(year, "gregorian")[1:] == meeus(year, gregorian=True)


def test_days_are_counted_as_python_counts_them_and_weekdays_as_zeller_does() -> None:
    for ordinal in range(date(1583, 1, 1).toordinal(), date(2100, 1, 1).toordinal(), 97):
        known = date.fromordinal(ordinal)
        number = day_number(Day(known.year, known.month, known.day), "gregorian")
        assert day_of(number, "gregorian") == (known.year, known.month, known.day)
        assert weekday(number) == known.weekday()
        assert day_of(day_number(day_of(number, "julian"), "julian"), "gregorian")[:3] == (
            known.year,
            known.month,
            known.day,
        )
    for year in range(600, 1600, 7):
        for month in range(1, 13):
            y, m = (year - 1, month + 12) if month < 3 else (year, month)
            zeller = (1 + 13 * (m + 1) // 5 + y + y // 4 + 5) % 7  # 0 is Saturday
            assert weekday(day_number(Day(year, month, 1), "julian")) == (zeller + 5) % 7


FEASTS = {
    "Septuagesima": -63,
    "Invocavit": -42,
    "Palm Sunday": -7,
    "Easter": 0,
    "Jubilate": 21,
    "Pentecost": 49,
    "Trinity Sunday": 56,
}


@pytest.mark.parametrize("feast", FEASTS)
def test_movable_feasts_have_their_distance_from_easter(feast: str) -> None:
    for year in range(1000, 1580, 13):
        found_date = read_date(f"{feast} {year}")
        assert found_date is not None
        month, day = meeus(year, gregorian=False)
        number = day_number(Day(year, month, day), "julian") + FEASTS[feast]
        assert found_date.edtf == "{:04}-{:02}-{:02}".format(*day_of(number, "julian"))


def test_every_country_changed_from_one_day_to_the_next() -> None:
    for first in FIRST_GREGORIAN.values():
        number = day_number(first, "gregorian")
        assert day_of(number - 1, "julian") < first
