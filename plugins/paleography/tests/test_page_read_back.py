"""Editorial facts read from `custom` of PAGE lines become rows of the project, and are exported in their
current state.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree
from paleography_project import Page, PaleographyProject
from test_exports import TABLE, TEXT, engine, export, state_fact
from test_tei_read_back import FACTS, TEXTS, read

__all__ = ["engine"]

NS = "{http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15}"


def customs(content: str) -> list[str]:
    lines = etree.fromstring(content.encode()).iter(f"{NS}TextLine")
    return [re.sub(r" ?made \{[^{}]*\}", "", line.get("custom", "")) for line in lines]


def import_again(project: PaleographyProject, page: Page, content: str) -> tuple[Page, dict[str, Any]]:
    answer = read(project, page, content)
    (one,) = answer.get("passes", [answer])
    lines = [
        row[0]
        for row in project.rows(
            "SELECT id FROM segment WHERE pass_id = ? AND kind = 'line' ORDER BY bbox_y", one["pass_id"]
        )
    ]
    return Page(page.id, one["pass_id"], lines), answer


def test_a_page_round_trip_keeps_words_and_facts(project: PaleographyProject) -> None:
    page = project.page([TEXT] * 8, picture=True)
    for line, (kind, _) in zip(page.lines, TABLE, strict=False):
        place = {"place": "above"} if kind == "added" else {}
        reason = {} if kind in ("deleted", "added") else {"reason": "worn away"}
        state_fact(project, line, kind, (3, 12), certainty=0.5, extent="one word", extent_quantity=9, extent_unit="chars",
            **reason, **place)  # fmt: skip
    state_fact(project, page.lines[6], "lost", (12, 12), reason="hole")
    # Overlapping facts are no loss here, since tags of a line need not nest.
    state_fact(project, page.lines[7], "added", (3, 14))
    state_fact(project, page.lines[7], "unclear", (10, 18))
    content, losses = export(project, page, "pagexml")
    assert not losses["editorial facts"]
    again, answer = import_again(project, page, content)
    assert "editorial facts (9)" in str(answer)
    assert project.rows(FACTS, again.pass_id) == project.rows(FACTS, page.pass_id)
    assert project.rows(TEXTS, again.pass_id) == project.rows(TEXTS, page.pass_id)
    assert customs(export(project, again, "pagexml")[0]) == customs(content)
    # A fact that was withdrawn since does not return with the text of the old file.
    fact = project.get(f"/editorial/segment/{again.lines[0]}")["facts"][0]
    project.post(f"/editorial/{fact['id']}/withdraw")
    assert "unclear" not in customs(export(project, again, "pagexml")[0])[0]


def test_custom_tags_of_other_programs_are_read_as_far_as_possible(project: PaleographyProject) -> None:
    page = project.page([TEXT] * 4, picture=True)
    content, _ = export(project, page, "pagexml")
    root = etree.fromstring(content.encode())
    tags = [
        "readingOrder {index:0;} unclear {offset:3; length:9;} abbrev {offset:0; length:2; expansion:Item;}",
        "gap {offset:5; length:0; reason:hole; quantity:2; unit:chars;} supplied {offset:3; length:90;}",
        "unclear {offset:-1; length:2;} unclear {length:2;} unclear {offset:2; length:0;} unclear {offset:x; length:1;}",
        "add {offset:0; length:2; continued:true; hand:B; certainty:7; quantity:1e9; unit:chars;}",
    ]
    for line, tag in zip(root.iter(f"{NS}TextLine"), tags, strict=True):
        line.set("custom", tag)
    again, answer = import_again(project, page, etree.tostring(root, encoding="unicode"))
    assert [row[:6] for row in project.rows(FACTS, again.pass_id)] == [
        ("unclear", 3, 12, None, None, None),
        ("lost", 5, 5, "hole", None, 2),
        ("added", 0, 2, None, None, None),
    ]
    said = str(answer)
    assert "The tag supplied refers to characters that its text does not have" in said
    assert "The tag unclear refers to characters that its text does not have" in said
    assert "A tag add extends over several lines" in said
    assert "A tag add states hand, for which an editorial fact has no place" in said
    out = customs(export(project, again, "pagexml")[0])
    assert "abbrev {offset:0; length:2; expansion:Item;}" in out[0]
    assert out[0].count("unclear") == 1
    assert "readingOrder {index:0;}" in out[0]


def test_without_paleography_the_tags_are_preserved() -> None:
    from armarium_formats.page_model import PageSegment, PageText, TextMark
    from armarium_formats.pagexml.marking import read_marks, with_marks

    custom = "unclear {offset:1; length:2;} add {offset:0; length:1;}"
    line = PageSegment("l", "line", texts=[PageText("abcd")])
    notes: list[str] = []
    assert read_marks(f"readingOrder {{index:0;}} {custom}", line, notes.append) == "readingOrder {index:0;}"
    assert [(mark.kind, mark.start, mark.end) for mark in line.texts[0].marks] == [
        ("unclear", 1, 3),
        ("added", 0, 1),
    ]
    assert with_marks(None, line, print) == custom
    line.texts[0].marks = [TextMark("added", 0, 1)]
    assert with_marks(custom, line, print).count("add ") == 1
    region = PageSegment("r", "region")
    read_marks(custom, region, notes.append)
    assert len(set(notes)) == 1
