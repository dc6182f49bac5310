"""Manifests from elsewhere: what is read from valid ones, and that invalid ones are refused or read in part,
never more.
"""

from __future__ import annotations

import random
import time
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iiif_helpers import SAMPLE

from armarium.api import ServiceError
from armarium_iiif import manifest_reader
from armarium_iiif.errors import ManifestTooLarge, NotAManifest, TooManyCanvases
from armarium_iiif.manifest_reader import ReferencedManifest, read_manifest, web_address
from armarium_iiif.texts import plain_text

Json = dict[str, Any]

VERSION_2: Json = {
    "@context": "http://iiif.io/api/presentation/2/context.json",
    "@id": "https://example.org/book/manifest",
    "@type": "sc:Manifest",
    "label": [{"@value": "Libro", "@language": "es"}, {"@value": "Book", "@language": "en"}],
    "description": "<p>Two <b>leaves</b></p>",
    "attribution": "A library",
    "license": "https://example.org/rights",
    "metadata": [
        {"label": "Date", "value": "1742"},
        {"label": [{"@value": "Shelf", "@language": "en"}], "value": ["A", "B"]},
    ],
    "sequences": [
        {
            "@type": "sc:Sequence",
            "viewingDirection": "right-to-left",
            "canvases": [
                {
                    "@id": "https://example.org/book/1",
                    "@type": "sc:Canvas",
                    "label": "1r",
                    "width": "3000",
                    "height": 4000.0,
                    "images": [
                        {
                            "@type": "oa:Annotation",
                            "motivation": "sc:painting",
                            "resource": {
                                "@type": "oa:Choice",
                                "default": {
                                    "@id": "https://example.org/i/1/full/full/0/native.jpg",
                                    "@type": "dctypes:Image",
                                    "format": "image/jpeg",
                                    "service": {
                                        "@context": "http://iiif.io/api/image/2/context.json",
                                        "@id": "https://example.org/i/1/",
                                        "profile": "http://iiif.io/api/image/2/level2.json",
                                    },
                                },
                            },
                        }
                    ],
                },
                {"@id": "https://example.org/book/2", "@type": "sc:Canvas", "label": "1v", "images": []},
            ],
        },
        {"@type": "sc:Sequence", "canvases": []},
    ],
    "structures": [{"@id": "r", "ranges": ["r"], "canvases": []}],
}


def read(value: Any) -> ReferencedManifest:
    return read_manifest(value if isinstance(value, bytes) else orjson.dumps(value), "m.json")


def with_canvas(**changes: Any) -> Json:
    """Return the sample with its canvas changed."""
    found: Json = orjson.loads(SAMPLE)
    found["items"][0] |= changes
    return found


def test_presentation_3() -> None:
    found = read(SAMPLE)
    assert (found.version, found.label, found.manifest_id) == (
        3,
        "Letters",
        "https://example.org/letters/manifest",
    )
    (canvas,) = found.canvases
    assert (canvas.label, canvas.canvas_id, canvas.width, canvas.height) == (
        "f. 1r",
        "https://example.org/letters/1",
        3000,
        4000,
    )
    assert (canvas.service, canvas.service_version, canvas.service_level) == ("https://example.org/i/1", 3, 2)
    assert found.notes == []


def test_presentation_2() -> None:
    found = read(VERSION_2)
    assert (found.version, found.label, found.direction) == (2, "Book", "rtl")
    assert found.described == {
        "Date": "1742",
        "Shelf": "A B",
        "Summary": "Two leaves",
        "Attribution": "A library",
        "Rights": "https://example.org/rights",
    }
    first, second = found.canvases
    assert (first.width, first.height, first.service, first.service_version) == (
        3000,
        4000,
        "https://example.org/i/1",
        2,
    )
    assert (second.label, second.image, second.width) == ("1v", None, None)
    assert found.notes == [
        "1 canvas has no usable size: known once the picture is fetched.",
        "1 canvas has no picture: nothing can be fetched for it.",
        "1 canvas offers several pictures to choose from: the first is referenced; the others are only in the manifest, "
        "which is kept.",
        "1 further sequence of pages: the first is imported.",
        "1 range (table of contents): only in the manifest, which is kept.",
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"\xef\xbb\xbf  \n", "it is empty"),
        (b"<manifest/>", "it is not JSON"),
        (SAMPLE[:-20], "it is not JSON"),
        (b"\xff\xfe{\x00}\x00", "it is not JSON"),
        (b'{"type": "Manifest", "width": NaN}', "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "it is not JSON"),
        (b"[1]", "not an object"),
        (b"{}", "it has no type"),
        (b'{"type": ["Manifest"]}', "it has no type"),
        (b'{"type": "Canvas"}', "its type is 'Canvas'"),
        (b'{"type": "Manifest", "items": 7}', "no list `items`"),
        (b'{"type": "Manifest", "items": []}', "it has no canvas"),
        (b'{"type": "Manifest", "items": [1, null, {"type": "Range"}]}', "it has no canvas"),
        (b'{"@type": "sc:Manifest"}', "has no sequence"),
        (b'{"@type": "sc:Manifest", "sequences": [{"canvases": {}}]}', "it has no canvas"),
    ],
)
def test_what_is_no_manifest_is_refused_in_words(data: bytes, words: str) -> None:
    if words == "it has no canvas" and b"canvases" in data:
        # A single object where a list is required counts as a list of one.
        assert len(read(data).canvases) == 1
        return
    with pytest.raises(NotAManifest) as refused:
        read(data)
    assert words in refused.value.detail
    assert refused.value.detail.startswith("m.json is not a IIIF manifest")


