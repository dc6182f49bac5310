"""Hostile shapes over HTTP: what cannot be stored is refused with a sentence and changes nothing."""

from __future__ import annotations

import math
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_model_fixtures import RUN, anchor

from armarium_source_model.geometry import MAX_POINTS
from armarium_source_model.queries.orders import flows_onto, list_entries, list_neighbours, walk
from armarium_source_model.queries.text import page_text
from armarium_testing.digest import differences, table_digests


def ring(count: int, middle: tuple[float, float] = (0.5, 0.5), radius: float = 0.2) -> list[list[float]]:
    """Return a round outline of *count* points."""
    return [
        [
            middle[0] + radius * math.cos(2 * math.pi * n / count),
            middle[1] + radius * math.sin(2 * math.pi * n / count),
        ]
        for n in range(count)
    ]


AROUND = [0.29, 0.29, 0.42, 0.42]


@pytest.fixture
def place(desk: Any) -> dict[str, str]:
    page = desk.page()
    return {"document_id": page, "pass_id": desk.new_pass(page), "kind": "region"}


def digest(desk: Any) -> dict[str, str]:
    return table_digests(desk.library.db, desk.engine.library_schema)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ('{"rect":[NaN,0,0.1,0.1]}', "finite"),
        ('{"rect":[1e999,0,0.1,0.1]}', "finite"),
        ('{"rect":[0,0,1e999,0.1]}', "finite"),
        ('{"rect":[-0.5,0,0.1,0.1]}', "image"),
        ('{"rect":[0.1,0.1,-0.05,0.1]}', "area"),
        ('{"rect":[0.1,0.1,0.05,0]}', "area"),
        ('{"rect":[0.1,0.1,0.05]}', "rect"),
        ('{"rect":[0,0,1,1],"polygon":[[0.1,0.1],[0.2,0.2],[0.3,0.3]]}', "area"),
        ('{"rect":[0,0,1,1],"polygon":[[0.1,0.1],[0.1,0.1],[0.1,0.1]]}', "area"),
        ('{"rect":[0,0,1,1],"polygon":[[0.1,0.1],[1e999,0.2],[0.3,0.1]]}', "finite"),
        ('{"rect":[0,0,1,1],"polygon":[[0.1,0.1],[0.2,0.2,0.2],[0.3,0.1]]}', "polygon"),
        ('{"rect":[0,0,0.2,0.2],"polygon":[[0.1,0.1],[0.5,0.2],[0.3,0.1]]}', "encloses"),
        ('{"rect":[0,0,1,1],"polygon":[]}', "polygon"),
        ('{"rect":"all of it"}', "rect"),
        ("null", "anchor"),
    ],
)
def test_shapes_that_cannot_be_held(
    client: Any, desk: Any, place: dict[str, str], shape: str, words: str
) -> None:
    before = digest(desk)
    body = orjson.dumps(place)[:-1].decode() + f',"anchor":{shape}}}'
    answer = client.post("/api/segments", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert words.casefold() in answer.text.casefold()
    bulk = client.post(
        "/api/segments/bulk",
        content=f'{{"segments":[{body}]}}',
        headers={"Content-Type": "application/json"},
    )
    assert 400 <= bulk.status_code < 500
    assert differences(before, digest(desk)) == []


def test_an_outline_of_a_hundred_thousand_points(client: Any, desk: Any, place: dict[str, str]) -> None:
    """Refused when a person sends it; a reader's line is stored without the outline, with the reason."""
    before = digest(desk)
    answer = client.post(
        "/api/segments", json={**place, "anchor": {"rect": AROUND, "polygon": ring(100_000)}}
    )
    assert (answer.status_code, "100,000 points" in answer.json()["detail"]) == (422, True)
    assert differences(before, digest(desk)) == []
    line = {"key": "l", "rect": AROUND, "polygon": ring(100_000), "text": "round"}
    outcome = desk.as_(RUN).run(
        "segment.take_lines", document_id=place["document_id"], name="Found", provider="reader", lines=[line]
    )
    (segment,) = [
        segment
        for segment in client.get(f"/api/segments/document/{place['document_id']}").json()["segments"]
        if segment["pass_id"] == outcome["pass_id"]
    ]
    assert "polygon" not in segment["anchor"]
    assert "100,000 points" in segment["metadata"]["geometry_problem"]
    assert segment["text"] == "round"


def test_outlines_of_as_many_points_as_may_be(client: Any, desk: Any, place: dict[str, str]) -> None:
    def draw(x: float) -> dict[str, Any]:
        shape = {"rect": [x, 0.3, 0.2, 0.2], "polygon": ring(MAX_POINTS, (x + 0.1, 0.4), 0.1)}
        base = [[x + 0.2 * n / MAX_POINTS, 0.4] for n in range(MAX_POINTS)]
        response = client.post("/api/segments", json={**place, "anchor": shape, "baseline": base})
        assert response.status_code == 200
        answer: dict[str, Any] = response.json()
        return answer

    one, other = draw(0.1), draw(0.5)
    before = digest(desk)
    merged = client.post(
        "/api/segments/merge", json={"segment_ids": [one["id"], other["id"]], "keep_id": one["id"]}
    ).json()
    # Two circles side by side: the outline would have too many points, so it is dropped and the baseline stays.
    assert merged["anchor"]["rect"] == pytest.approx([0.1, 0.3, 0.6, 0.2])
    assert len(merged["anchor"].get("polygon", [])) <= MAX_POINTS
    assert merged["baseline"] == one["baseline"]
    desk.engine.undo(desk.library, [merged["audit_id"]], desk.principal)
    assert differences(before, digest(desk)) == []
    versions = client.get(f"/api/segments/{one['id']}/versions").json()
    assert versions["items"][0]["anchor"] == one["anchor"]


def test_an_outline_that_crosses_itself_is_held_as_it_is(
    client: Any, desk: Any, place: dict[str, str]
) -> None:
    star = [[0.5, 0.3], [0.6, 0.7], [0.3, 0.45], [0.7, 0.45], [0.4, 0.7]]
    answer = client.post("/api/segments", json={**place, "anchor": {"rect": AROUND, "polygon": star}}).json()
    assert answer["anchor"]["polygon"] == star
    parts = [
        {"anchor": {"rect": AROUND, "polygon": star}},
        {"anchor": {"rect": AROUND, "polygon": star[::-1]}},
    ]
    split = client.post(
        "/api/segments/split", json={"segment_id": answer["id"], "expected_version": 1, "parts": parts}
    ).json()
    merged = client.post(
        "/api/segments/merge", json={"segment_ids": split["segment_ids"], "keep_id": answer["id"]}
    )
    assert merged.status_code == 200


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=64), st.sampled_from([0.0, 1.0, -0.0, 1e-320, 1e300])
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(numbers, min_size=3, max_size=5), st.lists(st.lists(numbers, min_size=1, max_size=3), max_size=5)
)
def test_any_numbers_at_all_are_held_soundly_or_refused(
    desk: Any, rect: list[float], points: list[list[float]]
) -> None:
    from armarium.api import ServiceError

    page = desk.page()
    given = {"document_id": page, "pass_id": desk.new_pass(page), "kind": "line"}
    try:
        result = desk.run("segment.create", **given, anchor={"rect": rect}, baseline=points or None)
    except ServiceError as refusal:
        refused = refusal
    else:
        refused = None
    if refused is not None:
        assert refused.status < 500
        assert refused.detail
        return
    x, y, w, h = result["anchor"]["rect"]
    assert w > 0
    assert h > 0
    assert all(math.isfinite(number) and -0.01 <= number <= 1.01 for number in (x, y, x + w, y + h))


