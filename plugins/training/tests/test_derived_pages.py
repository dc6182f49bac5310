"""What shows the same writing as a page: copies, crops, halves, at any depth. None of it teaches what is held out, none
counts twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import training_readers
from training_desk import MACHINE, Desk

from armarium_reading.api import READERS
from armarium_training.line_sets import SAME_TEXT
from armarium_training.planning import is_new_to


def crop(desk: Desk, page: str, texts: Sequence[str] = ("cut out",), by: str = "teacher") -> str:
    """The upper part of a page's picture as a page of its own, with lines that the machine *by* read."""
    (new_child,) = desk.do(
        "image.crop_batch",
        {"document_ids": [page], "region": {"left": 0.0, "top": 0.0, "width": 1.0, "height": 0.5}},
    )["children"]
    child = new_child if isinstance(new_child, str) else str(new_child["id"])
    pass_id = str(desk.do("segment.pass_create", {"document_id": child, "name": f"Read by {by}"})["id"])
    lines = desk.lines(child, pass_id, len(texts))
    desk.read(child, pass_id, dict(zip(lines, texts, strict=True)), by)
    return child


def test_what_shows_a_held_out_page_is_held_out_with_it(desk: Desk) -> None:
    page, _ = desk.page(["one", "two", "three"])
    half = crop(desk, page)
    quarter = crop(desk, half)
    twin, _ = desk.page(["one again"] * 3, shade=desk.shade)
    other, _ = desk.page(["four"])
    everything = [page, half, quarter, twin, other]
    for held in (page, half, quarter):
        found = desk.set(everything, held_out_ids=[held])
        assert (found["pages"], found["lines"]) == (1, 1), held
        document_ids = {one["document_id"] for one in (*found["missing"], *found["held_out"])}
        assert document_ids == {page, half, quarter, twin}


def test_a_second_shot_of_a_page_held_out_teaches_nothing(desk: Desk) -> None:
    words = [f"vna carta de {name} fecha en Lima" for name in ("Pedro Ruiz", "Ana de Soto", "Juan Diaz")]
    held, _ = desk.page(words)
    # Another picture, read a little differently.
    shot, _ = desk.page([words[0].replace("vna", "una"), words[1].replace("fecha", "fechada"), words[2]])
    form, _ = desk.page([word.replace("Lima", "la ciudad de los Reyes a doze de março") for word in words])
    found = desk.set([held, shot, form], held_out_ids=[held])
    assert (found["pages"], [entry["document_id"] for entry in found["missing"]]) == (1, [shot])
    assert found["missing"][0]["why"] == SAME_TEXT
    assert desk.set([held, shot, form], held_out_ids=[])["pages"] == 3


def test_two_parts_of_one_page_are_not_held_out_with_each_other(desk: Desk) -> None:
    page = desk.picture(3)
    upper, lower = desk.do(
        "image.split",
        {"document_id": page, "regions": [{"bbox": [0, 0, 1, 0.5]}, {"bbox": [0, 0.5, 1, 0.5]}]},
    )["children"]
    ids = [str(one["id"]) if isinstance(one, dict) else str(one) for one in (upper, lower)]
    for child in ids:
        pass_id = str(desk.do("segment.pass_create", {"document_id": child, "name": "Read by teacher"})["id"])
        (line,) = desk.lines(child, pass_id, 1)
        desk.read(child, pass_id, {line: "half"}, "teacher")
    assert desk.set(ids, held_out_ids=ids[:1])["pages"] == 1


def test_the_lines_of_a_page_and_of_what_was_cut_from_it_count_once(desk: Desk) -> None:
    page, _ = desk.page(["one", "two", "three"])
    half = crop(desk, page)
    found = desk.set([page, half])
    assert (found["pages"], found["lines"]) == (1, 3)
    assert [entry["document_id"] for entry in found["missing"]] == [half]
    assert "count already" in found["missing"][0]["why"]
    # A spread with a stray line stays behind its well-read halves.
    spread, _ = desk.page(["stray"])
    halves = [crop(desk, spread, ["a", "b"]), crop(desk, spread, ["c", "d"])]
    found = desk.set([spread, *halves])
    assert (found["pages"], found["lines"], found["missing"][0]["document_id"]) == (2, 4, spread)


def test_a_model_is_not_measured_on_what_shows_a_page_it_was_taught(desk: Desk) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    page, lines = desk.page(["one", "two"])
    half = crop(desk, page)
    other, _ = desk.page(["three"])
    desk.correct(lines[0], "uno")
    digest = desk.rows("SELECT checksum FROM rendition WHERE document_id = ? AND is_primary", page)[0][0]

    def is_new(seen: str, held: str, asked: str) -> bool:
        card = {"training_set": {"documents": [{"document_id": seen}]}, "held_out": [{"document_id": held}]}
        with desk.library.db.read() as conn:
            return is_new_to(conn, card, asked)

    assert not is_new(page, half, half)
    assert not is_new(half, page, page)
    assert is_new(other, page, half)
    with desk.library.db.read() as conn:
        gone = {"document_id": "f" * 32, "checksum": digest}
        assert not is_new_to(
            conn, {"training_set": {"documents": [gone]}, "held_out": [{"document_id": half}]}, half
        )
    both = desk.client.post(
        "/api/evaluation/runs",
        json={
            "candidates": [{"model": "careful", "reader": "linereader"}],
            "held_out_ids": [page, half],
            "add_out_of_the_box": False,
            "pass": "teacher",
        },
    ).json()["plan"]
    assert [page["document_id"] for page in both["pages"]] == [page]


def test_lines_that_came_with_a_file_are_not_said_to_be_read_by_a_model(desk: Desk) -> None:
    page = desk.picture(2)
    result = desk.do("segment.pass_create", {"document_id": page, "name": "ALTO: page.xml"}, MACHINE)
    lines = desk.lines(page, str(result["id"]), 2)
    desk.read(page, str(result["id"]), {lines[0]: "read"}, "teacher")
    desk.correct(lines[1], "by hand")
    found = desk.set([page], teacher="ALTO: page.xml")
    assert (
        found["lines_read_by_a_model"],
        found["lines_from_files"],
        found["lines_checked_by_a_person"],
    ) == (1, 0, 1)
    desk.do("segment.pass_ground_truth", {"pass_id": result["id"], "ground_truth": True})
    assert desk.set([page], teacher="ALTO: page.xml")["lines_checked_by_a_person"] == 2


@pytest.mark.parametrize("count", [2, 60])
def test_a_set_says_what_a_bake_off_of_its_reader_lacks(desk: Desk, count: int) -> None:
    taught, _ = desk.page(["one"])
    held = [desk.page([f"line {n}" for n in range(count)]) for _ in range(2)]
    for _, lines in held:
        for line in lines:
            desk.correct(line, "checked")
    told = desk.set([taught], held_out_ids=[page for page, _ in held])
    assert told["held_out_lines"] == 2 * count
    assert (told["comparable"] is None) == (count == 60)
    if count == 2:
        assert "4 corrected lines on 2 pages are held out." in told["comparable"]
        assert "hold out 100 corrected lines on 2 pages" in told["comparable"]
