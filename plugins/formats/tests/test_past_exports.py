"""Exports of past steps, what they say of themselves, and whether a file is what the project said."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from armarium.api import find_moment, reading_as_of
from armarium.engine import Engine
from armarium.errors import Invalid, NotFound
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.queries.exchange import export_page
from armarium_testing.sample_pages import sample_picture

FORMATS = ("pagexml", "alto", "hocr", "tei")


class Desk:
    """A page of three read lines in a project."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        maker: Any = SimpleNamespace(library=library, run=lambda name, params: self.act(name, **params))
        self.page = sample_picture(maker, Image.new("RGB", (400, 600), "white"), "0001.png")
        lines = [
            {"key": str(n), "rect": [0.1, 0.1 + 0.1 * n, 0.8, 0.05], "text": f"Dear Sir number {n}"}
            for n in range(3)
        ]
        result = self.act(
            "segment.take_lines",
            document_id=self.page,
            name="Lines",
            provider="reader",
            model="m",
            lines=lines,
        )
        self.lines = result["segment_ids"]

    def act(self, action: str, /, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, action, params, LOCAL_OWNER).result or {}

    def correct(self, number: int, text: str) -> None:
        self.act("representation.create", segment_id=self.lines[number], text=text)

    def step(self) -> str:
        with self.library.db.read() as conn:
            return find_moment(conn).audit_id

    def export(self, format_name: str, as_of: str | None = None, **more: Any) -> dict[str, Any]:
        if as_of is None:
            return export_page(self.engine, self.library, self.page, format_name, **more)
        with reading_as_of(self.library.db, as_of, [self.page]):
            return export_page(self.engine, self.library, self.page, format_name, **more)

    def verify(self, path: Path, **more: Any) -> dict[str, Any]:
        from armarium_formats.schemas.verifying import VerifyFile
        from armarium_formats.verifying import verify_on_disk

        verify_file = VerifyFile(path=str(path), **more)  # type: ignore[arg-type]
        self.engine.paths.check(verify_file, LOCAL_OWNER)
        return verify_on_disk(self.engine, self.library, verify_file)


@pytest.fixture
def desk(engine: Engine, library: Library) -> Desk:
    return Desk(engine, library)


@pytest.mark.parametrize("format_name", [*FORMATS, "plain-text"])
def test_an_export_of_a_past_step_is_what_was_exported_then(desk: Desk, format_name: str) -> None:
    when = "2026-01-02T03:04:05.678Z"
    before, step = desk.export(format_name, created=when), desk.step()
    desk.correct(1, "Dear Madam")
    desk.act("segment.delete", segment_ids=[desk.lines[2]], expected_versions=[1])
    assert desk.export(format_name, created=when)["content"] != before["content"]
    assert desk.export(format_name, step, created=when)["content"] == before["content"]


@pytest.mark.parametrize("format_name", FORMATS)
def test_an_export_names_its_step_and_the_digest_of_the_log_up_to_it(desk: Desk, format_name: str) -> None:
    made = desk.export(format_name)
    with desk.library.db.read() as conn:
        moment = find_moment(conn)
        (row_hash,) = conn.exec_driver_sql(
            "SELECT row_hash FROM audit WHERE id = ?", (moment.audit_id,)
        ).one()
    assert made["choices"]["as_of"] == {"step": moment.audit_id, "at": moment.created_at, "digest": row_hash}
    cited = f"service:export/{desk.library.uuid}/{desk.page}@{moment.audit_id};digest={row_hash}"
    assert made["content"].count(cited) == 1


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_file_read_and_written_again_cites_itself_once(desk: Desk, format_name: str) -> None:
    content = desk.export(format_name)["content"]
    desk.act("format.import", document_id=desk.page, file=content, filename="again.xml")
    again = desk.export(format_name)
    assert again["content"].count("service:export/") == 1
    assert f"@{again['choices']['as_of']['step']}" in again["content"]


@pytest.mark.parametrize("format_name", FORMATS)
def test_an_exported_file_is_verified_and_every_edit_of_it_is_named(
    desk: Desk, tmp_path: Path, format_name: str
) -> None:
    made = desk.export(format_name)
    file = tmp_path / "0001.xml"
    file.write_text(made["content"], "utf-8")
    desk.correct(0, "Something else by now")
    (same_item,) = desk.verify(file)["items"]
    assert (same_item["verdict"], same_item["step"]) == ("same", made["choices"]["as_of"]["step"])

    renamed = tmp_path / "another name.bin"
    renamed.write_text(made["content"], "utf-8")
    assert desk.verify(renamed)["is_same"]

    file.write_text(made["content"].replace("number", "numbar", 1), "utf-8")
    found = desk.verify(file)
    assert not found["is_same"]
    (letter,) = found["items"][0]["differences"]
    assert (letter["line"], letter["then"], letter["in_file"]) == (
        1,
        "Dear Sir number 0",
        "Dear Sir numbar 0",
    )

    file.write_text(made["content"] + "\n", "utf-8")
    assert desk.verify(file)["items"][0]["verdict"] == "same meaning"


