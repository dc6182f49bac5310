"""Alternative texts in a file become readings that a person can choose, and are exported as alternatives."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.api import ReadContext, WriteContext
from armarium_formats.catalogue import writer
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.queries.exchange import export_page
from armarium_testing.sample_files import SAMPLE_PAGE

TEXT = '<TextEquiv conf="0.9"><Unicode>Dear Sir</Unicode></TextEquiv>'
SEVERAL = SAMPLE_PAGE.replace(
    TEXT,
    '<TextEquiv index="2" conf="0.2" comments="odd"><Unicode>Deer Sir</Unicode></TextEquiv>'
    '<TextEquiv index="0" conf="0.9"><Unicode>Dear Sir</Unicode></TextEquiv>'
    '<TextEquiv index="1" conf="0.4"><Unicode>Dear Siv</Unicode></TextEquiv>'
    '<TextEquiv index="3"><Unicode/></TextEquiv>',
)


@pytest.fixture
def pass_id(engine: Engine, library: Library, page_document: str) -> str:
    given = {"document_id": page_document, "file": SEVERAL, "filename": "a.xml"}
    result = engine.run(library, "format.import", given, LOCAL_OWNER).result or {}
    assert result["counts"]["readings"] == 3
    return str(result["pass_id"])


def readings(library: Library) -> dict[str, tuple[str, str, float | None]]:
    """Return reading, segment and confidence by text."""
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT content, id, segment_id, confidence FROM content_representation"
        ).all()
    return {row[0]: (row[1], row[2], row[3]) for row in rows}


def exported_texts(
    engine: Engine, library: Library, document: str, name: str = "pagexml"
) -> list[tuple[str, float | None]]:
    export = export_page(engine, library, document, name)
    (page,) = writer(engine, name).read(export["content"].encode(), ReadContext("b.xml"))
    (line,) = page.lines()
    return [(text.text, text.confidence) for text in line.texts if text.kind == "transcription"]


def act(engine: Engine, library: Library, name: str, **params: Any) -> None:
    engine.run(library, name, params, LOCAL_OWNER)


def test_each_alternative_is_a_reading_and_the_first_one_counts(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    there = readings(library)
    assert {text: sure for text, (_, _, sure) in there.items()} == {
        "Dear Sir": 0.9, "Dear Siv": 0.4, "Deer Sir": 0.2,
    }  # fmt: skip
    assert exported_texts(engine, library, page_document) == [
        ("Dear Sir", 0.9), ("Dear Siv", 0.4), ("Deer Sir", 0.2), ("", None),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["pagexml", "alto", "tei"])
def test_alternatives_are_exported_in_every_format_that_has_them(
    engine: Engine, library: Library, page_document: str, pass_id: str, name: str
) -> None:
    assert [text for text, _ in exported_texts(engine, library, page_document, name) if text] == [
        "Dear Sir", "Dear Siv", "Deer Sir",
    ]  # fmt: skip


def test_an_alternative_chosen_by_a_person_is_exported_first(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    identity, segment, _ = readings(library)["Dear Siv"]
    params = {"segment_id": segment, "kind": "transcription", "representation_id": identity}
    act(engine, library, "reading.choose", **params)
    assert [text for text, _ in exported_texts(engine, library, page_document) if text] == [
        "Dear Siv", "Dear Sir", "Deer Sir",
    ]  # fmt: skip


def test_a_retracted_alternative_is_not_exported_and_a_correction_keeps_the_others(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    there = readings(library)
    act(engine, library, "reading.retract", representation_id=there["Deer Sir"][0])
    act(engine, library, "representation.create", segment_id=there["Dear Sir"][1], text="Dear Madam")
    assert [text for text, _ in exported_texts(engine, library, page_document) if text] == [
        "Dear Madam",
        "Dear Siv",
    ]


def test_alternatives_stored_by_an_older_engine_are_exported(
    engine: Engine, library: Library, page_document: str
) -> None:
    from armarium_formats.as_filed import further_texts

    kept = {"alternatives": [["Dear Siv", 0.4, None]]}
    assert [text.text for text in further_texts("r1", [], kept)] == ["Dear Siv"]
    assert PageXml().write(PageXml().read(SEVERAL.encode(), ReadContext("a"))[0], WriteContext()).content


def test_a_kind_of_reading_that_the_project_does_not_have_is_refused(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    with pytest.raises(Invalid, match=r"no reading kind 'trnscription'; it has .*transcription, ") as refusal:
        export_page(engine, library, page_document, "pagexml", reading_kind="trnscription")
    assert refusal.value.code == "unknown_kind"
