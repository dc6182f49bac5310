"""Dates as people write them, in the form in which entities and statements keep them."""

from __future__ import annotations

from knowledge_desk import Desk


def test_a_written_date_is_read_as_statements_keep_it(desk: Desk) -> None:
    read = desk.get("/api/dates/read", text="12 de mayo de 1593", country="ES")["date"]
    assert (read["iso_start"], read["precision"], read["calendar"]) == ("1593-05-12", "day", "gregorian")
    # Ten days lay between the calendars, by the table of the calendar reform.
    old = desk.get("/api/dates/read", text="12 May 1593", country="GB")["date"]
    assert (old["iso_start"], old["calendar"]) == ("1593-05-22", "julian")
    years = desk.get("/api/dates/read", text="1642-1645")["date"]
    assert (years["iso_start"], years["iso_end"]) == ("1642", "1645")
    claim = desk.claim("He sold it", date_values=[old])
    assert claim["date_values"][0]["iso_start"] == "1593-05-22"
    assert desk.get("/api/dates/read", text="by the old mill")["date"] is None
