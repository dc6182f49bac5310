"""Sends questions to providers: through the engine's one gate, a few at a time, and again if a provider is busy."""

from __future__ import annotations

import random
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson
from sqlalchemy import Row

from armarium.api import Egress, Engine, Limits, ServiceError, Unavailable, seconds_to_wait
from armarium_reading import errors
from armarium_reading.providers import keys
from armarium_reading.providers.registry import provider_type
from armarium_reading.providers.wire import ProviderType, Question, Reply
from armarium_reading.queries.providers import require_model, require_provider

MAX_ANSWER = 16 << 20
"""The largest answer, in bytes."""
TRIES = 4
LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for a longer wait between two attempts is reported as busy."""
AGAIN = frozenset({500, *errors.BUSY})
"""The statuses after which the same question may be answered a little later."""
FOR_ALL = frozenset({401, 402, 404})
"""The statuses that every other question would be answered with as well; so would a redirect."""
_TICK = 0.2


@dataclass(frozen=True, slots=True)
class Target:
    """A provider and one of its models, settled for one attempt."""

    provider_id: str
    provider: str
    kind: ProviderType
    api_base: str
    model: Mapping[str, Any]
    local: bool
    key: str | None


@dataclass(frozen=True, slots=True)
class Busy:
    """A provider's answer that it takes the question later."""

    status: int
    seconds: float
    """How long it asks to wait; 0 if it does not say."""


@dataclass(slots=True)
class Outcome:
    """The outcome of a question. Without an error *reply* is complete; with one, it holds what had arrived by then."""

    reply: Reply
    error: ServiceError | None = None
    said: str | None = None
    """What the provider sent instead of an answer, at most `MAX_SAID` characters, without the key."""
    attempts: int = 1


MAX_SAID = 100_000
MAX_LISTED = 1000
"""How many pairs of provider and model are cached until settings change."""

Listed = tuple[Row[Any], ProviderType, dict[str, Any]]
"""A provider's row, its type and a model of it."""