def test_a_collection_names_its_manifests() -> None:
    with pytest.raises(NotAManifest, match="collection") as refused:
        read(
            {
                "type": "Collection",
                "items": [{"id": "https://example.org/m", "type": "Manifest"}, {"id": "x:"}, 5],
            }
        )
    assert refused.value.fields["manifests"] == ["https://example.org/m"]


def test_more_than_any_manifest_holds_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ManifestTooLarge, match="64 MiB"):
        read(b" " * (manifest_reader.MAX_BYTES + 1))
    with pytest.raises(NotAManifest, match="values"):
        read(b'{"items":[' + b"[]," * 3_000_000 + b"1]}")
    with pytest.raises(TooManyCanvases, match=r"contains 25001 pages; .* at most 25000") as refused:
        read(b'{"type":"Manifest","items":[' + b"{}," * 25_000 + b"{}]}")
    assert (refused.value.status, refused.value.code) == (413, "too_many_canvases")


@pytest.mark.parametrize(
    "side", [0, -5, 1_000_001, 1e300, "wide", "", None, True, [], {}, 10**15, "99999999999999999999", 0.4]
)
def test_a_size_that_cannot_be_is_no_size(side: Any) -> None:
    found = read(with_canvas(width=side))
    assert (found.canvases[0].width, found.canvases[0].height) == (None, None)
    assert found.notes == ["1 canvas has no usable size: known once the picture is fetched."]


def test_canvases_with_a_repeated_id_are_left_out() -> None:
    found: Json = orjson.loads(SAMPLE)
    found["items"] *= 3
    assert len(read(found).canvases) == 1
    assert read(found).notes == ["2 canvases have the id of an earlier one: left out."]


@pytest.mark.parametrize(
    "identity", [None, 5, "", "javascript:alert(1)", "https://example.org/c#1", "ftp://a/b"]
)
def test_a_canvas_without_a_usable_id_gets_one(identity: Any) -> None:
    found = read(with_canvas(id=identity))
    assert found.canvases[0].canvas_id is None
    assert any("no usable id" in note for note in found.notes)


def test_labels_are_plain_text() -> None:
    label = {"en": ['<script>alert("x")</script>f.&nbsp;1 <b onclick="y">recto</b>\u2028\x00\n<!-- -->']}
    assert read(with_canvas(label=label)).canvases[0].label == "f. 1 recto"
    assert read(with_canvas(label={"en": []})).canvases[0].label == "Page 1"
    assert len(read(with_canvas(label="x" * 100_000)).canvases[0].label) == 500


def test_services_are_web_addresses_of_an_image_api() -> None:
    found: Json = orjson.loads(SAMPLE)
    body = found["items"][0]["items"][0]["items"][0]["body"]
    body["service"] = [
        {"id": "https://example.org/auth", "type": "AuthCookieService1"},
        {"id": "javascript:alert(1)", "type": "ImageService3"},
        {"id": "file:///etc/passwd", "type": "ImageService2"},
        "https://example.org/words",
        {
            "@id": "https://example.org/i/9/info.json",
            "profile": "http://library.stanford.edu/iiif/image-api/1.1/x",
        },
    ]
    body["id"] = "data:image/png;base64,AAAA"
    canvas = read(found).canvases[0]
    assert (canvas.image, canvas.service, canvas.service_version) == (None, "https://example.org/i/9", 1)
    assert canvas.service_level is None
    assert read(found).notes == ["3 addresses are not web addresses (http or https): left out."]


@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("https://example.org/a", True),
        ("http://127.0.0.1/a", True),  # only a reference; the network gate refuses to fetch it
        ("HTTPS://example.org", True),
        ("//example.org/a", False),
        ("https://", False),
        ("https://user:word@example.org/", False),
        ("https://example.org:99999/", False),
        ("https://exa mple.org/", False),
        ('https://example.org/"onload=', False),
        ("https://example.org/\n", False),
        ("https://[::1", False),
        ("https://example.org/" + "a" * 5000, False),
        ("https://example.org/\ud800", False),
    ],
)
def test_web_addresses(address: str, taken: bool) -> None:
    assert (web_address(address) is not None) is taken


def test_cyclic_ranges_end() -> None:
    found: Json = orjson.loads(SAMPLE)
    circle: Json = {
        "id": "https://example.org/r",
        "type": "Range",
        "items": [{"id": "https://example.org/r"}],
    }
    deep: Json = circle
    for _ in range(60):
        deep = {"type": "Range", "items": [deep]}
    found["structures"] = [circle, deep]
    assert read(found).notes == ["2 ranges (table of contents): only in the manifest, which is kept."]


