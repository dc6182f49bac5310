"""The test suite for a provider type, used for first-party types and third-party ones alike. It opens no
connection.

def test_my_type():
    exercise_provider_type(MyType, answer={"said": "Dear Sir"}, events=[{"said": "Dear "}, {"said": "Sir", "end": True}])
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

from armarium.api import why_not_of
from armarium_reading.providers.wire import Picture, ProviderType, Question, Reply

KEY = "the-key-of-the-suite"
PICTURE = Picture(b"the picture of the suite", "image/png")
SCHEMA = {"type": "object", "properties": {"text_of_the_suite": {"type": "string"}}}
HOSTILE: tuple[Any, ...] = (
    {},
    {"choices": None, "content": None, "candidates": None},
    {"choices": [], "content": [], "candidates": []},
    {"choices": [[]], "content": [7], "candidates": ["x"], "usage": 3, "type": []},
    {"error": {}},
    {"error": {"message": None}},
    {"error": "in words"},
    {"error": {"message": {"deep": 1}}},
)
BAD_ANSWER = (KeyError, TypeError, ValueError, IndexError, AttributeError)
"""What `read` and `piece` may raise for an answer that is not as documented."""


def exercise_provider_type(
    kind: type[ProviderType], *, answer: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> None:
    """Put *kind* through every check; AssertionError says in a sentence what is wrong.

    *answer* and *events* are the same answer, whole and in pieces, as the service documents them; its text is
    not empty.
    """
    name = kind.name
    assert (why := why_not_of(ProviderType, name, kind)) is None, why
    assert kind.label, f"{name} has no label."
    assert kind.at_once >= 1, f"{name} allows no calls."
    provider = kind()
    if not kind.answers:
        return
    assert any(KEY in value for value in provider.headers(KEY).values()), f"{name} sends no key."
    assert all(isinstance(value, str) for value in provider.headers(None).values()), (
        f"{name} does not work without a key."
    )
    _requests(provider)
    _answers(provider, answer, events)


def _requests(provider: ProviderType) -> None:
    for stream in (False, True):
        question = Question("the prompt of the suite", "the system of the suite", (PICTURE,), SCHEMA, 17)
        wire = provider.wire("model/of the suite", question, stream=stream)
        assert wire.path.startswith("/"), f"{provider.name}: a path begins with a slash."
        request_text = json.dumps(wire.body) + wire.path
        for part in (question.prompt, str(question.system), PICTURE.base64, "text_of_the_suite", "17"):
            assert part in request_text, f"{provider.name} leaves out a part of the question: {part}."
        assert "model/of the suite" in request_text or "model%2Fof%20the%20suite" in request_text, (
            f"{provider.name} does not name the model, or writes it into the path without quoting."
        )
        plain = json.dumps(provider.wire("m", Question("p"), stream=stream).body)
        assert "image" not in plain, f"{provider.name} sends a picture although there is none."


def _answers(provider: ProviderType, answer: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
    whole = provider.read(answer)
    pieces = reduce(add, (provider.piece(event) for event in events), Reply())
    assert whole.text, f"{provider.name} reads no text from a whole answer."
    assert (whole.text, whole.thinking) == (pieces.text, pieces.thinking), (
        f"{provider.name} reads one answer differently whole and in pieces."
    )
    assert pieces.ended, f"{provider.name} does not see the end of an answer in pieces."
    assert provider.fault(answer) is None, f"{provider.name} takes an answer for an error."
    for hostile in HOSTILE:
        fault = provider.fault(hostile)
        assert fault is None or isinstance(fault, str), (
            f"{provider.name} reports an error that is not a text."
        )
        for read in (provider.read, provider.piece):
            try:
                reply = read(hostile)
            except BAD_ANSWER:
                continue
            assert isinstance(reply, Reply), (
                f"{provider.name} makes something other than a Reply from an answer."
            )
