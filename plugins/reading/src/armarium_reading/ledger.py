"""Writes the episode ledger: one row per call of a model. A failed write never fails the call."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, insert, select

from armarium.api import Database, new_id, now
from armarium_reading.caller import Caller, Subject
from armarium_reading.models import episodes

log = logging.getLogger("armarium.reading")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a call of a model was about and what it returned; the words in `exchange` are data and never logged."""

    use_case: str
    subject: Subject
    provider: str
    model: str
    exchange: Mapping[str, Any]
    """{prompt, output, system?, thinking?, pictures[]?, error?, attempts?, cut?, asked: digest of the question}"""
    started_at: str
    seconds: float
    cost: Mapping[str, Any] = field(default_factory=lambda: {"usd": 0.0})
    """{usd?, tokens_in?, tokens_out?}; usd is null where no price is known."""
    model_version: str | None = None
    caused_by: str | None = None


def record(caller: Caller, call: ModelCall) -> str | None:
    """Add the call to the ledger of the caller's project; return its episode id, or None if it could not be written."""
    row = {
        **episode_row("model_call", call.subject.document_id, caller.principal.name),
        "use_case": call.use_case,
        "node": caller.node,
        "thread_id": caller.thread_id,
        "workflow_id": caller.workflow_id,
        "job_id": caller.job_id,
        "attempt": caller.attempt,
        "subject_kind": call.subject.kind,
        "segment_id": call.subject.segment_id,
        "target_id": call.subject.target_id,
        "provider": call.provider,
        "model": call.model,
        "model_version": call.model_version,
        "exchange": dict(call.exchange),
        "started_at": call.started_at,
        "seconds": call.seconds,
        "cost": dict(call.cost),
        "caused_by_episode_id": call.caused_by,
    }
    episode = _ledger_of(caller.library.db).append(row)
    caller.taken.add(str(row["id"]))
    return str(row["id"]) if episode else None


def earlier_answer(caller: Caller, call: ModelCall) -> Row[Any] | None:
    """The episode in which the caller's job was answered *call* before it was interrupted, oldest first; None where there is
    none that was not taken up yet."""
    episode = episodes.c
    same_call = (
        episode.document_id == call.subject.document_id,
        episode.segment_id.is_(call.subject.segment_id),
        episode.target_id.is_(call.subject.target_id),
        episode.job_id == caller.job_id,
        episode.kind == "model_call",
        episode.use_case == call.use_case,
        episode.provider == call.provider,
        episode.model == call.model,
    )
    with caller.library.db.read() as conn:
        for row in conn.execute(select(episodes).where(*same_call).order_by(episode.seq)):
            exchange = row.exchange
            if (
                exchange.get("asked") == call.exchange["asked"]
                and "error" not in exchange
                and row.id not in caller.taken
            ):
                return row
    return None


def episode_row(kind: str, document_id: str, actor: str) -> dict[str, Any]:
    """Return a ledger row of *kind* with the present time and the fields that every episode has."""
    moment = now()
    return {
        **dict.fromkeys(column.name for column in episodes.columns if column.name != "seq"),
        "id": f"ep_{new_id()}",
        "at": moment,
        "kind": kind,
        "attempt": 1,
        "subject_kind": "page",
        "document_id": document_id,
        "exchange": {},
        "started_at": moment,
        "seconds": 0.0,
        "cost": {},
        "stale_artifact_ids": [],
        "actor": actor,
    }


@dataclass(slots=True)
class _Entry:
    row: dict[str, Any]
    done: bool = False
    written: bool = False


class _Ledger:
    """Appends to the ledger of one project. Calls that end during a write are written together with the next
    one, so that one flush to disk serves them all.
    """

    def __init__(self, db: Database) -> None:
        self._db = weakref.ref(db)
        self._waiting: list[_Entry] = []
        self._listing = threading.Lock()
        self._writing = threading.Lock()

    def append(self, row: dict[str, Any]) -> bool:
        """Append *row*; return whether it is on disk."""
        entry = _Entry(row)
        with self._listing:
            self._waiting.append(entry)
        with self._writing:
            if not entry.done:
                with self._listing:
                    batch, self._waiting = self._waiting, []
                self._write(batch)
        return entry.written

    def _write(self, batch: Sequence[_Entry]) -> None:
        db = self._db()
        try:
            assert db is not None
            with db.write() as conn:
                conn.execute(insert(episodes), [entry.row for entry in batch])
            for entry in batch:
                entry.written = True
        except Exception as error:
            if len(batch) > 1:
                # One row that cannot be written does not prevent the others.
                for entry in batch:
                    self._write([entry])
            else:
                use_case = batch[0].row["use_case"]
                log.warning("an episode of %s was not written: %s", use_case, type(error).__name__)
        for entry in batch:
            entry.done = True


_ledgers: weakref.WeakKeyDictionary[Database, _Ledger] = weakref.WeakKeyDictionary()
_making = threading.Lock()


def _ledger_of(db: Database) -> _Ledger:
    with _making:
        ledger = _ledgers.get(db)
        if ledger is None:
            ledger = _ledgers[db] = _Ledger(db)
        return ledger
