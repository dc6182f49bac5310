"""A provider on this machine for tests, which speaks the real wire formats; its answers and their faults are
configured.

    with LoopbackProvider() as provider:
        provider.answers = ["Dear Sir"]
        provider.add_to(engine, "Loopback", "openai")
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from armarium.api import Engine, Principal

OWNER = Principal("person", "owner", "owner", token_kind="owner", folders=None)
BASES = {"anthropic": "/v1", "google": "/v1beta"}
"""For each type whose path differs from OpenAI's, the path of its address."""


@dataclass(frozen=True)
class Answer:
    """One answer. With *body*, exactly these bytes are sent instead of *text* in the requested wire format."""

    text: str = ""
    thinking: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    seconds: float = 0.0
    """Seconds of silence before anything is sent."""
    drip: float = 0.0
    """Seconds between two bytes of the body."""
    endless: bool = False
    """Whether the body is repeated endlessly."""
    counts: bool = True
    """Whether it states how many tokens it used: 11 in, 7 out."""


class LoopbackProvider:
    """A server in a thread of its own, which gives *answers* one after another and then repeats the last one."""

    def __init__(self) -> None:
        self.answers: list[str | Answer] = [""]
        self.asked: list[dict[str, Any]] = []
        """The requests received: `{path, headers (lower-case names), body}`, oldest first."""
        self.in_hand = 0
        self.most_in_hand = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> LoopbackProvider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def add_to(
        self,
        engine: Engine,
        name: str,
        kind: str = "openai-compatible",
        *,
        key: str | None = "sk-loopback-0123456789",
        host: str | None = None,
        **model: Any,
    ) -> str:
        """Register it as the provider *name* of type *kind* in *engine*, with the default model `tiny`; return its id."""
        base = (host or self.url) + BASES.get(kind, "/v1")
        fields = {"name": name, "provider_type": kind, "api_base": base}
        identity = str((engine.run(None, "provider.create", fields, OWNER).result or {})["id"])
        tiny = {"name": "Tiny", "model_id": "tiny", "capabilities": ["text", "vision"], "is_default": True}
        models = {"provider_id": identity, "models": [{**tiny, **model}]}
        engine.run(None, "provider.set_models", models, OWNER)
        if key is not None:
            engine.run(None, "provider.set_key", {"provider_id": identity, "key": key}, OWNER)
        return identity

    def next_answer(self, request: dict[str, Any]) -> Answer:
        """Return the answer to *request*, which is recorded."""
        with self._lock:
            self.asked.append(request)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return Answer(answer) if isinstance(answer, str) else answer

    def wait(self, seconds: float) -> bool:
        """Sleep; return whether the server is still running."""
        return not self._ended.wait(seconds)

    def enter(self) -> None:
        """Count a call as running."""
        with self._lock:
            self.in_hand += 1
            self.most_in_hand = max(self.most_in_hand, self.in_hand)

    def leave(self) -> None:
        """Count a call as ended."""
        with self._lock:
            self.in_hand -= 1


def _handler(provider: LoopbackProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            body = json.loads(self.rfile.read(length) or b"null")
            headers = {name.lower(): value for name, value in self.headers.items()}
            provider.enter()
            try:
                self._answer(
                    provider.next_answer({"path": self.path, "headers": headers, "body": body}), body
                )
            except OSError:
                self.close_connection = True
            finally:
                provider.leave()

        do_GET = do_POST

        def _answer(self, answer: Answer, request: Any) -> None:
            if answer.seconds and not provider.wait(answer.seconds):
                return
            streamed = bool((request or {}).get("stream")) or "streamGenerateContent" in self.path
            kind = "application/json"
            if answer.body is not None:
                body = answer.body
            elif streamed:
                kind, body = "text/event-stream", b"".join(events(self.path, answer))
            else:
                body = json.dumps(whole(self.path, answer)).encode()
            self.send_response(answer.status)
            headers = {"content-type": kind, **answer.headers}
            if answer.endless:
                self.close_connection = True
            else:
                headers.setdefault("content-length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if answer.endless:
                while provider.wait(0):
                    self.wfile.write(body)
            elif answer.drip:
                for byte in body:
                    if not provider.wait(answer.drip):
                        return
                    self.wfile.write(bytes([byte]))
            else:
                self.wfile.write(body)
                if int(headers["content-length"]) != len(body):
                    self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Log nothing about a request."""

    return Handler


def whole(path: str, answer: Answer) -> dict[str, Any]:
    """Return *answer* as the wire format of *path* writes it, in one piece."""
    if path.endswith("/messages"):
        content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
        if answer.text.startswith("{"):
            content = [
                {"type": "tool_use", "id": "toolu_1", "name": "answer", "input": json.loads(answer.text)}
            ]
        if answer.thinking:
            content.insert(0, {"type": "thinking", "thinking": answer.thinking, "signature": "s"})
        usage = {"input_tokens": 11, "output_tokens": 7} if answer.counts else {}
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "tiny-1"}
        return {
            **head,
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
    if "generateContent" in path or "streamGenerateContent" in path:
        parts: list[dict[str, Any]] = [{"text": answer.text}]
        if answer.thinking:
            parts.insert(0, {"text": answer.thinking, "thought": True})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        counts = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        metadata: dict[str, Any] = {"usageMetadata": counts} if answer.counts else {}
        return {"candidates": [candidate], "modelVersion": "tiny-1", "responseId": "r", **metadata}
    message = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    counted = {"usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "tiny-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        **(counted if answer.counts else {}),
    }


def events(path: str, answer: Answer) -> Iterator[bytes]:
    """Yield *answer* as server-sent events of the wire format of *path*, in pieces of three characters."""
    pieces = [answer.text[start : start + 3] for start in range(0, len(answer.text), 3)]
    if path.endswith("/messages"):
        yield from _anthropic_events(answer, pieces)
    elif "streamGenerateContent" in path:
        message = whole(path, answer)
        for piece in pieces:
            candidate = {"content": {"role": "model", "parts": [{"text": piece}]}, "index": 0}
            yield _event({"candidates": [candidate], "modelVersion": "tiny-1"})
        message["candidates"][0]["content"]["parts"] = [{"text": ""}]
        yield _event(message)
    else:
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "tiny-1"}
        for piece in pieces:
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            yield _event({**head, "choices": [choice], "usage": None})
        yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if answer.counts:
            yield _event({**head, "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
        yield b"data: [DONE]\n\n"


def _anthropic_events(answer: Answer, pieces: list[str]) -> Iterator[bytes]:
    message = whole("/messages", Answer())
    begun = {**message, "content": [], "stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    is_tool = answer.text.startswith("{")
    block = (
        {"type": "tool_use", "id": "t", "name": "answer", "input": {}}
        if is_tool
        else {"type": "text", "text": ""}
    )
    yield _event({"type": "message_start", "message": begun}, "message_start")
    yield _event({"type": "content_block_start", "index": 0, "content_block": block}, "content_block_start")
    yield _event({"type": "ping"}, "ping")
    for piece in pieces:
        delta = (
            {"type": "input_json_delta", "partial_json": piece}
            if is_tool
            else {"type": "text_delta", "text": piece}
        )
        yield _event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    yield _event({"type": "content_block_stop", "index": 0}, "content_block_stop")
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 7}}, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    event_line = f"event: {name}\n" if name else ""
    return f"{event_line}data: {json.dumps(data)}\n\n".encode()
