"""Hands, signs and editorial facts read from TEI become rows of the project, and are the same when exported
again.
"""

from __future__ import annotations

import re
from typing import Any

from paleography_project import Page, PaleographyProject
from test_exports import TABLE, TEXT, engine, export, state_fact

from armarium_formats.tei.facts import marks_in

__all__ = ["engine"]

FACTS = (
    "SELECT f.kind, f.char_start, f.char_end, f.reason, f.extent, f.extent_quantity, f.extent_unit, f.certainty, f.place"
    " FROM editorial_fact f JOIN segment s ON s.id = f.segment_id"
    " WHERE s.pass_id = ? AND f.withdrawn_at IS NULL ORDER BY s.bbox_y, f.char_start, f.char_end DESC, f.kind"
)
TEXTS = (
    "SELECT r.content FROM content_representation r JOIN segment s ON s.id = r.segment_id"
    " WHERE s.pass_id = ? AND r.kind = 'transcription' ORDER BY s.bbox_y"
)


def read(project: PaleographyProject, page: Page, content: str) -> dict[str, Any]:
    sent = {"file": ("1.xml", content.encode(), "application/xml")}
    answer = project.client.post(f"/api/documents/{page.id}/import", files=sent)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_tei_round_trip_keeps_words_facts_hands_and_signs(project: PaleographyProject) -> None:
    page = project.page([TEXT] * 10, picture=True)
    for line, (kind, _) in zip(page.lines, TABLE, strict=False):
        place = {"place": "above"} if kind == "added" else {}
        reason = {} if kind in ("deleted", "added") else {"reason": "worn away"}
        state_fact(project, line, kind, (3, 12), certainty=0.5, extent="one word", extent_quantity=9, extent_unit="chars",
            **reason, **place)  # fmt: skip
    state_fact(project, page.lines[6], "lost", (12, 12), reason="hole")
    state_fact(project, page.lines[7], "added", (3, 14))
    state_fact(project, page.lines[7], "unclear", (3, 12))
    state_fact(project, page.lines[8], "restored", (3, 12))
    state_fact(project, page.lines[9], "supplied", (3, 12), reason="lost elsewhere")
    hand, other = (
        project.hand("A & B"),
        project.post("/hands", {"label": "B", "scribe": "Iohannes", "notes": "a\nb"})["id"],
    )
    for one, line in ((hand, 1), (hand, 2), (other, 3)):
        project.post("/hands/attributions", {"hand_id": one, "segment_id": page.lines[line]})
    listed = [{"authority": "Cappelli", "number": "257"}]
    sign = {
        "name": "pro",
        "picture_segment_id": page.lines[0],
        "code_point": "U+A753",
        "list_references": listed,
    }
    pro = project.post("/signs", sign)["id"]
    project.post(f"/signs/{pro}/instances", {"segment_id": page.lines[8]})
    content, _ = export(project, page, "tei")

    second_page = project.page(lines=1, picture=True)
    answer = read(project, second_page, content)
    read_in = answer["pass_id"]
    assert [text for (text,) in project.rows(TEXTS, read_in)] == [TEXT] * 10
    assert project.rows(FACTS, read_in) == project.rows(FACTS, page.pass_id)
    assert len(project.rows(FACTS, read_in)) == 11
    of_hands = (
        "SELECT a.hand_id FROM hand_attribution a JOIN segment s ON s.id = a.segment_id WHERE s.pass_id = ?"
        " ORDER BY s.bbox_y"
    )
    assert project.rows(of_hands, read_in) == [(hand,), (hand,), (other,)]
    assert project.get("/hands")["count"] == 2
    assert len(project.get(f"/signs/{pro}/instances")["items"]) == 2
    assert any(
        "records of the project" in note and "editorial facts (11)" in note for note in answer["notes"]
    )

    # The export has the project's current state: a fact withdrawn since is not in it, though it was in the
    # imported file.
    (first, *_) = project.rows(
        "SELECT f.id FROM editorial_fact f JOIN segment s ON s.id = f.segment_id WHERE s.pass_id = ? AND f.kind = 'unclear'"
        " ORDER BY s.bbox_y", read_in)  # fmt: skip
    back = Page(second_page.id, read_in, [])

    def inside(xml: str) -> list[str]:
        body = re.sub(r' (facs|xml:id|corresp)="[^"]*"', "", xml[xml.index("<body") : xml.index("</body>")])
        return re.findall(r"<lb/>[^\n]*", body)

    once, losses = export(project, back, "tei")
    assert inside(once) == inside(content)
    assert losses["marks of characters"] == 0
    project.post(f"/editorial/{first[0]}/withdraw")
    assert export(project, back, "tei")[0].count("<unclear") == 1
    project.undo(answer["audit_id"], 409)


