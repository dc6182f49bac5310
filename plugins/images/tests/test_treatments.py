"""Renditions made from pictures: their look and frame, and the state after a kill, a refusal or an undo."""

from __future__ import annotations

import io
from typing import Any

import numpy
import pytest
from images_helpers import EDITOR, NOWHERE, add_page, make_stored, rows

from armarium.api import Engine, Forbidden, Invalid, Library, NotFound
from armarium_images.actions import treatments
from armarium_images.treating import treat, treat_picture

Run = Any


def letter(shadow: bool = True) -> Any:
    """Return a yellowed sheet that darkens to the right, with five lines of brown ink."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (400, 300), (225, 205, 160))
    drawn = ImageDraw.Draw(image)
    for y in range(40, 280, 50):
        drawn.line([(30, y), (370, y)], fill=(110, 80, 50), width=4)
    if not shadow:
        return image
    light = numpy.linspace(1.0, 0.4, 400)[None, :, None]
    return Image.fromarray((numpy.asarray(image) * light).astype(numpy.uint8))


def paper(image: Any) -> Any:
    """Return the lightness along the empty strip between two lines."""
    return numpy.asarray(image.convert("L"))[60:70].astype(float).mean(axis=0)


def test_enhanced_evens_the_light_and_keeps_the_colour() -> None:
    made = treat(letter(), "enhanced")
    assert (made.mode, made.size) == ("RGB", (400, 300))
    # The shadow took three fifths of the light; hardly any of it is left, and the ink has its contrast as
    # before.
    before, after = paper(letter()), paper(made)
    assert before.min() < 0.5 * before.max()
    assert after.min() > 0.8 * after.max()
    red, _, blue = numpy.asarray(made)[60:70, 50:350].reshape(-1, 3).mean(axis=0)
    assert red > blue + 15
    assert numpy.asarray(made.convert("L"))[40, 200] < after[200] - 60


def test_without_background_the_paper_is_white_and_the_ink_stays() -> None:
    made = treat(letter(), "background-removed")
    assert (made.mode, made.size) == ("RGB", (400, 300))
    assert paper(made).min() > 245
    assert numpy.asarray(made.convert("L"))[40, 30:370].max() < 160


def test_binarised_is_ink_and_nothing_else() -> None:
    made = treat(letter(), "binarised")
    assert (made.mode, made.size) == ("1", (400, 300))
    ink = ~numpy.asarray(made)
    assert ink[40, 40:360].all()
    assert not ink[55:75].any()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "I", "F", "YCbCr"])
@pytest.mark.parametrize("how", ["enhanced", "background-removed", "binarised"])
def test_every_kind_of_pixel_is_taken(mode: str, how: Any) -> None:
    image = letter(shadow=False)
    if mode == "I;16":
        from PIL import Image

        image = Image.fromarray(numpy.asarray(image.convert("L")).astype(numpy.uint16) * 200)
    else:
        image = image.convert("L").convert(mode) if mode in ("1", "I", "F") else image.convert(mode)
    made = treat(image, how)
    assert made.size == (400, 300)
    assert made.mode == (
        "1" if how == "binarised" else "L" if mode in ("1", "L", "I;16", "I", "F") else "RGB"
    )
    if mode != "1":
        assert numpy.asarray(made.convert("L"))[40, 200] < numpy.asarray(made.convert("L"))[65, 200]


@pytest.mark.parametrize("size", [(1, 1), (1, 400), (400, 1), (3, 2)])
@pytest.mark.parametrize("how", ["enhanced", "background-removed", "binarised"])
def test_the_smallest_pictures_are_taken(size: tuple[int, int], how: Any) -> None:
    from PIL import Image

    for mode in ("L", "RGB"):
        for shade in (0, 255):
            colour = shade if mode == "L" else (shade,) * 3
            assert treat(Image.new(mode, size, colour), how).size == size


@pytest.mark.parametrize(
    ("size", "how", "mime_type"),
    [
        ((70_000, 4), "enhanced", "image/png"),
        ((4, 65_501), "background-removed", "image/png"),
        ((70_000, 4), "binarised", "image/png"),
        ((400, 300), "enhanced", "image/jpeg"),
    ],
)
def test_a_picture_too_long_for_jpeg_is_stored_losslessly(
    library: Library, size: tuple[int, int], how: Any, mime_type: str
) -> None:
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.new("L", size, 200).save(file, "PNG")
    checksum = library.objects.put_bytes(file.getvalue())
    made = treat_picture(library, checksum, "scroll", how, 2.0, max_pixels=10**9)
    assert (made.width, made.height, made.mime_type) == (*size, mime_type)


def renditions(library: Library, page: str) -> list[tuple[Any, ...]]:
    return rows(
        library,
        "SELECT role, is_primary, pixel_width, pixel_height, mime_type, transform, params ->> '$.from_rendition_id'"
        " FROM rendition WHERE document_id = ? ORDER BY created_at, role",
        page,
    )


def test_a_folder_is_treated_and_one_undo_takes_it_back(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    pages = [add_page(engine, library, folder, name=f"{n}.png") for n in range(3)]
    begun = do("image.treat", {"scope_ids": [folder], "role": "background-removed"})
    assert begun["pictures"] == 3
    engine.jobs.run_until_idle(library)
    for page in pages:
        original, made = renditions(library, page)
        assert original[:2] == ("archival-original", 1)
        assert made[:5] == ("background-removed", 0, 120, 90, "image/jpeg")
        assert made[5] == "[1.0,0.0,0.0,1.0,0.0,0.0]"
    steps = [row[0] for row in rows(library, "SELECT id FROM audit WHERE set_id = ?", begun["job_id"])]
    assert len(steps) == 3
    from armarium.principals import LOCAL_OWNER

    engine.undo(library, steps, LOCAL_OWNER)
    assert [len(renditions(library, page)) for page in pages] == [1, 1, 1]


def test_the_same_is_not_made_twice(engine: Engine, library: Library, page: str, do: Run) -> None:
    first = do("image.treat_item", {"document_id": page, "role": "enhanced"})
    second_outcome = do("image.treat_item", {"document_id": page, "role": "enhanced"})
    other_outcome = do("image.treat_item", {"document_id": page, "role": "enhanced", "contrast": 6})
    assert (first["made"], second_outcome) == (True, {**first, "made": False})
    assert other_outcome["rendition_id"] != first["rendition_id"]


def test_a_failed_write_of_a_cut_record_loses_only_the_record(
    engine: Engine, library: Library, page: str, do: Run
) -> None:
    (library.derived_folder / "cuts").write_text("a file where the notes' folder should be")
    assert do("image.treat_item", {"document_id": page, "role": "enhanced"})["rendition_id"]
    assert do("image.crop", {"document_id": page, "left": 0, "top": 0, "width": 9, "height": 9})


def test_a_turned_picture_is_made_upright(engine: Engine, library: Library, folder: str, do: Run) -> None:
    page = add_page(engine, library, folder, make_stored(6, "JPEG"), orientation=6, mime_type="image/jpeg")
    do("image.treat_item", {"document_id": page, "role": "enhanced"})
    rendition = renditions(library, page)[-1]
    assert rendition[2:4] == (120, 90)
    from PIL import Image

    (checksum,) = rows(library, "SELECT checksum FROM rendition WHERE role = 'enhanced'")[0]
    with Image.open(io.BytesIO(library.objects.path(checksum).read_bytes())) as image:
        assert image.size == (120, 90)
        assert image.getexif().get(0x0112, 1) == 1


def test_it_is_made_from_the_original_though_another_is_primary(
    engine: Engine, library: Library, page: str, do: Run
) -> None:
    (original,) = rows(library, "SELECT id FROM rendition WHERE document_id = ?", page)[0]
    result = do("image.treat_item", {"document_id": page, "role": "binarised"})["rendition_id"]
    do("rendition.set_primary", {"document_id": page, "rendition_id": result})
    do("image.treat_item", {"document_id": page, "role": "enhanced"})
    ((source, transform),) = rows(
        library, "SELECT params ->> '$.from_rendition_id', transform FROM rendition WHERE role = 'enhanced'"
    )
    # The binarised picture has the same frame as the original, and recorded that when it was made.
    assert (source, transform) == (original, "[1.0,0.0,0.0,1.0,0.0,0.0]")


def test_a_bad_picture_does_not_stop_the_others(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    good = add_page(engine, library, folder)
    bad = add_page(engine, library, folder, make_stored()[:200], name="2.png")
    begun = do("image.treat", {"scope_ids": [folder], "role": "enhanced"})
    engine.jobs.run_until_idle(library)
    ((made, why, failed),) = rows(
        library,
        "SELECT result ->> '$.pictures', result ->> '$.failed[0].why', result ->> '$.failed[0].document_id'"
        " FROM job WHERE id = ?",
        begun["job_id"],
    )
    assert (made, failed) == (1, bad)
    assert "2.png" in why
    assert len(renditions(library, good)) == 2


def test_a_job_that_is_taken_up_again_makes_nothing_twice(
    engine: Engine, library: Library, folder: str, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [add_page(engine, library, folder, name=f"{n}.png") for n in range(3)]
    real, times = treatments.original_of, []

    def stumble(conn: Any, document_id: str) -> Any:
        # Called twice for each picture: before the writer is taken, and in the step.
        if not times or times[-1] != document_id or stumble.fell:
            times.append(document_id)
            stumble.fell = len(times) == 2
            if stumble.fell:
                raise RuntimeError("power cut")
        return real(conn, document_id)

    stumble.fell = False
    monkeypatch.setattr(treatments, "original_of", stumble)
    begun = do("image.treat", {"scope_ids": [folder], "role": "enhanced"})
    engine.jobs.run_until_idle(library)
    if rows(library, "SELECT state FROM job WHERE id = ?", begun["job_id"])[0][0] == "failed":
        engine.run(library, "job.retry", {"job_id": begun["job_id"]}, EDITOR)
        engine.jobs.run_until_idle(library)
    assert rows(library, "SELECT state FROM job WHERE id = ?", begun["job_id"]) == [("done",)]
    assert [len(renditions(library, page)) for page in pages] == [2, 2, 2]
    assert times == [pages[0], pages[1], pages[1], pages[2]]


def test_refusals(engine: Engine, library: Library, folder: str, page: str, do: Run) -> None:
    with pytest.raises(NotFound):
        do("image.treat", {"scope_ids": [NOWHERE], "role": "enhanced"})
    with pytest.raises(NotFound):
        do("image.treat_item", {"document_id": NOWHERE, "role": "enhanced"})
    empty = do("document.create", {"name": "Empty"})["id"]
    with pytest.raises(Invalid, match="no picture at or beneath"):
        do("image.treat", {"scope_ids": [empty], "role": "enhanced"})
    for wrong in (
        {"role": "sepia"},
        {"role": "enhanced", "contrast": 0},
        {"role": "enhanced", "contrast": 1e9},
    ):
        with pytest.raises(Invalid):
            do("image.treat_item", {"document_id": page, **wrong})
    do("document.lock", {"document_id": folder, "locked": True})
    for name, params in (
        ("image.treat", {"scope_ids": [folder], "role": "enhanced"}),
        ("image.treat_item", {"document_id": page, "role": "enhanced"}),
    ):
        with pytest.raises(Forbidden):
            do(name, params, EDITOR)


def test_more_pictures_than_one_job_takes_are_refused(
    library: Library, folder: str, page: str, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(treatments, "MAX_IMAGES", 0)
    with pytest.raises(Invalid, match="at most"):
        do("image.treat", {"scope_ids": [folder], "role": "enhanced"})
