"""Passes, segments, readings, orders, links, pictures and comparisons at the command line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from armarium_testing.command_line import Machine


@pytest.fixture(scope="module")
def shared(serving: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, list[str]]]:
    """One project of read pages for the whole module, which the commands use, and the ids of its pages."""
    from PIL import Image

    home = tmp_path_factory.mktemp("scribe")
    (home / "pages").mkdir()
    for number in range(PAGES):
        Image.new("RGB", (100, 80), (255, 255, 255 - number)).save(home / "pages" / f"{number:02}.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SERVICE_STATE_DIR", str(serving))
        patch.chdir(home)
        machine = Machine(home, serving)
        machine.succeed("create", "Letters")
        machine.succeed("import", "pages")
        machine.succeed("lines", "--reader", "pretend")
        machine.succeed("read", "--reader", "pretend")
        nodes = machine.succeed("ls", "--json").json["items"]
        yield machine, [node["id"] for node in nodes if node["name"].endswith(".png")]


PAGES = 14


@pytest.fixture
def read_pages(shared: tuple[Machine, list[str]]) -> Machine:
    return shared[0]


@pytest.fixture
def page(shared: tuple[Machine, list[str]]) -> str:
    """A page of two read lines that no other test has changed."""
    return shared[1].pop()


def lines_of(machine: Machine, page: str) -> list[str]:
    """Return the ids of a page's lines, in reading order."""
    (item,) = machine.succeed("text", page, "--json").json["items"]
    return [span["segment_id"] for span in item["spans"]]


def test_passes_are_listed_chosen_and_withdrawn(read_pages: Machine, page: str) -> None:
    desk = read_pages
    (item,) = desk.succeed("passes", page, "--json").json["items"]
    assert (item["working_basis"], item["segment_count"]) == ("newest-machine-unchosen", 2)
    listed = desk.succeed("passes", page).out
    assert "the newest" in listed
    assert "unchosen" not in listed
    answer = desk.succeed("passes", page, "--use", item["id"]).out
    assert "chosen" in answer
    assert "Take it back with: armarium undo " in answer
    assert desk.succeed("passes", page, "--release", item["id"], "--json").json["items"][0]["working"]
    assert desk.succeed("passes", page, "--truth", item["id"]).out.count("ground truth") == 1
    assert "ground truth" not in desk.succeed("passes", page, "--no-truth", item["id"]).out
    assert desk.succeed("passes", page, "--withdraw", item["id"], "--json").json["items"] == []
    assert desk.succeed("passes", page, "--restore", item["id"], "--json").json["count"] == 1
    assert desk.expect_refusal("passes", page, "--use", item["id"], "--withdraw", item["id"]).startswith(
        "Give one change"
    )
    assert "no pass" in desk.expect_refusal("passes", page, "--use", "nosuch").lower()


def test_segments_are_narrowed(read_pages: Machine, page: str) -> None:
    desk = read_pages
    answer = desk.succeed("segments", page).out
    assert "linea 1" in answer
    assert answer.endswith("2 segments.\n")
    (first, _) = lines_of(desk, page)
    segments = desk.succeed("segments", page, "--area", "0,0,1,0.3", "--json").json["segments"]
    assert [item["id"] for item in segments] == [first]
    assert "0 segments." in desk.succeed("segments", page, "--kind", "word").out
    assert "four fractions" in desk.expect_refusal("segments", page, "--area", "here")
    assert desk.expect_refusal("segments", "nosuch").endswith(".")


def test_readings_are_listed_together_and_one_is_chosen(read_pages: Machine, page: str) -> None:
    desk = read_pages
    line = lines_of(desk, page)[0]
    old = desk.succeed("readings", line, "--json").json["items"][0]["id"]
    desk.succeed("correct", line, "Linea I.")
    answer = desk.succeed("readings", line).out
    assert "corrected" in answer
    assert "counts (correction)" in answer
    chosen = desk.succeed("readings", line, "--choose", old).out
    assert "counts (chosen)" in chosen
    desk.succeed("undo", chosen.split()[-1])
    assert "counts (chosen)" not in desk.succeed("readings", line).out
    desk.succeed("readings", line, "--choose", old)
    assert "counts (correction)" in desk.succeed("readings", line, "--release").out
    new = next(
        item["id"] for item in desk.succeed("readings", line, "--json").json["items"] if item["counting"]
    )
    assert "retracted" in desk.succeed("readings", line, "--retract", new).out
    assert desk.expect_refusal("readings", line, "--choose", old, "--release").startswith("Give one change")