def test_one_coordinate_is_named(desk: Desk, tmp_path: Path) -> None:
    content = desk.export("pagexml")["content"]
    at = content.index('points="', content.index("<TextLine")) + len('points="')
    number = content[at : content.index(",", at)]
    file = tmp_path / "0001.xml"
    file.write_text(f"{content[:at]}{int(number) + 1}{content[at + len(number) :]}", "utf-8")
    item = desk.verify(file)["items"][0]
    assert [(difference["line"], difference["what"]) for difference in item["differences"]] == [
        (1, "outline of a line")
    ]


def test_each_file_of_a_zip_is_verified_however_it_was_packed(desk: Desk, tmp_path: Path) -> None:
    for how in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        packed = tmp_path / "pages.zip"
        with zipfile.ZipFile(packed, "w", how) as archive:
            for format_name in FORMATS:
                archive.writestr(f"renamed/{format_name}.xml", desk.export(format_name)["content"])
        assert [item["verdict"] for item in desk.verify(packed)["items"]] == ["same"] * len(FORMATS)
        desk.correct(0, f"packed {how}")


def test_a_text_is_verified_by_the_page_and_step_named(desk: Desk, tmp_path: Path) -> None:
    made, step = desk.export("plain-text"), desk.step()
    file = tmp_path / "0001.txt"
    file.write_text(made["content"], "utf-8")
    desk.correct(2, "Dear Madam")
    assert desk.verify(file)["items"][0]["verdict"] == "unnamed"
    assert desk.verify(file, document_id=desk.page, as_of=step)["is_same"]
    (item,) = desk.verify(file, document_id=desk.page)["items"]
    assert [(difference["line"], difference["then"]) for difference in item["differences"]] == [
        (3, "Dear Madam")
    ]


def test_a_file_of_another_project_or_history_is_told_apart(desk: Desk, tmp_path: Path) -> None:
    made = desk.export("pagexml")
    file = tmp_path / "0001.xml"
    for what, by, verdict in (
        (desk.library.uuid, "0" * 32, "other project"),
        (made["choices"]["as_of"]["digest"], "f" * 64, "other history"),
        (f"@{made['choices']['as_of']['step']}", f"@{'0' * 32}", "not there"),
        (";created=2", ";created=1-", "differs"),
    ):
        file.write_text(made["content"].replace(what, by), "utf-8")
        (item,) = desk.verify(file)["items"]
        assert item["verdict"] == verdict, item
        assert "fault of the engine" not in item["sentence"]


def test_what_the_caller_names_is_compared_although_the_file_names_another_page_or_step(
    desk: Desk, tmp_path: Path
) -> None:
    file = tmp_path / "0001.xml"
    file.write_text(desk.export("pagexml")["content"], "utf-8")
    desk.correct(0, "Later")
    assert desk.verify(file)["is_same"]
    assert desk.verify(file, document_id=desk.page)["is_same"]
    assert [
        difference["then"] for difference in desk.verify(file, as_of=desk.step())["items"][0]["differences"]
    ] == ["Later"]
    (other_item,) = desk.verify(file, document_id="another")["items"]
    assert (other_item["verdict"], "not of another" in other_item["sentence"]) == ("differs", True)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("0" * 32, "unknown_step"),
        ("12", "bad_moment"),
        ("", "bad_moment"),
        ("yesterday", "bad_moment"),
        ("2999-01-01", "moment_in_future"),
        ("1999-01-01T00:00:00Z", "moment_before_project"),
    ],
)
def test_a_moment_that_is_none_is_refused_in_words(desk: Desk, asked: str, code: str) -> None:
    with pytest.raises((Invalid, NotFound)) as refused:
        desk.export("pagexml", asked)
    assert refused.value.code == code


def test_a_step_that_was_undone_later_is_read_as_it_was(desk: Desk) -> None:
    desk.correct(0, "By mistake")
    wrong = desk.step()
    desk.engine.undo(desk.library, [wrong], LOCAL_OWNER)
    assert "By mistake" not in desk.export("plain-text")["content"]
    assert "By mistake" in desk.export("plain-text", wrong)["content"]


def test_a_page_made_later_was_not_there(desk: Desk) -> None:
    step = desk.step()
    page = desk.act("document.create", name="0002.jpg", doc_type="page")["id"]
    with reading_as_of(desk.library.db, step, [page]), pytest.raises(NotFound):
        export_page(desk.engine, desk.library, page, "pagexml")


def test_over_http_an_export_takes_the_moment(client: TestClient, desk: Desk) -> None:
    step = desk.step()
    desk.correct(0, "Something else")
    path = f"/api/documents/{desk.page}/export/plain-text"
    then = client.get(path, params={"as_of": step})
    assert then.status_code == 200, then.text
    assert then.json()["content"].startswith("Dear Sir number 0")
    assert client.get(path, params={"as_of": "x" * 41}).status_code == 422
    assert client.get(path).json()["content"].startswith("Something else")
