"""Words that a file says the page means are found: expansions, and words that go on over the end of a line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from search_desk import SearchDesk

from armarium.api import Engine, Library
from armarium_documents.plugin import armarium_plugin as documents
from armarium_formats.plugin import armarium_plugin as formats
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_search.plugin import armarium_plugin as search
from armarium_source_model.keeping import examine
from armarium_source_model.plugin import armarium_plugin as source_model

TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><pb/><p><lb/>der <choice><abbr>v.</abbr>'
    '<expan>von</expan></choice> Lund ver<lb break="no"/>schenkt <choice><sic>zv</sic><corr>zu</corr></choice> Tarma</p></body></text></TEI>'
)
ALTO = (
    '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit></Description>'
    '<Layout><Page ID="p" WIDTH="900" HEIGHT="900" PHYSICAL_IMG_NR="1"><PrintSpace HPOS="0" VPOS="0" WIDTH="900" HEIGHT="900">'
    '<TextBlock ID="b" HPOS="0" VPOS="0" WIDTH="900" HEIGHT="900"><TextLine ID="l1" HPOS="0" VPOS="0" WIDTH="900" HEIGHT="60">'
    '<String HPOS="0" VPOS="0" WIDTH="90" HEIGHT="60" CONTENT="una"/><SP/><String HPOS="100" VPOS="0" WIDTH="90" HEIGHT="60" '
    'CONTENT="cam" SUBS_TYPE="HypPart1" SUBS_CONTENT="campana"/></TextLine><TextLine ID="l2" HPOS="0" VPOS="100" WIDTH="900" '
    'HEIGHT="60"><String HPOS="0" VPOS="100" WIDTH="90" HEIGHT="60" CONTENT="pana" SUBS_TYPE="HypPart2" SUBS_CONTENT="campana"/>'
    '<SP/><String HPOS="100" VPOS="100" WIDTH="90" HEIGHT="60" CONTENT="vieja"/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>'
)


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(plugins=[documents(), source_model(), formats(), reading(), rights(), search()])


def import_leaf(desk: SearchDesk, file: str) -> tuple[str, list[str]]:
    page = str(desk.do("document.create", {"name": "Leaf", "doc_type": "page"})["id"])
    desk.do("format.import", {"document_id": page, "file": file, "filename": "a.xml"})
    return page, [
        row[0]
        for row in desk.rows(
            "SELECT id FROM segment WHERE kind = 'line' AND document_id = ? ORDER BY id", page
        )
    ]


def test_expansions_and_divided_words_of_tei_are_found(desk: SearchDesk, library: Library) -> None:
    page, lines = import_leaf(desk, TEI)
    for query in ("von", "verschenkt", "ver", "schenkt", "v", "zu", "von Tarma"):
        assert page in desk.ids(query), query
    # As long as the words stand there: then no longer, and again when the correction is undone.
    desk.correct(lines[0], "der zu Lund be")
    assert desk.ids("von") == []
    assert desk.ids("beschenkt") == [page]
    assert list(examine(library)) == []
    desk.undo()
    assert desk.ids("von") == desk.ids("verschenkt") == [page]
    assert list(examine(library)) == []


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ('<w part="I">ver</w><lb/><w part="F">schenkt</w>', True),
        ("<w>ver<lb/>schenkt</w>", True),
        ('<hi rend="bold"><w part="I">ver</w></hi><lb/><hi rend="bold"><w part="F">schenkt</w></hi>', True),
        ("<w>ver</w><lb/><w>schenkt</w>", False),
        ('<w>ver<lb break="yes"/>schenkt</w>', False),
    ],
)
def test_a_word_whose_parts_tei_marks_on_two_lines_is_found_whole(
    desk: SearchDesk, word: str, found: bool
) -> None:
    page, _ = import_leaf(desk, TEI.replace('ver<lb break="no"/>schenkt', word))
    assert desk.ids("verschenkt") == ([page] if found else [])
    assert desk.ids("schenkt") == [page]


def test_a_word_that_alto_says_is_divided_is_found_whole_without_a_hyphen(desk: SearchDesk) -> None:
    page, lines = import_leaf(desk, ALTO)
    assert desk.ids("campana") == desk.ids("cam") == desk.ids("pana") == [page]
    desk.correct(lines[1], "pana nueva")
    assert desk.ids("campana") == [page]
