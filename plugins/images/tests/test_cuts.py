"""Crops and splits: the right pixels in every orientation, the transform back to the source, every refusal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from images_helpers import (
    EDITOR,
    HEIGHT,
    NOWHERE,
    WIDTH,
    add_page,
    chart,
    live_names,
    make_stored,
    picture_of,
    rows,
)

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound
from armarium_images.api import cut_of, to_source
from armarium_testing.digest import differences, table_digests

Run = Any
CROP = {"left": 30, "top": 10, "width": 50, "height": 40}
HALVES = [{"bbox": [0, 0, 0.5, 1], "label": "1v"}, {"bbox": [0.5, 0, 0.5, 1]}]


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_a_crop_is_what_a_person_sees(
    engine: Engine, library: Library, folder: str, do: Run, form: str
) -> None:
    for orientation in range(1, 9):
        page = add_page(engine, library, folder, make_stored(orientation, form), orientation=orientation)
        result = do("image.crop", {"document_id": page, **CROP})
        image = picture_of(library, result["child"]["id"])
        assert image.tobytes() == chart().crop((30, 10, 80, 50)).tobytes(), orientation
        assert result["region"] == pytest.approx([30 / WIDTH, 10 / HEIGHT, 50 / WIDTH, 40 / HEIGHT])


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
@pytest.mark.parametrize("auto_orient", [True, False])
def test_points_of_a_child_lie_on_the_source(
    engine: Engine, library: Library, folder: str, do: Run, form: str, auto_orient: bool
) -> None:
    wanted = {"left": 20, "top": 10, "width": 30, "height": 20, "auto_orient": auto_orient}
    for orientation in range(1, 9):
        page = add_page(engine, library, folder, make_stored(orientation, form), orientation=orientation)
        child = do("image.crop", {"document_id": page, **wanted})["child"]["id"]
        with library.db.read() as conn:
            cut = cut_of(conn, child)
        assert cut is not None
        assert cut.source_id == page
        image = picture_of(library, child)
        assert image.size == (30, 20)
        for x, y in [(0, 0), (29, 0), (3, 17), (29, 19)]:
            red, green, _ = image.getpixel((x, y))
            across, down = to_source(cut.transform, (x + 0.5) / image.width, (y + 0.5) / image.height)
            assert (across * WIDTH, down * HEIGHT) == pytest.approx((red + 0.5, green + 0.5)), orientation


def test_a_child_says_where_it_comes_from_and_the_source_stays(library: Library, page: str, do: Run) -> None:
    before = (
        rows(library, "SELECT * FROM document WHERE id = ?", page),
        rows(library, "SELECT * FROM rendition WHERE document_id = ?", page),
    )
    result = do("image.crop", {"document_id": page, **CROP})
    child = result["child"]
    assert before == (
        rows(library, "SELECT * FROM document WHERE id = ?", page),
        rows(library, "SELECT * FROM rendition WHERE document_id = ?", page),
    )
    assert (child["parent_id"], child["name"], child["doc_type"]) == (page, "1.png, crop 1", "file")
    assert child["metadata"] == {"derived_from": page, "width": 50, "height": 40}
    ((role, transform, width, height),) = rows(
        library,
        "SELECT role, transform, pixel_width, pixel_height FROM rendition WHERE document_id = ?",
        child["id"],
    )
    assert (role, width, height) == ("derived", 50, 40)
    assert (
        transform == "[1.0,0.0,0.0,1.0,0.0,0.0]"
    )  # its own primary picture; its place in the source is in `region`
    assert do("image.crop", {"document_id": page, **CROP})["child"]["name"] == "1.png, crop 2"


def test_the_same_cut_gives_the_same_bytes_without_opening_the_picture(
    library: Library, page: str, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = do("image.crop", {"document_id": page, **CROP})["child"]["id"]
    monkeypatch.setattr("armarium_images.cutting.open_image", None)
    second = do("image.crop", {"document_id": page, **CROP})["child"]["id"]
    named = {
        row[0]
        for row in rows(library, "SELECT checksum FROM rendition WHERE document_id IN (?, ?)", first, second)
    }
    assert len(named) == 1


def test_a_damaged_cut_record_is_ignored(library: Library, page: str, do: Run) -> None:
    do("image.crop", {"document_id": page, **CROP})
    (note,) = (library.derived_folder / "cuts").rglob("*.json")
    note.write_text("[1, 2")
    child = do("image.crop", {"document_id": page, **CROP})["child"]["id"]
    assert picture_of(library, child).size == (50, 40)


def test_a_part_of_a_photograph_stays_a_jpeg(engine: Engine, library: Library, folder: str, do: Run) -> None:
    page = add_page(engine, library, folder, make_stored(form="JPEG"), mime_type="image/jpeg")
    child = do("image.crop", {"document_id": page, **CROP})["child"]["id"]
    image = picture_of(library, child)
    assert (image.format, image.size) == ("JPEG", (50, 40))
    assert max(abs(a - b) for a, b in zip(image.getpixel((5, 5)), (35, 15, 99), strict=True)) < 12


@pytest.mark.parametrize(
    ("mode", "form", "out"),
    [
        ("1", "PNG", ("1", "PNG")),
        ("P", "PNG", ("P", "PNG")),
        ("LA", "PNG", ("LA", "PNG")),
        ("I;16", "TIFF", ("I;16", "PNG")),
        ("F", "TIFF", ("F", "TIFF")),
        ("CMYK", "JPEG", ("RGB", "JPEG")),
    ],
)
def test_pictures_of_every_mode_are_cut(
    engine: Engine, library: Library, folder: str, do: Run, mode: str, form: str, out: tuple[str, str]
) -> None:
    from PIL import Image

    file = io.BytesIO()
    Image.new(mode, (WIDTH, HEIGHT)).save(file, form)
    page = add_page(engine, library, folder, file.getvalue())
    image = picture_of(library, do("image.crop", {"document_id": page, **CROP})["child"]["id"])
    assert (image.mode, image.format, image.size) == (*out, (50, 40))


def test_a_split_makes_pages_that_stand_for_the_picture(
    library: Library, page: str, folder: str, do: Run
) -> None:
    from armarium_documents.api import pages_under

    result = do("image.split", {"document_id": page, "regions": HALVES})
    assert result["left_out"] == []
    assert [child["name"] for child in result["children"]] == ["1v", "1.png, split 2"]
    assert [child["page_label"] for child in result["children"]] == ["1v", None]
    left, right = (picture_of(library, child) for child in result["child_ids"])
    assert (left.size, right.size) == ((60, 90), (60, 90))
    assert right.getpixel((0, 0)) == (60, 0, 99)
    with library.db.read() as conn:
        assert pages_under(conn, [folder]) == result["child_ids"]
    assert do("image.unsplit", {"document_id": page})["removed_ids"] == result["child_ids"]
    with library.db.read() as conn:
        assert pages_under(conn, [folder]) == [page]


def test_a_split_names_what_stays_on_the_picture(page: str, do: Run) -> None:
    note = {
        "document_id": page,
        "anchor_kind": "paragraph",
        "paragraph_index": 0,
        "kind": "note",
        "text": "a note",
    }
    do("annotation.create", note)
    result = do("image.split", {"document_id": page, "regions": HALVES})
    (left,) = result["left_out"]
    assert (left["document_id"], "“1.png” keeps what is recorded on it (annotation)" in left["why"]) == (
        page,
        True,
    )
    do("image.unsplit", {"document_id": page})
    # A crop stands beside the picture, which stays a page.
    assert "left_out" not in do("image.crop", {"document_id": page, **CROP})


def test_a_picture_is_not_split_twice(library: Library, page: str, do: Run) -> None:
    result = do("image.split", {"document_id": page, "regions": HALVES})
    before = rows(library, "SELECT id FROM document")
    with pytest.raises(Conflict) as refusal:
        do("image.split", {"document_id": page, "regions": HALVES[::-1]})
    assert refusal.value.code == "already_split"
    assert "2 parts" in refusal.value.detail
    assert rows(library, "SELECT id FROM document") == before
    do("image.unsplit", {"document_id": result["child_ids"][0]})
    with pytest.raises(Conflict):
        do("image.split", {"document_id": page, "regions": HALVES})
    do("image.unsplit", {"document_id": page})
    assert len(do("image.split", {"document_id": page, "regions": HALVES})["child_ids"]) == 2


def test_neighbouring_regions_leave_no_gap(library: Library, page: str, do: Run) -> None:
    third = 1 / 7
    regions = [{"bbox": [n * third, 0, third, 1]} for n in range(7)]
    result = do("image.split", {"document_id": page, "regions": regions})
    assert sum(picture_of(library, child).width for child in result["child_ids"]) == WIDTH


def test_a_cut_is_reverted_by_its_source_or_one_child(library: Library, page: str, do: Run) -> None:
    first, second, third = (do("image.crop", {"document_id": page, **CROP})["child"]["id"] for _ in range(3))
    outcome = do("image.uncrop", {"document_id": second})
    assert (outcome["document_id"], outcome["removed_ids"]) == (page, [second])
    assert do("image.uncrop", {"document_id": page})["removed_ids"] == [first, third]
    assert live_names(library, page) == []
    ((trashed,),) = rows(library, "SELECT count(*) FROM document WHERE trash_root_id = id")
    assert trashed == 3
    # What was never cut, as a copy of a part that came without its picture, is in no Trash.
    for what, why in (("image.uncrop", "is in the Trash"), ("image.unsplit", "nothing was cut out of it")):
        with pytest.raises(Conflict, match=why) as refusal:
            do(what, {"document_id": page})
        assert refusal.value.code == "nothing_to_take_back"


def test_a_crop_of_a_crop_must_be_reverted_first(page: str, do: Run) -> None:
    outer = do("image.crop", {"document_id": page, **CROP})["child"]["id"]
    inner = do("image.crop", {"document_id": outer, "left": 0, "top": 0, "width": 5, "height": 5})
    assert do("image.uncrop", {"document_id": outer})["removed_ids"] == inner["child_ids"]
    assert do("image.uncrop", {"document_id": outer})["removed_ids"] == [outer]


def test_undo_removes_every_row_and_redraws_the_thumbnail(
    engine: Engine, library: Library, page: str
) -> None:
    from images_helpers import OWNER

    engine.jobs.run_until_idle(library)
    before = table_digests(library.db, engine.library_schema)
    outcome = engine.run(library, "image.split", {"document_id": page, "regions": HALVES}, OWNER)
    engine.undo(library, [outcome.audit_id], OWNER)
    assert differences(before, table_digests(library.db, engine.library_schema)) == []
    result = engine.run(library, "image.crop", {"document_id": page, **CROP}, OWNER).result
    assert result is not None
    engine.jobs.run_until_idle(library)
    assert rows(
        library, "SELECT width, height FROM thumbnail WHERE document_id = ?", result["child"]["id"]
    ) == [(50, 40)]


@pytest.mark.parametrize(
    ("box", "orientation"),
    [
        ({"left": 100, "top": 0, "width": 21, "height": 10}, 1),
        ({"left": 0, "top": 80, "width": 10, "height": 11}, 1),
        ({"left": 0, "top": 0, "width": 10, "height": 91}, 6),
        ({"left": 1_000_000_000, "top": 0, "width": 1, "height": 1}, 1),
    ],
)
def test_a_crop_outside_the_picture_is_refused(
    engine: Engine, library: Library, folder: str, do: Run, box: dict[str, int], orientation: int
) -> None:
    page = add_page(engine, library, folder, orientation=orientation)
    with pytest.raises(Invalid, match="120 by 90 pixels") as refusal:
        do("image.crop", {"document_id": page, **box})
    assert refusal.value.code == "outside_picture"
    assert live_names(library, page) == []


@pytest.mark.parametrize(
    "box",
    [
        {"left": -1, "top": 0, "width": 5, "height": 5},
        {"left": 0, "top": 0, "width": 0, "height": 5},
        {"left": 0.5, "top": 0, "width": 5, "height": 5},
        {"left": 0, "top": 0, "width": 5, "height": 5, "page": 0},
        {"left": float("nan"), "top": 0, "width": 5, "height": 5},
    ],
)
def test_a_crop_without_a_valid_rectangle_is_refused(page: str, do: Run, box: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        do("image.crop", {"document_id": page, **box})
    assert refusal.value.code == "invalid_request"


@pytest.mark.parametrize(
    ("regions", "code"),
    [
        ([[0, 0, 0.6, 1], [0.5, 0, 0.5, 1]], "overlapping_regions"),
        ([[0, 0, 1, 1], [0.2, 0.2, 0.1, 0.1]], "overlapping_regions"),
        ([[0, 0, 0.001, 1], [0.5, 0, 0.5, 1]], "empty_region"),
        ([[0, 0, 0, 1], [0.5, 0, 0.5, 1]], "invalid_request"),
        ([[0, 0, 0.5, 1], [0.6, 0, 0.5, 1]], "invalid_request"),
        ([[0, 0, 0.5, 1], [0.5, 0, float("inf"), 1]], "invalid_request"),
        ([[0, 0, 1, 1]], "invalid_request"),
        ([[n / 65, 0, 1 / 65, 1] for n in range(65)], "invalid_request"),
    ],
)
def test_an_impossible_split_is_refused(
    library: Library, page: str, do: Run, regions: list[list[float]], code: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        do("image.split", {"document_id": page, "regions": [{"bbox": bbox} for bbox in regions]})
    assert refusal.value.code == code
    assert live_names(library, page) == []


def test_what_has_no_picture_or_is_gone_is_refused(library: Library, folder: str, page: str, do: Run) -> None:
    for document_id, code in ((NOWHERE, "document_not_found"), (folder, "no_picture")):
        with pytest.raises(NotFound) as missing:
            do("image.crop", {"document_id": document_id, **CROP})
        assert missing.value.code == code
        with pytest.raises(NotFound):
            do("image.split", {"document_id": document_id, "regions": HALVES})
    with pytest.raises(NotFound):
        do("image.uncrop", {"document_id": NOWHERE})
    do("document.delete", {"ids": [page]})
    with pytest.raises(Conflict):
        do("image.crop", {"document_id": page, **CROP})


def test_a_lock_keeps_editors_from_cutting(page: str, folder: str, do: Run) -> None:
    child = do("image.crop", {"document_id": page, **CROP})["child"]["id"]
    do("document.lock", {"document_id": folder, "locked": True})
    for name, params in (
        ("image.crop", {"document_id": page, **CROP}),
        ("image.split", {"document_id": page, "regions": HALVES}),
        ("image.uncrop", {"document_id": child}),
    ):
        with pytest.raises(Forbidden) as refusal:
            do(name, params, EDITOR)
        assert refusal.value.code == "node_locked"
    answer = do("image.crop_batch", {"document_ids": [page], "region": _region()}, EDITOR)
    assert [entry["document_id"] for entry in answer["failed"]] == [page]


def test_a_damaged_picture_is_refused_in_words(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    page = add_page(engine, library, folder, make_stored()[:150])
    with pytest.raises(Invalid) as refusal:
        do("image.crop", {"document_id": page, **CROP})
    assert refusal.value.code == "image_damaged"


def test_a_page_of_a_file_of_several(engine: Engine, library: Library, folder: str, do: Run) -> None:
    roll = str(do("document.create", {"name": "Roll", "doc_type": "file", "parent_id": folder})["id"])
    first = add_page(engine, library, roll, name="Page 1", doc_type="page")
    second = add_page(engine, library, roll, name="Page 2", doc_type="page")
    result = do("image.crop", {"document_id": roll, **CROP, "page": 2})
    assert (result["document_id"], result["child"]["parent_id"]) == (second, second)
    do("image.split", {"document_id": roll, "regions": HALVES})
    assert live_names(library, first) == ["1v", "Page 1, split 2"]
    with pytest.raises(Invalid) as refusal:
        do("image.crop", {"document_id": roll, **CROP, "page": 3})
    assert refusal.value.code == "no_such_page"
    assert do("image.uncrop", {"document_id": roll})["removed_ids"] == result["child_ids"]


def _region(**fields: Any) -> dict[str, Any]:
    return {"left": 0.5, "top": 0, "width": 0.5, "height": 1, **fields}


def test_many_pictures_are_cropped_alike_and_failures_listed(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    pages = [add_page(engine, library, folder, name=f"{n}.png") for n in range(3)]
    small = add_page(
        engine, library, folder, make_stored(image=chart(20, 20)), size=(20, 20), name="small.png"
    )
    asked = [pages[0], NOWHERE, *pages, small, folder]
    region = _region(unit="pixel", left=60, top=0, width=60, height=90)
    answer = do("image.crop_batch", {"document_ids": asked, "region": region})
    assert [child["parent_id"] for child in answer["children"]] == pages
    assert [entry["document_id"] for entry in answer["failed"]] == [NOWHERE, small, folder]
    answer = do("image.crop_batch", {"document_ids": [*pages, small], "region": _region()})
    assert [picture_of(library, child["id"]).width for child in answer["children"]] == [60, 60, 60, 10]


@pytest.mark.parametrize(
    "region",
    [
        _region(width=0.6),
        _region(left=float("nan")),
        _region(unit="pixel"),
        _region(unit="pixel", left=-1, width=3),
        _region(unit="inch"),
    ],
)
def test_an_invalid_region_is_refused(page: str, do: Run, region: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        do("image.crop_batch", {"document_ids": [page], "region": region})
    assert refusal.value.code == "invalid_request"


def test_a_purge_removes_the_rows_of_a_cut(library: Library, page: str, do: Run) -> None:
    do("image.crop", {"document_id": page, **CROP})
    do("document.delete", {"ids": [page]})
    do("document.empty_trash", {})
    assert rows(library, "SELECT count(*) FROM image_cut") == [(0,)]
