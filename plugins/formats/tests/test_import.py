"""Import is one step: a pass with segments and readings and the original bytes, or a refusal that writes
nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, Invalid, NotFound
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium_formats.api import Format, PageModel, PageSegment, PageText, ReadContext
from armarium_formats.queries.exchange import original_of
from armarium_testing.digest import differences, table_digests
from armarium_testing.sample_files import SAMPLE_PAGE

PAGE = SAMPLE_PAGE


def run(
    engine: Engine, library: Library, document_id: str, file: str | bytes = PAGE, **more: Any
) -> dict[str, Any]:
    params = {"document_id": document_id, "file": file, "filename": "letter.xml", **more}
    outcome = engine.run(library, "format.import", params, LOCAL_OWNER)
    return {**(outcome.result or {}), "audit_id": outcome.audit_id}


def rows(library: Library, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with library.db.read() as conn:
        return [tuple(row) for row in conn.exec_driver_sql(query, values)]


def test_a_page_file_becomes_a_pass(engine: Engine, library: Library, page_document: str) -> None:
    result = run(engine, library, page_document)
    assert result["format"] == "pagexml"
    assert result["counts"] == {"region": 1, "line": 1, "word": 0, "readings": 1}
    assert result["name"] == "PAGE XML: letter.xml"
    assert (result["pages_in_file"], result["pages_left_out"], result["unknown_classes"]) == (1, [], [])
    (row,) = rows(
        library,
        "SELECT provenance_kind, import_file, import_format, has_original FROM segment_pass WHERE id = ?",
        result["pass_id"],
    )
    assert row == ("external_import", "letter.xml", "pagexml", 1)
    segments = rows(
        library,
        "SELECT kind, kind_raw, bbox_x, bbox_y, bbox_w, bbox_h, provenance_kind FROM segment WHERE pass_id = ? ORDER BY id",
        result["pass_id"],
    )
    assert [segment[:2] for segment in segments] == [("region", "TextRegion"), ("line", None)]
    assert segments[0][2:6] == pytest.approx((0.1, 100 / 1400, 0.8, 300 / 1400))
    assert segments[0][6] == "external_import"
    assert rows(library, "SELECT content, confidence, provenance_kind FROM content_representation") == [
        ("Dear Sir", 0.9, "external_import")
    ]


def test_the_original_is_stored_byte_for_byte(engine: Engine, library: Library, page_document: str) -> None:
    data = PAGE.replace("\n", "\r\n").encode()
    result = run(engine, library, page_document, data)
    original = original_of(library, result["pass_id"])
    assert original.path.read_bytes() == data
    assert (original.filename, original.format) == ("letter.xml", "pagexml")


def test_a_pass_without_an_import_has_no_original(
    engine: Engine, library: Library, page_document: str
) -> None:
    result = engine.run(
        library, "segment.pass_create", {"document_id": page_document, "name": "by hand"}, LOCAL_OWNER
    ).result
    assert result is not None
    with pytest.raises(NotFound, match="not read from a file"):
        original_of(library, result["id"])
    with pytest.raises(NotFound):
        original_of(library, "nothing")


def test_the_same_bytes_again_are_refused_naming_the_pass(
    engine: Engine, library: Library, page_document: str
) -> None:
    result = run(engine, library, page_document)
    with pytest.raises(Conflict, match=result["pass_id"]) as refusal:
        run(engine, library, page_document, filename="copy.xml")
    assert refusal.value.code == "already_a_pass"
    assert refusal.value.fields == {"pass_id": result["pass_id"]}
    engine.run(library, "segment.pass_delete", {"pass_id": result["pass_id"]}, LOCAL_OWNER)
    assert run(engine, library, page_document)["pass_id"] != result["pass_id"]


def test_an_import_never_becomes_the_working_pass(
    engine: Engine, library: Library, page_document: str
) -> None:
    from armarium_source_model.api import list_passes

    run(engine, library, page_document)
    with library.db.read() as conn:
        (page_pass,) = list_passes(conn, page_document)
    assert (page_pass["working"], page_pass["working_basis"]) == (False, "imported-only")


def test_undo_removes_everything_imported(engine: Engine, library: Library, page_document: str) -> None:
    def digest() -> dict[str, str]:
        return table_digests(library.db, engine.library_schema)

    before = digest()
    result = run(engine, library, page_document)
    after = digest()
    assert {"segment", "segment_pass", "content_representation", "format_import"} <= set(
        differences(before, after)
    )
    undone = engine.undo(library, [result["audit_id"]], LOCAL_OWNER)
    assert differences(before, digest()) == []
    engine.undo(library, undone["audit_ids"], LOCAL_OWNER)
    assert differences(after, digest()) == []


def nothing_written(library: Library) -> bool:
    return not any(
        rows(library, f"SELECT 1 FROM {table}")
        for table in ("segment_pass", "segment", "content_representation", "format_import")
    )


@pytest.mark.parametrize(
    ("file", "words", "code"),
    [
        ("", "empty", "empty_file"),
        ("<recipe>Soup</recipe>", "Readable: ", "not_recognised"),
        ("<alto xmlns='http://www.loc.gov/standards/alto/ns-v4#'/>", "without a Page element", "no_page"),
        (PAGE[:-60], "not well-formed", "xml_malformed"),
        (
            PAGE.replace("120,120 880,120 880,180 120,180", "1120,120 1880,120 1880,180"),
            "l1",
            "shapes_outside",
        ),
        (PAGE.replace("120,170 880,172", "-50,170 -8,172"), "l1", "shapes_outside"),
        (PAGE.replace('imageWidth="1000"', 'imageWidth="0"'), "not declare the size", "no_page_size"),
        (
            '<!DOCTYPE PcGts [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + PAGE.partition("?>")[2],
            "DOCTYPE",
            "xml_doctype",
        ),
        (
            '<!DOCTYPE PcGts [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;">]>' + PAGE.partition("?>")[2],
            "DOCTYPE",
            "xml_doctype",
        ),
    ],
)
def test_a_bad_file_is_refused_in_words_and_nothing_is_written(
    engine: Engine, library: Library, page_document: str, file: str, words: str, code: str
) -> None:
    with pytest.raises(Invalid, match=words) as refusal:
        run(engine, library, page_document, file)
    assert refusal.value.code == code
    assert nothing_written(library)


def test_shapes_outside_are_all_named(engine: Engine, library: Library, page_document: str) -> None:
    outside = PAGE.replace("880,120", "1880,120").replace("900,100", "900,-100")
    with pytest.raises(Invalid, match=r"extend beyond it: r1, l1\..*beyond=clip") as refusal:
        run(engine, library, page_document, outside, beyond="refuse")
    assert refusal.value.fields == {"segments": ["r1", "l1"], "count": 2}


def test_a_pixel_or_two_beyond_the_edge_is_noted(
    engine: Engine, library: Library, page_document: str
) -> None:
    result = run(engine, library, page_document, PAGE.replace("900,100 900,400", "1001,-1 1002,1402"))
    assert any("beyond the page" in note for note in result["notes"])


def test_shapes_that_cannot_be_stored_are_preserved_raw_with_the_reason(
    engine: Engine, library: Library, page_document: str
) -> None:
    import orjson

    flat = PAGE.replace("120,120 880,120 880,180 120,180", "120,120 880,120").replace(
        "120,170 880,172", "5,5"
    )
    result = run(engine, library, page_document, flat)
    ((metadata, anchor, baseline),) = rows(
        library, "SELECT metadata, anchor, baseline FROM segment WHERE kind = 'line'"
    )
    kept = orjson.loads(metadata)
    assert kept["raw_polygon_px"] == [[120, 120], [880, 120]]
    assert kept["raw_baseline_px"] == [[5, 5]]
    assert kept["raw_pixel_frame"] == [1000, 1400]
    assert "2 points" in kept["geometry_problem"]
    assert "polygon" not in orjson.loads(anchor)
    assert baseline is None
    assert any("2 points" in note for note in result["notes"])


def test_a_format_can_be_named_in_any_case(engine: Engine, library: Library, page_document: str) -> None:
    assert run(engine, library, page_document, format="PAGE-XML", name="mine")["name"] == "mine"
    for asked in ("docx", "nonsense"):
        with pytest.raises(Invalid, match="Readable: ") as refusal:
            run(engine, library, page_document, PAGE + "\n", format=asked)
        assert refusal.value.code == "format_not_readable"


def test_an_unknown_document_is_not_found(engine: Engine, library: Library) -> None:
    with pytest.raises(NotFound):
        run(engine, library, "0" * 32)


def test_a_viewer_may_not_import(engine: Engine, library: Library, page_document: str) -> None:
    viewer = Principal(kind="person", name="guest", role="viewer")
    with pytest.raises(Forbidden):
        engine.run(library, "format.import", {"document_id": page_document, "file": PAGE}, viewer)
    assert nothing_written(library)


def test_the_audit_row_holds_no_text(engine: Engine, library: Library, page_document: str) -> None:
    result = run(engine, library, page_document)
    (row,) = rows(library, "SELECT * FROM audit WHERE id = ?", result["audit_id"])
    assert "Dear Sir" not in repr(row)


class Booklet(Format):
    """A format of several pages with one line each, whose driver fails on a file that contains `crash`."""

    name, label, extensions, reads = "booklet", "Booklet", (".bk",), True

    def sniff(self, data: bytes) -> float:
        return 0.9 if data.startswith(b"BOOKLET") else 0.0

    def read(self, data: bytes, context: ReadContext) -> list[PageModel]:
        if b"crash" in data:
            raise ZeroDivisionError("inside")
        return [
            PageModel(
                10,
                10,
                segments=[PageSegment("l", "line", points=[(1, 1), (9, 1), (9, 9)], texts=[PageText(text)])],
            )
            for text in data.decode().split("\n")[1:]
        ]


class Unmakeable:
    """A driver whose class cannot be instantiated: the other drivers still work."""

    def __init__(self) -> None:
        raise RuntimeError("never")


def test_one_page_of_several_is_chosen(engine: Engine, library: Library, page_document: str) -> None:
    engine.drivers.give("armarium.formats", "booklet", Booklet)
    engine.drivers.give("armarium.formats", "unmakeable", Unmakeable)
    result = run(engine, library, page_document, "BOOKLET\none\ntwo\nthree", pages="2")
    assert (result["pages_in_file"], result["pages_left_out"]) == (3, [1, 3])
    assert rows(library, "SELECT content FROM content_representation") == [("two",)]
    with pytest.raises(Invalid, match="has 3 pages; page 7"):
        run(engine, library, page_document, "BOOKLET\none\ntwo\nfour", pages="7")


def test_a_driver_that_fails_is_a_refusal(engine: Engine, library: Library, page_document: str) -> None:
    engine.drivers.give("armarium.formats", "booklet", Booklet)
    with pytest.raises(Invalid, match="the driver failed"):
        run(engine, library, page_document, "BOOKLET\ncrash")
    with pytest.raises(Invalid, match="contains no page"):
        run(engine, library, page_document, "BOOKLET")
    assert nothing_written(library)


REASONS = {
    "xml_malformed": {"pagexml.xml"},
    "no_page_size": {"invalid_dims.xml", "zero_dims.xml", "invalid_zero_dims_missing_image.xml"},
}
"""Real files that must be refused, by the code of the refusal; all others can be imported."""


def test_every_real_file_is_imported_or_refused_in_words(
    engine: Engine, library: Library, real_page_files: list[Path]
) -> None:
    refused: dict[str, set[str]] = {}
    for path in real_page_files:
        page = engine.run(
            library, "document.create", {"name": path.name, "doc_type": "page"}, LOCAL_OWNER
        ).result
        assert page is not None
        try:
            result = run(engine, library, page["id"], path.read_bytes(), filename=path.name)
        except Invalid as refusal:
            refused.setdefault(refusal.code or refusal.detail, set()).add(path.name)
            continue
        counted = dict(
            rows(
                library, "SELECT kind, count(*) FROM segment WHERE document_id = ? GROUP BY kind", page["id"]
            )
        )
        stated = {kind: result["counts"][kind] for kind in ("region", "line", "word")}
        assert {kind: number for kind, number in stated.items() if number} == counted, path.name
        ((readings,),) = rows(
            library, "SELECT count(*) FROM content_representation WHERE document_id = ?", page["id"]
        )
        assert result["counts"]["readings"] == readings, path.name
    assert refused == REASONS
