"""Names of the project are sent to a reconciliation service only with consent, and what it says is proposed as links."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from knowledge_desk import Desk
from test_knowledge_jobs import work
from test_reconciliation import Refine, address, known, refine

from armarium.api import Egress, ServiceError
from armarium_knowledge.reconciliation_services import _choose, check_service

__all__ = ["address", "known", "refine"]


@pytest.fixture
def service(refine: Refine) -> Iterator[tuple[str, list[bytes]]]:
    """Our own service behind a port of this machine, and the bodies that it was sent."""
    asked: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(refine.ask("GET"))

        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            self._answer(
                refine.ask("POST", content=asked[-1], headers={"content-type": self.headers["content-type"]})
            )

        def _answer(self, answer: Any) -> None:
            self.send_response(answer.status_code)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", asked
    server.shutdown()
    server.server_close()


def test_names_are_sent_to_a_service_and_its_match_is_a_link_that_stays_away_once_taken_away(
    desk: Desk, known: dict[str, str], service: tuple[str, list[bytes]]
) -> None:
    url, asked = service
    page = desk.page(["Juan and Ana."])
    ana = known["Ana López"]
    desk.mention(page, ana, "Ana")
    done = work(desk, "link-to-authorities", page, service=url)
    assert (done["state"], done["counts"]) == ("done", {"authority_links": 1})
    assert len(asked) == 1
    assert b"Juan" not in asked[0], "only names of entities on the page leave"
    links = desk.get(f"/api/entities/{ana}")["authority_links"]
    assert links[1]["uri"] == f"urn:armarium:{ana}"
    assert 0 < links[1]["certainty"] <= 1
    desk.do("entity.update", {"entity_id": ana, "authority_links": links[:1]})
    work(desk, "link-to-authorities", page, service=url)
    assert desk.get(f"/api/entities/{ana}")["authority_links"] == links[:1]


def test_what_is_no_service_fails_the_job_in_words(
    desk: Desk,
    known: dict[str, str],
    service: tuple[str, list[bytes]],
    refine: Refine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, _ = service
    page = desk.page(["Ana."])
    desk.mention(page, known["Ana López"], "Ana")
    for answer in (
        httpx.Response(404, content=b"{}"),
        httpx.Response(200, content=b"<p>"),
        httpx.Response(200, content=b"[]"),
    ):
        monkeypatch.setattr(refine, "ask", lambda *_, said=answer, **__: said)
        failed = work(desk, "link-to-authorities", page, service=url)
        assert failed["state"] == "failed"
        assert (
            f"does not answer as a reconciliation service ({answer.status_code}); check the address."
            in failed["reason"]
        )


def test_names_leave_this_machine_only_with_consent_and_never_offline() -> None:
    elsewhere = Egress(local_only=False, resolver=lambda host, port: ["93.184.216.34"])
    with pytest.raises(ServiceError) as refused:
        check_service(elsewhere, "https://reconcile.example/api", names_may_leave=False)
    assert refused.value.code == "names_may_not_leave"
    check_service(elsewhere, "https://reconcile.example/api", names_may_leave=True)
    for url, code in (("https://reconcile.example/api", "offline"), ("http://10.0.0.1/", "offline")):
        with pytest.raises(ServiceError) as refused:
            check_service(Egress(local_only=True), url, names_may_leave=True)
        assert refused.value.code == code
    check_service(Egress(local_only=True), "http://127.0.0.1:9/", names_may_leave=False)


def test_only_a_match_or_a_candidate_alone_at_the_top_is_proposed() -> None:
    first, second = {"id": "Q1", "name": "Ana", "score": 90}, {"id": "Q2", "name": "Ana", "score": 90}
    space, url = "http://www.wikidata.org/entity/", "https://reconcile.example/api"
    assert _choose([first, second], space, url) is None
    assert _choose([first, {**second, "score": 20, "match": True}], space, url).entry.uri == f"{space}Q2"  # type: ignore[union-attr]
    found = _choose([first, {**second, "score": 80}], space, url)
    assert found is not None
    assert (found.entry.authority, found.certainty) == ("www.wikidata.org", 0.9)
    for wrong in (
        None,
        [],
        [3],
        [{**first, "score": 20}],
        [{**first, "id": "a b"}],
        [{**first, "name": None}],
    ):
        assert _choose(wrong, space, url) is None
