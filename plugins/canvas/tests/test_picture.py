"""The picture of a canvas: each rule checked in its pixels."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from canvas_helpers import GREEN, RED, add_picture, draw_canvas, is_near, rows

from armarium.api import Engine, Library
from armarium_canvas import picture
from armarium_canvas.queries import scene
from armarium_testing.digest import differences, table_digests

Run = Any
Make = Callable[..., str]
MARGIN = 20


def save(do: Run, folder: str, *places: dict[str, Any]) -> None:
    do("canvas.save_layout", {"folder_id": folder, "rows": list(places)})


def record_texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that receives every text drawn into a picture."""
    said: list[str] = []
    real = picture.PictureFont.write

    def write(self: Any, image: Any, at: Any, text: str, colour: Any) -> None:
        said.append(text)
        real(self, image, at, text, colour)

    monkeypatch.setattr(picture.PictureFont, "write", write)
    return said


def test_a_card_sits_at_its_saved_centre_with_its_size(
    engine: Engine, library: Library, folder: str, client: Any, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_picture = add_picture(engine, library, folder, RED, "one.png")
    other_picture = add_picture(engine, library, folder, GREEN, "other.png")
    engine.jobs.run_until_idle(library)
    said = record_texts(monkeypatch)
    save(
        do,
        folder,
        {"item_id": first_picture, "x": 100, "y": 100},
        {"item_id": other_picture, "x": 500, "y": 100, "w": 300, "h": 200},
    )
    image = draw_canvas(client, folder)
    # The cards extend from 40 to 650 across and 0 to 200 down; a margin is added.
    assert image.size == (610 + 2 * MARGIN, 200 + 2 * MARGIN)
    assert is_near(image.getpixel((100 - 40 + MARGIN, 80 + MARGIN)), RED)
    assert is_near(image.getpixel((500 - 40 + MARGIN, 80 + MARGIN)), GREEN)
    # The edges of the card without a saved size: 120 by 150 around (100, 100).
    assert image.getpixel((MARGIN, 100 + MARGIN)) == picture._EDGE
    assert image.getpixel((MARGIN + 120, 100 + MARGIN)) == picture._EDGE
    assert image.getpixel((MARGIN + 60, 25 + MARGIN)) == picture._EDGE
    assert said == ["one.png", first_picture[:8], "other.png", other_picture[:8]]


def test_what_has_an_angle_is_turned_clockwise_about_its_centre(
    engine: Engine, library: Library, folder: str, client: Any, do: Run
) -> None:
    first_picture = add_picture(engine, library, folder, RED, "one.png")
    engine.jobs.run_until_idle(library)
    save(do, folder, {"item_id": first_picture, "x": 300, "y": 300, "w": 400, "h": 100, "angle": 90})
    image = draw_canvas(client, folder)
    # The card is now upright: 100 across, 400 down, with the foot that carries its name to the left.
    assert image.size == (100 + 2 * MARGIN, 400 + 2 * MARGIN)
    assert is_near(image.getpixel((MARGIN + 65, MARGIN + 200)), RED)
    assert image.getpixel((MARGIN + 20, MARGIN + 300)) == picture._CARD
    assert image.getpixel((MARGIN // 2, MARGIN + 200)) == picture._PAPER
    for angle in (450, -270):
        save(do, folder, {"item_id": first_picture, "x": 300, "y": 300, "w": 400, "h": 100, "angle": angle})
        assert draw_canvas(client, folder).tobytes() == image.tobytes()
    # A square standing on its corner: paper in the corners of the picture, the card's colour in the middle
    # and at the square's corners.
    do("document.delete", {"ids": [first_picture]})
    note = str(do("canvas.item_create", {"folder_id": folder, "kind": "note", "text": ""})["id"])
    save(do, folder, {"item_id": note, "x": 300, "y": 300, "w": 200, "h": 200, "angle": 45})
    image = draw_canvas(client, folder)
    side = round(200 * 2**0.5)
    assert abs(image.width - side - 2 * MARGIN) <= 1
    middle = image.width // 2
    assert image.getpixel((middle, middle)) == picture._YELLOW
    for x, y in ((middle, MARGIN + 12), (MARGIN + 12, middle), (image.width - MARGIN - 13, middle)):
        assert image.getpixel((x, y)) == picture._YELLOW, (x, y)
    for x, y in ((MARGIN + 30, MARGIN + 30), (image.width - MARGIN - 30, MARGIN + 30)):
        assert image.getpixel((x, y)) == picture._PAPER, (x, y)


def test_rotated_cards_are_bounded(
    folder: str, card: Make, client: Any, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "_MOST_TURNED", 120 * 150)
    places = [{"item_id": card(str(n)), "x": n * 400, "y": 0, "angle": 45} for n in range(2)]
    save(do, folder, *places)
    image = draw_canvas(client, folder)
    across, middle = (120 + 150) / 2**0.5, image.height // 2
    # The first card is rotated, the second upright: if it were rotated too, there would be paper beside its
    # upper corner, not grey.
    left = MARGIN + across / 2
    assert image.getpixel((round(left - 50), middle - 60)) == picture._PAPER
    assert image.getpixel((round(left + 400 - 50), middle - 60)) == picture._GREY


def test_a_card_without_a_thumbnail_is_grey_and_none_is_created(
    engine: Engine, library: Library, folder: str, client: Any, do: Run
) -> None:
    first_picture = add_picture(engine, library, folder)
    save(do, folder, {"item_id": first_picture, "x": 60, "y": 75})
    before = table_digests(library.db, engine.library_schema)
    jobs = rows(library, "SELECT count(*), max(seq) FROM job")
    image = draw_canvas(client, folder)
    assert image.getpixel((60 + MARGIN, 50 + MARGIN)) == picture._GREY
    assert differences(before, table_digests(library.db, engine.library_schema)) == []
    assert rows(library, "SELECT count(*), max(seq) FROM job") == jobs
    assert rows(library, "SELECT count(*) FROM thumbnail") == [(0,)]
    assert not list(library.derived_folder.rglob("*.jpg"))


def test_a_lost_or_damaged_thumbnail_leaves_its_card_grey(
    engine: Engine, library: Library, folder: str, client: Any, do: Run
) -> None:
    first_picture, other_picture = (
        add_picture(engine, library, folder, RED),
        add_picture(engine, library, folder, GREEN),
    )
    engine.jobs.run_until_idle(library)
    save(
        do,
        folder,
        {"item_id": first_picture, "x": 60, "y": 75},
        {"item_id": other_picture, "x": 260, "y": 75},
    )
    first, second = sorted(library.derived_folder.rglob("*.jpg"))
    first.unlink()
    second.write_bytes(b"no picture")
    image = draw_canvas(client, folder)
    assert image.getpixel((60 + MARGIN, 50 + MARGIN)) == picture._GREY
    assert image.getpixel((260 + MARGIN, 50 + MARGIN)) == picture._GREY


def test_a_group_is_blue_counts_its_members_and_shows_the_first(
    engine: Engine, library: Library, folder: str, client: Any, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = str(do("document.create", {"name": "Letter", "doc_type": "group", "parent_id": folder})["id"])
    add_picture(engine, library, group, GREEN, "a.png")
    add_picture(engine, library, group, RED, "b.png")
    engine.jobs.run_until_idle(library)
    save(do, folder, {"item_id": group, "x": 60, "y": 75})
    said = record_texts(monkeypatch)
    image = draw_canvas(client, folder)
    assert is_near(image.getpixel((60 + MARGIN, 50 + MARGIN)), GREEN)
    assert image.getpixel((MARGIN + 1, 75 + MARGIN)) == picture._BLUE
    assert said == ["Letter (2)", group[:8]]
    do("document.update", {"document_id": group, "name": "Letters of the year 1914 and after"})
    draw_canvas(client, folder)
    assert said[2].startswith("Letters of")
    assert said[2].endswith("... (2)")


def test_notes_are_yellow_with_their_text_and_links_are_lines(
    folder: str, card: Make, client: Any, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_card = card("one")
    text = "A question that goes over more than one line"
    note = do("canvas.item_create", {"folder_id": folder, "kind": "note", "text": text})["id"]
    do(
        "canvas.item_create",
        {"folder_id": folder, "kind": "link", "source_item_id": first_card, "target_item_id": note},
    )
    save(
        do, folder, {"item_id": first_card, "x": 60, "y": 75}, {"item_id": note, "x": 460, "y": 75, "h": 100}
    )
    said = record_texts(monkeypatch)
    image = draw_canvas(client, folder)
    assert image.getpixel((460 + MARGIN, 115 + MARGIN)) == picture._YELLOW
    assert image.getpixel((260 + MARGIN, 75 + MARGIN)) == picture._LINE
    lines = said[2:]
    assert len(lines) > 1
    assert " ".join(lines) == text


def test_words_of_a_note_are_separated_by_spaces(folder: str, client: Any, do: Run) -> None:
    text = "Carta de la abadesa"
    note = str(do("canvas.item_create", {"folder_id": folder, "kind": "note", "text": text})["id"])
    save(do, folder, {"item_id": note, "x": 0, "y": 0, "w": 160, "h": 40})
    image = draw_canvas(client, folder).convert("L").crop((MARGIN + 2, MARGIN + 2, MARGIN + 158, MARGIN + 38))
    paper = image.getpixel((image.width - 1, 0))
    empty = [
        image.crop((x, 0, x + 1, image.height)).getextrema() == (paper, paper) for x in range(image.width)
    ]
    inked = [x for x, blank in enumerate(empty) if not blank]
    between = "".join(" " if blank else "x" for blank in empty[inked[0] : inked[-1] + 1])
    # At 11 pixels a word space is at least two columns wide; letters within a word are closer.
    assert len(re.split(" {2,}", between)) == len(text.split()), between


def test_children_without_a_place_are_in_a_strip_below_in_folder_order(
    engine: Engine, library: Library, folder: str, client: Any, do: Run, card: Make
) -> None:
    first_card = card("placed")
    loose = [add_picture(engine, library, folder, colour, n) for colour, n in ((GREEN, "b"), (RED, "a"))]
    engine.jobs.run_until_idle(library)
    save(do, folder, {"item_id": first_card, "x": 60, "y": 75})
    with library.db.read() as conn:
        found = scene(conn, folder)
    assert [thing.id for thing in found.unplaced] == loose
    image = draw_canvas(client, folder)
    assert image.height > 2 * 150
    greens = [x for x in range(image.width) for y in (290,) if is_near(image.getpixel((x, y)), GREEN)]
    reds = [x for x in range(image.width) for y in (290,) if is_near(image.getpixel((x, y)), RED)]
    assert greens
    assert reds
    assert max(greens) < min(reds)


def test_at_most_400_are_drawn_and_the_rest_counted(
    library: Library, folder: str, client: Any, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium.api import new_id

    nodes = [{"id": new_id(), "parent_id": folder, "doc_type": "page", "name": f"{n:03}"} for n in range(403)]
    do("document.add_files", {"nodes": nodes[:400]})
    do("document.add_files", {"nodes": nodes[400:]})
    do("canvas.item_create", {"folder_id": folder, "kind": "note", "text": "no place"})
    with library.db.read() as conn:
        found = scene(conn, folder)
    assert (len(found.unplaced), found.not_drawn) == (400, 4)
    said = record_texts(monkeypatch)
    image = draw_canvas(client, folder)
    assert max(image.size) <= 1600
    assert said[0] == "Not placed: 404, 4 of them not drawn"
    ids = [words for words in said if any(node["id"].startswith(words) for node in nodes)]
    assert len(ids) == 400


def test_the_longest_side_is_bounded(folder: str, card: Make, client: Any, do: Run) -> None:
    places = [{"item_id": card(str(n)), "x": n * 3000, "y": n * 1000} for n in range(3)]
    save(do, folder, *places)
    assert max(draw_canvas(client, folder).size) == 1600
    assert max(draw_canvas(client, folder, max_size=256).size) == 256
    assert max(draw_canvas(client, folder, max_size=4096).size) == 4096
    save(do, folder, {**places[0], "x": -1_000_000, "w": 100_000}, {**places[1], "h": 0.001})
    assert max(draw_canvas(client, folder, max_size=300).size) == 300


@pytest.mark.parametrize("size", ["255", "4097", "0", "-1", "large", "1e3", ""])
def test_a_size_out_of_range_is_422(client: Any, folder: str, size: str) -> None:
    answer = client.get(f"/api/canvas/folders/{folder}/canvas-picture", params={"max_size": size})
    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_an_empty_canvas_is_an_empty_picture(client: Any, folder: str) -> None:
    image = draw_canvas(client, folder)
    assert image.getcolors() == [(image.width * image.height, picture._PAPER)]


def test_words_of_every_kind_are_drawn(folder: str, card: Make, client: Any, do: Run) -> None:
    first_card = card("ñandú — Ωμέγα \u0645\u062e\u0637\u0648\u0637 " + "x" * 900)
    texts = ["", "w" * 5_000, "a\n\n\nb", "  ", "\u0000\u202e", "word " * 2_000]
    notes = [
        do("canvas.item_create", {"folder_id": folder, "kind": "text", "text": text})["id"] for text in texts
    ]
    save(
        do,
        folder,
        {"item_id": first_card, "x": 0, "y": 0},
        *({"item_id": note, "x": 150 * n, "y": 300, "w": 5 + 40 * n} for n, note in enumerate(notes)),
    )
    assert draw_canvas(client, folder).width > 500
