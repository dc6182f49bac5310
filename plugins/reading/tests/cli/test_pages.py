"""The main task from the command line, with a running engine: import, find lines, read, correct, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine, Pictures


def first_line(machine: Machine) -> str:
    """Return the id of the first line that has a reading."""
    identity: str = machine.succeed("text", "--json").json["items"][0]["spans"][0]["segment_id"]
    return identity


def test_import_counts_imported_files_and_names_the_others(desk: Machine, pictures: Pictures) -> None:
    folder = pictures(["1.png", "2.png"])
    (folder / "empty.jpg").touch()
    (folder / "words.jpg").write_text("not a picture")
    (folder / "1.xml").write_text("<PcGts/>")
    desk.succeed("create", "Letters")
    answer = desk.succeed("import", "pages").out
    assert answer.startswith("Imported 2 files.\n")
    assert "  not imported: empty.jpg: It is empty (0 bytes)" in answer
    assert "  not imported: words.jpg: The file is a text" in answer
    assert "  not read: 1.xml: 1.xml is PAGE XML without a Page element" in answer


def test_control_characters_in_names_are_escaped(desk: Machine, pictures: Pictures) -> None:
    folder = pictures(["1.png"])
    (folder / "red\x1b[31m\n.png").write_bytes((folder / "1.png").read_bytes())
    desk.succeed("create", "Letters")
    answer = desk.succeed("import", "pages").out
    assert "  not imported: red\\x1b[31m\\x0a.png: Its name contains the control character" in answer
    assert "\x1b" not in answer
    assert desk.expect_refusal("show", "red\x1b[31m").startswith(
        "No document here has the id, name or path 'red\\x1b[31m'"
    )
    assert "\x1b" not in desk.expect_refusal("import", "red\x1b[31m")


def test_an_import_without_any_page_exits_with_1(desk: Machine, pictures: Pictures) -> None:
    folder = pictures(["1.png"])
    (folder / "empty.jpg").touch()
    desk.succeed("create", "Letters")
    ran = desk.run("import", str(folder / "empty.jpg"))
    assert (ran.code, "not imported: empty.jpg" in ran.out) == (1, True)
    ran = desk.run("import", str(folder / "empty.jpg"), "--json")
    assert (ran.code, ran.json["refused_count"]) == (1, 1)
    desk.succeed("import", "pages")
    assert "1 was there already" in desk.succeed("import", "pages").out


def test_import_under_json_answers_one_value_and_shows_no_progress(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Letters")
    ran = desk.succeed("import", "pages", "--json")
    assert (ran.json["files"], ran.json["refused"], ran.err) == (1, [], "")


def test_import_takes_single_files_into_a_folder_of_the_project(desk: Machine, pictures: Pictures) -> None:
    folder = pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    into = desk.succeed("ls", "--json").json["items"][0]["id"]
    desk.succeed("import", str(folder / "1.png"), "--into", into)
    assert [node["name"] for node in desk.succeed("ls", into, "--json").json["items"]] == ["1.png"]


@pytest.mark.parametrize("words", [("nothing-here",), ("",)])
def test_import_of_nothing_is_refused(desk: Machine, words: tuple[str, ...]) -> None:
    desk.succeed("create", "Letters")
    assert desk.expect_refusal("import", *words).endswith(".")


def test_without_a_terminal_a_job_ends_with_one_line(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png"])
    desk.succeed("create", "Letters")
    assert desk.succeed("import", "pages").err.startswith("Import: 1/1, ")


def test_lines_and_read_report_their_counts(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "2.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    assert "lines yet" in desk.expect_refusal("read", "--reader", "pretend")
    first = next(node for node in desk.succeed("ls", "--json").json["items"] if node["name"] == "1.png")["id"]
    assert desk.succeed("lines", first, "--reader", "pretend").out == "Found lines on 1 page, 2 lines.\n"
    answer = desk.succeed("read", "--reader", "pretend").out
    assert answer.startswith("Read 1 page, 2 lines.\n")
    assert "  1 page passed over. The first: The page has no lines yet; find them first." in answer


def test_a_page_that_fails_is_named_and_the_others_are_done(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "faint.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    answer = desk.succeed("lines", "--reader", "pretend").out
    assert answer.startswith("Found lines on 1 page, 2 lines.\n")
    assert "  not done: faint.png: The page is too faint to find lines on." in answer


def test_pages_without_a_line_are_named_with_what_to_try(desk: Machine, pictures: Pictures) -> None:
    pictures(["1.png", "bare.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    ran = desk.succeed("text", "1.png")
    assert ran.out == ""
    assert ran.err == "1.png was never read: armarium lines finds its lines, armarium read reads them.\n"
    answer = desk.succeed("lines", "--reader", "pretend").out
    assert answer.startswith("Found lines on 2 pages, 2 lines.\n  no lines found: bare.png\n")
    assert "try another reader (--reader NAME: " in answer
    assert "pretend" not in answer
    assert "with no line that was read" in desk.succeed("text", "1.png").err
    assert "bare.png has a pass" in desk.succeed("text", "bare.png").err
    desk.succeed("read", "--reader", "pretend")
    ran = desk.succeed("text", "1.png")
    assert (ran.out, ran.err) == ("linea 1\nlinea 2\n", "")


def test_when_no_page_can_be_done_the_job_is_refused_with_its_id(desk: Machine, pictures: Pictures) -> None:
    pictures(["faint.png"])
    desk.succeed("create", "Letters")
    desk.succeed("import", "pages")
    ran = desk.run("lines", "--reader", "pretend", "--json")
    body = json.loads(ran.err)
    assert ran.code == 1
    assert "too faint" in body["detail"]
    assert "too faint to find lines on. (document " in desk.succeed("jobs", "log", body["job_id"]).out


def test_an_unknown_reader_language_or_page_is_refused(read_pages: Machine) -> None:
    assert "no reader called nobody" in read_pages.expect_refusal("lines", "--reader", "nobody")
    assert "'he'" in read_pages.expect_refusal("read", "--reader", "pretend", "--language", "he")
    for command in ("read", "lines", "text", "export", "passes", "segments"):
        assert read_pages.expect_refusal(command, "a b/c").startswith(
            "No document here has the id, name or path 'a b/c'"
        )


def test_a_project_without_pages_says_how_to_import_some(desk: Machine) -> None:
    desk.succeed("create", "Letters")
    for command in ("lines", "read"):
        assert "no page" in desk.expect_refusal(command, "--reader", "pretend").lower()
    assert "no page" in desk.expect_refusal("export").lower()


def test_new_lines_that_replace_a_text_say_so_and_how_to_go_back(read_pages: Machine) -> None:
    answer = read_pages.succeed("text", "--json").json["items"][0]
    page, read_pass = answer["document_id"], answer["pass_id"]
    result = read_pages.run("lines", page, "--reader", "pretend").err
    assert "has no text" in result
    way_back = f"armarium passes {page} --use {read_pass}"
    for command in (("text", page), ("passes", page), ("segments", page), ("export", page, "--out", "out")):
        ran = read_pages.run(*command)
        assert ran.code == 0
        assert "has 2 lines read" in ran.err, command
        assert way_back in ran.err, command
    ran = read_pages.run("passes", page, "--use", read_pass)
    assert "has no text" not in ran.err
    assert read_pages.succeed("text", page).out == "linea 1\nlinea 2\n"


def test_text_of_all_pages_of_one_and_with_the_ids_that_correct_takes(read_pages: Machine) -> None:
    assert read_pages.succeed("text").out.count("linea 1") == 2
    page = read_pages.succeed("text", "--json").json["items"][0]["document_id"]
    assert read_pages.succeed("text", page).out == "linea 1\nlinea 2\n"
    name = read_pages.succeed("show", page, "--json").json["document"]["name"]
    for command in ("text", "passes", "segments"):
        assert read_pages.succeed(command, name).out == read_pages.succeed(command, page).out
    assert read_pages.succeed("order", "list", name).out == read_pages.succeed("order", "list", page).out
    assert read_pages.succeed("export", name, "--out", "one").out.startswith("Wrote 1 file ")
    assert read_pages.succeed("text", page, "--ids").out.startswith(f"{first_line(read_pages)}  linea 1\n")


def test_correct_writes_a_reading_and_says_how_to_undo_it(read_pages: Machine) -> None:
    line = first_line(read_pages)
    answer = read_pages.succeed("correct", line, "En la villa").out
    assert "En la villa" in read_pages.succeed("text").out
    read_pages.succeed("undo", answer.split()[-1])
    assert "En la villa" not in read_pages.succeed("text").out


def test_correct_is_refused_for_a_missing_or_changed_line(read_pages: Machine) -> None:
    assert read_pages.expect_refusal("correct", "nosuch", "x").startswith(
        "There is no segment nosuch in this project."
    )
    line = first_line(read_pages)
    answer = read_pages.succeed("correct", line, "one", "--json").json
    read_pages.succeed("correct", line, "two")
    reading = answer.get("representation_id") or answer["id"]
    assert read_pages.expect_refusal("correct", line, "three", "--expect", reading)
    assert "give its text after its id" in read_pages.expect_refusal("correct", line)
    read_pages.expect_misuse("correct")


@pytest.mark.parametrize("format_name", ["pagexml", "plain-text"])
def test_export_writes_one_file_for_each_page_and_never_overwrites_unasked(
    read_pages: Machine, format_name: str
) -> None:
    words = ("export", "--out", "out", "--format", format_name)
    answer = read_pages.succeed(*words).out
    out = read_pages.home / "out"
    assert answer.startswith(f"Wrote 2 files to {out}.\n")
    files = sorted(out.iterdir())
    files[1].write_text("mine")
    assert "already exists; pass --overwrite" in read_pages.expect_refusal(*words)
    assert files[1].read_text() == "mine"
    assert sorted(out.iterdir()) == files
    read_pages.succeed(*words, "--overwrite")
    assert "linea 1" in files[1].read_text("utf-8")


def test_export_refused_halfway_leaves_nothing(read_pages: Machine) -> None:
    read_pages.succeed("export", "--out", "out")
    first, second = sorted((read_pages.home / "out").iterdir())
    first.unlink()
    assert second.name in read_pages.expect_refusal("export", "--out", "out")
    assert list((read_pages.home / "out").iterdir()) == [second]


def test_export_to_a_file_or_in_an_unknown_format_is_refused(read_pages: Machine) -> None:
    (read_pages.home / "file").touch()
    assert read_pages.expect_refusal("export", "--out", "file").endswith(
        "is a file; --out must name a folder."
    )
    for name in ("nosuch", "no/such"):
        assert "There is no format" in read_pages.expect_refusal("export", "--out", "new", "--format", name)
    assert not Path("new").exists()