def test_many_tags_are_read_in_linear_time() -> None:
    for hostile in (
        "<" * 20_000,
        "<script" * 3_000,
        "<!--" * 5_000,
        "&lt;" * 5_000,
        "<a" * 10_000,
        "<style>" * 2000,
    ):
        assert len(plain_text(hostile)) <= 500


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**12), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12), st.sampled_from(["Canvas", "sc:Canvas", "Image", "Choice", "https://example.org/x", "<b>"]),
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "id",
        "@id",
        "type",
        "@type",
        "items",
        "canvases",
        "images",
        "resource",
        "body",
        "service",
        "label",
        "value",
        "@value",
        "@language",
        "metadata",
        "width",
        "height",
        "motivation",
        "source",
        "default",
        "full",
        "format",
        "structures",
        "sequences",
        "summary",
        "requiredStatement",
        "none",
        "en",
        "profile",
    ]
)
VALUES = st.recursive(
    LEAVES,
    lambda deeper: st.lists(deeper, max_size=4) | st.dictionaries(KEYS, deeper, max_size=5),
    max_leaves=25,
)


def check(value: Json) -> None:
    """Check the outcome for any input: a refusal with a sentence, or a manifest that can be stored."""
    refusal: ServiceError | None = None
    try:
        found = read(value)
    except ServiceError as refused:
        refusal = refused
    if refusal is not None:
        assert refusal.status in (413, 422)
        assert refusal.detail.endswith(".")
        return
    ids = [canvas.canvas_id for canvas in found.canvases if canvas.canvas_id is not None]
    assert len(set(ids)) == len(ids)
    for canvas in found.canvases:
        assert 0 < len(canvas.label) <= 500
        assert (canvas.width is None) == (canvas.height is None)
        for address in (canvas.canvas_id, canvas.image, canvas.service):
            assert address is None or address.lower().startswith(("http://", "https://"))
    orjson.dumps(found)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([3, 2]), st.lists(VALUES, max_size=4), st.dictionaries(KEYS, VALUES, max_size=6))
def test_anything_shaped_like_a_manifest_is_read_or_refused(
    version: int, canvases: list[Any], more: Json
) -> None:
    for key in ("type", "@type", "items", "sequences"):
        more.pop(key, None)
    if version == 3:
        check({**more, "type": "Manifest", "items": canvases})
    else:
        check({**more, "@type": "sc:Manifest", "sequences": [{"canvases": canvases}, *canvases]})


def mutate(value: Json, rng: random.Random) -> Json:
    """Return a copy with a few places changed: values exchanged, moved, duplicated or removed."""
    copy: Json = orjson.loads(orjson.dumps(value))
    places: list[tuple[Any, Any]] = []
    stack: list[Any] = [copy]
    while stack:
        at = stack.pop()
        for key in list(at) if isinstance(at, dict) else range(len(at)):
            places.append((at, key))
            if isinstance(at[key], dict | list):
                stack.append(at[key])
    odd = [
        None,
        True,
        0,
        -1,
        1e308,
        10**18,
        "",
        "\ud7ff\u0000",
        "<b>",
        [],
        {},
        [[]],
        "javascript:x",
        "https://[",
        "http://a/#b",
    ]
    for _ in range(rng.randint(1, 4)):
        holder, key = rng.choice(places)
        try:
            what = rng.randrange(5)
            if what == 0:
                holder[key] = rng.choice(odd)
            elif what == 1:
                other, from_key = rng.choice(places)
                holder[key] = orjson.loads(orjson.dumps(other[from_key]))
            elif what == 2:
                del holder[key]
            elif what == 3:
                holder[key] = [holder[key]] * rng.randint(1, 3)
            else:
                holder[key] = {rng.choice(("id", "@value", "none", "items", "type")): holder[key]}
        except (KeyError, IndexError, RecursionError, orjson.JSONEncodeError):
            continue
    return copy


def fuzz(inputs: int, seed: int) -> float:
    """Read this many mutated manifests; return the seconds of the slowest."""
    slowest = 0.0
    rng = random.Random(seed)
    for _ in range(inputs):
        value = mutate(rng.choice((orjson.loads(SAMPLE), VERSION_2)), rng)
        began = time.monotonic()
        try:
            check(value)
        except (TypeError, orjson.JSONEncodeError) as fault:
            if "ecursion" not in str(fault):
                raise
        slowest = max(slowest, time.monotonic() - began)
    return slowest


def test_changed_manifests_are_read_or_refused() -> None:
    fuzz(1500, seed=20261121)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("seed", range(10))
def test_a_million_changed_manifests_are_read_or_refused(seed: int) -> None:
    assert fuzz(100_000, seed) < 2


@pytest.mark.parametrize(
    "value", ["1" * 200_000 + "x", "<!--" * 25_000, "a{" * 100_000, "<" * 200_000, "1" + " " * 200_000 + "x"]
)
def test_long_labels_are_read_without_backtracking(value: str) -> None:
    assert len(plain_text(value)) <= 500