def test_a_translation_is_listed_beside_the_transcription(read_pages: Machine, page: str) -> None:
    desk = read_pages
    line = lines_of(desk, page)[0]
    desk.succeed("correct", line, "Line one", "--kind", "translation")
    assert desk.succeed("readings", line, "--kind", "translation", "--json").json["count"] == 1
    assert desk.succeed("text", page).out.startswith("linea 1")
    assert "nonsense" in desk.expect_refusal("correct", line, "x", "--kind", "nonsense")
    moved = desk.succeed("correct", line, "Linea prima", "--json").json["id"]
    assert moved in desk.expect_refusal("correct", line, "late", "--expect", line)


def test_the_columns_of_a_page_are_stated_and_taken_back(read_pages: Machine, page: str) -> None:
    desk = read_pages
    before = desk.succeed("text", page, "--json").json["items"][0]
    answer = desk.succeed("order", "columns", page, "1").out
    assert answer.startswith("The lines are read in 1 column. Take it back with: armarium undo ")
    assert desk.succeed("text", page, "--json").json["items"][0]["order_basis"] == "columns-stated"
    assert "as their positions suggest" in desk.succeed("order", "columns", page, "0").out
    assert desk.succeed("text", page, "--json").json["items"][0] == before
    assert "cannot stand in 9 columns" in desk.expect_refusal("order", "columns", page, "9")


def test_an_order_is_made_shown_read_and_withdrawn(read_pages: Machine, page: str) -> None:
    desk = read_pages
    first, second = lines_of(desk, page)
    order = desk.succeed("order", "new", page, "Backwards", "--json").json["id"]
    entry = desk.succeed("order", "place", order, second, "--json").json
    below = desk.succeed("order", "place", order, first, "--inside", entry["id"], "--json").json
    answer = desk.succeed("order", "show", order).out
    assert answer.index("linea 2") < answer.index("  linea 1")
    assert desk.succeed("text", page, "--order", order).out == "linea 2\nlinea 1\n"
    refusal = desk.expect_refusal("order", "place", order, first, "--at-end")
    assert "expected_version 1" in refusal
    desk.succeed("order", "place", order, first, "--moving", str(below["version"]))
    assert desk.succeed("text", page, "--order", order).out == "linea 1\nlinea 2\n"
    desk.succeed("order", "renumber", order)
    desk.succeed("order", "remove", order, entry["id"])
    assert desk.succeed("order", "show", order, "--json").json["count"] == 1
    desk.succeed("order", "withdraw", order)
    assert "withdrawn" in desk.expect_refusal("text", page, "--order", order)
    assert desk.succeed("order", "list", page, "--json").json["count"] == 0
    assert "withdrawn" in desk.succeed("order", "list", page, "--withdrawn").out
    desk.succeed("order", "restore", order)
    seeded = desk.succeed("order", "new", page, "As it stands", "--seed", "--kind", "as-written").out
    assert "with 2 entries" in seeded


def test_a_flow_over_two_pages_says_what_the_text_of_one_leaves_out(
    shared: tuple[Machine, list[str]], page: str
) -> None:
    desk, others = shared
    other = others.pop()
    flow = desk.succeed("order", "new", page, "On and on", "--kind", "flow", "--seed", "--json").json["id"]
    line = lines_of(desk, other)[0]
    desk.succeed("order", "place", flow, line, "--at-end")
    (elsewhere,) = desk.succeed("passes", other, "--json").json["items"]
    ran = desk.succeed("text", page, "--order", flow)
    assert ran.out == "linea 1\nlinea 2\n"
    assert ran.err == f"left out: {line} (other pass {elsewhere['id']})\n"


def test_a_text_is_of_one_pass_or_order_of_one_page(shared: tuple[Machine, list[str]], page: str) -> None:
    desk, others = shared
    other = others.pop()
    (item,) = desk.succeed("passes", page, "--json").json["items"]
    assert desk.succeed("text", page, "--pass", item["id"]).out == "linea 1\nlinea 2\n"
    assert desk.expect_refusal("text", "--pass", item["id"]).startswith(
        f"--pass and --order are for one page, but {PAGES} "
    )
    assert "is of another page" in desk.expect_refusal("text", other, "--pass", item["id"])


