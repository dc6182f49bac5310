"""Providers that answer badly, slowly, never, with redirects or with the key: the call fails with a sentence
and is recorded.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from gateway_helpers import ask_of, episodes, request_to
from reading_project import ReadingProject

from armarium.api import Engine, ServiceError
from armarium_reading.actions import providers
from armarium_reading.providers import sending
from armarium_testing.model_provider import OWNER, Answer, LoopbackProvider, whole

KEY = "sk-loopback-0123456789"
WHOLE = json.dumps(whole("/v1/chat/completions", Answer("Muy señor mío"))).encode()


def expect_failure(project: ReadingProject, **stated: Any) -> tuple[ServiceError, dict[str, Any]]:
    """Return the refusal, and the only episode of the call."""
    before = len(episodes(project))
    with pytest.raises(ServiceError) as caught:
        ask_of(project, **stated)
    (episode,) = episodes(project)[before:]
    assert episode["exchange"]["error"] == caught.value.detail
    assert caught.value.fields["episode_id"] == episode["id"]
    return caught.value, episode


@pytest.fixture
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without a wait, unless the provider asks for one."""
    monkeypatch.setattr(sending.random, "uniform", lambda *_: 0.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=403, body=b"{}"), "does not allow this (403)"),
        (
            Answer(body=b"<html><body>Sign in</body></html>", headers={"content-type": "text/html"}),
            "not with JSON",
        ),
        (Answer(body=WHOLE[:60]), "not with JSON"),
        (Answer(body=b""), "not with JSON"),
        (Answer(body=WHOLE[:60], headers={"content-length": str(len(WHOLE))}), "gave no whole answer"),
        (Answer(body=b'{"error": {"message": "out of credit", "code": 402}}'), "something went wrong"),
        (Answer(body=b'{"error": "model not loaded"}'), "something went wrong"),
        (Answer(body=b"[]"), "in a form that its provider type does not use"),
        (Answer(body=b"null"), "in a form that its provider type does not use"),
        (Answer(body=b"{}"), "in a form that its provider type does not use"),
        (Answer(body=b'{"choices": []}'), "in a form that its provider type does not use"),
        (
            Answer(body=b'{"choices": [{"message": {"content": 7}}]}'),
            "in a form that its provider type does not use",
        ),
        (
            Answer(body=b'{"choices": [{"message": {"content": {"a": 1}}}]}'),
            "in a form that its provider type does not use",
        ),
        (Answer(body=b'{"choices": [{"message": {"content": "\\ud800"}}]}'), "not with JSON"),
        (Answer(body=b"\xff\xfe\x00"), "not with JSON"),
        (Answer(status=413, body=b"{}"), "too large"),
        (Answer(status=400, body=b'{"error": {"message": "bad"}}'), "refused the question (400)"),
        (Answer(body=b"x", headers={"content-encoding": "gzip"}), "answers only compressed"),
    ],
)
def test_invalid_answers_fail_the_call(
    project: ReadingProject, provider: LoopbackProvider, answer: Answer, words: str
) -> None:
    provider.add_to(project.engine, "Loopback")
    provider.answers = [answer]
    error, episode = expect_failure(project)
    assert (error.status, error.code) == (503, "provider_failed")
    assert words in error.detail
    assert "credit" not in error.detail
    assert episode["cost"]["usd"] is None
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "refused the key (401)"), (402, "wants to be paid"), (404, "has no such model")],
)
def test_what_would_be_refused_of_every_question_has_a_code_of_its_own(
    project: ReadingProject, provider: LoopbackProvider, status: int, words: str
) -> None:
    provider.add_to(project.engine, "Loopback")
    provider.answers = [Answer(status=status, body=b"{}")]
    error, _ = expect_failure(project)
    assert (error.code, words in error.detail, len(provider.asked)) == ("provider_refused", True, 1)


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (408, "provider_busy", "gave up waiting for the question (408)"),
        (429, "provider_busy", "takes no more questions now (429)"),
        (500, "provider_failed", "failed with an error of its own (500)"),
        (502, "provider_busy", "cannot be reached by its own gateway (502)"),
        (503, "provider_busy", "is out of service now (503)"),
        (504, "provider_busy", "did not answer its own gateway in time (504)"),
        (529, "provider_busy", "is overloaded (529)"),
    ],
)
def test_a_status_that_may_pass_is_tried_again_and_then_told_as_what_it_is(
    project: ReadingProject,
    provider: LoopbackProvider,
    without_waiting: None,
    status: int,
    code: str,
    words: str,
) -> None:
    provider.add_to(project.engine, "Loopback")
    provider.answers = [Answer(status=status, body=b"<html>", headers={"retry-after": "soon"})]
    error, _ = expect_failure(project)
    assert (error.code, words in error.detail, len(provider.asked)) == (code, True, sending.TRIES)


