"""Every bundled provider type passes the suite, and the suite finds a faulty one."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from typing import Any

import pytest

from armarium_reading.api import ProviderType, Question, Reply, Wire, exercise_provider_type
from armarium_reading.providers.wire import GROUP
from armarium_testing.model_provider import Answer, events, whole

OURS = {
    entry.name: entry.load()
    for entry in entry_points(group=GROUP)
    if entry.value.startswith("armarium_reading")
}
PATHS = {"anthropic": "/v1/messages", "google": "/v1beta/models/tiny:streamGenerateContent?alt=sse"}


def parse_answer(path: str, answer: Answer) -> list[Any]:
    lines = b"".join(events(path, answer)).split(b"\n")
    data = [line[6:] for line in lines if line.startswith(b"data: ")]
    return [json.loads(one) for one in data if one != b"[DONE]"]


def test_all_required_provider_types_exist() -> None:
    assert set(OURS) == {
        *("openai", "anthropic", "google", "mistral", "openrouter"),
        *("openai-compatible", "local-server", "model-hub"),
    }


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_type_passes_the_suite(name: str) -> None:
    path, answer = PATHS.get(name, "/v1/chat/completions"), Answer("Muy señor mío")
    exercise_provider_type(OURS[name], answer=whole(path, answer), events=parse_answer(path, answer))


class Faulty(ProviderType):
    """Sends only the prompt and ignores the answer."""

    name = "faulty"
    label = "Faulty"

    def wire(self, model: str, question: Question, *, stream: bool) -> Wire:
        return Wire("/ask", {"model": model, "prompt": question.prompt})

    def read(self, answer: Any) -> Reply:
        return Reply("whole")

    def piece(self, event: Any) -> Reply:
        return Reply("pieces")


def test_the_suite_finds_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="leaves out a part of the question"):
        exercise_provider_type(Faulty, answer={}, events=[{}])


def test_answers_of_reasoning_models_in_parts_are_read() -> None:
    """Mistral's documented form: a list of parts, some of them thinking."""
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "A round hand."}]},
        {"type": "text", "text": "Muy señor mío"},
    ]
    reply = OURS["mistral"]().read({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]})
    assert (reply.text, reply.thinking) == ("Muy señor mío", "A round hand.")


def test_an_answer_blocked_by_google_is_declined() -> None:
    assert OURS["google"]().read({"promptFeedback": {"blockReason": "SAFETY"}}).declined == "SAFETY"
