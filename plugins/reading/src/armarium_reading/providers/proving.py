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
    made = kind()
    if not kind.answers:
        return
    assert any(KEY in value for value in made.headers(KEY).values()), f"{name} sends no key."
    assert all(isinstance(value, str) for value in made.headers(None).values()), (
        f"{name} does not work without a key."
    )
    _requests(made)
    _answers(made, answer, events)


def _requests(made: ProviderType) -> None:
    for stream in (False, True):
        question = Question("the prompt of the suite", "the system of the suite", (PICTURE,), SCHEMA, 17)
        wire = made.wire("model/of the suite", question, stream=stream)
        assert wire.path.startswith("/"), f"{made.name}: a path begins with a slash."
        sent = json.dumps(wire.body) + wire.path
        for part in (question.prompt, str(question.system), PICTURE.base64, "text_of_the_suite", "17"):
            assert part in sent, f"{made.name} leaves out a part of the question: {part}."
        assert "model/of the suite" in sent or "model%2Fof%20the%20suite" in sent, (
            f"{made.name} does not name the model, or writes it into the path without quoting."
        )
        plain = json.dumps(made.wire("m", Question("p"), stream=stream).body)
        assert "image" not in plain, f"{made.name} sends a picture although there is none."


def _answers(made: ProviderType, answer: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> None:
    whole = made.read(answer)
    pieces = reduce(add, (made.piece(event) for event in events), Reply())
    assert whole.text, f"{made.name} reads no text from a whole answer."
    assert (whole.text, whole.thinking) == (pieces.text, pieces.thinking), (
        f"{made.name} reads one answer differently whole and in pieces."
    )
    assert pieces.ended, f"{made.name} does not see the end of an answer in pieces."
    assert made.fault(answer) is None, f"{made.name} takes an answer for an error."
    for hostile in HOSTILE:
        told = made.fault(hostile)
        assert told is None or isinstance(told, str), f"{made.name} reports an error that is not a text."
        for read in (made.read, made.piece):
            try:
                reply = read(hostile)
            except BAD_ANSWER:
                continue
            assert isinstance(reply, Reply), f"{made.name} makes something other than a Reply from an answer."