class Sender:
    """One engine's connections to providers, and the number of calls each provider has under way."""

    def __init__(self, engine: Engine) -> None:
        self._egress = Egress(local_only=engine.settings.local_only)
        self._lock = threading.Lock()
        self._clients: dict[bool, list[Any]] = {True: [], False: []}
        """Idle connections, for this machine (True) and for all others. Each client has one connection: a
        shared pool would examine all connections at each call.
        """
        self._slots: dict[str, threading.BoundedSemaphore] = {}
        self._keys: dict[str, str] = {}
        self._listed: dict[tuple[str, str | None], tuple[int, Listed]] = {}

    def look_up(self, engine: Engine, provider: str, model: str | None) -> Listed:
        """Return the *provider* of this name or id, its type and its *model*; looked up again after any
        change of settings.

        Raises NotFound, Invalid, and Forbidden where either is switched off.
        """
        # Read first: a commit while the rows are being read makes the result outdated.
        commits = engine.state.commits
        listed_models = self._listed.get((provider, model))
        if listed_models is not None and listed_models[0] == commits:
            return listed_models[1]
        with engine.state.read() as conn:
            row = require_provider(conn, provider, by_name=True)
            if not row.enabled:
                raise errors.provider_off(row.name)
            kind = provider_type(engine, row.provider_type)
            if not kind.answers:
                raise errors.no_model(row.name)
            entry = require_model(conn, row, model)
        if not entry["enabled"]:
            raise errors.provider_off(row.name, entry["name"])
        listed = (row, kind, entry)
        with self._lock:
            if len(self._listed) >= MAX_LISTED:
                self._listed.clear()
            self._listed[provider, model] = (commits, listed)
        return listed

    def is_here(self, api_base: str, *, may_leave: bool = True) -> bool:
        """Return whether the address is on this machine. Unavailable where its name is not found; but if pages may not
        leave, it is enough that it does not lead here.
        """
        try:
            return self._egress.leads_here(api_base)
        except Unavailable:
            if may_leave:
                raise
            return False

    def key(self, engine: Engine, name: str, provider: str) -> str:
        """Return the key stored under *name*, which never means another key."""
        with self._lock:
            if name not in self._keys:
                self._keys[name] = keys.fetch(engine, name, provider)
            return self._keys[name]

    @contextmanager
    def slot(self, target: Target, check: Callable[[], None]) -> Iterator[bool]:
        """Wait until the provider can take one more call; return whether that took a while."""
        with self._lock:
            slots = self._slots.setdefault(
                target.provider_id, threading.BoundedSemaphore(target.kind.at_once)
            )
        at_once = slots.acquire(blocking=False)
        while not (at_once or slots.acquire(timeout=_TICK)):
            check()
        try:
            yield not at_once
        finally:
            slots.release()

    def send(
        self,
        target: Target,
        question: Question,
        check: Callable[[], None],
        on_text: Callable[[str], None] | None,
    ) -> Outcome | Busy:
        """Make one attempt."""
        with self._client(target.local) as client:
            return self._send_by(client, target, question, check, on_text)

    def _send_by(
        self,
        client: Any,
        target: Target,
        question: Question,
        check: Callable[[], None],
        on_text: Callable[[str], None] | None,
    ) -> Outcome | Busy:
        form, model = question.form, target.model["model_id"]
        if form is None:
            wire = target.kind.wire(model, question, stream=on_text is not None)
        else:
            wire = form.wire(model, question.passages)
        base = target.api_base.rstrip("/")
        request = client.build_request(
            "POST",
            (base.removesuffix("/v1") if wire.at_root else base) + wire.path,
            content=orjson.dumps(wire.body),
            headers={"content-type": "application/json", **target.kind.headers(target.key)},
            extensions={"check": check},
        )
        outcome, answered = Outcome(Reply()), False
        try:
            response = client.send(request, stream=True)
            answered = True
            try:
                if response.status_code in AGAIN:
                    return Busy(response.status_code, seconds_to_wait(response.headers.get("retry-after")))
                kind = response.headers.get("content-type", "")
                if on_text is not None and response.is_success and kind.startswith("text/event-stream"):
                    self._hear_pieces(target, response.iter_bytes(), outcome, on_text)
                else:
                    self._hear(
                        target, response.status_code, response.read(), outcome, (form or target.kind).read
                    )
            finally:
                response.close()
        except ServiceError as error:
            if error.code == "out_of_reach":
                outcome.error = errors.address_out_of_reach(f"The address of {target.provider}")
            elif error.code == "provider_failed":
                outcome.error = error
            elif error.code == "unreachable" and not answered:
                outcome.error = errors.provider_unreachable(target.provider, error.detail)
            else:
                outcome.error = errors.provider_failed(
                    target.provider, f"gave no whole answer. {error.detail}"
                )
        reply = outcome.reply
        outcome.reply = replace(
            reply,
            text=keys.redact(reply.text, target.key),
            thinking=keys.redact(reply.thinking, target.key),
            version=keys.redact(str(reply.version)[:200], target.key) if reply.version else None,
        )
        if outcome.error is None and outcome.reply.declined:
            outcome.said = keys.redact(str(outcome.reply.declined), target.key)[:MAX_SAID]
            outcome.error = errors.provider_failed(target.provider, "declined to answer this question.")
        return outcome

    def _hear(
        self,
        target: Target,
        status: int,
        body: bytes,
        heard: Outcome,
        read: Callable[[Mapping[str, Any]], Reply],
    ) -> None:
        """Read a whole answer."""
        text = keys.redact(body.decode("utf-8", "replace"), target.key)
        heard.said = text[:MAX_SAID]
        if not 200 <= status < 300:
            for_all = status in FOR_ALL or 300 <= status < 400
            refusal = errors.provider_refused if for_all else errors.provider_failed
            heard.error = refusal(target.provider, _why_refused(status))
            return
        try:
            answer = orjson.loads(body)
        except ValueError:
            heard.error = errors.provider_failed(
                target.provider,
                "answered, but not with JSON (perhaps a web page, or half an answer). Is its address right?",
            )
            return
        self._take(target, answer, heard, read)
        if heard.error is None:
            heard.said = None

    def _hear_pieces(
        self, target: Target, chunks: Iterable[bytes], heard: Outcome, on_text: Callable[[str], None]
    ) -> None:
        """Read an answer as it arrives; an event that reports an error ends it."""
        for data in _events(chunks):
            before = heard.reply.text
            try:
                event = orjson.loads(data)
            except ValueError:
                event = None
            self._take(target, event, heard, target.kind.piece)
            if heard.error is not None:
                heard.said = keys.redact(data.decode("utf-8", "replace"), target.key)[:MAX_SAID]
                return
            if piece := heard.reply.text[len(before) :]:
                on_text(keys.redact(piece, target.key))
        if not heard.reply.ended:
            heard.error = errors.provider_failed(target.provider, "broke off in the middle of its answer.")

    def _take(
        self, target: Target, answer: Any, heard: Outcome, read: Callable[[Mapping[str, Any]], Reply]
    ) -> None:
        try:
            if not isinstance(answer, Mapping):
                raise TypeError
            if target.kind.fault(answer) is not None:
                heard.error = errors.provider_failed(target.provider, "answered that something went wrong.")
                return
            reply = heard.reply + read(answer)
            sound = isinstance(reply.text, str) and isinstance(reply.thinking, str)
            counts = (reply.tokens_in, reply.tokens_out)
            if not sound or not all(count is None or isinstance(count, int) for count in counts):
                raise TypeError
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            heard.error = errors.provider_failed(
                target.provider, "answered in a form that its provider type does not use. Is the type right?"
            )
            return
        heard.reply = reply

    @contextmanager
    def _client(self, local: bool) -> Iterator[Any]:
        """Return one of the gate's httpx clients, for this machine or for all others, that no other call is using."""
        with self._lock:
            resting = self._clients[local]
            # The most recently used one: its connection is the least likely to have been closed by the other
            # side.
            client = resting.pop() if resting else None
        if client is None:
            # A provider on this machine is reached there or not at all; any other never leads back here.
            reach: Literal["machine", "network"] = "machine" if local else "network"
            limits = Limits(max_bytes=MAX_ANSWER, seconds=3600.0, silence=600.0)
            client = self._egress.client(reach=reach, limits=limits)
        try:
            yield client
        finally:
            with self._lock:
                resting.append(client)