# Orders and flows


def order_of(desk: Any, page: str, pass_id: str, kind: str = "flow") -> str:
    result = desk.run("reading_order.create", document_id=page, pass_id=pass_id, name="Mine", kind=kind)
    return str(result["id"])


def test_an_order_of_deleted_foreign_and_furniture_segments(client: Any, desk: Any) -> None:
    page, elsewhere = desk.page(), desk.page("Elsewhere")
    machine_lines, rival = (
        desk.machine_lines(page, ["one", "two", "three"]),
        desk.machine_lines(page, ["x"], "m2"),
    )
    foreign = desk.machine_lines(elsewhere, ["far"])["segment_ids"][0]
    gone, head, text = machine_lines["segment_ids"]
    plain, flow = (order_of(desk, page, machine_lines["pass_id"], kind) for kind in ("imposed", "flow"))
    desk.run("segment.update", segment_id=head, expected_version=1, is_furniture=True)

    def put(order_id: str, segment_id: str) -> Any:
        return client.post(
            f"/api/reading-orders/{order_id}/place", json={"segment_id": segment_id, "at_end": True}
        )

    for other in (foreign, rival["segment_ids"][0]):
        refused = put(plain, other)
        assert (refused.status_code, refused.json()["code"]) == (409, "other_pass")
    for one in (gone, head, text, foreign, rival["segment_ids"][0]):
        assert put(flow, one).status_code == 200
    assert put(plain, gone).status_code == 200
    desk.run("segment.delete", segment_ids=[gone], expected_versions=[1])
    late = order_of(desk, page, machine_lines["pass_id"], "imposed")
    refused = put(late, gone)
    assert (refused.status_code, refused.json()["code"]) == (409, "segment_deleted")
    answer = client.get(
        f"/api/segments/document/{page}/text", params={"order": flow, "pass_id": machine_lines["pass_id"]}
    ).json()
    assert answer["text"] == "three"
    assert {entry["segment_id"]: entry["reason"] for entry in answer["omitted"]} == {
        gone: "deleted",
        head: "furniture",
        foreign: "other_pass",
        rival["segment_ids"][0]: "other_pass",
    }
    seeded = desk.run(
        "reading_order.create",
        document_id=page,
        pass_id=machine_lines["pass_id"],
        name="Seeded",
        kind="imposed",
        seed_from_pass=True,
    )
    with desk.library.db.read() as conn:
        assert gone not in [segment for _, segment, _ in walk(conn, seeded["id"])]


