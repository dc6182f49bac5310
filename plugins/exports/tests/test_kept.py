"""Kept exports: written as the work changes, one-way, never over what is somebody else's, nothing ever deleted."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from exports_desk import MACHINE, Desk

from armarium.api import NotFound, ServiceError, new_id
from armarium_exports.pages import Unit
from armarium_exports.rendering.units import render
from armarium_formats.api import Format, PageModel, WriteContext, WrittenPage
from armarium_source_model.api import armarium_source_model_rests_on_text


def keep(
    desk: Desk, format_name: str = "markdown", per: str = "page", status: int = 200, **more: Any
) -> dict[str, Any]:
    place = desk.folder / f"kept-{format_name}-{per}"
    place.mkdir(exist_ok=True)
    body = {"folder": str(place), "format": format_name, "per": per, **more}
    return desk.post("/api/export/kept", status, **body)


def kept_now(desk: Desk, format_name: str = "markdown", per: str = "page") -> dict[str, Any]:
    """Keep, let the work be done, and look."""
    keep(desk, format_name, per)
    desk.work()
    (found,) = desk.list_kept()
    return found


def in_doubt(desk: Desk, page: str) -> list[tuple[str, str, str | None, str]]:
    """What this family says of a page rests on another text: kind, id, words, what to do."""
    (family,) = [
        one
        for one in desk.engine.points.collect(armarium_source_model_rests_on_text)
        if "export" in one.kinds
    ]
    with desk.library.db.read() as conn:
        rows = family.stale(conn, desk.library, [page])
    return [(row.kind, row.id, row.text, row.todo) for row in rows]


def test_pages_are_written_and_written_again_as_they_change(desk: Desk) -> None:
    box = desk.box()
    first, second = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "2.png", ["Farewell"])
    found = kept_now(desk)
    assert {file["document_id"] for file in found["files"]} == {first, second}
    assert found["pending"] == 0
    assert found["last_written"]
    paths = {file["document_id"]: Path(file["path"]) for file in found["files"]}
    assert "Dear Sir" in paths[first].read_text()
    stamp = paths[second].stat().st_mtime_ns
    desk.do("representation.create", {"segment_id": desk.lines(first)[0], "text": "Dear Madam"})
    assert desk.list_kept()[0]["pending"] == 1
    assert in_doubt(desk, first) == [("export", desk.list_kept()[0]["id"], paths[first].name, "redo")]
    assert in_doubt(desk, second) == []
    desk.work()
    assert in_doubt(desk, first) == []
    assert "Dear Madam" in paths[first].read_text()
    assert "Dear Sir" not in paths[first].read_text()
    assert paths[second].stat().st_mtime_ns == stamp
    assert desk.list_kept()[0]["pending"] == 0


def test_undo_of_a_correction_is_written_too(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    place = Path(found["files"][0]["path"])
    step = desk.step("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.work()
    desk.undo(step)
    desk.work()
    assert "Dear Sir" in place.read_text()


def test_many_changes_wait_for_one_job(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    kept_now(desk)
    for text in ("a", "b", "c"):
        desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": text})
    waiting = desk.rows("SELECT count(*) FROM job WHERE kind = 'export-kept' AND state = 'waiting'")
    assert waiting == [(1,)]


def test_a_strangers_file_and_a_changed_one_are_left_alone_and_listed(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    place = Path(found["files"][0]["path"])
    place.write_text("my own words")
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.work()
    (after,) = desk.list_kept()
    assert place.read_text() == "my own words"
    assert [one["document_id"] for one in after["in_the_way"]] == [page]
    place.unlink()
    desk.post(f"/api/export/kept/{after['id']}/write")
    desk.work()
    (again,) = desk.list_kept()
    assert again["in_the_way"] == []
    assert "Dear Madam" in place.read_text()


def test_a_file_and_a_link_in_the_way_of_the_first_writing_are_left_alone(desk: Desk) -> None:
    box = desk.box()
    page, second_page = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "2.png", ["Farewell"])
    place = desk.folder / "kept-markdown-page"
    place.mkdir()
    (place / f"1.png--{page[-8:]}.md").write_text("mine")
    (desk.folder / "elsewhere.md").write_text("elsewhere")
    (place / f"2.png--{second_page[-8:]}.md").symlink_to(desk.folder / "elsewhere.md")
    found = kept_now(desk)
    assert found["files"] == []
    assert len(found["in_the_way"]) == 2
    assert (desk.folder / "elsewhere.md").read_text() == "elsewhere"


def test_what_is_restricted_later_is_not_written_again_and_named_as_left_behind(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    place = Path(found["files"][0]["path"])
    desk.restrict(page)
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "A secret"})
    desk.work()
    (after,) = desk.list_kept()
    assert "A secret" not in place.read_text()
    assert after["files"] == []
    assert [entry["path"] for entry in after["left_behind"]] == [str(place)]
    assert [entry["document_id"] for entry in after["withheld"]] == [page]


def test_pages_that_came_later_are_written_and_trashed_ones_stay_on_the_disk(desk: Desk) -> None:
    box = desk.box()
    first = desk.page(box, "1.png", ["Dear Sir"])
    kept_now(desk)
    second = desk.page(box, "2.png", ["Farewell"])
    desk.work()
    assert {file["document_id"] for file in desk.list_kept()[0]["files"]} == {first, second}
    desk.do("document.delete", {"ids": [second]})
    desk.work()
    (after,) = desk.list_kept()
    assert [file["document_id"] for file in after["files"]] == [first]
    assert Path(after["left_behind"][0]["path"]).is_file()
    # A page that is split is one no longer, and its file is not written again.
    desk.do(
        "document.add_files",
        {"nodes": [{"id": new_id(), "parent_id": first, "doc_type": "page", "name": "1 left"}]},
    )
    (after,) = desk.list_kept()
    assert (after["files"], {entry["document_id"] for entry in after["left_behind"]}) == ([], {first, second})


def test_ending_and_undoing_leave_the_files(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    place = Path(found["files"][0]["path"])
    answer = desk.client.delete(f"/api/export/kept/{found['id']}")
    assert answer.status_code == 200
    assert answer.json()["status"] == "deleted"
    assert desk.list_kept() == []
    assert place.is_file()
    desk.undo(answer.json()["audit_id"])
    (again,) = desk.list_kept()
    assert [file["path"] for file in again["files"]] == [str(place)]


def test_writing_and_ending_what_is_not_kept_are_refused(desk: Desk) -> None:
    assert desk.post(f"/api/export/kept/{'0' * 32}/write", 404)["code"] == "unknown_export"
    assert desk.client.delete(f"/api/export/kept/{'0' * 32}").status_code == 404


def test_folders_that_cannot_be_kept_are_refused_in_words(desk: Desk) -> None:
    missing = keep(desk, status=422, folder=str(desk.folder / "no"))
    assert missing["code"] == "no_folder"
    assert "does not exist" in missing["detail"]
    inside = desk.library.path / "objects"
    assert keep(desk, status=422, folder=str(inside))["code"] == "inside_project"
    (desk.folder / "way").symlink_to(inside)
    assert keep(desk, status=422, folder=str(desk.folder / "way"))["code"] == "inside_project"
    for place in ("/", "/etc", "/usr/lib"):
        assert keep(desk, status=422, folder=place)["code"] == "system_folder"
    renamed = desk.folder / "Renamed"
    renamed.mkdir()
    (renamed / "library.json").write_text("{}")
    (renamed / "objects").mkdir()
    assert keep(desk, status=422, folder=str(renamed / "objects"))["code"] == "inside_project"
    assert keep(desk, status=403, folder="/opt")["code"] == "path_not_allowed"
    with pytest.raises(ServiceError, match="granted"):
        desk.do("export.keep", {"folder": str(desk.folder), "format": "tei", "per": "page"}, MACHINE_WITHOUT)


MACHINE_WITHOUT = replace(MACHINE, folders=frozenset())


def test_layout_formats_of_one_page_are_refused_per_document(desk: Desk) -> None:
    for name in ("alto", "pagexml"):
        refused = keep(desk, name, "document", 422)
        assert refused["code"] == "pages_only"
        assert "per page" in refused["detail"]


def test_two_exports_of_one_format_in_one_folder_are_refused(desk: Desk) -> None:
    keep(desk)
    assert keep(desk, status=409)["code"] == "folder_kept"
    keep(desk, "plain-text", folder=str(desk.folder / "kept-markdown-page"))


@pytest.mark.parametrize("format_name", ["alto", "pagexml", "tei"])
def test_layout_formats_are_those_of_the_exporter(desk: Desk, format_name: str) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir"])
    desk.page(desk.box("Empty"), "2.png", [])
    place = Path(kept_now(desk, format_name)["files"][0]["path"])
    exported = desk.client.get(f"/api/documents/{page}/export/{format_name}").json()["content"]
    assert _without_times(place.read_text()) == _without_times(exported)


def _without_times(text: str) -> str:
    import re

    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|\d{4}-\d\d-\d\d", "", text)


def test_a_document_is_a_group_with_its_pages_in_one_file(desk: Desk) -> None:
    box = desk.box()
    letter = desk.box("A letter", box, "group")
    desk.page(letter, "1.png", ["Dear Sir", "*I* am [well]"])
    desk.page(letter, "2.png", ["Farewell"])
    found = kept_now(desk, "markdown", "document")
    (file,) = found["files"]
    assert file["document_id"] == letter
    text = Path(file["path"]).read_text()
    assert text.startswith("# A letter\n")
    assert text.index("Dear Sir") < text.index("## 2.png") < text.index("Farewell")
    assert r"\*I\* am \[well\]" in text


def test_the_tei_of_a_document_has_each_id_once(desk: Desk) -> None:
    from lxml import etree

    letter = desk.box("A letter", desk.box(), "group")
    desk.page(letter, "1.png", ["Dear Sir"])
    desk.page(letter, "2.png", ["Farewell"])
    (file,) = kept_now(desk, "tei", "document")["files"]
    root = etree.parse(file["path"]).getroot()
    ids = root.xpath("//@xml:id")
    assert root.tag.endswith("teiCorpus")
    assert len(ids) == len(set(ids)) > 2
    pointers = {one for value in root.xpath("//@facs | //@corresp") for one in value.split()}
    assert pointers
    assert {pointer[1:] for pointer in pointers if pointer[0] == "#"} <= set(ids)


def test_word_has_headings_numbered_lines_and_notes(desk: Desk) -> None:
    import docx

    letter = desk.box("A letter", desk.box(), "group")
    page = desk.page(letter, "1.png", ["Dear Sir", "I am <well> & \u0645\u0631\u062d\u0628\u0627"])
    desk.page(letter, "2.png", ["Farewell"])
    note = {"document_id": page, "kind": "note", "anchor_kind": "bbox", "anchor": {"rect": [0.1, 0.05, 0.8, 0.06]}, "text": "Restored from the copy",
            "targets": [{"segment_id": desk.lines(page)[0]}]}  # fmt: skip
    desk.post("/api/annotations", **note)
    (file,) = kept_now(desk, "word", "document")["files"]
    document = docx.Document(file["path"])
    words = [paragraph.text for paragraph in document.paragraphs]
    assert "I am <well> & \u0645\u0631\u062d\u0628\u0627" in words
    assert "Dear Sir1" in words
    assert "1  Restored from the copy" in words
    styles = {paragraph.text: paragraph.style.name for paragraph in document.paragraphs}
    assert styles["A letter"] == "Title"
    assert styles["2.png"] == "Heading 1"
    assert len(document.sections) == 2
    xml = zipfile.ZipFile(io.BytesIO(Path(file["path"]).read_bytes())).read("word/document.xml").decode()
    assert xml.count("w:lnNumType") == 2
    assert "w:suppressLineNumbers" in xml


def test_a_line_from_right_to_left_is_so_in_word(desk: Desk) -> None:
    """As is stated of it or of its page, else by its first letter that has a direction."""
    import docx

    texts = [
        "\u05e9\u05dc\u05d5\u05dd World 12",
        "12 Dear Sir \u05e9\u05dc\u05d5\u05dd",
        "1914",
        "\u05e2\u05dd",
    ]
    page = desk.page(desk.box(), "1.png", texts)
    desk.do("segment.update", {"segment_id": desk.lines(page)[3], "direction": "ltr", "expected_version": 1})
    (file,) = kept_now(desk, "word")["files"]
    shown = {
        paragraph.text: [child.tag.partition("}")[2] for child in paragraph._p.xpath("./w:pPr/*")]
        for paragraph in docx.Document(file["path"]).paragraphs
    }
    assert ["bidi" in shown[text] for text in texts] == [True, False, False, False]
    # In the order of CT_PPrBase (ECMA-376-1, 17.3.1), which a strict program insists on.
    assert shown[texts[0]] == ["bidi", "spacing"]


def test_a_table_is_a_table(desk: Desk) -> None:
    import docx

    page = desk.page(desk.box(), "1.png", [])
    pass_id = desk.do("segment.pass_create", {"document_id": page, "name": "Table"})["id"]
    table = {"document_id": page, "pass_id": pass_id, "kind": "region", "kind_raw": "TableRegion",
             "anchor": {"rect": [0.1, 0.1, 0.8, 0.4]}}  # fmt: skip
    region = desk.do("segment.create_many", {"segments": [table]})["items"][0]["id"]
    cells = [
        {"document_id": page, "pass_id": pass_id, "kind": "region", "parent_segment_id": region,
         "cell": {"row": row, "column": column}, "anchor": {"rect": [0.1 + 0.4 * column, 0.1 + 0.2 * row, 0.4, 0.2]}}
        for row in range(2) for column in range(2)
    ]  # fmt: skip
    result = desk.do("segment.create_many", {"segments": cells})["items"]
    for segment, text in zip(result, ["Name", "Sum", "Ann | Bo", "3"], strict=True):
        desk.do("representation.create", {"segment_id": segment["id"], "text": text})
    place = Path(kept_now(desk)["files"][0]["path"])
    assert "| Name | Sum |\n| --- | --- |\n| Ann \\| Bo | 3 |" in place.read_text()
    keep(desk, "word")
    desk.work()
    word = next(one for one in desk.list_kept() if one["format"] == "word")
    (shown_table,) = docx.Document(word["files"][0]["path"]).tables
    assert [[cell.text for cell in row.cells] for row in shown_table.rows] == [
        ["Name", "Sum"],
        ["Ann | Bo", "3"],
    ]


def test_plain_text_is_the_lines_of_the_page(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir", "I am well"])
    place = Path(kept_now(desk, "plain-text")["files"][0]["path"])
    assert place.read_bytes() == b"Dear Sir\nI am well\n"


def test_a_vanished_folder_ends_the_job_in_words(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    found = kept_now(desk)
    place = Path(found["folder"])
    for entry in place.iterdir():
        entry.unlink()
    place.rmdir()
    job = desk.post(f"/api/export/kept/{found['id']}/write")["job_id"]
    desk.work()
    ((state, reason),) = desk.rows("SELECT state, reason FROM job WHERE id = ?", job)
    assert state == "failed"
    assert "does not exist" in reason


def test_titles_of_any_sort_make_names_of_files(desk: Desk) -> None:
    box = desk.box()
    names = ["a/b\\c:d", "CON.png", "\u00fc" * 150, "....", "same", "same"]
    for name in names:
        desk.page(box, name, ["x"])
    found = kept_now(desk)
    files = [Path(file["path"]) for file in found["files"]]
    assert len({file.name.casefold() for file in files}) == len(names)
    assert all(file.parent == Path(found["folder"]) and len(file.name.encode()) <= 255 for file in files)


ALIKE = ("Akte.jpg", "akte.jpg", "AKTE.jpg", "CON.jpg", "con.jpg", "a:b.jpg", "a_b.jpg")


def test_names_that_other_systems_take_for_one_are_apart_in_every_folder_written(desk: Desk) -> None:
    box = desk.box()
    for name in ALIKE:
        desk.page(box, name, ["x"])
    out = str(desk.folder / "out")
    answer = desk.post("/api/export/receivers", receiver="kraken", scope_ids=[box], output_path=out)
    paths = [*answer["files"], *(file["path"] for file in kept_now(desk)["files"])]
    names = [Path(path).name for path in paths if path.endswith((".png", ".xml", ".md"))]
    assert len(names) == 3 * len(ALIKE)
    assert len({item.casefold() for item in names}) == len(names)
    assert all(not set(item) & set('\\/:*?"<>|') for item in names)
    assert all(item.split(".")[0].casefold() != "con" for item in names)


def test_a_killed_job_loses_no_change(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after each file in turn and run again, with a change of a page written before meanwhile."""
    from armarium_exports import keeping

    box = desk.box()
    pages = [desk.page(box, f"{number}.png", [f"Text {number}"]) for number in range(3)]
    keep(desk)
    real, calls = keeping._write_unit, 0

    def kill(job: Any, work: Any, unit: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            desk.do("representation.create", {"segment_id": desk.lines(pages[0])[0], "text": "Changed"})
            raise KeyboardInterrupt
        return real(job, work, unit)

    monkeypatch.setattr(keeping, "_write_unit", kill)
    for _ in range(3):
        try:
            desk.work()
        except KeyboardInterrupt:
            continue
        desk.rows("SELECT 1")
    with desk.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'waiting', attempts = 0 WHERE state IN ('running', 'failed')"
        )
    desk.work()
    (found,) = desk.list_kept()
    assert found["pending"] == 0
    texts = {file["document_id"]: Path(file["path"]).read_text() for file in found["files"]}
    assert "Changed" in texts[pages[0]]
    assert "Text 1" in texts[pages[1]]
    assert "Text 2" in texts[pages[2]]


