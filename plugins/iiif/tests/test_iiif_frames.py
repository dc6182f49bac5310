"""The position of lines on the canvas, compared with the pixels, after the picture was treated or replaced."""

from __future__ import annotations

import io
from typing import Any

import pytest
from fastapi.testclient import TestClient
from iiif_helpers import OWNER, add_page, encode_image, open_answer
from PIL import Image

from armarium.api import Engine, Library

MARK = (10, 10, 10)


def _make_marked(orientation: int) -> bytes:
    """Return a sheet of light paper, 400 by 300 as stored, with one dark bar off its middle."""
    image = Image.new("RGB", (400, 300), (235, 230, 215))
    image.paste(MARK, (150, 110, 290, 140))
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode_image(image, exif=exif)


def _dark_box(image: Image.Image) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom of the bar in *image*."""
    box = image.convert("L").point(lambda grey: 255 if grey < 90 else 0).getbbox()
    assert box is not None
    return box


def _primary_picture(client: TestClient, document_id: str) -> Image.Image:
    primary = client.get(f"/api/documents/{document_id}/renditions").json()["items"][0]
    assert primary["is_primary"]
    return open_answer(client.get(f"/api/documents/{document_id}/renditions/{primary['id']}/content").content)


def _draw_line(engine: Engine, library: Library, document_id: str, image: Image.Image) -> None:
    """Draw a line around the bar as displayed now."""
    left, top, right, bottom = _dark_box(image)
    result = engine.run(
        library, "segment.pass_create", {"document_id": document_id, "name": "By hand"}, OWNER
    ).result
    assert result is not None
    rect = [
        left / image.width,
        top / image.height,
        (right - left) / image.width,
        (bottom - top) / image.height,
    ]
    anchor = {"document_id": document_id, "rect": rect}
    params = {"document_id": document_id, "pass_id": result["id"], "kind": "line", "anchor": anchor}
    engine.run(library, "segment.create", params, OWNER)


def _box_on_canvas(client: TestClient, document_id: str) -> list[int]:
    (line,) = client.get(f"/api/iiif/iiif/lines/{document_id}").json()["items"]
    return [int(number) for number in line["target"].rsplit("xywh=", 1)[1].split(",")]


def _assert_on_the_bar(client: TestClient, document_id: str) -> None:
    image = _primary_picture(client, document_id)
    left, top, right, bottom = _dark_box(image)
    x, y, w, h = _box_on_canvas(client, document_id)
    found, expected = (x, y, x + w, y + h), (left, top, right, bottom)
    assert all(abs(a - b) <= 2 for a, b in zip(found, expected, strict=True)), (found, expected)


@pytest.mark.parametrize("orientation", [1, 6])
@pytest.mark.parametrize(
    ("action", "how"),
    [
        ("image.crop", {"left": 60, "top": 50, "width": 240, "height": 240}),
        ("image.split", {"regions": [{"bbox": [0, 0, 0.1, 1]}, {"bbox": [0.1, 0, 0.9, 1]}]}),
    ],
)
def test_a_line_on_a_part_stays_on_its_ink_when_an_enhanced_picture_becomes_primary(
    engine: Engine, library: Library, client: TestClient, action: str, how: dict[str, Any], orientation: int
) -> None:
    upright = (300, 400) if orientation == 6 else (400, 300)
    page = add_page(engine, library, data=_make_marked(orientation), size=upright, orientation=orientation)
    result = engine.run(library, action, {"document_id": page, **how}, OWNER).result
    assert result is not None
    child = result["child_ids"][-1]
    first = client.get(f"/api/documents/{child}/renditions").json()["items"][0]
    assert first["transform"] == [1, 0, 0, 1, 0, 0]
    _draw_line(engine, library, child, _primary_picture(client, child))
    _assert_on_the_bar(client, child)
    enhanced = engine.run(
        library, "image.treat_item", {"document_id": child, "role": "enhanced"}, OWNER
    ).result
    assert enhanced is not None
    chosen = {"document_id": child, "rendition_id": enhanced["rendition_id"]}
    step = engine.run(library, "rendition.set_primary", chosen, OWNER)
    _assert_on_the_bar(client, child)
    engine.undo(library, [step.audit_id], OWNER)
    _assert_on_the_bar(client, child)


def test_transforms_lead_to_whichever_picture_is_primary(
    engine: Engine, library: Library, client: TestClient
) -> None:
    """The second picture shows the lower right quarter, upside down: lines stay on their ink whichever is
    primary.
    """
    page = add_page(engine, library, data=_make_marked(1))
    whole = Image.open(io.BytesIO(_make_marked(1)))
    quarter = whole.crop((120, 90, 320, 240)).rotate(180)
    stored = library.objects.put_bytes(encode_image(quarter))
    rendition_id = _add_picture(engine, library, page, stored, quarter.size, [-0.5, 0, 0, -0.5, 0.8, 0.8])
    _draw_line(engine, library, page, whole)
    for chosen in (rendition_id, _archival(client, page)):
        engine.run(library, "rendition.set_primary", {"document_id": page, "rendition_id": chosen}, OWNER)
        _assert_on_the_bar(client, page)


def test_a_picture_whose_place_is_not_known_is_never_taken_for_identical(
    engine: Engine, library: Library, client: TestClient
) -> None:
    page = add_page(engine, library, data=_make_marked(1))
    _draw_line(engine, library, page, _primary_picture(client, page))
    other = Image.open(io.BytesIO(_make_marked(1))).rotate(180)
    stored = library.objects.put_bytes(encode_image(other))
    rendition_id = _add_picture(engine, library, page, stored, other.size, None)
    first = _archival(client, page)
    engine.run(library, "rendition.set_primary", {"document_id": page, "rendition_id": rendition_id}, OWNER)
    answer = client.get(f"/api/iiif/iiif/lines/{page}").json()
    assert answer["items"] == []
    assert answer["summary"]["en"][0].startswith("1 line is left out")
    engine.run(library, "rendition.set_primary", {"document_id": page, "rendition_id": first}, OWNER)
    _assert_on_the_bar(client, page)


def _archival(client: TestClient, document_id: str) -> str:
    rows = client.get(f"/api/documents/{document_id}/renditions").json()["items"]
    return str(next(row["id"] for row in rows if row["role"] == "archival-original"))


def _add_picture(
    engine: Engine,
    library: Library,
    document_id: str,
    checksum: str,
    size: tuple[int, int],
    transform: list[float] | None,
) -> str:
    from armarium.actions import NoParams, action
    from armarium_documents.api import add_rendition

    @action("test.add_picture", params=NoParams, summary="Add a picture.", example=lambda ex: {})
    def add(ctx: Any, p: NoParams) -> dict[str, Any]:
        identity = add_rendition(
            ctx, document_id, checksum=checksum, mime_type="image/png", role="enhanced",
            pixel_width=size[0], pixel_height=size[1], transform=transform,
        )  # fmt: skip
        return {"id": identity}

    outcome = engine.bus.step(add, library, NoParams(), OWNER)
    assert outcome.result is not None
    return str(outcome.result["id"])
