"""A provider on this machine that answers from the ground truth of drawn pages, with planted errors, and says so."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from armarium_testing.model_provider import Answer, LoopbackProvider

NAME = "Ground truth with planted errors"
PLANTED = 5
"""One line in so many is answered with its first two letters swapped."""


class TruthfulProvider(LoopbackProvider):
    """Speaks OpenAI's format; *truth* are the lines of the pages in reading order."""

    def __init__(self, truth: Sequence[str]) -> None:
        super().__init__()
        self.truth = list(truth)
        self.pictures = 0
        """How often a picture of a line was sent."""
        self.shown: dict[str, int] = {}
        """The number of the line that each picture shows: first requests come in reading order, one at a time."""

    def next_answer(self, request: dict[str, Any]) -> Answer:
        """Derive the answer from the request: a picture of the next line, or a form about lines with ids."""
        super().next_answer(request)
        body = request["body"]
        messages = json.dumps(body["messages"], ensure_ascii=False)
        form = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        if "image_url" in messages and not form:
            self.pictures += 1
            (picture,) = set(re.findall(r"base64,([0-9A-Za-z+/=]+)", messages))
            return Answer(self.line(self.shown.setdefault(picture, len(self.shown))))
        lines = re.findall(r"\[([0-9a-zA-Z_-]{8,})\](?: \([^)]*\))? (.*?)(?=\\n\[|\\n\\n|\"[,}])", messages)
        return Answer(json.dumps(self.fill_form(set(form.get("properties", {})), lines)))

    def line(self, number: int) -> str:
        """Return a line of the ground truth, or that line with an error."""
        text = self.truth[number % len(self.truth)]
        return text[1::-1] + text[2:] if number % PLANTED == 0 else text

    def nearest(self, read: str) -> str:
        """Return the line of the ground truth that was misread as this."""
        alike = [SequenceMatcher(None, line, read, autojunk=False).ratio() for line in self.truth]
        number = alike.index(max(alike))
        return self.line(number)

    def fill_form(self, fields: set[str], lines: list[tuple[str, str]]) -> dict[str, Any]:
        """Return the form with the requested fields *fields*, about *lines* (id, reading)."""
        first = lines[0][0]
        if "names" in fields:
            pairs = [
                (line, words) for line, text in lines for words in re.findall(r"\b[A-Z][a-zé]{3,}\b", text)
            ]
            names = [{"line": line, "words": words, "name": words, "kind": "person"} for line, words in pairs]
            # This name is nowhere on the page: the engine must leave it out.
            return {"names": [*names, {"line": first, "words": "Nobody", "name": "Nobody", "kind": "person"}]}
        if "statements" in fields:
            parts = {
                "text": "A letter was written.",
                "subject": "A letter",
                "verb": "was",
                "object": "written",
            }
            return {"statements": [{**parts, "lines": [first]}]}
        if "rows" in fields:
            cells = [lines[0][1][:40], None, None, None, None]
            return {"rows": [{"lines": [first], "cells": cells}]}
        if "passages" in fields:
            return {"passages": [{"lines": [first], "shows": "How a letter begins"}]}
        if "summary" in fields:
            about: dict[str, Any] = {
                "title": "A letter",
                "date": None,
                "place": None,
                "persons": [],
                "about": [],
            }
            return {**about, "summary": "Somebody writes."}
        return {"lines": [{"id": line, "text": self.nearest(text)} for line, text in lines]}