@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
def test_a_stream_that_tells_of_an_error_or_breaks_off(
    project: ReadingProject, provider: LoopbackProvider, kind: str
) -> None:
    provider.add_to(project.engine, "Loopback", kind)
    begun = {
        "openai": {"choices": [{"delta": {"content": "Muy"}}]},
        "anthropic": {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Muy"}},
        "google": {"candidates": [{"content": {"parts": [{"text": "Muy"}]}}]},
    }[kind]
    first = f"data: {json.dumps(begun)}\n\n".encode()
    stream = {"content-type": "text/event-stream; charset=utf-8"}
    overloaded = b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}\n\n'
    for rest, words in (
        (overloaded, "something went wrong"),
        (b"", "broke off"),
        (b"data: [DONE]\n\n", "broke off"),
        (b"data: {half\n\n", "in a form that its provider type does not use"),
        (b"data: 7\n\n", "in a form that its provider type does not use"),
    ):
        provider.answers = [Answer(body=first + rest, headers=stream)]
        pieces: list[str] = []
        error, episode = expect_failure(project, on_text=pieces.append)
        assert words in error.detail
        assert (pieces, episode["exchange"]["output"]) == (["Muy"], "Muy")


def test_a_slow_answer_and_one_that_never_comes_are_bounded(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback")
    for slow in (Answer("late", seconds=60), Answer("x" * 500, drip=0.2)):
        provider.answers = [slow]
        error, _ = expect_failure(project, seconds=1.0)
        assert "has not answered within 1 seconds" in error.detail


def test_an_unreachable_provider(project: ReadingProject) -> None:
    with LoopbackProvider() as provider:
        provider.add_to(project.engine, "Gone")
    error, _ = expect_failure(project, provider="Gone")
    assert error.code == "provider_unreachable"
    assert "Gone cannot be asked. 127.0.0.1 cannot be reached: nothing answers at this port." in error.detail


def test_a_certificate_that_is_not_trusted_and_a_server_without_tls_are_told(
    project: ReadingProject, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.add_to(project.engine, "Plain", host=provider.url.replace("http:", "https:"))
    error, _ = expect_failure(project, provider="Plain")
    assert "does not speak TLS as it should" in error.detail

    def distrust(*_: Any, **__: Any) -> Any:
        untrusted = ssl.SSLCertVerificationError(1, "not shown")
        untrusted.verify_message = "self-signed certificate"
        raise untrusted

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", distrust)
    error, _ = expect_failure(project, provider="Plain")
    assert "shows a certificate that is not trusted here (self-signed certificate)." in error.detail


def test_an_answer_of_300_megabytes_is_not_taken_in(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback")
    answer = Answer(body=b"{}", headers={"content-length": str(300 << 20)})
    for huge in (answer, Answer(body=b" " * (1 << 20), endless=True)):
        provider.answers = [huge]
        error, _ = expect_failure(project)
        assert "larger than" in error.detail


def test_a_redirect_is_not_followed(project: ReadingProject, provider: LoopbackProvider) -> None:
    provider.add_to(project.engine, "Loopback")
    with LoopbackProvider() as inner:
        for place in (f"{inner.url}/v1/chat/completions", "http://169.254.169.254/latest", "//evil.example/"):
            for status in (301, 302, 307, 308):
                provider.answers = [Answer(status=status, body=b"", headers={"location": place})]
                error, _ = expect_failure(project)
                assert "redirected the request" in error.detail
        assert inner.asked == []


def test_a_host_name_that_changes_its_address_is_not_followed(
    project: ReadingProject, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host name that resolves differently when checked and when connected to: nothing is sent."""
    port = int(provider.url.rpartition(":")[2])
    answers = iter((["203.0.113.9"], ["127.0.0.1"], ["127.0.0.1"], ["203.0.113.9"]))
    sender = sending.sender_of(project.engine)
    monkeypatch.setattr(sender._egress, "_resolve", lambda _host, _port: next(answers))
    provider.add_to(project.engine, "Two faces", host=f"http://two-faces.example:{port}")
    error, _ = expect_failure(project, provider="Two faces", pages_may_leave=True)
    assert (error.code, "is one to which no request is sent" in error.detail) == ("out_of_reach", True)
    # Vice versa: a host taken for this machine is asked here or not at all.
    error, _ = expect_failure(project, provider="Two faces")
    assert (error.code, "is one to which no request is sent" in error.detail) == ("out_of_reach", True)
    assert provider.asked == []


@pytest.mark.parametrize("status", [400, 401, 500, 200])
def test_a_key_echoed_by_the_provider_is_removed_everywhere(
    project: ReadingProject,
    provider: LoopbackProvider,
    status: int,
    caplog: pytest.LogCaptureFixture,
    without_waiting: None,
) -> None:
    key = 'sk-"quoted"/and+more'
    caplog.set_level("DEBUG")
    provider.add_to(project.engine, "Loopback", key=key)
    echoed = {"error": {"message": f"Incorrect API key provided: {key}", "param": f"?key={key}"}}
    provider.answers = [Answer(status=status, body=json.dumps(echoed).encode())]
    error, _ = expect_failure(project)
    spelled = (key, json.dumps(key)[1:-1])
    told = [json.dumps(error.body()), caplog.text, str(project.rows("SELECT * FROM episode"))]
    assert not any(one in text for one in spelled for text in told)
    assert status == 500 or "[key]" in told[2]
    assert provider.asked[0]["headers"]["authorization"] == f"Bearer {key}"


def test_a_key_in_an_answer_is_removed_everywhere(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback")
    provider.answers = [Answer(f"Your key is {KEY}.", thinking=KEY)]
    assert ask_of(project).answer == "Your key is [key]."
    assert ask_of(project, on_text=lambda _: None).answer == "Your key is [key]."
    assert KEY not in str(project.rows("SELECT * FROM episode"))


def test_a_key_is_not_sent_to_another_address(
    engine: Engine, project: ReadingProject, provider: LoopbackProvider
) -> None:
    identity = provider.add_to(engine, "Loopback")
    with LoopbackProvider() as other_provider:
        moved = {"provider_id": identity, "api_base": f"{other_provider.url}/v1"}
        engine.run(None, "provider.update", moved, OWNER)
        ask_of(project)
        assert "authorization" not in other_provider.asked[0]["headers"]


def test_a_busy_provider_is_asked_again_when_it_says(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback")
    for stated in ("1", None):
        stated = stated or format_datetime(datetime.now(UTC) + timedelta(seconds=2.5), usegmt=True)
        provider.answers = [Answer(status=429, body=b"{}", headers={"retry-after": stated}), "now"]
        began = time.monotonic()
        assert ask_of(project).answer == "now"
        assert time.monotonic() - began > 0.5
    first, second = episodes(project)
    assert (first["exchange"]["attempts"], second["exchange"]["attempts"]) == (2, 2)


def test_a_wait_that_is_too_long_is_left_to_the_caller(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback")
    provider.answers = [Answer(status=429, body=b"{}", headers={"retry-after": "3600"})]
    error, _ = expect_failure(project)
    assert error.fields["retry_after"] == 3600.0
    assert "in 3600 seconds" in error.detail
    assert len(provider.asked) == 1


def test_a_provider_that_is_switched_off_in_mid_run(
    engine: Engine, project: ReadingProject, provider: LoopbackProvider
) -> None:
    identity = provider.add_to(engine, "Loopback")
    provider.answers = [Answer(status=503, body=b"", headers={"retry-after": "1"}), "too late"]
    off = {"provider_id": identity, "enabled": False}
    timer = threading.Timer(0.4, lambda: engine.run(None, "provider.update", off, OWNER))
    timer.start()
    error, _ = expect_failure(project)
    timer.join()
    assert (error.status, error.code) == (403, "provider_off")
    assert len(provider.asked) == 1


def test_an_answer_that_was_declined_or_cut(project: ReadingProject, provider: LoopbackProvider) -> None:
    provider.add_to(project.engine, "Loopback")
    choice = {"message": {"content": "", "refusal": "I cannot."}, "finish_reason": "stop"}
    provider.answers = [Answer(body=json.dumps({"choices": [choice]}).encode())]
    error, episode = expect_failure(project)
    assert "declined" in error.detail
    assert episode["exchange"]["said"] == "I cannot."
    choice = {"message": {"content": "Muy se"}, "finish_reason": "length"}
    provider.answers = [Answer(body=json.dumps({"choices": [choice]}).encode())]
    cut = ask_of(project)
    assert (cut.answer, cut.cut, cut.cost_usd) == ("Muy se", True, None)


def test_a_null_price_is_unknown_and_not_zero(project: ReadingProject, provider: LoopbackProvider) -> None:
    for number, prices in enumerate(({}, {"input_cost": 1.0}, {"input_cost": 0.0, "output_cost": 0.0})):
        provider.add_to(project.engine, f"P{number}", **prices)
        assert ask_of(project, provider=f"P{number}").cost_usd == (0.0 if number == 2 else None)
    provider.answers = [Answer("x", counts=False)]
    assert ask_of(project, provider="P2").cost_usd is None
    assert request_to(project).pages_may_leave is False


@pytest.mark.parametrize("host", ["169.254.169.254", "169.254.7.7", "[fd00:ec2::254]", "metadata.example"])
def test_no_provider_is_asked_at_a_link_local_or_metadata_address(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """A provider's host may be in a private network, but not at a link-local or cloud metadata address,
    whether by name or stored before such addresses were refused.
    """
    sender = sending.sender_of(project.engine)
    monkeypatch.setattr(sender._egress, "_resolve", lambda _host, _port: ["169.254.169.254"])
    monkeypatch.setattr(providers, "_address", lambda _ctx, _type, stated: stated)
    with LoopbackProvider() as never:
        never.add_to(project.engine, "Inner", host=f"http://{host}")
    error, _ = expect_failure(project, provider="Inner", pages_may_leave=True)
    assert (error.status, error.code) == (403, "out_of_reach")
    assert "The address of Inner is one to which no request is sent" in error.detail
    # Nor without permission for pages to leave, since it is not this machine.
    with pytest.raises(ServiceError) as refused:
        ask_of(project, provider="Inner")
    assert refused.value.code == "pages_may_not_leave"
