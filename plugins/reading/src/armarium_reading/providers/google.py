"""The generateContent API of Google."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from armarium_reading.providers.wire import ProviderType, Question, Reply, Wire

_DECLINED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})


class Google(ProviderType):
    """Google's models for developers."""

    name = "google"
    label = "Google"
    api_base = "https://generativelanguage.googleapis.com/v1beta"

    def headers(self, key: str | None) -> dict[str, str]:
        return {} if key is None else {"x-goog-api-key": key}

    def wire(self, model: str, question: Question, *, stream: bool) -> Wire:
        parts: list[dict[str, Any]] = [
            {"inlineData": {"mimeType": picture.mime_type, "data": picture.base64}}
            for picture in question.pictures
        ]
        parts.append({"text": question.prompt})
        body: dict[str, Any] = {"contents": [{"role": "user", "parts": parts}]}
        if question.system:
            body["systemInstruction"] = {"parts": [{"text": question.system}]}
        form: dict[str, Any] = {}
        if question.schema is not None:
            form = {"responseMimeType": "application/json", "responseJsonSchema": dict(question.schema)}
        if question.max_tokens is not None:
            form["maxOutputTokens"] = question.max_tokens
        if form:
            body["generationConfig"] = form
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return Wire(f"/models/{quote(model, safe='')}:{verb}", body)

    def read(self, answer: Mapping[str, Any]) -> Reply:
        if (answer.get("promptFeedback") or {}).get("blockReason"):
            return self.piece(answer)
        if not answer["candidates"]:
            raise ValueError("no candidates")
        return self.piece(answer)

    def piece(self, event: Mapping[str, Any]) -> Reply:
        usage = event.get("usageMetadata") or {}
        counts = [usage.get(name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
        known_counts = [count for count in counts if count is not None]
        reply = Reply(
            tokens_in=usage.get("promptTokenCount"),
            tokens_out=sum(known_counts) if known_counts else None,
            version=event.get("modelVersion"),
            declined=(event.get("promptFeedback") or {}).get("blockReason"),
        )
        for candidate in event.get("candidates") or ():
            ended = candidate.get("finishReason")
            declined = ended if ended in _DECLINED else None
            reply += Reply(ended=bool(ended), cut=ended == "MAX_TOKENS", declined=declined)
            for part in (candidate.get("content") or {}).get("parts") or ():
                text = part.get("text") or ""
                reply += Reply(thinking=text) if part.get("thought") else Reply(text)
        return reply
