"""The picture of one segment: what it shows, and why there may be none."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest

from armarium_documents.api import add_rendition
from armarium_source_model.cutting import cut_segment, lean_of, plain


def page_with_slanting_bar() -> Any:
    """Return a grey page of 400 x 200 with a dark bar from (100, 80) to (300, 120), 20 high."""
    from PIL import Image, ImageDraw

    image = Image.new("L", (400, 200), 200)
    ImageDraw.Draw(image).polygon([(100, 70), (300, 110), (300, 130), (100, 90)], fill=20)
    return image


BAR = [(100 / 400, 70 / 200), (300 / 400, 110 / 200), (300 / 400, 130 / 200), (100 / 400, 90 / 200)]
RECT = (100 / 400, 70 / 200, 200 / 400, 60 / 200)
BASELINE = [(100 / 400, 90 / 200), (300 / 400, 130 / 200)]


def test_a_margin_goes_around_and_white_beyond_the_edge() -> None:
    from PIL import Image

    image = Image.new("RGB", (100, 100), (10, 10, 10))
    cut = cut_segment(image, (0.0, 0.0, 1.0, 1.0))
    assert cut.size == (110, 110)
    assert cut.getpixel((0, 0)) == (255, 255, 255)
    assert cut.getpixel((5, 5)) == (10, 10, 10)
    small = cut_segment(image, (0.5, 0.5, 0.1, 0.1))
    assert small.size == (18, 18)


def test_a_mask_leaves_only_the_polygon() -> None:
    cut = cut_segment(page_with_slanting_bar(), RECT, BAR, mask=True)
    assert cut.getpixel((cut.width // 2, 2)) == 255
    assert cut.getpixel((cut.width // 2, cut.height // 2)) == 20
    assert set(cut.getdata()) <= {20, 200, 255}


def test_straightening_levels_the_line() -> None:
    lean = lean_of(BASELINE, 400, 200)
    assert lean == pytest.approx(math.atan2(40, 200))
    crooked = cut_segment(page_with_slanting_bar(), RECT, BAR)
    level = cut_segment(page_with_slanting_bar(), RECT, BAR, lean=lean)
    assert level.height < crooked.height * 0.6
    middle = level.height // 2
    row = level.crop((level.width // 4, middle, 3 * level.width // 4, middle + 1))
    assert max(row.tobytes()) < 60


@pytest.mark.parametrize(
    ("baseline", "degrees"),
    [
        ([(0.9, 0.5), (0.1, 0.5)], 0),
        ([(0.5, 0.1), (0.5, 0.9)], 0),
        ([(0.1, 0.1), (0.1, 0.1)], 0),
        ([(0, 0), (0.1, 0.01)], 5.71),
        ([(0.1, 0.01), (0, 0)], 5.71),
    ],
)
def test_a_line_is_levelled_to_its_nearest_axis(baseline: list[tuple[float, float]], degrees: float) -> None:
    assert math.degrees(lean_of(baseline, 100, 100)) == pytest.approx(degrees, abs=0.01)


def test_the_picture_is_bounded_and_never_enlarged() -> None:
    image = page_with_slanting_bar()
    assert max(cut_segment(image, (0, 0, 1, 1), size=64).size) == 64
    assert max(cut_segment(image, (0.2, 0.2, 0.1, 0.1), size=4096).size) < 60


@pytest.mark.parametrize(
    ("mode", "becomes"), [("1", "L"), ("I;16", "L"), ("P", "RGB"), ("CMYK", "RGB"), ("LA", "RGB")]
)
def test_every_kind_of_picture_becomes_plain(mode: str, becomes: str) -> None:
    from PIL import Image

    assert plain(Image.new(mode, (4, 4))).mode == becomes


@pytest.fixture
def drawn(desk: Any) -> dict[str, Any]:
    """A page with a picture, and one slanting line measured on it."""
    out = io.BytesIO()
    page_with_slanting_bar().save(out, "PNG")
    data = out.getvalue()
    page = desk.page()
    checksum = desk.library.objects.put_bytes(data)
    made: dict[str, Any] = {"page": page}

    def give(ctx: Any) -> None:
        made["rendition"] = add_rendition(
            ctx, page, checksum=checksum, mime_type="image/png", role="archival-original",
            pixel_width=400, pixel_height=200, size_bytes=len(data),
        )  # fmt: skip

    made["give"] = give
    desk.engine.run(
        desk.library,
        "segment.pass_create",
        {"document_id": page, "name": "p"},
        desk.principal,
        in_transaction=give,
    )
    pass_id = desk.new_pass(page)
    anchor = {"rect": list(RECT), "polygon": [list(point) for point in BAR]}
    made["line"] = desk.run(
        "segment.create", document_id=page, pass_id=pass_id, kind="line", anchor=anchor, baseline=BASELINE
    )["id"]
    made["bare"] = desk.run(
        "segment.create", document_id=page, pass_id=pass_id, kind="line", anchor={"rect": list(RECT)}
    )["id"]
    return made


def test_the_picture_over_http(client: Any, drawn: dict[str, Any]) -> None:
    from PIL import Image

    answer = client.get(
        f"/api/segments/{drawn['line']}/picture", params={"mask": True, "straighten": True, "size": 64}
    )
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    with Image.open(io.BytesIO(answer.content)) as image:
        assert max(image.size) == 64
        assert image.width > 3 * image.height


def test_a_picture_that_would_not_be_honest_is_refused_in_words(
    client: Any, desk: Any, drawn: dict[str, Any]
) -> None:
    def refusal(segment_id: str, **query: Any) -> tuple[int, str | None]:
        answer = client.get(f"/api/segments/{segment_id}/picture", params=query)
        assert answer.json()["detail"]
        return answer.status_code, answer.json().get("code")

    assert refusal("nowhere") == (404, "segment_not_found")
    assert refusal("legacy:a:0") == (422, "provisional_id")
    assert refusal(drawn["bare"], mask=True) == (422, "no_polygon")
    assert refusal(drawn["bare"], straighten=True) == (422, "no_baseline")
    assert refusal(drawn["line"], size=31)[0] == 422
    assert refusal(drawn["line"], size=4097)[0] == 422
    page = desk.page("No picture")
    lone = desk.lines(page, desk.new_pass(page), 1)[0]
    assert refusal(lone) == (422, "no_picture")


def test_a_picture_whose_file_is_lost_is_refused_in_words(
    client: Any, desk: Any, drawn: dict[str, Any]
) -> None:
    from armarium_documents.api import page_image

    with desk.library.db.read() as conn:
        page_image(desk.library, conn, drawn["page"]).path.unlink()
    answer = client.get(f"/api/segments/{drawn['line']}/picture")
    assert (answer.status_code, answer.json()["code"]) == (422, "no_picture")
    assert "is missing from the project" in answer.json()["detail"]


def test_a_size_out_of_bounds_is_refused_whoever_asks(desk: Any, drawn: dict[str, Any]) -> None:
    from armarium.api import Invalid
    from armarium_source_model.queries.pictures import segment_picture

    with desk.library.db.read() as conn, pytest.raises(Invalid, match="32 to 4096"):
        segment_picture(desk.library, conn, drawn["line"], size=5)


def test_a_segment_measured_on_another_picture_has_none_and_both_are_named(
    client: Any, desk: Any, drawn: dict[str, Any]
) -> None:
    first = drawn["rendition"]
    desk.engine.run(
        desk.library,
        "segment.pass_create",
        {"document_id": drawn["page"], "name": "p"},
        desk.principal,
        in_transaction=drawn["give"],
    )
    second = drawn["rendition"]
    desk.run("rendition.set_primary", document_id=drawn["page"], rendition_id=second)
    answer = client.get(f"/api/segments/{drawn['line']}/picture")
    body = answer.json()
    assert (answer.status_code, body["code"], body["measured_on"], body["current"]) == (
        422,
        "picture_other_image",
        first,
        second,
    )
    assert first in body["detail"]
    assert second in body["detail"]


def test_the_drawing_of_a_page_shows_what_the_pass_holds(desk: Any, drawn: dict[str, Any]) -> None:
    from armarium.api import NotFound
    from armarium_source_model.queries.drawing import drawn_lines, page_drawing, page_drawing_png

    desk.correct(drawn["line"], "a slanting bar")
    elsewhere = desk.new_pass(desk.page())
    with desk.library.db.read() as conn:
        lines = drawn_lines(desk.library, conn, drawn["page"])
        assert [(line.order, line.text, line.corrected) for line in lines] == [
            (1, "a slanting bar", True),
            (2, None, False),
        ]
        assert page_drawing(desk.library, conn, drawn["page"], labels=False).size == (400, 200)
        assert page_drawing_png(desk.library, conn, drawn["page"]).startswith(b"\x89PNG")
        with pytest.raises(NotFound, match="of another page"):
            drawn_lines(desk.library, conn, drawn["page"], elsewhere)
        with pytest.raises(NotFound, match="no pass yet"):
            drawn_lines(desk.library, conn, desk.page())
