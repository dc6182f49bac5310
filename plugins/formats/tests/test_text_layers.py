"""The text that PDFs have themselves: a pass of each page with its words and their boxes, by which the page is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, Invalid, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_documents.api import OpenedPdf
from armarium_testing.sample_files import sample_pdf, write_pdf

SHOWN, INVISIBLE = "0 Tr", "3 Tr"


def rows(library: Library, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    with library.db.read() as conn:
        return raw_of(conn).execute(statement, given).fetchall()


def import_pdf(engine: Engine, library: Library, path: Path, data: bytes, **how: Any) -> dict[str, Any]:
    """Import a folder with one PDF; return the result of the job that read its text."""
    import orjson

    path.write_bytes(data)
    engine.run(library, "document.import", {"folder": str(path.parent), **how}, LOCAL_OWNER)
    engine.jobs.run_until_idle(library)
    found_rows = rows(
        library, "SELECT state, result FROM job WHERE kind = 'ingest-layouts' ORDER BY id DESC LIMIT 1"
    )
    state, result = found_rows[0]
    assert state == "done"
    return dict(orjson.loads(result))


def pages_of(library: Library) -> list[str]:
    return [
        row[0] for row in rows(library, "SELECT id FROM document WHERE doc_type = 'page' ORDER BY sequence")
    ]


def read_text(client: Any, page: str) -> dict[str, Any]:
    return dict(client.get(f"/api/segments/document/{page}/text").json())


@pytest.mark.parametrize("mode", [SHOWN, INVISIBLE], ids=["shown", "behind the scan"])
def test_a_pdf_with_a_text_layer_is_read_and_found_without_a_reader(
    mode: str, engine: Engine, library: Library, client: Any, tmp_path: Path
) -> None:
    drawn = f"BT {mode} /F1 9 Tf 6 24 Td (El molino de arriba) Tj ET"
    place = tmp_path / "box" / "t.pdf"
    place.parent.mkdir()
    imported = import_pdf(engine, library, place, write_pdf([drawn], "/MediaBox [0 0 144 48]"))
    assert (imported["texts"], imported["notes"]) == (1, [])
    (page,) = pages_of(library)
    text = read_text(client, page)
    assert (text["text"], text["pass_basis"]) == ("El molino de arriba", "text-layer")
    answer = client.post("/api/search", json={"query": "molino", "search_type": "fulltext"}).json()
    assert [result["document_id"] for result in answer["results"]] == [page]
    written_answer = client.get(f"/api/documents/{page}/export/pagexml").json()
    assert "<Unicode>molino</Unicode>" in written_answer["content"]
    words = rows(
        library,
        "SELECT r.content, s.bbox_x, s.bbox_y, s.bbox_w, s.bbox_h FROM segment s"
        " JOIN content_representation r ON r.segment_id = s.id WHERE s.kind = 'word' ORDER BY s.bbox_x",
    )
    assert [word[0] for word in words] == ["El", "molino", "de", "arriba"]
    first = words[0]
    assert first[1] == pytest.approx(6 / 144, abs=0.002)
    assert first[2] < 1 - 24 / 48 < first[2] + first[4]
    assert rows(
        library,
        "SELECT json_extract(metadata, '$.pdf_text_layer_present') FROM document WHERE name = 't.pdf'",
    ) == [(1,)]


def test_a_pdf_without_a_text_layer_says_so(engine: Engine, library: Library, tmp_path: Path) -> None:
    place = tmp_path / "box" / "scan.pdf"
    place.parent.mkdir()
    imported = import_pdf(engine, library, place, write_pdf(["0 0 m 72 48 l S"]))
    assert imported["texts"] == 0
    assert imported["notes"][0]["note"].startswith("It has no text layer")
    assert rows(library, "SELECT count(*) FROM segment_pass") == [(0,)]
    imported = import_pdf(
        engine, library, place, write_pdf(["0 0 m 72 48 l S", "BT /F1 9 Tf 6 24 Td (Two) Tj ET"])
    )
    assert imported["texts"] == 1
    assert imported["notes"][0]["note"].startswith("1 of its pages has no text layer")


def test_importing_again_reads_a_text_layer_once(engine: Engine, library: Library, tmp_path: Path) -> None:
    place = tmp_path / "box" / "t.pdf"
    place.parent.mkdir()
    for _ in range(2):
        import_pdf(engine, library, place, sample_pdf("One", "Two"))
    assert rows(library, "SELECT count(*) FROM segment_pass") == [(2,)]


def test_an_import_with_text_layers_is_undone_as_one(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    place = tmp_path / "box" / "t.pdf"
    place.parent.mkdir()
    import_pdf(engine, library, place, sample_pdf("One", "Two"))
    steps = [
        row[0]
        for row in rows(library, "SELECT id FROM audit WHERE set_id IS NOT NULL AND inverse_of IS NULL")
    ]
    assert len(steps) == 2
    engine.undo(library, steps, LOCAL_OWNER)
    assert rows(library, "SELECT count(*) FROM segment_pass") == [(0,)]
    assert rows(library, "SELECT count(*) FROM document WHERE doc_type = 'page'") == [(0,)]


def test_files_that_were_sent_get_their_pages_pictured_and_read_after_the_request(
    engine: Engine, library: Library, client: Any
) -> None:
    answer = client.post(
        "/api/documents/import-batch",
        files=[("files", ("t.pdf", sample_pdf("One", "Two"), "application/pdf"))],
    )
    assert answer.status_code == 200, answer.text
    pages = pages_of(library)
    assert len(pages) == 2
    assert rows(library, "SELECT count(*) FROM rendition WHERE NOT materialized") == [(2,)]
    engine.jobs.run_until_idle(library)
    assert rows(library, "SELECT count(*) FROM rendition WHERE NOT materialized") == [(0,)]
    assert rows(library, "SELECT kind FROM job WHERE id = ?", answer.json()["job_id"]) == [("page-pictures",)]
    assert [read_text(client, page)["text"] for page in pages] == ["One", "Two"]
    assert client.get(f"/api/documents/{pages[0]}/thumbnail").status_code == 200
    steps = [
        row[0] for row in rows(library, "SELECT id FROM audit WHERE set_id = ?", answer.json()["job_id"])
    ]
    engine.undo(library, steps, LOCAL_OWNER)
    assert rows(library, "SELECT count(*) FROM rendition") == [(0,)]


def test_a_page_that_cannot_be_pictured_is_named_and_the_others_are_there(
    engine: Engine, library: Library, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium.api import Invalid

    pictured = OpenedPdf.picture

    def fail_at_two(self: OpenedPdf, index: int) -> Any:
        if index == 1:
            raise Invalid("Page 2 cannot be rendered: it is torn.")
        return pictured(self, index)

    monkeypatch.setattr(OpenedPdf, "picture", fail_at_two)
    sent = ("t.pdf", sample_pdf("One", "Two", "Three"), "application/pdf")
    client.post("/api/documents/import-batch", files=[("files", sent)])
    engine.jobs.run_until_idle(library)
    ((result,),) = rows(library, "SELECT result FROM job WHERE kind = 'page-pictures'")
    assert "t.pdf, page 2" in result
    assert rows(library, "SELECT count(*) FROM rendition WHERE NOT materialized") == [(1,)]


@pytest.mark.parametrize("turn", [0, 90, 180, 270, -90])
def test_words_stand_where_they_are_drawn_however_the_page_is_turned_and_cropped(
    turn: int, tmp_path: Path
) -> None:
    place = tmp_path / "r.pdf"
    stated = f"/MediaBox [0 0 400 300] /CropBox [40 30 360 270] /Rotate {turn}"
    place.write_bytes(write_pdf(["BT /F1 24 Tf 100 200 Td (turned) Tj ET"], stated))
    with OpenedPdf(place) as imported:
        picture, _ = imported.picture(0)
        assert imported.size(0) == picture.size == ((1334, 1000) if turn % 180 == 0 else (1000, 1334))
        (line,) = imported.text_layer(0)
    ink = picture.convert("L").point(lambda value: 255 if value < 128 else 0).getbbox()
    assert ink is not None
    assert line.text == "turned"
    left, top, right, bottom = line.box
    assert [left - 4 <= ink[0], top - 4 <= ink[1], right + 4 >= ink[2], bottom + 4 >= ink[3]] == [True] * 4
    assert (right - left) * (bottom - top) < 2.5 * (ink[2] - ink[0]) * (ink[3] - ink[1])


def test_columns_and_turned_lines_are_lines_of_their_own(tmp_path: Path) -> None:
    place = tmp_path / "c.pdf"
    drawn = (
        "BT /F1 10 Tf 20 200 Td (left one) Tj ET BT /F1 10 Tf 220 200 Td (right one) Tj ET "
        "BT /F1 10 Tf 20 188 Td (left two) Tj ET BT /F1 10 Tf 0 1 -1 0 390 20 Tm (along the edge) Tj ET"
    )
    place.write_bytes(write_pdf([drawn], "/MediaBox [0 0 400 300]"))
    with OpenedPdf(place) as imported:
        lines = imported.text_layer(0)
    assert [line.text for line in lines] == ["left one", "right one", "left two", "along the edge"]
    left, top, right, bottom = lines[3].box
    assert bottom - top > 3 * (right - left)


def test_a_text_layer_of_unreadable_characters_or_beyond_the_page_is_none(tmp_path: Path) -> None:
    from armarium_documents.text_layers import Word, lines_from

    assert lines_from([Word("\ufffd\ufffd\ufffda", (0, 0, 10, 5))], 100, 100) == []
    assert lines_from([Word("beyond", (120, 0, 140, 5))], 100, 100) == []
    (line,) = lines_from([Word("a\x00b", (-5, 0, 10, 5)), Word("c", (12, 0, 20, 5))], 100, 100)
    assert (line.text, line.box) == ("ab c", (0, 0, 20, 5))


def test_only_a_pdf_has_a_text_layer(engine: Engine, library: Library, page_document: str) -> None:
    with pytest.raises(Invalid, match="not a PDF"):
        engine.run(library, "format.read_text_layer", {"document_id": page_document}, LOCAL_OWNER)
