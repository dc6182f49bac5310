"""The messages API of Anthropic."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from armarium_reading.providers.wire import ProviderType, Question, Reply, Wire

MAX_TOKENS = 8192
"""The service requires a limit; this one applies if none is stated."""

ANSWER = "answer"


class Anthropic(ProviderType):
    """Anthropic itself, or a service with the same API."""

    name = "anthropic"
    label = "Anthropic"
    api_base = "https://api.anthropic.com/v1"

    def headers(self, key: str | None) -> dict[str, str]:
        version = {"anthropic-version": "2023-06-01"}
        return version if key is None else {**version, "x-api-key": key}

    def wire(self, model: str, question: Question, *, stream: bool) -> Wire:
        content: list[dict[str, Any]] = [
            {
                "type": "image",
                "source": {"type": "base64", "media_type": picture.mime_type, "data": picture.base64},
            }
            for picture in question.pictures
        ]
        content.append({"type": "text", "text": question.prompt})
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": question.max_tokens or MAX_TOKENS,
            "messages": [{"role": "user", "content": content}],
        }
        if question.system:
            body["system"] = question.system
        if question.schema is not None:
            tool = {"name": ANSWER, "description": "Give the answer.", "input_schema": dict(question.schema)}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": ANSWER}}
        if stream:
            body["stream"] = True
        return Wire("/messages", body)

    def read(self, answer: Mapping[str, Any]) -> Reply:
        reply = Reply(version=answer.get("model")) + _usage(answer["usage"]) + _final_reply(answer)
        for block in answer["content"]:
            if block["type"] == "text":
                reply += Reply(block["text"])
            elif block["type"] == "thinking":
                reply += Reply(thinking=block["thinking"])
            elif block["type"] == "tool_use":
                reply += Reply(json.dumps(block["input"], ensure_ascii=False))
        return reply

    def piece(self, event: Mapping[str, Any]) -> Reply:
        kind = event["type"]
        if kind == "message_start":
            message = event["message"]
            return Reply(version=message.get("model")) + _usage(message["usage"])
        if kind == "message_delta":
            return _usage(event.get("usage") or {}) + _final_reply(event.get("delta") or {})
        delta = event.get("delta") or {}
        kind = delta.get("type")
        if kind == "thinking_delta":
            return Reply(thinking=delta["thinking"])
        if kind == "text_delta":
            return Reply(delta["text"])
        return Reply(delta["partial_json"]) if kind == "input_json_delta" else Reply()


def _usage(usage: Mapping[str, Any]) -> Reply:
    counts = [
        usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    known_counts = [count for count in counts if count is not None]
    return Reply(tokens_in=sum(known_counts) if known_counts else None, tokens_out=usage.get("output_tokens"))


def _final_reply(message: Mapping[str, Any]) -> Reply:
    why = message.get("stop_reason")
    return Reply(ended=bool(why), cut=why == "max_tokens", declined="refusal" if why == "refusal" else None)
