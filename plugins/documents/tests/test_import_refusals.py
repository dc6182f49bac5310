"""Rare refusals of an import: odd PDFs, unreadable places, a project without Sources."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from documents_fixtures import Run, picture, rows
from sqlalchemy import create_engine

from armarium.api import Conflict, Engine, Invalid, Library, raw_of
from armarium.store.name_order import register_name_key
from armarium_documents import pdf as pdf_files
from armarium_documents import pictures
from armarium_documents.models import metadata
from armarium_documents.queries.tree import sources_folder


def pdf(*sizes: tuple[float, float]) -> bytes:
    """Return a PDF with an empty page of each of *sizes* (in points)."""
    kids = " ".join(f"{number} 0 R" for number in range(3, 3 + len(sizes)))
    bodies = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {len(sizes)}>>"]
    bodies += [f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {wide} {high}]>>" for wide, high in sizes]
    return pdf_of(bodies)


def pdf_within_itself() -> bytes:
    """Return a PDF page with a form that contains itself twice: PDFium does not come to its end."""
    form = "/Resources<</XObject<</A 5 0 R>>>>"
    return pdf_of(
        [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Kids[3 0 R]/Count 1>>",
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 80]/Contents 4 0 R{form}>>",
            "<</Length 6>>stream\n/A Do \nendstream ",
            f"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 11{form}>>stream\n/A Do /A Do\nendstream ",
        ]
    )


def pdf_of(bodies: list[str]) -> bytes:
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, start=1):
        places.append(len(data))
        data += f"{number} 0 obj{body}endobj\n".encode()
    start = len(data)
    entries = "".join(f"{place:010} 00000 n \n" for place in places)
    data += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{entries}".encode()
    return data + f"trailer<</Size {len(places) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF".encode()


def list_refused(engine: Engine, library: Library, do: Run, source: Path) -> dict[str, str]:
    """Return each file of *source* that an import refuses, with the reason."""
    import orjson

    job_id = do("document.import", {"folder": str(source)})["job_id"]
    engine.jobs.run_until_idle(library)
    ((result,),) = rows(library, "SELECT result FROM job WHERE id = ?", job_id)
    return {entry["file"]: entry["why"] for entry in orjson.loads(result)["refused"]}


def test_a_pdf_without_pages_and_one_with_too_many(
    engine: Engine, library: Library, do: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # PDFium says of it nothing at all; what it last said was of another file.
    (source / "broken.pdf").write_bytes(b"%PDF-1.4\nbroken")
    assert "damaged" in list_refused(engine, library, do, source)["broken.pdf"]
    (source / "broken.pdf").unlink()
    (source / "none.pdf").write_bytes(pdf())
    assert "PDF without pages" in list_refused(engine, library, do, source)["none.pdf"]
    (source / "none.pdf").unlink()
    monkeypatch.setattr(pictures, "MAX_PAGES", 2)
    (source / "three.pdf").write_bytes(pdf((72, 72), (72, 72), (72, 72)))
    (source / "two.pdf").write_bytes(pdf((72, 72), (72, 72)))
    why = list_refused(engine, library, do, source)
    assert sorted(why) == ["three.pdf"]
    assert "has 3 pages; at most 2 are imported from one file. Split it." in why["three.pdf"]


def test_a_page_of_a_pdf_that_has_no_extent_or_cannot_be_pictured(
    engine: Engine, library: Library, do: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pypdfium2

    (source / "good.pdf").write_bytes(pdf((72, 72)))
    with monkeypatch.context() as patch:
        # pdfium itself gives a page without a size the size of a letter.
        patch.setattr(pypdfium2.PdfDocument, "get_page_size", lambda *_: (0.0, 72.0))
        assert "Page 1 has no size" in list_refused(engine, library, do, source)["good.pdf, page 1"]

    (source / "good.pdf").unlink()
    for limit, value, taken in (
        ("SECONDS", 0.5, "0.5 seconds of work"),
        ("MEMORY", 9 << 20, "9 MiB of memory"),
    ):
        name = f"{limit}.pdf"
        (source / name).write_bytes(pdf_within_itself() + limit.encode())
        with monkeypatch.context() as patch:
            patch.setattr(pdf_files, f"PAGE_{limit}", value)
            why = list_refused(engine, library, do, source)[f"{name}, page 1"]
        (source / name).unlink()
        assert why == f"Page 1 cannot be rendered: it takes more than {taken}, which no page needs."
    assert rows(library, "SELECT count(*) FROM document WHERE doc_type = 'page'") == [(0,)]


def test_the_pages_of_a_pdf_that_are_there_come_in_without_those_that_are_not(
    engine: Engine, library: Library, do: Run, source: Path
) -> None:
    cut = pdf((72, 72), (72, 90)).replace(b"Kids[3 0 R 4 0 R]", b"Kids[3 0 R 9 0 R]")
    (source / "cut.pdf").write_bytes(cut)
    why = list_refused(engine, library, do, source)
    assert "Page 2 of 2 is not in the PDF, which only lists it" in why["cut.pdf, page 2"]
    assert rows(library, "SELECT name FROM document WHERE doc_type = 'page'") == [("Page 1",)]


def test_a_process_that_ends_while_it_draws_costs_the_page(
    engine: Engine, library: Library, do: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_files, "DRAWING", f"{pdf_files.__name__}:none_such")
    (source / "good.pdf").write_bytes(pdf((72, 72)))
    why = list_refused(engine, library, do, source)["good.pdf, page 1"]
    assert why == "Page 1 cannot be rendered: the process that drew it ended."


def test_a_page_of_a_pdf_that_is_larger_than_any_sheet(
    engine: Engine, library: Library, do: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pypdfium2

    def render(*_: Any, **__: Any) -> None:
        raise AssertionError("it was drawn all the same")

    monkeypatch.setattr(pypdfium2.PdfPage, "render", render)
    (source / "wide.pdf").write_bytes(pdf((20_000_000, 72)))
    why = list_refused(engine, library, do, source)["wide.pdf, page 1"]
    assert "states a sheet of 2e+07 x 72 points; no sheet is longer than 144,000" in why


def test_a_folder_that_vanished_before_the_job_came_to_it(
    engine: Engine, library: Library, do: Run, source: Path
) -> None:
    (source / "1.jpg").write_bytes(picture())
    job_id = do("document.import", {"folder": str(source)})["job_id"]
    shutil.rmtree(source)
    engine.jobs.run_until_idle(library)
    ((state, reason),) = rows(library, "SELECT state, reason FROM job WHERE id = ?", job_id)
    assert state == "failed"
    assert "The folder pages no longer exists; what was imported before stays." in reason


def test_an_import_that_was_interrupted_in_another_order_is_started_again(
    engine: Engine, library: Library, do: Run, source: Path
) -> None:
    (source / "1.jpg").write_bytes(picture())
    job_id = do("document.import", {"folder": str(source)})["job_id"]
    with library.db.write() as conn:
        raw_of(conn).execute("UPDATE job SET checkpoint = ? WHERE id = ?", ('{"after": ["0.jpg"]}', job_id))
    engine.jobs.run_until_idle(library)
    ((state, reason),) = rows(library, "SELECT state, reason FROM job WHERE id = ?", job_id)
    assert state == "failed"
    assert "Files are imported in another order since this import was interrupted." in reason


def test_a_place_that_cannot_be_looked_at(do: Run, source: Path) -> None:
    loop = source / "loop"
    loop.symlink_to(loop)
    for given in (str(loop), f"{source}/{'long' * 100}"):
        with pytest.raises(Invalid, match="cannot be read") as found:
            do("document.import", {"paths": [given]})
        assert found.value.code == "bad_path"


def test_a_project_that_has_no_folder_sources() -> None:
    bare = create_engine("sqlite://")
    with bare.connect() as conn:
        register_name_key(raw_of(conn))
        metadata.create_all(conn)
    with bare.connect() as conn, pytest.raises(Conflict, match="has no folder Sources") as found:
        sources_folder(conn)
    assert found.value.code == "no_sources_folder"
