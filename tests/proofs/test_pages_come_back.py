"""Generated pages written and read again: what differs is in the loss report, and what it does not name is the same.

`make test` tries a few dozen pages per format, `make soak` ten thousand (ARMARIUM_ROUND_TRIPS sets how many).
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from armarium_formats.api import FormatDriver, PageModel, ReadContext, WriteContext
from proofs.format_mutations import all_drivers
from proofs.format_pages import TOLD_BY, describe_page, pages

DRIVERS = {
    name: driver
    for name, driver in all_drivers().items()
    if driver.reads and driver.writes and driver.validated
}
NOW = WriteContext(created="2026-01-02T03:04:05.678Z", creator="round trip")
SHORT, FULL = 40, int(os.environ.get("ARMARIUM_ROUND_TRIPS", "10000"))
ALL_CHECKS = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))


def find_unreported(driver: FormatDriver, page: PageModel) -> dict[str, Any]:
    """Return the parts that come back changed although no loss reports it, each before and after."""
    written = driver.write(page, NOW)
    assert driver.validate(written.content) == []
    back = driver.read(written.content.encode(), ReadContext("back", (page.width, page.height)))[0]
    before, after = describe_page(page), describe_page(back)
    told = " / ".join(loss.what for loss in written.losses)
    if before["segments"] != after["segments"] and re.search(TOLD_BY["segments"], told):
        # a segment reported as lost takes its own facts with it; those of all others must remain
        before, after = only(before, after["ids"]), only(after, before["ids"])
    return {
        part: (before[part], after[part], told)
        for part in before
        if before[part] != after[part] and not re.search(TOLD_BY[part], told)
    }


def only(parts: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    """Return the parts of a page that are about segments with these ids."""
    found = {**parts, "segments": None, "ids": parts["ids"] & ids, "furniture": parts["furniture"] & ids}
    found["sequence"] = [one for one in parts["sequence"] if one in ids]
    for part, facts in parts.items():
        if isinstance(facts, dict) and part != "segments":
            found[part] = {one: fact for one, fact in facts.items() if one in ids}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DRIVERS))
def test_a_page_comes_back_but_for_what_the_loss_report_names(name: str) -> None:
    @settings(ALL_CHECKS, max_examples=SHORT)
    @given(page=pages())
    def holds(page: PageModel) -> None:
        assert find_unreported(DRIVERS[name], page) == {}

    holds()


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(DRIVERS))
def test_ten_thousand_pages_come_back(name: str) -> None:
    @settings(ALL_CHECKS, max_examples=FULL)
    @given(page=pages())
    def holds(page: PageModel) -> None:
        assert find_unreported(DRIVERS[name], page) == {}

    holds()
