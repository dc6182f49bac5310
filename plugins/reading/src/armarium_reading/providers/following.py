"""Records who follows models' answers as they arrive: only then are answers streamed and published."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from armarium.api import Engine
from armarium_reading.caller import Caller, Subject

MODEL_DELTA = "model_delta"
"""The kind of event with a piece of an answer: `thread_id`, `document_id`, `segment_id`, `text`."""

_followed: weakref.WeakKeyDictionary[Engine, Counter[str]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


@contextmanager
def follow_answers(engine: Engine, thread_id: str) -> Iterator[None]:
    """While this lasts, publish models' answers in the run *thread_id* as events of the kind `MODEL_DELTA`."""
    with _lock:
        _followed.setdefault(engine, Counter())[thread_id] += 1
    try:
        yield
    finally:
        with _lock:
            _followed[engine][thread_id] -= 1
            if not _followed[engine][thread_id]:
                del _followed[engine][thread_id]


def publisher_of(caller: Caller, subject: Subject) -> Callable[[str], None] | None:
    """Return the function that takes the pieces of an answer; None if nobody follows the caller's run."""
    with _lock:
        followed = _followed.get(caller.engine)
        if not followed or caller.thread_id not in followed:
            return None
    about = {
        "thread_id": caller.thread_id,
        "document_id": subject.document_id,
        "segment_id": subject.segment_id,
    }

    def publish(text: str) -> None:
        caller.engine.events.publish(MODEL_DELTA, {**about, "text": text}, str(caller.library.path))

    return publish
