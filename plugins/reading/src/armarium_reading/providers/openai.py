"""Chat completions as defined by OpenAI, and the many services and servers with the same API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from armarium_reading.providers.wire import ProviderType, Question, Reply, Wire


class OpenAICompatible(ProviderType):
    """Any service with chat completions, at an address that the owner states."""

    name = "openai-compatible"
    label = "OpenAI-compatible service"
    needs_key = False
    limit: ClassVar[str] = "max_tokens"
    usage: ClassVar[dict[str, Any]] = {"stream_options": {"include_usage": True}}
    """Requests the number of tokens at the end of a stream."""

    def wire(self, model: str, question: Question, *, stream: bool) -> Wire:
        content: str | list[dict[str, Any]] = question.prompt
        if question.pictures:
            # Pictures first: models look where the words after them say.
            content = [
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:{picture.mime_type};base64,{picture.base64}"},
                }
                for picture in question.pictures
            ]
            content.append({"type": "text", "text": question.prompt})
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if question.system:
            messages.insert(0, {"role": "system", "content": question.system})
        body: dict[str, Any] = {"model": model, "messages": messages}
        if question.schema is not None:
            form = {"name": "answer", "schema": dict(question.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if question.max_tokens is not None:
            body[self.limit] = question.max_tokens
        if stream:
            body |= {"stream": True, **self.usage}
        return Wire("/chat/completions", body)

    def read(self, answer: Mapping[str, Any]) -> Reply:
        choice = answer["choices"][0]
        return _reply(choice["message"], choice.get("finish_reason")) + _usage(answer)

    def piece(self, event: Mapping[str, Any]) -> Reply:
        choices = event.get("choices") or ()
        reply = _reply(choices[0].get("delta") or {}, choices[0].get("finish_reason")) if choices else Reply()
        return reply + _usage(event)


def _reply(message: Mapping[str, Any], ended: str | None) -> Reply:
    text, thinking = "", message.get("reasoning_content") or message.get("reasoning") or ""
    content = message.get("content") or ""
    if isinstance(content, str):
        text = content
    else:
        # Mistral's reasoning models answer in parts, one of which is their thinking.
        for part in content:
            if part["type"] == "thinking":
                thinking += "".join(thought["text"] for thought in part["thinking"])
            elif part["type"] == "text":
                text += part["text"]
    declined = message.get("refusal") or ("content_filter" if ended == "content_filter" else None)
    return Reply(text, thinking, ended=bool(ended), cut=ended == "length", declined=declined)


def _usage(answer: Mapping[str, Any]) -> Reply:
    usage = answer.get("usage") or {}
    return Reply(
        tokens_in=usage.get("prompt_tokens"),
        tokens_out=usage.get("completion_tokens"),
        version=answer.get("model"),
    )


class OpenAI(OpenAICompatible):
    """OpenAI itself."""

    name = "openai"
    label = "OpenAI"
    api_base = "https://api.openai.com/v1"
    needs_key = True
    limit = "max_completion_tokens"


class OpenRouter(OpenAICompatible):
    """OpenRouter, which forwards questions to models of many makers."""

    name = "openrouter"
    label = "OpenRouter"
    api_base = "https://openrouter.ai/api/v1"
    needs_key = True


class Mistral(OpenAICompatible):
    """Mistral's own service."""

    name = "mistral"
    label = "Mistral"
    api_base = "https://api.mistral.ai/v1"
    needs_key = True
    # It reports the number without being asked, and refuses fields it does not know.
    usage: ClassVar[dict[str, Any]] = {}


class LocalServer(OpenAICompatible):
    """A model server on this machine: at Ollama's address, unless another is stated (LM Studio, vLLM, llama.cpp)."""

    name = "local-server"
    label = "Model server on this machine"
    api_base = "http://127.0.0.1:11434/v1"
    at_once = 4


class ModelHub(ProviderType):
    """A hub from which models are downloaded and to which they are published; only its key is used, it
    answers no questions.
    """

    name = "model-hub"
    label = "Model hub"
    answers = False