def test_a_format_of_text_names_the_furniture_that_it_leaves_out(desk: Desk) -> None:
    page = desk.page(desk.box(), "1.png", ["15", "Dear Sir"])
    ((folio,),) = desk.rows("SELECT segment_id FROM content_representation WHERE content = '15'")
    desk.do("segment.update", {"segment_id": folio, "expected_version": 1, "is_furniture": True})
    file = io.BytesIO()
    written = render(desk.engine, desk.library, Unit(page, "1", (page,)), "plain-text", file)
    assert file.getvalue().decode().split() == ["Dear", "Sir"]
    counts_by_what = {loss["what"]: loss["count"] for loss in written.losses}
    assert counts_by_what == {"shapes of lines": 1, "headers, folios and other furniture": 1}


def test_a_page_that_goes_while_its_file_is_put_together_is_left_out(desk: Desk) -> None:
    box = desk.box()
    page, gone = desk.page(box, "1.png", ["Dear Sir"]), "0" * 32
    file = io.BytesIO()
    written = render(desk.engine, desk.library, Unit(box, "Box", (gone, page)), "markdown", file)
    assert "Dear Sir" in file.getvalue().decode()
    assert [(loss["what"], loss["count"]) for loss in written.losses] == [("shapes of lines", 1)]
    assert [(one["by"], one["lines"]) for one in written.made] == [("person", 1)]
    with pytest.raises(NotFound) as refused:
        render(desk.engine, desk.library, Unit(box, "Box", (gone,)), "plain-text", file)
    assert refused.value.code == "no_pages"


