"""What the reader of dates returns can be stored, what is stored is found by each day it may mean, and no interval runs
backwards.
"""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium_documents.api import read_date
from armarium_documents.dates.edtf import (
    FIRST,
    LAST,
    bin_of,
    check_date,
    runs_backwards,
    span_asked,
    span_between,
    span_of,
)

LEVELS_0_AND_1 = (
    "1985", "1985-04", "1985-04-12", "1985-04-12T23:20:30", "1985-04-12T23:20:30Z",
    "1985-04-12T23:20:30-04", "1985-04-12T23:20:30+04:30", "1964/2008", "2004-06/2006-08",
    "2004-02-01/2005-02-08", "2004-02-01/2005-02", "Y170000002", "Y-170000002", "2001-21", "2001-24", "1984?", "2004-06~",
    "2004-06-11%", "201X", "20XX", "2004-XX", "1985-04-XX", "1985-XX-XX", "XXXX-03-12", "1985-04-12/..", "1985-04/..",
    "1985/..", "../1985-04-12", "../1985", "1985/", "/1985", "-1985", "-0044", "0000", "1931-XX", "196X", "1XXX",
)  # fmt: skip
"""The examples of the standard's text (ISO 8601-2, the Library of Congress), and those of public reports."""

NONE = (
    "", "/", "../..", "..", "1985-13", "1985-25", "1985-02-30", "1985-21-03", "85", "985", "12X", "1985/1984",
    "1985-04/1985-03", "-0044/-0045", "20XX/1950", "1985-12/1985-21", "1985?~", "1985/1986/1987", "XXXX-02-30", "1985-4",
)  # fmt: skip

ASKED_IN_WORDS = {
    "primavera de 1742": (17420301, 17420531),
    "before 1750": (FIRST, 17501231),
    "1750s": (17500101, 17591231),
    "12 Vendémiaire an III": (17941003, 17941003),
    "-0045/-0043": (-449899, -428769),
    "1750–1752": (17500101, 17521231),
    "1750..1752": (17500101, 17521231),
    "..1600": (FIRST, 16001231),
    "-0045..": (-449899, LAST),
}

WRITTEN = (
    "primavera de 1742", "12 de marzo", "before 1750", "1750s", "12 Vendémiaire an III", "11 February 1731/2",
    "15 JAN 1743/44", "1699/00", "in the 3rd year of King Henry VIII", "circa 1742", "c. 1742?", "winter 1801", "after 1742",
    "siglo XVII", "between 1742 and 1745", "3 to 5 May 1808", "verano de 1750", "marzo", "hasta 1600?", "12 Mar 1742 - 15 Apr",
)  # fmt: skip


@pytest.mark.parametrize("text", LEVELS_0_AND_1)
def test_every_date_of_the_first_two_levels_is_stored(text: str) -> None:
    assert check_date(text) == text


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_date_or_runs_backwards_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a date is written as|days, so there is no|ends before it begins"):
        check_date(text)


@pytest.mark.parametrize("text", WRITTEN)
def test_what_the_reader_returns_can_be_stored(text: str) -> None:
    found_date = read_date(text)
    if found_date is not None:
        assert check_date(found_date.edtf) == found_date.edtf
        assert check_date(found_date.gregorian) == found_date.gregorian


def test_dual_regnal_and_republican_years_are_read_and_stored() -> None:
    for text, expected in (
        ("11 February 1731/2", "1732-02-11"),
        ("15 JAN 1743/44", "1744-01-15"),
        ("1699/00", "1700"),
        ("12 Vendémiaire an III", "1794-10-03"),
        ("in the 3rd year of King Henry VIII", "1511-04-22/1512-04-21"),
    ):
        found_date = read_date(text)
        assert found_date is not None
        assert check_date(found_date.edtf) == expected


def test_a_regnal_date_in_a_stated_calendar_is_a_day_of_that_calendar() -> None:
    for text, day in (("Old Style", "1739-03-26"), ("New Style", "1739-03-15")):
        regnal = read_date(f"15 March 12 George II, {text}")
        assert regnal is not None
        assert (regnal.gregorian, regnal.calendar_basis) == (day, "stated")


@pytest.mark.parametrize(("text", "days"), ASKED_IN_WORDS.items())
def test_a_question_may_be_in_words(text: str, days: tuple[int, int]) -> None:
    found = span_asked(text)
    assert found is not None
    assert (found.start, found.end) == days


