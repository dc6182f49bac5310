"""Reading orders: entries, places, neighbours, flows, the text in an order, and each refusal."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import anchor

from armarium.api import Conflict, Invalid, NotFound, ServiceError
from armarium_source_model.queries.orders import flows_onto, list_entries, list_neighbours, list_orders, walk
from armarium_source_model.queries.text import page_text
from armarium_testing.digest import table_digests


def expect_refusal(kind: type[ServiceError], desk: Any, name: str, /, **params: Any) -> ServiceError:
    with pytest.raises(kind) as caught:
        desk.run(name, **params)
    return caught.value


@pytest.fixture
def page(desk: Any) -> str:
    return str(desk.page())


@pytest.fixture
def machine_pass(desk: Any, page: str) -> Any:
    """Three read lines of a machine."""
    return desk.machine_lines(page, ["one", "two", "three"])


def order_of(desk: Any, page: str, pass_id: str, **more: Any) -> str:
    params = {"name": "Mine", "kind": "imposed", **more}
    return str(desk.run("reading_order.create", document_id=page, pass_id=pass_id, **params)["id"])


def sequence(desk: Any, order_id: str) -> list[str]:
    with desk.library.db.read() as conn:
        return [segment_id for _, segment_id, _ in walk(conn, order_id)]


def digests(desk: Any) -> dict[str, str]:
    return table_digests(desk.library.db, desk.engine.library_schema)


def place(desk: Any, order_id: str, segment_id: str, **more: Any) -> dict[str, Any]:
    result: dict[str, Any] = desk.run("reading_order.place", order_id=order_id, segment_id=segment_id, **more)
    return result


def test_an_order_can_be_filled_with_that_of_the_boxes(desk: Any, page: str) -> None:
    pass_id = desk.new_pass(page)
    region = desk.run(
        "segment.create",
        document_id=page,
        pass_id=pass_id,
        kind="region",
        anchor={"rect": [0.05, 0.05, 0.9, 0.16]},
    )["id"]
    lines = desk.lines(page, pass_id)
    for line in lines[:2]:
        desk.run("segment.update", segment_id=line, expected_version=1, parent_segment_id=region)
    desk.run(
        "segment.create",
        document_id=page,
        pass_id=pass_id,
        kind="word",
        anchor=anchor(),
        parent_segment_id=lines[0],
    )
    order_id = order_of(desk, page, pass_id, seed_from_pass=True)
    with desk.library.db.read() as conn:
        (listed,) = list_orders(conn, page)["items"]
        top = list_entries(conn, order_id)["items"]
        inner = list_entries(conn, order_id, top[0]["id"])["items"]
    assert listed["entry_count"] == 4
    assert sequence(desk, order_id) == [region, lines[0], lines[1], lines[2]]
    assert [(e["segment_id"], e["child_count"], e["position"]) for e in top] == [
        (region, 2, 1.0),
        (lines[2], 0, 2.0),
    ]
    assert [e["segment_id"] for e in inner] == lines[:2]


def test_segments_are_placed_moved_and_taken_out(desk: Any, page: str, machine_pass: Any) -> None:
    one, two, three = machine_pass["segment_ids"]
    order_id = order_of(desk, page, machine_pass["pass_id"])
    first = place(desk, order_id, two)
    place(desk, order_id, three, at_end=True)
    place(desk, order_id, one, after_entry_id=first["id"])
    assert sequence(desk, order_id) == [two, one, three]
    moved = place(desk, order_id, two, at_end=True, expected_version=1)
    assert (moved["id"], moved["version"]) == (first["id"], 2)
    assert sequence(desk, order_id) == [one, three, two]
    desk.undo()
    assert sequence(desk, order_id) == [two, one, three]
    place(desk, order_id, three, expected_version=1)
    assert sequence(desk, order_id) == [three, two, one]
    desk.run("reading_order.remove", order_id=order_id, entry_id=first["id"])
    assert sequence(desk, order_id) == [three, one]
    desk.undo()
    assert sequence(desk, order_id) == [three, two, one]


def test_places_run_out_of_room_until_the_order_is_renumbered(desk: Any, page: str) -> None:
    pass_id = desk.new_pass(page)
    ids = desk.lines(page, pass_id, 2)
    result = desk.run(
        "segment.create_many",
        segments=[
            {"document_id": page, "pass_id": pass_id, "kind": "word", "anchor": anchor()} for _ in range(45)
        ],
    )
    order_id = order_of(desk, page, pass_id)
    first = place(desk, order_id, ids[0])
    place(desk, order_id, ids[1], at_end=True)
    wanted = [ids[0], ids[1]]
    ran_out: list[str | None] = []
    for item in result["items"]:
        try:
            place(desk, order_id, item["id"], after_entry_id=first["id"])
        except Invalid as refusal:
            ran_out.append(refusal.code)
            desk.run("reading_order.renumber", order_id=order_id)
            assert sequence(desk, order_id) == wanted
            place(desk, order_id, item["id"], after_entry_id=first["id"])
        wanted.insert(1, item["id"])
    assert ran_out == ["positions_out_of_room"]
    assert sequence(desk, order_id) == wanted


def test_an_order_refuses_what_does_not_fit(desk: Any, page: str, machine_pass: Any) -> None:
    one, two, _ = machine_pass["segment_ids"]
    order_id = order_of(desk, page, machine_pass["pass_id"])
    entry = place(desk, order_id, one)
    go = "reading_order.place"
    refusal = expect_refusal(Conflict, desk, go, order_id=order_id, segment_id=one)
    assert (refusal.code, refusal.fields["entry_id"]) == ("already_in_order", entry["id"])
    refusal = expect_refusal(
        Conflict, desk, go, order_id=order_id, segment_id=one, expected_version=7, at_end=True
    )
    assert (refusal.code, refusal.fields["current_version"]) == ("stale_version", 1)
    foreign = desk.machine_lines(page, [None], "m2")["segment_ids"][0]
    assert expect_refusal(Conflict, desk, go, order_id=order_id, segment_id=foreign).code == "other_pass"
    assert (
        expect_refusal(Invalid, desk, go, order_id=order_id, segment_id="legacy:a:0").code == "provisional_id"
    )
    expect_refusal(NotFound, desk, go, order_id=order_id, segment_id="nowhere")
    expect_refusal(NotFound, desk, go, order_id="nowhere", segment_id=two)
    expect_refusal(NotFound, desk, go, order_id=order_id, segment_id=two, after_entry_id="nowhere")
    expect_refusal(NotFound, desk, go, order_id=order_id, segment_id=two, parent_entry_id="nowhere")
    expect_refusal(
        Invalid, desk, go, order_id=order_id, segment_id=two, after_entry_id=entry["id"], at_end=True
    )
    child = place(desk, order_id, two, parent_entry_id=entry["id"])
    third_segment_id = machine_pass["segment_ids"][2]
    refusal = expect_refusal(
        Invalid, desk, go, order_id=order_id, segment_id=third_segment_id, after_entry_id=child["id"]
    )
    assert refusal.code == "other_level"
    refusal = expect_refusal(
        Conflict, desk, go, order_id=order_id, segment_id=one, parent_entry_id=child["id"], expected_version=1
    )
    assert refusal.code == "parent_ring"
    expect_refusal(
        Invalid, desk, go, order_id=order_id, segment_id=one, after_entry_id=entry["id"], expected_version=1
    )
    refusal = expect_refusal(Conflict, desk, "reading_order.remove", order_id=order_id, entry_id=entry["id"])
    assert refusal.code == "entry_holds_others"
    expect_refusal(NotFound, desk, "reading_order.remove", order_id=order_id, entry_id="nowhere")
    desk.run("segment.delete", segment_ids=[third_segment_id], expected_versions=[1])
    assert (
        expect_refusal(Conflict, desk, go, order_id=order_id, segment_id=third_segment_id).code
        == "segment_deleted"
    )


def test_many_segments_are_put_in_at_once_and_taken_out_by_one_undo(desk: Any, page: str) -> None:
    pass_id = desk.new_pass(page)
    a, b, c, d, e = desk.lines(page, pass_id, 5)
    one_by_one, at_once = (order_of(desk, page, pass_id, name=name) for name in ("a", "b"))
    for order_id in (one_by_one, at_once):
        place(desk, order_id, d)
    entries: dict[str, str] = {}
    places = [(a, None), (b, a), (c, b), (e, a)]
    for segment_id, above in places:
        parent = entries.get(above or "")
        entries[segment_id] = place(desk, one_by_one, segment_id, at_end=True, parent_entry_id=parent)["id"]
    listed = [{"segment_id": one, "parent_segment_id": above} for one, above in places]
    before = digests(desk)
    result = desk.run("reading_order.fill", order_id=at_once, segments=listed)
    assert (result["count"], len(set(result["entry_ids"]))) == (4, 4)

    def shape(order_id: str) -> list[tuple[str, str | None, float]]:
        with desk.library.db.read() as conn:
            rows = conn.exec_driver_sql(
                "SELECT e.segment_id, p.segment_id, e.position FROM reading_order_entry e "
                "LEFT JOIN reading_order_entry p ON p.id = e.parent_entry_id WHERE e.order_id = ? "
                "ORDER BY e.segment_id",
                (order_id,),
            )
            return [(row[0], row[1], row[2]) for row in rows]

    assert shape(at_once) == shape(one_by_one)
    assert sequence(desk, at_once) == sequence(desk, one_by_one) == [d, a, b, c, e]
    after = digests(desk)
    back = desk.undo()
    assert digests(desk) == before
    desk.undo(back)
    assert digests(desk) == after


def test_what_is_put_in_at_once_is_refused_whole(desk: Any, page: str, machine_pass: Any) -> None:
    one, two, three = machine_pass["segment_ids"]
    order_id = order_of(desk, page, machine_pass["pass_id"])
    entry = place(desk, order_id, one)

    def fill(kind: type[ServiceError], *places: Any, order_id: str = order_id) -> ServiceError:
        named = [one if isinstance(one, dict) else {"segment_id": one} for one in places]
        refusal = expect_refusal(kind, desk, "reading_order.fill", order_id=order_id, segments=named)
        assert sequence(desk, entry["order_id"]) == [one]
        return refusal

    refusal = fill(Conflict, two, one)
    assert (refusal.code, refusal.fields["entry_id"]) == ("already_in_order", entry["id"])
    assert "leave it out" in refusal.detail
    refusal = fill(NotFound, two, {"segment_id": three, "parent_segment_id": "nowhere"})
    assert refusal.code == "parent_not_in_order"
    assert "name it earlier in the list" in refusal.detail
    # An enclosing entry must precede the nested one in the list, so nothing can be nested in itself.
    refusal = fill(NotFound, {"segment_id": two, "parent_segment_id": three}, three)
    assert refusal.fields["id"] == three
    fill(NotFound, {"segment_id": two, "parent_segment_id": two})
    assert fill(Invalid, two, three, two).code == "named_twice"
    assert fill(Invalid, two, "legacy:a:0").code == "provisional_id"
    fill(NotFound, two, "nowhere")
    fill(NotFound, two, order_id="nowhere")
    fill(Invalid)
    foreign = desk.machine_lines(page, [None], "m2")["segment_ids"][0]
    assert fill(Conflict, two, foreign).code == "other_pass"
    desk.run("segment.delete", segment_ids=[three], expected_versions=[1])
    assert fill(Conflict, two, three).code == "segment_deleted"
    gone = order_of(desk, page, machine_pass["pass_id"])
    desk.run("reading_order.withdraw", order_id=gone)
    assert fill(Conflict, two, order_id=gone).code == "order_deleted"
    flow = order_of(desk, page, machine_pass["pass_id"], kind="flow")
    assert desk.run("reading_order.fill", order_id=flow, segments=[{"segment_id": foreign}])["count"] == 1


def test_an_order_is_made_over_a_pass_of_its_own_page(desk: Any, page: str) -> None:
    create = {"name": "x", "kind": "imposed"}
    other_page_pass = desk.new_pass(desk.page())
    expect_refusal(
        Conflict, desk, "reading_order.create", document_id=page, pass_id=other_page_pass, **create
    )
    expect_refusal(NotFound, desk, "reading_order.create", document_id=page, pass_id="nowhere", **create)
    expect_refusal(
        NotFound, desk, "reading_order.create", document_id="nowhere", pass_id=other_page_pass, **create
    )
    expect_refusal(Invalid, desk, "reading_order.create", document_id=page, pass_id="legacy:a", **create)


def test_a_withdrawn_order_is_refused_until_it_is_restored(
    client: Any, desk: Any, page: str, machine_pass: Any
) -> None:
    order_id = order_of(desk, page, machine_pass["pass_id"], seed_from_pass=True)
    assert client.delete(f"/api/reading-orders/{order_id}").json()["deleted_at"]
    base = f"/api/reading-orders/{order_id}"
    body = {"segment_id": machine_pass["segment_ids"][0], "at_end": True}
    for answer in (
        client.get(f"{base}/entries"),
        client.get(f"{base}/neighbours", params={"segment_id": machine_pass["segment_ids"][0]}),
        client.post(f"{base}/place", json=body),
        client.post(f"{base}/renumber"),
        client.delete(base),
        client.get(f"/api/segments/document/{page}/text", params={"order": order_id}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "order_deleted")
    listed = f"/api/reading-orders/document/{page}"
    assert client.get(listed).json()["count"] == 0
    assert client.get(listed, params={"include_deleted": True}).json()["count"] == 1
    assert client.post(f"{base}/restore").json()["deleted_at"] is None
    assert client.post(f"{base}/restore").status_code == 409


def test_the_order_as_written_is_listed_first(client: Any, desk: Any, page: str, machine_pass: Any) -> None:
    order_of(desk, page, machine_pass["pass_id"], name="a", kind="commentary")
    order_of(desk, page, machine_pass["pass_id"], name="b", kind="as-written")
    listed = client.get(f"/api/reading-orders/document/{page}").json()["items"]
    assert [item["name"] for item in listed] == ["b", "a"]
    assert client.get("/api/reading-orders/document/nowhere").status_code == 404


def test_neighbours_cross_the_borders_of_regions(client: Any, desk: Any, page: str) -> None:
    pass_id = desk.new_pass(page)
    a, b, c, d, e = desk.lines(page, pass_id, 5)
    order_id = order_of(desk, page, pass_id)
    left = place(desk, order_id, a)
    right = place(desk, order_id, b, at_end=True)
    place(desk, order_id, c, parent_entry_id=left["id"])
    place(desk, order_id, d, parent_entry_id=left["id"], at_end=True)
    place(desk, order_id, e, parent_entry_id=right["id"])

    def around(segment_id: str) -> tuple[str | None, str | None]:
        with desk.library.db.read() as conn:
            neighbours = list_neighbours(conn, order_id, segment_id)
        return tuple(one and one["segment_id"] for one in (neighbours["before"], neighbours["after"]))

    assert [around(one) for one in (c, d, e)] == [(None, d), (c, e), (d, None)]
    assert around(a) == (None, e)
    base = f"/api/reading-orders/{order_id}/neighbours"
    assert client.get(base, params={"segment_id": d}).json()["after"]["segment_id"] == e
    assert client.get(base, params={"segment_id": "nowhere"}).status_code == 404
    assert client.get("/api/reading-orders/nowhere/neighbours", params={"segment_id": d}).status_code == 404
    for none in ("-", "default"):
        answer = client.get(f"/api/reading-orders/{none}/neighbours", params={"segment_id": d})
        assert (answer.status_code, answer.json()["code"]) == (422, "no_order_named")
    assert (
        client.get(f"/api/reading-orders/{order_id}/entries", params={"parent_entry_id": "x"}).status_code
        == 404
    )
    assert client.get("/api/reading-orders/nowhere/entries").status_code == 404


def test_the_text_follows_a_named_order_and_lists_what_it_omits(
    client: Any, desk: Any, page: str, machine_pass: Any
) -> None:
    one, two, three = machine_pass["segment_ids"]
    other_machine_lines = desk.machine_lines(page, ["four"], "m2")
    order_id = order_of(desk, page, machine_pass["pass_id"], kind="flow")
    for segment_id in (three, one, two, other_machine_lines["segment_ids"][0]):
        place(desk, order_id, segment_id, at_end=True)
    desk.run("segment.delete", segment_ids=[one], expected_versions=[1])
    desk.run("segment.update", segment_id=two, expected_version=1, is_furniture=True)
    query = {"order": order_id, "pass_id": machine_pass["pass_id"]}
    answer = client.get(f"/api/segments/document/{page}/text", params=query).json()
    assert (answer["text"], answer["order_id"]) == ("three", order_id)
    assert {(gap["segment_id"], gap["reason"], gap["pass_id"]) for gap in answer["omitted"]} == {
        (two, "furniture", None),
        (one, "deleted", None),
        (other_machine_lines["segment_ids"][0], "other_pass", other_machine_lines["pass_id"]),
    }
    query["include_furniture"] = True
    assert client.get(f"/api/segments/document/{page}/text", params=query).json()["text"] == "three\ntwo"


def test_the_text_refuses_an_order_of_another_pass_and_names_both(
    client: Any, desk: Any, page: str, machine_pass: Any
) -> None:
    other_machine_lines = desk.machine_lines(page, ["four"], "m2")
    order_id = order_of(desk, page, machine_pass["pass_id"])
    place_of_text = f"/api/segments/document/{page}/text"
    for query in ({"order": order_id}, {"order": order_id, "pass_id": other_machine_lines["pass_id"]}):
        answer = client.get(place_of_text, params=query)
        body = answer.json()
        assert (answer.status_code, body["code"], body["order_pass_id"], body["pass_id"]) == (
            422,
            "order_other_pass",
            machine_pass["pass_id"],
            other_machine_lines["pass_id"],
        )
        assert machine_pass["pass_id"] in body["detail"]
        assert other_machine_lines["pass_id"] in body["detail"]
    assert client.get(place_of_text, params={"order": "nowhere"}).status_code == 404
    bare = desk.page()
    assert client.get(f"/api/segments/document/{bare}/text", params={"order": order_id}).status_code == 422


def test_an_entry_without_nested_entries_means_the_content_of_its_segment(desk: Any, page: str) -> None:
    from armarium.api import ActionContext
    from armarium_source_model.api import (
        NewPass,
        NewReading,
        NewSegment,
        add_readings,
        add_segments,
        create_pass,
    )

    made: dict[str, Any] = {}

    def write(ctx: ActionContext) -> None:
        made["pass"] = create_pass(ctx, NewPass(page, "Words", provider="reader"))
        new = [
            NewSegment("r1", "region", [0.1, 0.1, 0.8, 0.2]),
            NewSegment("l1", "line", [0.1, 0.1, 0.8, 0.05], parent_key="r1"),
            NewSegment("l2", "line", [0.1, 0.2, 0.8, 0.05], parent_key="r1"),
            NewSegment("r2", "region", [0.1, 0.4, 0.8, 0.2]),
            NewSegment("l3", "line", [0.1, 0.4, 0.8, 0.05], parent_key="r2"),
            NewSegment("w1", "word", [0.1, 0.4, 0.3, 0.05], parent_key="l3"),
        ]
        made["ids"] = add_segments(ctx, made["pass"], page, None, new)
        texts = [None, "one", "two", None, "three", "third"]
        add_readings(ctx, [NewReading(i, t) for i, t in zip(made["ids"], texts, strict=True) if t])

    desk.engine.run(
        desk.library,
        "segment.pass_create",
        {"document_id": desk.page(), "name": "x"},
        desk.principal,
        in_transaction=write,
    )
    r1, _, l2, r2, _, word = made["ids"]
    order_id = order_of(desk, page, made["pass"])

    def text() -> str:
        with desk.library.db.read() as conn:
            return page_text(conn, page, pass_id=made["pass"], order_id=order_id).text

    place(desk, order_id, r2)
    place(desk, order_id, r1, at_end=True)
    assert text() == "three\n\none\ntwo"
    place(desk, order_id, l2)
    assert text() == "two\n\nthree\n\none"
    alone = order_of(desk, page, made["pass"])
    place(desk, alone, word)
    with desk.library.db.read() as conn:
        assert page_text(conn, page, pass_id=made["pass"], order_id=alone).text == "third"


def test_flows_that_end_on_an_earlier_page_can_be_continued(client: Any, desk: Any) -> None:
    folder = desk.run("document.create", name="Book")["id"]
    pages = [
        desk.run("document.create", name=f"p{n}", doc_type="page", parent_id=folder)["id"] for n in range(4)
    ]
    machine_pass = [desk.machine_lines(page, ["x"]) for page in pages]
    flows = {}
    for n in (0, 1):
        flows[n] = order_of(desk, pages[n], machine_pass[n]["pass_id"], kind="flow", name=f"flow {n}")
        place(desk, flows[n], machine_pass[n]["segment_ids"][0])
    plain = order_of(desk, pages[1], machine_pass[1]["pass_id"])
    place(desk, plain, machine_pass[1]["segment_ids"][0])
    order_of(desk, pages[0], machine_pass[0]["pass_id"], kind="flow", name="empty")

    def onto(page: str) -> list[tuple[str, int]]:
        with desk.library.db.read() as conn:
            return [(one["order_id"], one["pages_back"]) for one in flows_onto(conn, page)]

    assert onto(pages[3]) == [(flows[1], 2), (flows[0], 3)]
    assert onto(pages[0]) == []
    place(desk, flows[0], machine_pass[2]["segment_ids"][0], at_end=True)
    assert onto(pages[3]) == [(flows[0], 1), (flows[1], 2)]
    assert onto(pages[1]) == []
    desk.run("document.delete", ids=[pages[2]])
    assert onto(pages[3]) == [(flows[1], 1)]
    desk.run("reading_order.withdraw", order_id=flows[1])
    assert onto(pages[3]) == []
    answer = client.get(f"/api/reading-orders/flows/onto/{pages[3]}")
    assert answer.json() == {"document_id": pages[3], "flows": []}
    assert client.get("/api/reading-orders/flows/onto/nowhere").status_code == 404


def test_orders_over_http(client: Any, desk: Any, page: str, machine_pass: Any) -> None:
    body = {"document_id": page, "pass_id": machine_pass["pass_id"], "name": "Mine", "kind": "imposed"}
    response = client.post("/api/reading-orders", json=body)
    assert (response.status_code, response.json()["entry_count"]) == (200, 0)
    base = f"/api/reading-orders/{response.json()['id']}"
    entry = client.post(f"{base}/place", json={"segment_id": machine_pass["segment_ids"][0]}).json()
    assert entry["position"] == 1.0
    assert client.get(f"{base}/entries").json()["items"][0]["id"] == entry["id"]
    assert client.post(f"{base}/renumber").json()["entry_count"] == 1
    assert client.delete(f"{base}/entries/{entry['id']}").json()["status"] == "deleted"
    assert client.get(f"{base}/entries").json()["count"] == 0