def wait(seconds: float, check: Callable[[], None]) -> None:
    """Sleep, checking several times a second whether to continue."""
    until = time.monotonic() + seconds
    while (remaining := until - time.monotonic()) > 0:
        check()
        time.sleep(min(remaining, _TICK))
    check()


def pause_before(attempt: int, retry_after: float) -> float:
    """Return the seconds to wait before the next attempt: as requested, else twice as long each time, with
    some jitter.
    """
    return retry_after or min(20.0, 0.5 * 2.0**attempt) * random.uniform(0.75, 1.25)


def _why_refused(status: int) -> str:
    if 300 <= status < 400:
        return "redirected the request, and redirects are not followed. Set the provider's new address."
    if status == 401:
        return "refused the key (401). Give it a key that is valid for this model."
    if status == 402:
        return (
            "wants to be paid first (402). Add credit to the account of the key, or set the key of another."
        )
    if status == 403:
        return "does not allow this (403): its key is not for this model, or it takes no such page. Check the key."
    if status == 404:
        return "has no such model or address (404). Are its address and the model's name right?"
    if status == 413:
        return "found the question too large (413). Send a smaller picture, or less text."
    return f"refused the question ({status}); the ledger contains its answer."


def _events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of server-sent events, up to the mark that ends them."""
    unfinished, data = b"", list[bytes]()
    for chunk in chunks:
        *lines, unfinished = (unfinished + chunk).split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].lstrip())
            elif not line and data:
                event, data = b"\n".join(data), []
                if event == b"[DONE]":
                    return
                yield event
    if data and data != [b"[DONE]"]:
        yield b"\n".join(data)


_senders: weakref.WeakKeyDictionary[Engine, Sender] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def sender_of(engine: Engine) -> Sender:
    """Return the connections of an engine; they are closed with it."""
    with _making:
        sender = _senders.get(engine)
        if sender is None:
            sender = _senders[engine] = Sender(engine)
        return sender
