"""Exports of hands, signs and editorial facts: as TEI elements, as tags of PAGE lines, or else as losses."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from paleography_project import FAMILIES, Page, PaleographyProject

from armarium.api import Engine
from armarium_formats.tei.driver import Tei
from armarium_testing.samples import slow_too

NS = "{http://www.tei-c.org/ns/1.0}"
TEXT = "In principio ꝓ erat uerbum"
TABLE = [
    ("unclear", "unclear"), ("restored", "supplied"), ("supplied", "supplied"),
    ("superfluous", "surplus"), ("deleted", "del"), ("added", "add"),
]  # fmt: skip


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with paleography, images and formats."""
    names = (*FAMILIES[:2], "images", "formats", "paleography")
    return make_engine(
        plugins=[importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in names]
    )


def export(project: PaleographyProject, page: Page, name: str) -> tuple[str, Counter[str]]:
    answer = project.get(f"/documents/{page.id}/export/{name}", pass_id=page.pass_id)
    losses: Counter[str] = Counter()
    for loss in answer["losses"]:
        losses[loss["what"]] += loss["count"]
    return answer["content"], losses


def export_tei(project: PaleographyProject, page: Page) -> tuple[Any, Counter[str]]:
    """Return the tree of the TEI export, which is valid, and its losses."""
    content, losses = export(project, page, "tei")
    tree = etree.fromstring(content.encode())
    assert Tei().validate(content) == []
    answer = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = Path(answer) if answer else Path(__file__).resolve().parents[4] / "shared" / "data"
    place = folder / "schemas" / "tei_all-4.7.0.rng"
    if slow_too() and place.is_file():
        schema = compile_schema(place)
        assert schema.validate(tree), schema.error_log
    return tree, losses


@cache
def compile_schema(place: Path) -> etree.RelaxNG:
    """Return the schema in a file; cached, because compiling that of TEI takes seconds."""
    return etree.RelaxNG(etree.parse(str(place)))


def state_fact(
    project: PaleographyProject, line: str, kind: str, span: tuple[int, int] | None = None, **more: Any
) -> dict[str, Any]:
    places = {} if span is None else {"char_start": span[0], "char_end": span[1]}
    return project.post("/editorial", {"segment_id": line, "kind": kind, **places, **more})


def test_each_kind_of_fact_is_exported_as_its_tei_element(project: PaleographyProject) -> None:
    page = project.page([TEXT] * len(TABLE), picture=True)
    for line, (kind, _) in zip(page.lines, TABLE, strict=True):
        state_fact(project, line, kind, (3, 12), reason="worn away", certainty=0.5, place="above", source="the print",
            extent="one word", extent_quantity=9, extent_unit="chars")  # fmt: skip
    tree, losses = export_tei(project, page)
    for _, name in TABLE:
        for element in tree.iter(f"{NS}{name}"):
            assert element.text == "principio"
            assert (element.get("cert"), element.get("quantity"), element.get("unit")) == (
                "0.5",
                "9",
                "chars",
            )
    written = [one.tag.removeprefix(NS) for one in tree.find(f".//{NS}body").iter() if one.get("quantity")]
    assert written == [name for _, name in TABLE]
    assert next(tree.iter(f"{NS}add")).get("place") == "above"
    assert next(tree.iter(f"{NS}unclear")).get("reason") == "worn away"
    assert losses["sources of editorial facts"] == 6
    assert losses["places of editorial facts"] == 5
    assert losses["reasons of editorial facts"] == 2


def test_lost_text_is_a_gap_and_a_fact_without_a_span_covers_its_line(project: PaleographyProject) -> None:
    page = project.page([TEXT, TEXT, TEXT], picture=True)
    removed_page = project.page(lines=1, picture=True)
    state_fact(
        project, page.lines[0], "lost", (12, 12), reason="hole", extent_quantity=2, extent_unit="chars"
    )
    state_fact(project, page.lines[1], "lost")
    state_fact(project, page.lines[2], "added", place="margin")
    state_fact(project, removed_page.lines[0], "lost", reason="cut away")
    tree, _ = export_tei(project, page)
    gaps = list(tree.iter(f"{NS}gap"))
    assert [(gap.get("reason"), gap.get("quantity"), gap.tail and gap.tail.strip()) for gap in gaps] == [
        ("hole", "2", "ꝓ erat uerbum"), (None, None, gaps[1].tail and gaps[1].tail.strip()),
    ]  # fmt: skip
    assert next(tree.iter(f"{NS}add")).text == TEXT
    tree, _ = export_tei(project, removed_page)
    assert next(tree.iter(f"{NS}gap")).get("reason") == "cut away"