FOREIGN = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>T</title></titleStmt>
<publicationStmt><p>P</p></publicationStmt><sourceDesc><p>S</p></sourceDesc></fileDesc>
<encodingDesc><charDecl><char xml:id="et"><charName>TIRONIAN ET</charName><mapping>\u204a</mapping></char></charDecl></encodingDesc>
<profileDesc><handNotes><handNote xml:id="h1" scribe="Matthias">A neat cursive</handNote></handNotes></profileDesc></teiHeader>
<text><body><p><pb n="1"/><lb/><handShift new="#h1"/>one <g ref="#et">\u204a</g> <unclear reason="smudge" cert="high">t</unclear>wo
<lb/>so <del rend="strike">foul</del> <add place="above">fair</add> a <choice><sic>dey</sic><corr>day</corr></choice>
<lb/>here <supplied reason="lost">is <gap reason="hole" quantity="2" unit="chars"/>what</supplied> is <handShift new="#h9"/>gone
</p></body></text></TEI>"""


def test_tei_from_elsewhere_gives_facts_and_notes_the_rest(project: PaleographyProject) -> None:
    page = project.page(lines=1, picture=True)
    answer = read(project, page, FOREIGN)
    of = answer["pass_id"]
    texts = [text for (text,) in project.rows(TEXTS.replace("bbox_y", "created_at, s.rowid"), of)]
    assert sorted(texts) == sorted(["one \u204a two", "so fair a dey", "here is what is gone"])
    kinds = sorted((row[0], row[1], row[2], row[3]) for row in project.rows(FACTS, of))
    assert kinds == [
        ("added", 3, 7, None), ("lost", 8, 8, "hole"), ("restored", 5, 12, None), ("unclear", 6, 7, "smudge"),
    ]  # fmt: skip
    (hand,) = project.get("/hands")["items"]
    assert (hand["label"], hand["scribe"], hand["provenance_kind"]) == (
        "A neat cursive",
        "Matthias",
        hand["provenance_kind"],
    )
    (sign,) = project.get("/signs")["items"]
    assert (sign["name"], sign["code_point"]) == ("TIRONIAN ET", "U+204A")
    notes = " ".join(answer["notes"])
    assert "do not become editorial facts" in notes
    assert "A hand changes within a line" in notes
    content, losses = export(project, Page(page.id, of, []), "tei")
    assert losses["marks of characters"] == 0
    for kept in (
        '<del rend="strike">foul</del>',
        "<corr>day</corr>",
        'cert="high"',
        '<g ref="#et">',
        "#hand-",
    ):
        assert kept in content, kept
    assert content.count("<handShift") == 1


def test_hostile_markup_of_a_line_creates_no_fact_and_no_error() -> None:
    for fragment, plain in (
        ("<unclear>a", "a"), ("<unclear><x:y>a</x:y></unclear>", "a"), ("<g ref=''>a</g>", "a"),
        ("<unclear/>a", "a"), ("<add>" * 300 + "a" + "</add>" * 300, "b"), ("<unclear>other</unclear>", "a"),
        ("<gap quantity='nan' unit='x' cert='7'/>a", "a"), ("&lol;<add>a</add>", "a"),
    ):  # fmt: skip
        marks = marks_in(fragment, plain)
        assert not marks.is_all, fragment
        assert {mark.kind for mark in marks.marks} <= {"lost", "markup"}, fragment[:80]
        assert all("quantity" not in mark.stated and "certainty" not in mark.stated for mark in marks.marks)