def test_a_flow_over_pages_of_which_one_is_in_the_trash(client: Any, desk: Any) -> None:
    folder = desk.run("document.create", name="Book")["id"]
    pages = [
        desk.run("document.create", name=f"p{n}", doc_type="page", parent_id=folder)["id"] for n in range(4)
    ]
    taken = [desk.machine_lines(page, [f"line of {n}", "more"]) for n, page in enumerate(pages)]
    flow = order_of(desk, pages[0], taken[0]["pass_id"])
    entries = [
        desk.run("reading_order.place", order_id=flow, segment_id=one["segment_ids"][0], at_end=True)["id"]
        for one in taken[:3]
    ]
    inside = taken[2]["segment_ids"][1]
    desk.run("reading_order.place", order_id=flow, segment_id=inside, parent_entry_id=entries[1])
    before = digest(desk)
    desk.run("document.delete", ids=[pages[1]])
    thrown = desk.audit_id
    with desk.library.db.read() as conn:
        assert [item["id"] for item in list_entries(conn, flow)["items"]] == entries
        assert list_neighbours(conn, flow, taken[2]["segment_ids"][0])["before"]["segment_id"] == inside
        text = page_text(conn, pages[0], pass_id=taken[0]["pass_id"], order_id=flow)
        assert text.text == "line of 0"
        assert {one.reason for one in text.assembled.omitted} == {"other_pass"}
        assert [one["pages_back"] for one in flows_onto(conn, pages[3])] == [1]
        assert flows_onto(conn, pages[1]) == []
    refused = client.post(
        f"/api/reading-orders/{flow}/place", json={"segment_id": taken[1]["segment_ids"][1]}
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "document_in_trash")
    desk.undo(thrown)
    assert differences(before, digest(desk)) == []
    # After emptying the Trash the flow continues with what is left; what was nested in the lost entry moves to the top
    # level.
    desk.run("document.delete", ids=[pages[1]])
    desk.run("document.empty_trash")
    with desk.library.db.read() as conn:
        left = [segment for _, segment, _ in walk(conn, flow)]
    assert sorted(left) == sorted([taken[0]["segment_ids"][0], taken[2]["segment_ids"][0], inside])
    answer = client.get(f"/api/reading-orders/{flow}/entries")
    assert answer.json()["count"] == 3
    # The page on which the flow begins takes the flow with it.
    desk.run("document.delete", ids=[pages[0]])
    assert client.get(f"/api/reading-orders/{flow}/entries").status_code in (200, 409)
    desk.run("document.empty_trash")
    assert client.get(f"/api/reading-orders/{flow}/entries").status_code == 404


WORDS = [
    "𝔄𝔩𝔭𝔥𝔞 𐎠𐎼𐎿 🜚",
    "e\u0301 é \u0323\u0302a",
    "\u200fشلوم\u200e abc \u202eevil\u202c \u2067x\u2069",
    "a\u0000b",
    "\ufeffمرحبا",
    "\U0010ffff",
    "\u2028line\u2029paragraph\x85next",
    "x" + "\u0301" * 500,
]


def test_pages_of_odd_characters_keep_every_one_and_their_places(client: Any, desk: Any) -> None:
    page = desk.page()
    ids = desk.machine_lines(page, list(WORDS))["segment_ids"]
    answer = client.get(f"/api/segments/document/{page}/text").json()
    assert answer["text"] == "\n".join(WORDS) or sorted(answer["text"].split("\n")) == sorted(WORDS)
    for span in answer["spans"]:
        text = answer["text"][span["char_start"] : span["char_end"]]
        assert text == WORDS[ids.index(span["segment_id"])]
    # What was answered can be sent back unchanged; positions count code points.
    for segment_id, words in zip(ids, WORDS, strict=True):
        response = client.post(f"/api/segments/{segment_id}/correct", json={"text": words + "!"})
        assert response.json()["content"] == words + "!"
    second_answer = client.get(f"/api/segments/document/{page}/text").json()
    assert all(words + "!" in second_answer["text"] for words in WORDS)


def test_a_segment_that_names_a_child_of_its_own_as_parent(
    client: Any, desk: Any, place: dict[str, str]
) -> None:
    above: str | None = None
    ring_of: list[str] = []
    for _ in range(30):
        result = desk.run("segment.create", **place, anchor=anchor(), parent_segment_id=above)
        above = result["id"]
        ring_of.append(result["id"])
    answer = client.put(
        f"/api/segments/{ring_of[0]}",
        json={"segment_id": ring_of[0], "expected_version": 1, "parent_segment_id": ring_of[-1]},
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "parent_ring")