def test_facts_nest_and_those_that_overlap_are_losses(project: PaleographyProject) -> None:
    page = project.page([TEXT, TEXT], picture=True)
    state_fact(project, page.lines[0], "added", (3, 14))
    state_fact(project, page.lines[0], "unclear", (3, 12))
    state_fact(project, page.lines[1], "added", (3, 14))
    state_fact(project, page.lines[1], "unclear", (10, 19))
    tree, losses = export_tei(project, page)
    assert losses[f"1 editorial fact: {' '.join(TEXT[10:19].split())}"] == 1
    first, second = tree.iter(f"{NS}add")
    assert (first[0].tag, first[0].text, first[0].tail) == (f"{NS}unclear", "principio", " ꝓ")
    assert (second.text, len(second)) == ("principio ꝓ", 0)
    assert "".join(tree.find(f".//{NS}body").itertext()).split() == (TEXT.split() * 2)


def test_hands_and_signs_are_declared_and_pointed_at(project: PaleographyProject) -> None:
    page = project.page([TEXT] * 4, picture=True)
    a, b = project.post("/hands", {"label": "A & B", "scribe": "Iohannes"})["id"], project.hand("B")
    for hand, line, sure in ((a, 0, 0.4), (b, 0, 0.9), (b, 1, None), (a, 3, None)):
        project.post(
            "/hands/attributions", {"hand_id": hand, "segment_id": page.lines[line], "certainty": sure}
        )
    sign = {"name": "pro", "picture_segment_id": page.lines[0], "code_point": "U+A753"}
    listed = [{"authority": "Cappelli", "number": "257"}]
    answer = project.post("/signs", {**sign, "list_references": listed})["id"]
    bare = project.post("/signs", {"name": "a cross", "picture_segment_id": page.lines[0]})["id"]
    for one, line in ((answer, 0), (bare, 1)):
        project.post(f"/signs/{one}/instances", {"segment_id": page.lines[line]})
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    project.send("PUT", f"/campaigns/segment/{page.lines[0]}", {"campaign_id": campaign})
    project.send("PUT", f"/letterforms/segment/{page.lines[0]}", {"character": "g"})
    tree, losses = export_tei(project, page)
    notes = {
        element.get("{http://www.w3.org/XML/1998/namespace}id"): element
        for element in tree.iter(f"{NS}handNote")
    }
    assert {note[0].text for note in notes.values()} == {"A & B", "B"}
    shifts = [element.get("new") for element in tree.iter(f"{NS}handShift")]
    assert shifts == [f"#hand-{b}", None, f"#hand-{a}"]
    (g,) = tree.iter(f"{NS}g")
    assert (g.get("ref"), g.text) == (f"#sign-{answer}", "ꝓ")
    assert next(tree.iter(f"{NS}mapping")).text == "ꝓ"
    assert {what: losses[what] for what in ("rival judgements of hands", "places of signs", "campaigns of lines", "letterforms")} == {
        "rival judgements of hands": 1, "places of signs": 1, "campaigns of lines": 1, "letterforms": 1,
    }  # fmt: skip


def test_page_xml_has_the_facts_and_alto_says_what_it_leaves(project: PaleographyProject) -> None:
    page = project.page([TEXT], picture=True)
    state_fact(project, page.lines[0], "unclear", (3, 12), reason="a; {b}")
    state_fact(project, page.lines[0], "lost", (14, 14))
    project.post("/hands/attributions", {"hand_id": project.hand(), "segment_id": page.lines[0]})
    content, losses = export(project, page, "pagexml")
    (line,) = etree.fromstring(content.encode()).iter("{*}TextLine")
    custom = line.get("custom")
    assert "unclear {offset:3; length:9; reason:a" in custom
    assert "gap {offset:14; length:0;}" in custom
    assert (losses["hands"], losses["editorial facts"]) == (1, 0)
    _, losses = export(project, page, "alto")
    assert (losses["hands"], losses["editorial facts"]) == (1, 2)


def test_facts_of_a_reading_that_the_file_does_not_hold_are_a_loss(project: PaleographyProject) -> None:
    page = project.page([TEXT], picture=True)
    state_fact(project, page.lines[0], "unclear", (3, 12))
    project.post(f"/segments/{page.lines[0]}/correct", {"text": "nihil"})
    tree, losses = export_tei(project, page)
    assert losses["editorial facts of other readings"] == 1
    assert list(tree.iter(f"{NS}unclear")) == []