@pytest.mark.parametrize("text", ["tomorrow", "16", "", "12 de marzo", "1752/1750"])
def test_a_question_without_a_day_is_none(text: str) -> None:
    assert span_asked(text) is None


def number(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day


DAYS = st.dates(date(1000, 1, 1), date(2900, 12, 31))


@st.composite
def vague(draw: st.DrawFn) -> tuple[str, date, date]:
    """A date as it is stored, and the first and last day that Python's own calendar gives it."""
    day = draw(DAYS)
    year, month = f"{day.year:04}", f"{day.month:02}"
    first_of_month = day.replace(day=1)
    last_of_month = (first_of_month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    century, decade = day.year // 100 * 100, day.year // 10 * 10
    return draw(
        st.sampled_from(
            [
                (day.isoformat(), day, day),
                (f"{year}-{month}", first_of_month, last_of_month),
                (f"{year}-{month}-XX?", first_of_month, last_of_month),
                (year, date(day.year, 1, 1), date(day.year, 12, 31)),
                (f"{year[:3]}X~", date(decade, 1, 1), date(decade + 9, 12, 31)),
                (f"{year[:2]}XX", date(century, 1, 1), date(century + 99, 12, 31)),
                (f"{year}-22", date(day.year, 6, 1), date(day.year, 8, 31)),
            ]
        )
    )


@given(vague(), vague(), st.sampled_from(["", "/", "../", "/.."]))
def test_dates_overlap_where_a_day_may_be_meant_by_both(
    one: tuple[str, date, date], other: tuple[str, date, date], how: str
) -> None:
    text, first, last = one
    if how == "/":
        text, last = f"{text}/{other[0]}", other[2]
    elif how:
        text = f"{how}{text}" if how == "../" else f"{text}{how}"
    begins = FIRST if how == "../" else number(first)
    ends = LAST if how == "/.." else number(last)
    if ends < begins:
        assert runs_backwards(one[0], other[0])
        with pytest.raises(ValueError, match="ends before it begins"):
            check_date(text)
        return
    span, asked_span = span_of(check_date(text)), span_of(other[0])
    assert span is not None
    assert asked_span is not None
    assert (span.start, span.end) == (begins, ends)
    assert (
        span.overlaps(asked_span)
        == asked_span.overlaps(span)
        == (begins <= number(other[2]) and ends >= number(other[1]))
    )


def test_years_before_christ_are_in_order() -> None:
    days = [span_of(text) for text in ("-0045", "-0044-03-14", "-0044-03-15", "-0043", "0000", "0001")]
    starts = [day.start for day in days if day is not None]
    assert len(starts) == 6
    assert starts == sorted(starts)


def test_a_span_from_one_date_to_another_is_open_where_nothing_is_stated() -> None:
    assert span_between(None, None)[:2] == (FIRST, LAST)
    assert span_between("1650?", None)[:2] == (16500101, LAST)
    assert span_between("../1600", "17XX")[:2] == (FIRST, 17991231)
    assert span_between("XXXX-03-12", "1700-02")[:2] == (FIRST, 17000228)
    with pytest.raises(ValueError, match="tomorrow"):
        span_between("1650", "tomorrow")


@pytest.mark.parametrize(
    ("text", "bins"),
    {
        "1750-03-21": ("1750", "1750-03", "1750-03-21"),
        "1750-03": ("1750", "1750-03", "1750-03"),
        "1742-21": ("1742", "1742-21", "1742-21"),
        "1742-24/1744": ("1742", "1742-24", "1742-24"),
        "-0043-22": ("-0043", "-0043-22", "-0043-22"),
        "1960/..": ("1960", "1960", "1960"),
        "../1960": ("../1960",) * 3,
        "/1960-05": ("../1960",) * 3,
        "../19XX": ("../1999",) * 3,
        "19XX": ("19XX",) * 3,
        "19XX-03": ("19XX",) * 3,
        "196X/1985": ("196X",) * 3,
        "-19XX": ("-19XX",) * 3,
        "1XXX?": ("1XXX",) * 3,
        "XXXX-03": (None,) * 3,
    }.items(),
)
def test_a_date_is_counted_in_no_year_that_it_does_not_state(text: str, bins: tuple[str | None, ...]) -> None:
    assert tuple(bin_of(text, one) for one in ("year", "month", "day")) == bins
