"""A citation with a step leads to the text then, the text now, and the steps that changed it; reading routes of the past."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import PERSON, Desk
from starlette.testclient import TestClient

from armarium.api import find_moment


class Page:
    """A page with three read lines."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.page = desk.page()
        self.lines: list[str] = desk.machine_lines(self.page, ["one", "two", "three"])["segment_ids"]

    def step(self) -> str:
        with self.desk.library.db.read() as conn:
            return find_moment(conn).audit_id


@pytest.fixture
def page(desk: Desk) -> Page:
    return Page(desk)


def resolve(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/api/locations/resolve", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_citation_with_a_step_tells_what_was_and_what_is_and_what_changed_it(
    client: TestClient, page: Page
) -> None:
    cited = client.get(f"/api/segments/{page.lines[0]}/reference").json()
    assert cited["dated_reference"] == f"{cited['reference']}@{page.step()}"
    page.desk.correct(page.lines[0], "won")
    first = page.desk.audit_id
    page.desk.correct(page.lines[1], "too")
    page.desk.correct(page.lines[0], "once")
    second = page.desk.audit_id

    found = resolve(client, segmentId=cited["dated_reference"])
    assert (found["textThen"], found["textNow"]) == ("one", "once")
    assert [step["audit_id"] for step in found["changedBy"]] == [first, second]
    assert found["asOf"] == cited["as_of"]
    bare = resolve(client, segmentId=page.lines[0], asOf=first)
    assert (bare["textThen"], [step["audit_id"] for step in bare["changedBy"]]) == ("won", [second])
    today = resolve(client, segmentId=cited["reference"])
    assert (today["asOf"], today["textThen"], today["changedBy"]) == (None, None, [])


def test_a_citation_follows_a_split_and_a_removal(client: TestClient, page: Page) -> None:
    cited = client.get(f"/api/segments/{page.lines[2]}/reference").json()["dated_reference"]
    page.desk.run(
        "segment.split",
        segment_id=page.lines[2],
        expected_version=1,
        parts=[
            {"anchor": {"rect": [0.1 + 0.3 * n, 0.22, 0.2, 0.04]}, "text": text}
            for n, text in enumerate(("th", "ree"))
        ],
    )
    found = resolve(client, segmentId=cited)
    assert (found["textThen"], found["textNow"]) == ("three", "th\nree")
    assert len(found["changedBy"]) == 1
    page.desk.run("segment.delete", segment_ids=found["liveSegmentIds"], expected_versions=[2, 1])
    gone = resolve(client, segmentId=cited)
    assert (gone["textThen"], gone["textNow"], gone["segmentDeleted"]) == ("three", None, True)


READING = (
    "/api/segments/document/{page}/lines",
    "/api/segments/document/{page}/shapes",
    "/api/segments/document/{page}",
    "/api/segments/document/{page}/text",
    "/api/segments/document/{page}?kind=line",
    "/api/segments/document/{page}?area=0,0,1,1",
    "/api/segments/{line}",
    "/api/segments/{line}/readings",
    "/api/reading-orders/document/{page}",
    "/api/reading-orders/{order}/entries",
)


@pytest.mark.parametrize("route", READING)
def test_reading_routes_answer_of_a_past_step_as_they_did_then(
    client: TestClient, page: Page, route: str
) -> None:
    with page.desk.library.db.read() as conn:
        (pass_id,) = conn.exec_driver_sql("SELECT id FROM segment_pass").one()
    order = page.desk.run(
        "reading_order.create", document_id=page.page, pass_id=pass_id, name="Mine", kind="imposed"
    )["id"]
    page.desk.run("reading_order.place", order_id=order, segment_id=page.lines[1])
    path = route.format(page=page.page, line=page.lines[0], order=order)
    step = page.step()
    then = client.get(path)
    assert then.status_code == 200, then.text

    page.desk.correct(page.lines[0], "another")
    page.desk.run("reading_order.place", order_id=order, segment_id=page.lines[2])
    page.desk.run("segment.delete", segment_ids=[page.lines[1]], expected_versions=[1])
    page.desk.run("segment.merge", segment_ids=[page.lines[0], page.lines[2]], keep_id=page.lines[2])
    page.desk.new_pass(page.page, "Later")
    page.desk.run("document.update", document_id=page.page, name="Renamed")
    now = client.get(path)
    past = client.get(f"{path}{'&' if '?' in path else '?'}as_of={step}")
    assert past.json() == then.json() != now.json()
    assert past.headers["X-Service-As-Of"] == step
    assert len(past.headers["X-Service-As-Of-Digest"]) == 64


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ("0" * 32, 404, "unknown_step"),
        ("-1", 422, "bad_moment"),
        ("7", 422, "bad_moment"),
        ("2999-01-01T00:00:00Z", 422, "moment_in_future"),
        ("1999-12-31", 422, "moment_before_project"),
        ("9" * 41, 422, "invalid_request"),
    ],
)
def test_a_moment_that_is_none_is_refused(
    client: TestClient, page: Page, asked: str, status: int, code: str
) -> None:
    answer = client.get(f"/api/segments/document/{page.page}/text", params={"as_of": asked})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert len(answer.json()["detail"]) > 20


def test_a_time_stands_for_the_last_step_until_then(client: TestClient, page: Page) -> None:
    with page.desk.library.db.read() as conn:
        at = find_moment(conn).created_at
    path = f"/api/segments/document/{page.page}/text"
    assert client.get(path, params={"as_of": at}).headers["X-Service-As-Of"] == page.step()
    assert client.get(path, params={"as_of": at[:10]}).headers["X-Service-As-Of"] == page.step()


def test_the_state_of_a_step_undone_later_is_shown(client: TestClient, page: Page) -> None:
    page.desk.correct(page.lines[0], "a mistake")
    wrong = page.desk.audit_id
    page.desk.undo()
    text = client.get(f"/api/segments/document/{page.page}/text", params={"as_of": wrong}).json()["text"]
    assert text.startswith("a mistake")


def test_what_empty_trash_removed_is_not_there_of_the_past_either(client: TestClient, page: Page) -> None:
    step = page.step()
    page.desk.run("document.delete", ids=[page.page])
    page.desk.engine.run(page.desk.library, "document.empty_trash", {}, PERSON)
    answer = client.get(f"/api/segments/document/{page.page}/text", params={"as_of": step})
    assert answer.status_code == 404, answer.text