def test_an_order_needs_a_pass(read_pages: Machine, page: str) -> None:
    (item,) = read_pages.succeed("passes", page, "--json").json["items"]
    read_pages.succeed("passes", page, "--withdraw", item["id"])
    assert "no pass to order yet" in read_pages.expect_refusal("order", "new", page, "Mine")


def test_links_are_added_listed_at_both_ends_and_withdrawn(read_pages: Machine, page: str) -> None:
    desk = read_pages
    first, second = lines_of(desk, page)
    link = desk.succeed("link", "add", first, "glosses", second, "--note", "in red", "--json").json
    identity = link["result"]["link_id"]
    assert "glosses" in desk.succeed("link", "of", first).out
    assert "glossed by" in desk.succeed("link", "of", second).out
    uri = "https://pleiades.stoa.org/places/579885"
    desk.succeed("link", "add", first, "same_as", uri, "--to-kind", "uri", "--certainty", "0.5")
    assert desk.succeed("link", "of", uri, "--json").json["links"][0]["other_id"] == first
    desk.succeed("link", "withdraw", identity)
    assert "glossed by" not in desk.succeed("link", "of", second).out
    assert "withdrawn in red" in desk.succeed("link", "of", second, "--withdrawn").out
    desk.succeed("link", "restore", identity)
    assert "references means cites." in desk.succeed("link", "types").out
    assert "vocabulary" in desk.expect_refusal("link", "add", first, "praises", second)


def test_the_picture_of_a_line_is_written_once(read_pages: Machine, page: str) -> None:
    from PIL import Image

    desk = read_pages
    line = lines_of(desk, page)[0]
    answer = desk.succeed("picture", line, "--straighten", "--size", "64").out
    place = desk.home / f"{line}.png"
    assert answer == f"Wrote {place}.\n"
    with Image.open(place) as image:
        assert max(image.size) <= 64
        assert image.width > image.height
    assert "--overwrite" in desk.expect_refusal("picture", line)
    assert desk.succeed("picture", line, "--overwrite", "--json").json["bytes"] == place.stat().st_size
    assert "no polygon" in desk.expect_refusal("picture", line, "--mask", "-o", "m.png")
    assert not (desk.home / "m.png").exists()
    assert "no folder" in desk.expect_refusal("picture", line, "-o", "nowhere/m.png")
    (desk.home / "shut").mkdir()
    assert desk.expect_misuse("picture", line, "-o", "shut")


def test_two_readings_of_a_page_are_compared(read_pages: Machine, page: str) -> None:
    desk = read_pages
    (item,) = desk.succeed("passes", page, "--json").json["items"]
    answer = desk.succeed(
        "compare", page, item["id"], item["id"], "--policy", "diplomatic", "--policy", "lenient"
    ).out
    assert answer.count("0.00 %") == 2
    assert answer.startswith("Difference (nobody is named")
    found_answer = desk.succeed(
        "compare", page, item["id"], item["id"], "--checked-by", "Inés", "--expand", "linea=riga", "--json"
    ).json
    assert (found_answer["measure"], found_answer["scores"][0]["policy"]) == (
        "cer",
        "layout-insensitive+expansions(1)",
    )
    assert "SHORT=FULL" in desk.expect_refusal("compare", page, item["id"], item["id"], "--expand", "linea")
    assert desk.expect_refusal("compare", page, item["id"], "nosuch").endswith(".")


def test_the_doctor_finds_an_index_that_lacks_a_row(read_pages: Machine) -> None:
    desk = read_pages
    desk.succeed("release")
    place = desk.home / "Letters.library"
    other = sqlite3.connect(place / "library.sqlite")
    # Change the definition of an index without rebuilding it, as damage would: some rows are then missing in it.
    other.execute("PRAGMA writable_schema = ON")
    where = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'ix_segment_area'"
    other.execute(where, ("WHERE deleted_at IS NULL", "WHERE deleted_at IS NOT NULL"))
    other.commit()
    other.close()
    result = desk.run("doctor", str(place), "--no-files")
    assert result.code == 1
    other = sqlite3.connect(place / "library.sqlite")
    other.execute("PRAGMA writable_schema = ON")
    other.execute(where, ("WHERE deleted_at IS NOT NULL", "WHERE deleted_at IS NULL"))
    other.commit()
    other.close()
    assert "healthy" in desk.succeed("doctor", str(place), "--no-files", "--rebuild").out
    assert desk.succeed("doctor", str(place), "--no-files", "--json").json["healthy"]