class Verses(Format):
    """A format of somebody else: the lines of a page, numbered."""

    name = "verses"
    label = "Verses"
    extensions = (".verses",)
    writes = True

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        lines = [line.text for line in page.of_kind("line")]
        return WrittenPage("".join(f"{number} {text}\n" for number, text in enumerate(lines, 1)))


def test_a_format_of_somebody_else_is_kept_like_ours(desk: Desk) -> None:
    desk.engine.drivers.give("armarium.formats", "verses", Verses)
    page = desk.page(desk.box(), "1.png", ["Dear Sir", "Farewell"])
    found = kept_now(desk, "verses")
    place = Path(found["files"][0]["path"])
    assert place.name.endswith(".verses")
    assert place.read_text() == "1 Dear Sir\n2 Farewell\n"
    desk.do("representation.create", {"segment_id": desk.lines(page)[0], "text": "Dear Madam"})
    desk.work()
    assert place.read_text() == "1 Dear Madam\n2 Farewell\n"
    assert keep(desk, "verses", "document", 422)["code"] == "pages_only"


def test_a_format_that_nobody_writes_is_refused_with_those_that_are_written(desk: Desk) -> None:
    refused = keep(desk, "verses", status=422)
    assert refused["code"] == "unknown_format"
    for known in ("word", "pagexml", "tei"):
        assert known in refused["detail"]
