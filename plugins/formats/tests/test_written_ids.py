"""Ids in written files depend on the segment ids alone, so writing, reading and writing again changes none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium_formats.alto.driver import Alto
from armarium_formats.alto.writer_state import IDS
from armarium_formats.api import Format, PageModel, PageOrder, PageSegment, ReadContext, WriteContext
from armarium_formats.markup.identities import Identities
from armarium_formats.markup.schema import is_ncname
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.driver import Tei

NAMES = st.lists(st.text(st.sampled_from("ab12_-é %"), max_size=3), max_size=8, unique=True)


@given(NAMES.flatmap(lambda names: st.tuples(st.just(names), st.permutations(names))))
def test_the_sequence_of_the_segments_changes_no_id(names: tuple[list[str], list[str]]) -> None:
    one, other = (Identities(each, IDS) for each in names)
    assert one.of_segment == other.of_segment
    assert one.changed == other.changed == sum(not is_ncname(name) for name in names[0])
    given_out = list(one.of_segment.values())
    assert len(set(given_out)) == len(given_out)
    assert all(map(is_ncname, given_out))


@given(NAMES)
def test_valid_ids_are_written_unchanged(names: list[str]) -> None:
    written_ids = Identities(names, IDS).of_segment
    assert all(written_ids[name] == name for name in names if is_ncname(name))


def test_duplicate_ids_are_counted() -> None:
    ids = Identities(["a", "a", " ", " ", "b"], IDS)
    assert (ids.of_segment, ids.changed) == ({"a": "a", "b": "b", " ": "_"}, 3)


@pytest.mark.parametrize("driver", [PageXml(), Alto(), Tei()], ids=lambda one: one.name)
@pytest.mark.parametrize("names", [[" ", "_"], ["_", " "], ["é ", " é", "é_"], ["1", "id_1", "id_1_2"]])
def test_replaced_ids_are_the_same_on_the_second_write(driver: Format, names: list[str]) -> None:
    box = [(1, 1), (9, 1), (9, 9), (1, 9)]
    page = PageModel(100, 100, "a.png")
    page.segments = [PageSegment(name, "region", points=box, kind_raw="paragraph") for name in names]
    page.order = PageOrder(items=[PageOrder(name) for name in reversed(names)])
    context = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")
    first = driver.write(page, context).content
    back = driver.read(first.encode(), ReadContext("back.xml"))[0]
    assert sorted(segment.id for segment in back.walk()) == sorted(names)
    second = driver.write(back, context).content
    again = driver.read(second.encode(), ReadContext("again.xml"))[0]
    assert [segment.id for segment in again.in_order()] == list(reversed(names))
    assert second == first
