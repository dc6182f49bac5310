"""Small files after public reports of people who work with PAGE and ALTO, with the right value of each."""

from __future__ import annotations

import pytest
from test_marks_survive import Desk, alto_xml, page_xml

from armarium.engine import Engine
from armarium.projects.libraries import Library


@pytest.fixture
def desk(engine: Engine, library: Library, page_document: str) -> Desk:
    return Desk(engine, library, page_document)


SECOND = (
    '<TextLine ID="l2" HPOS="60" VPOS="200" WIDTH="800" HEIGHT="60"><String HPOS="60" VPOS="200" WIDTH="90" HEIGHT="60" '
    'CONTENT="pana" SUBS_TYPE="HypPart2" SUBS_CONTENT="campana"/><SP/><String HPOS="200" VPOS="200" WIDTH="90" HEIGHT="60" '
    'CONTENT="vieja"/></TextLine>'
)


def words(content: str, first: str, hyphen: str) -> str:
    return (
        f'<String HPOS="60" VPOS="100" WIDTH="90" HEIGHT="60" CONTENT="{content}"/><SP/><String HPOS="200" VPOS="100" WIDTH="90" '
        f'HEIGHT="60" CONTENT="{first}" SUBS_TYPE="HypPart1" SUBS_CONTENT="campana"/><HYP CONTENT="{hyphen}"/>'
    )


@pytest.mark.parametrize(
    ("first", "hyphen", "line"), [("cam", "\xad", "once cam\xad"), ("cam-", "-", "once cam-")]
)
def test_a_hyphen_of_alto_is_read_once_wherever_it_stands(
    desk: Desk, first: str, hyphen: str, line: str
) -> None:
    desk.read(alto_xml(words("once", first, hyphen), SECOND))
    assert desk.export("plain-text")[0] == f"{line}\npana vieja\n"
    content = desk.export("alto")[0]
    assert content.count('SUBS_CONTENT="campana"') == 2


def test_of_several_texts_the_lowest_index_counts(desk: Desk) -> None:
    several = page_xml(("wrong", "")).replace("<TextEquiv>", '<TextEquiv index="1">')
    right = '<TextEquiv index="0"><Unicode>right</Unicode></TextEquiv></TextLine>'
    desk.read(several.replace("</TextLine>", right))
    assert desk.export("plain-text")[0] == "right\n"


def test_a_line_that_was_corrected_counts_where_its_words_were_not(desk: Desk) -> None:
    inside = "".join(
        f'<Word id="w{n}"><Coords points="{60 + 100 * n},0 {150 + 100 * n},0 {150 + 100 * n},80"/><TextEquiv><Unicode>{word}'
        "</Unicode></TextEquiv></Word>"
        for n, word in enumerate(("Tbe", "wrong"))
    )
    desk.read(page_xml(("The right line", ""), words=inside))
    content, losses = desk.export("alto")
    assert 'CONTENT="The right line"' in content
    assert [loss["count"] for loss in losses if loss["what"] == "words of lines"] == [2]


def test_alto_without_a_file_name_in_pixels_that_are_called_tenths_of_millimetres(desk: Desk) -> None:
    one = '<String HPOS="60" VPOS="100" WIDTH="100" HEIGHT="60" CONTENT="words"/>'
    desk.read(alto_xml(one).replace(">pixel<", ">mm10<"))
    with desk.library.db.read() as conn:
        left, notes = conn.exec_driver_sql(
            "SELECT s.bbox_x, f.notes FROM segment s JOIN format_import f ON f.pass_id = s.pass_id WHERE s.kind = 'line'"
        ).one()
    assert round(left, 3) == 0.06
    assert "pixel" in str(notes)


def test_what_a_file_says_in_vain_is_named(desk: Desk) -> None:
    desk.read(page_xml(("", ""), ("said", "")))
    assert "empty texts of the file" in desk.name_losses("pagexml")
    one = '<String ID="a" HPOS="60" VPOS="100" WIDTH="100" HEIGHT="60" CONTENT="words" TAGREFS="NOWHERE" CC="00000"/><SP/>'
    two = '<String ID="b" HPOS="160" VPOS="100" WIDTH="100" HEIGHT="60" CONTENT="more"/>'
    pass_id = desk.read(alto_xml(one + two), "b.xml")
    desk.act("segment.pass_choose", pass_id=pass_id, working=True)
    assert "attribute TAGREFS" in desk.name_losses("alto")
    with desk.library.db.read() as conn:
        line = conn.exec_driver_sql(
            "SELECT id FROM segment WHERE pass_id = ? AND kind = 'line'", (pass_id,)
        ).scalar_one()
    desk.act("representation.create", segment_id=line, text="other words")
    assert "attribute String/@CC" in desk.name_losses("alto")
