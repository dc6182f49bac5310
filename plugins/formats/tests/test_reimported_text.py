"""A page exported as plain text, corrected in an editor and imported again keeps the shapes of the lines that
match.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.opening import open_layout
from armarium_formats.queries.exchange import Picture, export_page, picture_of
from armarium_formats.retracing import match_lines, retrace

LINES = (
    "In the name of God amen",
    "I John Miller of the parish",
    "of Saint Mary being weak",
    "in body but of good memory",
    "do make this my last will",
)


def page_xml(*regions: tuple[str, ...]) -> str:
    """Return a PAGE file with a baseline in each line, each line 100 pixels below the one before."""
    body, number = "", 0
    for name, lines in enumerate(regions):
        inner, top = "", 100 * number
        for line in lines:
            y = 100 * number
            text = f"<TextEquiv><Unicode>{line}</Unicode></TextEquiv>" if line else ""
            inner += (
                f'<TextLine id="l{number}"><Coords points="50,{y} 900,{y + 5} 900,{y + 80} 50,{y + 80}"/>'
                f'<Baseline points="50,{y + 70} 900,{y + 72}"/>{text}</TextLine>'
            )
            number += 1
        body += f'<TextRegion id="r{name}"><Coords points="40,{top} 950,{top} 950,{100 * number} 40,{100 * number}"/>{inner}</TextRegion>'
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata><Creator>t</Creator>'
        "<Created>2020-01-01T00:00:00</Created><LastChange>2020-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="a.jpg" imageWidth="1000" imageHeight="1400">{body}</Page></PcGts>'
    )


def import_text(
    engine: Engine, library: Library, page: str, text: str, filename: str, **more: Any
) -> dict[str, Any]:
    params = {"document_id": page, "file": text, "filename": filename, **more}
    return dict(engine.run(library, "format.import", params, LOCAL_OWNER).result or {})


def import_picture(engine: Engine, library: Library, folder: Path) -> str:
    """Import a picture of 1000 x 1400 pixels; return its page's id."""
    from PIL import Image

    source = folder / "pictures"
    source.mkdir()
    Image.new("L", (1000, 1400), 200).save(source / "0001.png")
    engine.run(library, "document.import", {"folder": str(source)}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        return str(conn.exec_driver_sql("SELECT document_id FROM rendition WHERE is_primary").scalar_one())


def lines_with_rows(library: Library, pass_id: str) -> list[tuple[str, int | None]]:
    """Return the text of each line of a pass with the number of its 100-pixel row by its baseline, None
    without one.
    """
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT r.content, s.baseline FROM segment s JOIN content_representation r ON r.segment_id = s.id"
            " WHERE s.pass_id = ? AND s.kind = 'line' ORDER BY s.id",
            (pass_id,),
        ).all()
    return [
        (said, None if drawn is None else round(orjson.loads(drawn)[0][1] * 1400 - 70) // 100)
        for said, drawn in rows
    ]


@pytest.fixture
def drawn(engine: Engine, library: Library, page_document: str) -> str:
    """The pass of a page with five drawn lines in two regions."""
    text = import_text(engine, library, page_document, page_xml(LINES[:2], LINES[2:]), "a.xml", name="drawn")
    return str(text["pass_id"])


def test_a_corrected_text_keeps_every_shape(
    engine: Engine, library: Library, page_document: str, drawn: str
) -> None:
    text = export_page(engine, library, page_document, "plain-text")["content"]
    new_text = import_text(
        engine, library, page_document, text.replace("Miller", "Muller").replace("memory", "mynde"), "a.txt"
    )
    assert lines_with_rows(library, new_text["pass_id"]) == [
        (line.replace("Miller", "Muller").replace("memory", "mynde"), number)
        for number, line in enumerate(LINES)
    ]
    assert "5 of 5 lines took over the shapes of the matching lines of the pass 'drawn'." in new_text["notes"]
    # The shapes are exported at the same pixels, those of the regions too.
    before, after = (
        export_page(engine, library, page_document, "pagexml", pass_id=one)["content"]
        for one in (drawn, new_text["pass_id"])
    )
    for kind in ("Coords", "Baseline"):
        assert [part.split('"')[1] for part in after.split(f"<{kind} ")[1:]] == [
            part.split('"')[1] for part in before.split(f"<{kind} ")[1:]
        ]


def test_a_line_added_has_no_shape_and_is_named(
    engine: Engine, library: Library, page_document: str, drawn: str
) -> None:
    rows = [LINES[0], "a line that nobody drew", *LINES[1:3], LINES[4]]
    text = import_text(engine, library, page_document, "\n".join(rows), "a.txt")
    assert lines_with_rows(library, text["pass_id"]) == [
        (LINES[0], 0), ("a line that nobody drew", None), (LINES[1], 1), (LINES[2], 2), (LINES[4], 4),
    ]  # fmt: skip
    (note,) = [note for note in text["notes"] if "took over the shapes" in note]
    assert note == (
        "4 of 5 lines took over the shapes of the matching lines of the pass 'drawn'; no single line there matches line 2; "
        "1 drawn there has no match."
    )
    exported = export_page(engine, library, page_document, "pagexml", pass_id=text["pass_id"])
    assert any("outline" in loss["what"] or "shape" in loss["what"] for loss in exported["losses"])


def test_lines_that_nobody_read_are_matched_by_their_number(
    engine: Engine, library: Library, page_document: str
) -> None:
    import_text(engine, library, page_document, page_xml(("", "", "")), "a.xml")
    text = import_text(engine, library, page_document, "one\ntwo\nthree\n", "a.txt")
    assert lines_with_rows(library, text["pass_id"]) == [("one", 0), ("two", 1), ("three", 2)]
    fewer = import_text(engine, library, page_document, "one\nthree\n", "b.txt")
    assert lines_with_rows(library, fewer["pass_id"]) == [
        ("one", 0),
        ("three", 2),
    ]  # of the newest pass, by line text


def test_an_ambiguous_line_gets_no_shape(engine: Engine, library: Library, page_document: str) -> None:
    import_text(
        engine, library, page_document, page_xml(("item one shilling", "item one shilling", "summa")), "a.xml"
    )
    text = import_text(engine, library, page_document, "item one shilling\nsumma\n", "a.txt")
    assert lines_with_rows(library, text["pass_id"]) == [("item one shilling", None), ("summa", 2)]


def test_shapes_of_a_pass_on_another_picture_are_not_used(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    page = import_picture(engine, library, tmp_path)
    import_text(engine, library, page, page_xml(LINES), "a.xml")
    for rendition, lent in ((picture_of, True), (lambda *_: Picture("another", (1000, 1400)), False)):
        opened = open_layout(engine, "\n".join(LINES).encode(), "a.txt", page_size=(1000, 1400))
        with library.db.read() as conn:
            picture = rendition(conn, page)
        retrace(library, page, opened, None, picture)
        assert [bool(line.points) for line in opened.pages[0].lines()] == [lent] * 5


def test_importing_the_same_text_twice_is_refused(
    engine: Engine, library: Library, page_document: str, drawn: str
) -> None:
    text = export_page(engine, library, page_document, "plain-text")["content"]
    import_text(engine, library, page_document, text, "a.txt")
    with pytest.raises(Conflict, match="already"):
        import_text(engine, library, page_document, text, "b.txt")


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_changed_no_line_takes_the_shape_of_another(seed: int) -> None:
    """Random edits with a known outcome: words of a line replaced, lines removed, lines inserted."""
    chance = Random(seed)
    words = [
        f"{chance.choice('bcdfgklmnprst')}{chance.choice('aeiou')}{chance.randrange(100, 999)}"
        for _ in range(400)
    ]
    drawn = [" ".join(chance.sample(words, 7)) for _ in range(chance.randrange(2, 30))]
    lines: list[str] = []
    truth: dict[int, int] = {}
    for number, said in enumerate(drawn):
        fate = chance.random()
        if fate < 0.15:
            continue
        if fate < 0.3:
            lines.append(" ".join(chance.sample(words, 7)))
        truth[len(lines)] = number
        parts = said.split()
        if chance.random() < 0.5:
            parts[chance.randrange(7)] = "corrected"
        lines.append(" ".join(parts))
    found_lines = dict(match_lines(lines, drawn))
    assert {mine: found_line for mine, found_line in found_lines.items() if mine in truth} == truth
    pairs = sorted(found_lines.items())
    assert all(one[0] < two[0] and one[1] < two[1] for one, two in combinations(pairs, 2))
