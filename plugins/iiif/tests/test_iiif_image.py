"""The Image API: the pixels that a URL requests and those it gets; pictures are decoded once, within bounded
memory.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iiif_helpers import QUARTERS, add_page, draw_quarters, encode_image, open_answer
from PIL import Image
from starlette.testclient import TestClient

from armarium.api import Engine, Library, raw_of
from armarium_iiif.errors import BadImageRequest
from armarium_iiif.image_request import MAX_AREA, parse_request
from armarium_iiif.image_service import Picture, information
from armarium_iiif.pixels import DecodedPictures, Source, level_for, pictures_of, render
from armarium_iiif.places import Places

RED, GREEN, BLUE, YELLOW = QUARTERS
PICTURE = (400, 300)


def near(found: object, wanted: tuple[int, ...], by: int = 12) -> bool:
    assert isinstance(found, tuple)
    return all(abs(one - other) <= by for one, other in zip(found, wanted, strict=True))


@pytest.mark.parametrize(
    ("region", "box"),
    [
        ("full", (0, 0, 400, 300)),
        ("square", (50, 0, 300, 300)),
        ("10,20,30,40", (10, 20, 30, 40)),
        ("390,290,100,100", (390, 290, 10, 10)),
        ("pct:25,50,50,50", (100, 150, 200, 150)),
        ("pct:0,0,0.01,0.01", (0, 0, 1, 1)),
        ("pct:50,50,100,100", (200, 150, 200, 150)),
    ],
)
def test_regions(region: str, box: tuple[int, ...]) -> None:
    assert parse_request(PICTURE, region, "max", "0", "default", "jpg").region == box


@pytest.mark.parametrize(
    ("size", "wanted", "canonical"),
    [
        ("max", (400, 300), "max"),
        ("200,", (200, 150), "200,150"),
        (",100", (133, 100), "133,100"),
        ("pct:50", (200, 150), "200,150"),
        ("100,200", (100, 200), "100,200"),
        ("!200,200", (200, 150), "200,150"),
        ("!1000,1000", (400, 300), "max"),
        ("^800,", (800, 600), "^800,600"),
        ("^,600", (800, 600), "^800,600"),
        ("^pct:200", (800, 600), "^800,600"),
        ("^!1000,1000", (1000, 750), "^1000,750"),
        ("^500,100", (500, 100), "^500,100"),
        ("^200,", (200, 150), "200,150"),
        ("400,300", (400, 300), "max"),
    ],
)
def test_sizes(size: str, wanted: tuple[int, int], canonical: str) -> None:
    request = parse_request(PICTURE, "full", size, "0", "color", "png")
    assert request.size == wanted
    assert request.canonical == f"full/{canonical}/0/default.png"


def test_the_largest_size_stays_in_bounds() -> None:
    small = parse_request(PICTURE, "full", "^max", "0", "default", "jpg")
    assert MAX_AREA * 0.99 < small.size[0] * small.size[1] <= MAX_AREA
    large = parse_request((20_000, 10_000), "full", "max", "0", "default", "jpg")
    assert large.size[0] * large.size[1] <= MAX_AREA
    assert large.size[0] == pytest.approx(2 * large.size[1], abs=1)


@pytest.mark.parametrize(
    ("picture", "wanted"),
    [((11_000, 9_500), (10_760, 9_292)), ((70_000, 1_000), (65_500, 936)), ((65_501, 20), (65_500, 20))],
)
def test_the_largest_size_of_a_huge_picture_is_given_and_not_refused(
    picture: tuple[int, int], wanted: tuple[int, int]
) -> None:
    """All our manifests point at full/max."""
    request = parse_request(picture, "full", "max", "0", "default", "jpg")
    assert request.size == wanted
    assert request.size[0] * request.size[1] <= MAX_AREA


@pytest.mark.parametrize(
    ("parts", "code", "words"),
    [
        (("fulll", "max", "0", "default", "jpg"), "bad_region", "is none of full, square"),
        (("1,2,3", "max", "0", "default", "jpg"), "bad_region", "is none of"),
        (("-1,0,9,9", "max", "0", "default", "jpg"), "bad_region", "is none of"),
        (("0,0,0,9", "max", "0", "default", "jpg"), "bad_region", "covers nothing"),
        (("400,0,9,9", "max", "0", "default", "jpg"), "bad_region", "400 x 300"),
        (("pct:0,0,0,0", "max", "0", "default", "jpg"), "bad_region", "covers nothing"),
        (("pct:nan,0,1,1", "max", "0", "default", "jpg"), "bad_region", "is none of"),
        (("1" * 300 + ",0,1,1", "max", "0", "default", "jpg"), "bad_region", "…"),
        (("full", "", "0", "default", "jpg"), "bad_size", "is none of max"),
        (("full", ",", "0", "default", "jpg"), "bad_size", "is none of max"),
        (("full", "!9,", "0", "default", "jpg"), "bad_size", "is none of max"),
        (("full", "full", "0", "default", "jpg"), "bad_size", "is none of max"),
        (("full", "0,", "0", "default", "jpg"), "bad_size", "leaves nothing"),
        (("full", "!0,9", "0", "default", "jpg"), "bad_size", "leaves nothing"),
        (("full", "pct:0", "0", "default", "jpg"), "bad_size", "not a percentage"),
        (("full", "pct:101", "0", "default", "jpg"), "bad_size", "write ^pct:101"),
        (("full", "401,", "0", "default", "jpg"), "bad_size", "write ^401,"),
        (("full", "^99999,99999", "0", "default", "jpg"), "bad_size", "million pixels"),
        (("full", "^70000,1", "0", "default", "jpg"), "bad_size", "at most 65500"),
        (("full", "^17000,9", "0", "default", "webp"), "bad_size", "at most 16383"),
        (("full", "max", "45", "default", "jpg"), "bad_rotation", "0, 90, 180"),
        (("full", "max", "!!0", "default", "jpg"), "bad_rotation", "0, 90, 180"),
        (("full", "max", "0", "best", "jpg"), "bad_quality", "choose one of default"),
        (("full", "max", "0", "default", "tif"), "bad_format", "choose one of jpg"),
    ],
)
def test_invalid_image_requests_are_refused_in_words(parts: tuple[str, ...], code: str, words: str) -> None:
    with pytest.raises(BadImageRequest) as refused:
        parse_request(PICTURE, *parts)
    assert refused.value.code == code
    assert words in refused.value.detail


@given(
    st.tuples(st.integers(1, 30_000), st.integers(1, 30_000)),
    st.one_of(st.text(max_size=20), st.from_regex(r"(pct:)?[0-9.]{1,6}(,[0-9.]{1,6}){3}", fullmatch=True)),
    st.one_of(st.text(max_size=12), st.from_regex(r"\^?(!?[0-9]{0,6},[0-9]{0,6}|pct:[0-9.]{1,7}|max)", fullmatch=True)),
    st.one_of(st.text(max_size=5), st.sampled_from(["0", "!90", "180", "270.0"])),
)  # fmt: skip
def test_any_address_is_a_bounded_request_or_a_refusal(
    picture: tuple[int, int], region: str, size: str, rotation: str
) -> None:
    try:
        request = parse_request(picture, region, size, rotation, "default", "jpg")
    except BadImageRequest:
        return
    x, y, w, h = request.region
    assert 0 <= x < x + w <= picture[0]
    assert 0 <= y < y + h <= picture[1]
    assert 1 <= request.size[0] * request.size[1] <= MAX_AREA
    second_request = parse_request(picture, *request.canonical.removesuffix(".jpg").split("/"), "jpg")
    assert second_request == request


@pytest.fixture
def page(engine: Engine, library: Library) -> str:
    return add_page(engine, library)


def piece(client: TestClient, page: str, rest: str) -> Image.Image:
    answer = client.get(f"/api/iiif/image/{page}/{rest}")
    assert answer.status_code == 200, answer.text
    return open_answer(answer.content)


def test_the_information_document(client: TestClient, page: str) -> None:
    answer = client.get(f"/api/iiif/image/{page}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        f"http://127.0.0.1:8765/api/iiif/image/{page}/info.json",
    )
    response = client.get(answer.headers["location"])
    assert response.headers["link"].endswith('rel="profile"')
    body = response.json()
    assert (body["width"], body["height"], body["profile"]) == (400, 300, "level2")
    assert body["tiles"] == [{"width": 512, "height": 512, "scaleFactors": [1]}]


def test_every_size_and_tile_that_is_offered_is_given() -> None:
    for size in ((400, 300), (5680, 4180), (30_000, 20_000), (1, 9000)):
        source = Source(Path("a"), "a", *size, 1, "image/jpeg", 10**9)
        found = information(Places("http://127.0.0.1"), Picture("a", source, True))
        assert found["sizes"]
        for one in found["sizes"]:
            parse_request(size, "full", f"{one['width']},{one['height']}", "0", "default", "jpg")
        (tiles,) = found["tiles"]
        assert tiles["scaleFactors"][-1] * tiles["width"] >= max(size)


def test_pieces_show_what_was_asked_for(client: TestClient, page: str) -> None:
    corner = piece(client, page, "200,150,200,150/max/0/default.png")
    assert corner.size == (200, 150)
    assert corner.getpixel((10, 10)) == YELLOW
    small = piece(client, page, "full/40,/0/default.jpg")
    assert (small.size, small.format) == ((40, 30), "JPEG")
    assert near(small.getpixel((5, 5)), RED, 25)
    assert piece(client, page, "full/^800,/0/default.webp").size == (800, 600)
    turned = piece(client, page, "full/max/90/default.png")
    assert turned.size == (300, 400)
    assert (turned.getpixel((5, 5)), turned.getpixel((295, 5))) == (BLUE, RED)
    mirrored = piece(client, page, "full/max/!0/default.png")
    assert mirrored.getpixel((5, 5)) == GREEN
    assert piece(client, page, "full/max/!180/default.png").getpixel((5, 5)) == BLUE
    assert piece(client, page, "full/max/270/default.png").getpixel((5, 5)) == GREEN
    assert piece(client, page, "full/max/0/gray.png").mode == "L"
    bitonal = piece(client, page, "full/max/0/bitonal.png")
    assert bitonal.mode == "1"
    assert (bitonal.getpixel((5, 5)), bitonal.getpixel((395, 295))) == (0, 255)


def test_headers_say_what_it_is_and_how_long_it_lasts(
    library: Library, client: TestClient, page: str
) -> None:
    with library.db.read() as conn:
        raw = raw_of(conn)
        rendition = raw.execute("SELECT id FROM rendition WHERE document_id = ?", (page,)).fetchone()[0]
    first = client.get(f"/api/iiif/image/{rendition}/pct:0,0,50,50/100,/0/color.jpg")
    assert "immutable" in first.headers["cache-control"]
    assert first.headers["link"].startswith(
        f'<http://127.0.0.1:8765/api/iiif/image/{rendition}/0,0,200,150/100,75/0/default.jpg>;rel="canonical",'
    )
    headers = {"If-None-Match": first.headers["etag"]}
    second_answer = client.get(
        f"/api/iiif/image/{rendition}/0,0,200,150/100,75/0/default.jpg", headers=headers
    )
    assert (second_answer.status_code, second_answer.content) == (304, b"")
    other_answer = client.get(f"/api/iiif/image/{page}/0,0,200,150/100,/0/gray.jpg", headers=headers)
    assert other_answer.status_code == 200
    assert "no-cache" in other_answer.headers["cache-control"]


def test_no_picture_and_no_request_are_refused(client: TestClient, page_document: str, page: str) -> None:
    for identity in (page_document, "nothing"):
        for rest in ("", "/info.json", "/full/max/0/default.jpg"):
            answer = client.get(f"/api/iiif/image/{identity}{rest}")
            assert answer.status_code == 404
            assert "There is no picture" in answer.json()["detail"]
    answer = client.get(f"/api/iiif/image/{page}/full/9999,/0/default.jpg")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_size")


def test_a_viewer_of_another_origin_must_be_allowed_by_the_owner(
    make_engine: object, client: TestClient, page: str
) -> None:
    foreign = {"Origin": "https://viewer.example"}
    answer = client.get(f"/api/iiif/image/{page}/info.json", headers=foreign)
    assert (answer.status_code, answer.json()["code"]) == (403, "origin_refused")


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_stored_turned_is_given_upright(
    engine: Engine, library: Library, client: TestClient, orientation: int
) -> None:
    turn = Image.Transpose
    # The operation that turns the upright picture into the stored one.
    back = {2: turn.FLIP_LEFT_RIGHT, 3: turn.ROTATE_180, 4: turn.FLIP_TOP_BOTTOM, 5: turn.TRANSPOSE, 6: turn.ROTATE_90,
            7: turn.TRANSVERSE, 8: turn.ROTATE_270}.get(orientation)  # fmt: skip
    upright = draw_quarters()
    stored = upright if back is None else upright.transpose(back)
    exif = Image.Exif()
    exif[0x0112] = orientation
    page = add_page(
        engine, library, data=encode_image(stored, "JPEG", exif=exif, quality=95), mime_type="image/jpeg",
        orientation=orientation,
    )  # fmt: skip
    for rest in ("full/max/0/default.png", "full/100,/0/default.png"):
        found = piece(client, page, rest)
        width, height = found.size
        assert width * 3 == height * 4
        corners = [(5, 5), (width - 5, 5), (5, height - 5), (width - 5, height - 5)]
        assert all(near(found.getpixel(at), wanted) for at, wanted in zip(corners, QUARTERS, strict=True))


@pytest.mark.parametrize(
    ("mode", "form"),
    [("1", "PNG"), ("P", "PNG"), ("LA", "PNG"), ("RGBA", "PNG"), ("I;16", "PNG"), ("I;16B", "TIFF"),
     ("CMYK", "JPEG"), ("F", "TIFF")],
)  # fmt: skip
def test_any_kind_of_picture_is_given(
    engine: Engine, library: Library, client: TestClient, mode: str, form: str
) -> None:
    image = (
        draw_quarters(mode="L").convert("I").point(lambda value: value * 257 + 0)
        if "16" in mode
        else draw_quarters()
    )
    image = image.convert(mode)
    if mode == "RGBA":
        image.putalpha(0)
    page = add_page(engine, library, data=encode_image(image, form), mime_type=f"image/{form.lower()}")
    found = piece(client, page, "full/200,/0/default.jpg")
    assert found.mode in ("L", "RGB")
    low, high = found.convert("L").getextrema()
    if mode == "RGBA":
        assert (low, high) == (255, 255), "what is transparent is white paper"
    else:
        assert isinstance(low, int)
        assert isinstance(high, int)
        assert high - low > 60


def test_a_reduced_picture_stands_for_one_that_is_not_here(
    engine: Engine, library: Library, client: TestClient
) -> None:
    """As in a branch that came as a file; the original has the same id when it comes."""
    page = add_page(engine, library, size=(400, 300))
    where = f"/api/iiif/image/{page}"
    whole = client.get(f"{where}/full/max/0/default.png")
    (digest,) = [one for one in library.objects.digests() if library.objects.size(one) > 0][-1:]
    place = library.objects.path(digest)
    small = place.parents[2] / "reduced" / digest[:2] / f"{digest[2:]}.jpg"
    small.parent.mkdir(parents=True)
    small.write_bytes(encode_image(draw_quarters(200, 150), "JPEG"))
    aside = place.rename(place.with_suffix(".aside"))
    info = client.get(f"{where}/info.json").json()
    assert (info["width"], info["height"]) == (200, 150)
    answer = client.get(f"{where}/pct:50,0,50,50/50,/0/default.png")
    assert near(open_answer(answer.content).convert("RGB").getpixel((25, 18)), GREEN)
    aside.rename(place)
    assert client.get(f"{where}/full/max/0/default.png").content == whole.content


def test_a_damaged_picture_is_refused_in_words(engine: Engine, library: Library, client: TestClient) -> None:
    page = add_page(engine, library, data=encode_image(draw_quarters())[:-400])
    answer = client.get(f"/api/iiif/image/{page}/full/max/0/default.jpg")
    assert (answer.status_code, answer.json()["code"]) == (422, "image_damaged")


def source_of(folder: Path, name: str, size: tuple[int, int], form: str = "JPEG") -> Source:
    path = folder / name
    path.write_bytes(encode_image(draw_quarters(*size), form, **({"quality": 90} if form == "JPEG" else {})))
    return Source(path, name, *size, 1, f"image/{form.lower()}", 10**9)


def ask(source: Source, region: str, size: str) -> object:
    return parse_request((source.width, source.height), region, size, "0", "default", "png")


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
@pytest.mark.parametrize(("size", "level"), [("max", 1), ("500,", 2), ("250,", 4), ("100,", 8), ("700,", 1)])
def test_a_small_picture_is_made_of_a_coarser_one(tmp_path: Path, form: str, size: str, level: int) -> None:
    source = source_of(tmp_path, "a", (1001, 751), form)
    request = parse_request((1001, 751), "full", size, "0", "default", "png")
    assert level_for(request) == level
    answer = open_answer(render(DecodedPictures(), source, request))
    assert answer.size == request.size
    width, height = answer.size
    corners = [(2, 2), (width - 3, 2), (2, height - 3), (width - 3, height - 3)]
    assert all(near(answer.getpixel(at), wanted) for at, wanted in zip(corners, QUARTERS, strict=True))


def test_tiles_meet_without_a_seam(tmp_path: Path) -> None:
    source = source_of(tmp_path, "a", (1500, 1100), "PNG")
    pictures = DecodedPictures()
    whole = open_answer(
        render(pictures, source, parse_request((1500, 1100), "full", "750,550", "0", "default", "png"))
    )
    for left in (0, 512, 1024):
        width = min(512, 1500 - left)
        request = parse_request(
            (1500, 1100), f"{left},0,{width},512", f"{width // 2},256", "0", "default", "png"
        )
        tile = open_answer(render(pictures, source, request))
        for x in (1, tile.width - 2):
            assert near(tile.getpixel((x, 100)), whole.getpixel((left // 2 + x, 100)), 3)  # type: ignore[arg-type]
    assert pictures.decoded == 1


def test_a_page_is_decoded_once_for_all_its_tiles(tmp_path: Path) -> None:
    source = source_of(tmp_path, "a", (800, 600))
    pictures = DecodedPictures()
    request = parse_request((800, 600), "0,0,100,100", "max", "0", "default", "jpg")
    threads = [threading.Thread(target=render, args=(pictures, source, request)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pictures.decoded == 1


def test_decoded_pictures_stay_within_their_memory(tmp_path: Path) -> None:
    pictures = DecodedPictures(memory=4 * 400 * 300 * 2)
    for number in range(6):
        source = source_of(tmp_path, f"p{number}", (400, 300))
        pictures.get(source, 1)
        assert pictures.held_bytes <= pictures.memory
    assert pictures.decoded == 6
    pictures.get(source, 1)
    assert pictures.decoded == 6
    # A picture larger than the whole cache is decoded and kept alone, so that its next tile needs no
    # decoding.
    large = source_of(tmp_path, "large", (1200, 900))
    pictures.get(large, 1)
    pictures.get(large, 1)
    assert (pictures.decoded, pictures.held_bytes) == (7, 4 * 1200 * 900)
    pictures.forget()
    assert pictures.held_bytes == 0


@pytest.mark.slow
@pytest.mark.parametrize(("form", "how"), [("JPEG", {}), ("JPEG", {"progressive": True}), ("PNG", {})])
@pytest.mark.parametrize("size", ["512,", "256,", "64,"])
def test_the_first_tile_of_a_large_page_is_the_same_as_the_next(
    tmp_path: Path, form: str, how: dict[str, bool], size: str
) -> None:
    path = tmp_path / "page"
    grain = Image.effect_noise((900, 1100), 90).resize((3600, 4400))
    path.write_bytes(
        encode_image(Image.merge("RGB", (grain, grain, draw_quarters(3600, 4400).split()[0])), form, **how)
    )
    source = Source(path, "page", 3600, 4400, 1, f"image/{form.lower()}", 10**9)
    pictures = DecodedPictures()
    request = parse_request((3600, 4400), "1024,1024,512,512", size, "0", "default", "png")
    first = render(pictures, source, request)
    if level_for(request) == 1:
        assert (pictures.decoded, pictures.held_bytes) == (0, 0)
    assert render(pictures, source, request) == first
    assert pictures.decoded == 1


def test_the_first_tile_of_a_deep_page_is_as_light_as_the_next(tmp_path: Path) -> None:
    """Sixteen bits are scaled to eight by the lightest pixel of the whole page, which is outside the tile
    here.
    """
    path = tmp_path / "page"
    deep = Image.linear_gradient("L").resize((3000, 4000)).convert("I").point(lambda value: value * 200 + 0)
    path.write_bytes(encode_image(deep.convert("I;16"), "PNG"))
    source = Source(path, "deep", 3000, 4000, 1, "image/png", 10**9)
    pictures = DecodedPictures()
    request = parse_request((3000, 4000), "0,0,512,512", "512,", "0", "default", "png")
    first = render(pictures, source, request)
    assert render(pictures, source, request) == first
    assert max(open_answer(first).convert("L").getextrema()) < 60


def test_many_callers_of_many_pages_all_get_theirs(tmp_path: Path) -> None:
    pictures = DecodedPictures(memory=4 * 400 * 300)
    sources = [source_of(tmp_path, f"p{number}", (400, 300)) for number in range(4)]
    request = parse_request((400, 300), "200,150,200,150", "max", "0", "default", "png")
    corners: list[object] = []

    def ask(source: Source) -> None:
        corners.append(open_answer(render(pictures, source, request)).getpixel((100, 75)))

    threads = [threading.Thread(target=ask, args=(sources[number % 4],)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(corners) == 24
    assert all(near(corner, YELLOW) for corner in corners)
    assert pictures.held_bytes <= pictures.memory


def test_a_failed_decoding_does_not_block_others(tmp_path: Path) -> None:
    source = source_of(tmp_path, "a", (400, 300))
    source.path.write_bytes(b"no picture")
    pictures = DecodedPictures()
    for _ in range(2):
        with pytest.raises(Exception, match="text, not an image"):
            pictures.get(source, 1)
    assert pictures.held_bytes == 0


def test_each_engine_has_its_own_decoded_pictures(make_engine: object) -> None:
    assert callable(make_engine)
    first, second = make_engine(), make_engine()
    assert pictures_of(first) is pictures_of(first)
    assert pictures_of(first) is not pictures_of(second)
